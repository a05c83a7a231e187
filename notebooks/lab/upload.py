"""A box in which a learner chooses a text file of their own."""

from pathlib import Path

import anywidget
import traitlets

from lab.corpora import TEXT_SUFFIXES, document_from_bytes, report
from lab.errors import DocumentError
from lab.language import _

# A message to the kernel that is larger than 10 MB breaks the connection.
MAX_UPLOAD_BYTES = 5_000_000


class DocumentUpload(anywidget.AnyWidget):
    """Choose a .txt or .md file, up to 5 MB; ``document`` is the last good one, the course's report at first.

    A file that cannot be read is explained in the box, and the document stays the one it was.
    """

    _esm = Path(__file__).resolve().parent / "upload.js"
    label = traitlets.Unicode().tag(sync=True)
    accept = traitlets.Unicode(",".join(TEXT_SUFFIXES)).tag(sync=True)
    limit = traitlets.Int(MAX_UPLOAD_BYTES).tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)

    def __init__(self) -> None:
        self.document = {"id": "report.md", "content": report()}
        super().__init__(label=_("A text file of your own (.txt or .md, up to 5 MB):"), status=self._in_use())
        self.on_msg(self._on_message)

    def _on_message(self, _widget, content: dict, buffers: list) -> None:
        """A file was chosen: its name and its bytes, or only its name where it is too large to be sent."""
        name = str(content.get("name") or "?")
        try:
            if not buffers:
                raise DocumentError(
                    _(
                        "{name} is larger than 5 MB: cut it up and choose one of the parts, or read it with "
                        "lab.document_from_file."
                    ).format(name=name)
                )
            self.document, self.problem = document_from_bytes(name, bytes(buffers[0])), ""
        except DocumentError as error:
            self.problem = str(error)
        self.status = self._in_use()

    def _in_use(self) -> str:
        return _("In use: {name}, {count:,} characters.").format(
            name=self.document["id"], count=len(self.document["content"])
        )

    def _repr_mimebundle_(self, **arguments) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**arguments)
        return data | {"text/plain": f"{self.label} {self.status}"}, metadata
