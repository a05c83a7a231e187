"""Which Qdrant serves the notebooks: the server that QDRANT_URL names, or one inside this process."""

import atexit
import os
import warnings
from pathlib import Path

from lab.errors import ServiceError
from lab.language import _

_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 60

# Which kinds of Qdrant have been announced, and the folders that this process has open.
_said: set[str] = set()
_folders: dict = {}


def qdrant(folder: str | os.PathLike | None = None):
    """A client of Qdrant (``qdrant_client.QdrantClient``). The first time, a printed line says of which one.

    That is the server that QDRANT_URL names, where this is set, with the key in QDRANT_API_KEY if it wants one; the
    server keeps what is in it. Else it is Qdrant's local mode, inside this process: in memory, new and empty with
    every call, or in a ``folder``, where it stays. A folder can be open in one process at a time. Open only folders of
    your own: what is in them is run by Python's pickle.

    Raises ServiceError, of one sentence that never holds the address or the key, where there is no such client.
    """
    try:
        import qdrant_client  # noqa: F401
    except ImportError as missing:
        raise ServiceError(
            _("The package {package} is missing: run `pip install qdrant-client`.").format(
                package=(missing.name or "qdrant-client").partition(".")[0].replace("_", "-")
            )
        ) from None
    url = os.environ.get("QDRANT_URL", "").strip()
    if url:
        return _server(url, os.environ.get("QDRANT_API_KEY", "").strip())
    return _in_memory() if folder is None else _in_folder(Path(folder).expanduser().resolve())


def _announce(line: str) -> None:
    if line not in _said:
        _said.add(line)
        print(line)


def _in_memory():
    from qdrant_client import QdrantClient

    client = QdrantClient(":memory:")
    _announce(_("Qdrant: local mode, in the memory of this notebook."))
    return client


def _in_folder(folder: Path):
    from qdrant_client import QdrantClient

    client = _folders.get(folder)
    if client is None or client._client.closed:  # the client itself does not say so
        try:
            client = _folders[folder] = QdrantClient(path=str(folder))
        except OSError as error:
            sentence = _(
                "Qdrant cannot keep its data in {folder} ({reason}): give a folder that you may write to."
            ).format(folder=folder, reason=error.strerror or error)
        except Exception as error:
            sentence = _broken(folder, error)
        else:
            sentence = ""
        if sentence:
            raise ServiceError(sentence)
        # Otherwise it would be closed while Python shuts down, which fails with a traceback.
        atexit.register(client.close)
    _announce(_("Qdrant: local mode, in the folder {folder}.").format(folder=folder))
    return client


def _broken(folder: Path, error: Exception) -> str:
    if isinstance(error, RuntimeError) and "already accessed" in str(error):
        return _(
            "Another notebook or program has the Qdrant folder {folder} open, and only one can: shut its kernel "
            "down, or give another folder."
        ).format(folder=folder)
    return _(
        "What is in the Qdrant folder {folder} cannot be read ({reason}): it is damaged, or of another version of "
        "qdrant-client. Give another folder, or delete this one and add your documents again."
    ).format(folder=folder, reason=type(error).__name__)


def _server(url: str, key: str):
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ServiceError(_bad_key())
    failure, version = "", ""
    try:
        probe = _client(url, key, _CONNECT_SECONDS)
        try:
            version = probe.info().version
            probe.get_collections()  # asks for the key, which the line before need not
        finally:
            probe.close()
    except Exception as error:
        failure = _refusal(error)
    # Raised outside the except block, so that no error hangs on to it whose text could hold address or key.
    if failure:
        raise ServiceError(failure)
    client = _client(url, key, _ANSWER_SECONDS)
    _announce(_("Qdrant {version}: the server that QDRANT_URL names.").format(version=version))
    return client


def _client(url: str, key: str, seconds: int):
    from qdrant_client import QdrantClient

    with warnings.catch_warnings():
        # That a key goes over plain http to a server on the same computer is no news.
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        return QdrantClient(url=url, api_key=key or None, timeout=seconds, check_compatibility=False)


def _refusal(error: Exception) -> str:
    from httpx import HTTPError
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse) and error.status_code in (401, 403):
        return _bad_key()
    if isinstance(error, UnexpectedResponse) and error.status_code >= 500:
        return _(
            "The Qdrant server that QDRANT_URL names has a fault of its own (status {status}): run the cell again in "
            "a minute, or unset QDRANT_URL for Qdrant on this computer."
        ).format(status=error.status_code)
    if isinstance(error, ResponseHandlingException) and isinstance(error.source, HTTPError):
        return _(
            "The Qdrant server that QDRANT_URL names cannot be reached: check the host and the port in it, and that "
            "the server runs; or unset QDRANT_URL for Qdrant on this computer."
        )
    return _(
        "QDRANT_URL is no address of a Qdrant server: write it as https://HOST:PORT, with the port that speaks REST "
        "(6333 by default), or unset it for Qdrant on this computer."
    )


def _bad_key() -> str:
    return _(
        "The Qdrant server does not accept the key in QDRANT_API_KEY: check it, or unset QDRANT_URL for Qdrant on "
        "this computer."
    )
