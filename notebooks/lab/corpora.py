"""The texts that are searched, and the queries whose right answers are known."""

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.errors import DocumentError
from lab.language import _
from lab.paths import ASSETS

MAX_FILE_BYTES = 20_000_000
TEXT_SUFFIXES = (".txt", ".md")

# The file of a corpus's queries, and what the ids are that its last column gives.
_JUDGED: dict[str, tuple[str, Callable[[str], frozenset]]] = {
    "report": ("report_queries.tsv", lambda ids: frozenset(map(int, ids.split(",")))),
    "python": ("python_queries.tsv", lambda topics: frozenset(topics.split(","))),
    "pages": ("pages_queries.tsv", lambda passages: _pages_with(passages.split(" | "))),
}


@dataclass(frozen=True)
class Query:
    """A query and what answers it.

    ``kind`` is "conceptual" (no word of the answer is needed), "identifier" (an exact name alone) or "mixed".
    ``relevant`` holds ids of documents for the report. For the Python reference it holds names of topics, for
    the pieces a topic is cut to differ between versions: the pieces of one topic count as one. For the reference
    documents it holds pages, "file_name:page", counted from 1.
    """

    id: str
    text: str
    kind: str
    relevant: frozenset
    language: str


def report() -> str:
    """The annual review, as Markdown text."""
    return (ASSETS / "report.md").read_text(encoding="utf-8")


def sections() -> list[dict]:
    """The ten sections of the annual review, in order.

    Each is a document: "id" (the section's number, 1 to 10), "title" (its heading) and "content" (the
    heading, a blank line, the body).
    """
    return json.loads((ASSETS / "report_sections.json").read_text(encoding="utf-8"))


def judged_queries(name: str, language: str | None = "en") -> list[Query]:
    """The judged queries of a corpus: "report", "python" or "pages", which are those of lab.reference_documents().

    All were written down, with what answers them, before any search was run on them.
    Those in one language are given ("en"; the report has "fr" too), or all of them with None. A query over pages that
    no page of the running interpreter's reference answers is left out.
    Raises ValueError for a corpus or a language that has none.
    """
    if name not in _JUDGED:
        known = ", ".join(repr(known) for known in _JUDGED)
        raise ValueError(
            _("There are no judged queries named {name!r}: choose one of {known}.").format(
                name=name, known=known
            )
        )
    file_name, relevant = _JUDGED[name]
    with open(ASSETS / file_name, encoding="utf-8", newline="") as file:
        queries = [_query(row, relevant) for row in csv.DictReader(file, delimiter="\t")]
    queries = [query for query in queries if query.relevant]
    if language is None:
        return queries
    chosen = [query for query in queries if query.language == language]
    if not chosen:
        known = ", ".join(sorted({repr(query.language) for query in queries}))
        raise ValueError(
            _(
                "The judged queries {name!r} have none in the language {language!r}: choose one of {known}."
            ).format(name=name, language=language, known=known)
        )
    return chosen


def _query(row: dict, relevant: Callable[[str], frozenset]) -> Query:
    return Query(row["id"], row["text"], row["kind"], relevant(row["relevant"]), row["language"])


def _pages_with(passages: list[str]) -> frozenset[str]:
    from lab.manuals import pages_with

    return pages_with(passages)


def document_from_file(path: str | Path) -> dict:
    """A document made from a text file: "id" (the file's name) and "content" (its text).

    Reads .txt and .md in UTF-8, with or without a byte order mark, with any line ends, up to 20 MB.
    Raises DocumentError, a ValueError, whose message names the file and says what to do.
    """
    path = existing_file(path)
    _check_suffix(path)
    return document_from_bytes(path, bytes_of(path, MAX_FILE_BYTES))


def existing_file(path: str | Path) -> Path:
    """The path of a file that is there. Raises DocumentError for a folder and for nothing."""
    path = Path(path).expanduser()
    if _is(path, Path.is_dir):
        raise DocumentError(_("{path} is a folder: give the path of one file in it.").format(path=path))
    if not _is(path, Path.is_file):
        raise DocumentError(
            _("There is no file {path}: check the name and the folder (you are in {here}).").format(
                path=path, here=Path.cwd()
            )
        )
    return path


def bytes_of(path: Path, most: int) -> bytes:
    """The bytes of a file, cut off after one more than ``most``. Raises DocumentError where it cannot be opened."""
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise DocumentError(
            _("{path} cannot be opened ({reason}): check that you may read it.").format(
                path=path, reason=error.strerror or error
            )
        ) from error


def _is(path: Path, kind: Callable[[Path], bool]) -> bool:
    """Path.is_dir or Path.is_file, also for a name that the system does not take, such as one too long."""
    try:
        return kind(path)
    except (OSError, ValueError):
        return False


def document_from_bytes(name: str | Path, data: bytes) -> dict:
    """The document that document_from_file makes of a file with this name and these bytes.

    Raises DocumentError as it does.
    """
    path = Path(name)
    _check_suffix(path)
    return {"id": path.name, "content": text_of(data, path)}


def text_of(data: bytes, path: Path) -> str:
    """The text that a file's bytes hold in UTF-8. Raises DocumentError as document_from_file does."""
    if len(data) > MAX_FILE_BYTES:
        raise DocumentError(
            _("{path} is larger than 20 MB: cut it up and give one of the parts.").format(path=path)
        )
    return _decoded(data, path)


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in TEXT_SUFFIXES:
        raise DocumentError(
            _(
                "{path} is no .txt or .md file: save its text as one of these, in UTF-8, and give that file."
            ).format(path=path)
        )


def _decoded(data: bytes, path: Path) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            _(
                "{path} is not text in UTF-8 (byte {position} is wrong): save it as UTF-8 in an editor."
            ).format(path=path, position=error.start + 1)
        ) from error
    if "\0" in text:
        raise DocumentError(
            _("{path} holds binary data, not text: save its text in UTF-8.").format(path=path)
        )
    if not text.strip():
        raise DocumentError(_("{path} is empty: put text in it, or give another file.").format(path=path))
    return text.replace("\r\n", "\n").replace("\r", "\n")
