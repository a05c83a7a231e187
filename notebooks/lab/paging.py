"""Documents as pages: a list of texts, in order, the first of which is page 1."""

import io
import logging
import re
from pathlib import Path

from lab.corpora import MAX_FILE_BYTES, TEXT_SUFFIXES, bytes_of, existing_file, text_of
from lab.errors import DocumentError
from lab.language import _
from lab.progress import progress

MAX_PDF_BYTES = 100_000_000
MAX_PDF_PAGES = 5000

# About a screenful: three or four paragraphs.
PAGE_CHARACTERS = 1200

# Where a page may end, the best place first: between paragraphs, lines, sentences, words.
_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n[^\S\n]*\n", r"\n", r"(?<=[.!?…])\s", r"\s"))


def pages_from_file(path: str | Path, characters: int = PAGE_CHARACTERS) -> list[str]:
    """The pages of a file: of a PDF the text of each page, of a .txt or .md file those of pages_from_text.

    Reads PDF files up to 100 MB and 5,000 pages, text in UTF-8 up to 20 MB. A page of a PDF without text, such as a
    picture, is a blank page, so that page numbers are those of the file.
    Raises DocumentError, a ValueError, whose message names the file and says what to do.
    """
    path = existing_file(path)
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        return _pages_of_pdf(path)
    if suffix in TEXT_SUFFIXES:
        return pages_from_text(text_of(bytes_of(path, MAX_FILE_BYTES), path), characters)
    raise DocumentError(
        _("{path} is no .pdf, .txt or .md file: save it as one of these, and give that file.").format(
            path=path
        )
    )


def _pages_of_pdf(path: Path) -> list[str]:
    data = bytes_of(path, MAX_PDF_BYTES)
    if not data.strip():
        raise DocumentError(_("{path} is empty: give another file.").format(path=path))
    if len(data) > MAX_PDF_BYTES:
        raise _too_large(path)
    # The library tells of every oddity that it repairs, on stderr.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    import pypdf

    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        # A file that may be read by all, though not changed, opens with an empty password.
        if reader.is_encrypted and not reader.decrypt(""):
            raise _encrypted(path)
        if len(reader.pages) > MAX_PDF_PAGES:
            raise _too_large(path)
        pages = [_clean(page.extract_text()) for page in progress(reader.pages, _("Reading pages"))]
    except DocumentError:
        raise
    except pypdf.errors.DependencyError as error:
        raise _encrypted(path) from error
    except Exception as error:  # what a damaged file raises in the library is without bounds
        raise DocumentError(
            _(
                "{path} is damaged, or no PDF: open it in a viewer, save it as a new PDF, and give that file."
            ).format(path=path)
        ) from error
    if not any(pages):
        raise DocumentError(
            _(
                "{path} holds pictures of pages but no text, as a scan does: run it through text recognition (OCR), "
                "and give the new file."
            ).format(path=path)
        )
    return pages


def _encrypted(path: Path) -> DocumentError:
    return DocumentError(
        _("{path} is encrypted: open it in a viewer, print it to a new PDF, and give that file.").format(
            path=path
        )
    )


def _too_large(path: Path) -> DocumentError:
    return DocumentError(
        _("{path} is larger than 100 MB or 5,000 pages: cut it up and give one of the parts.").format(
            path=path
        )
    )


def _clean(text: str) -> str:
    """A page's text without what no text holds: NUL, half characters, blanks at line ends."""
    whole = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return "\n".join(line.rstrip() for line in whole.split("\n")).strip("\n")


def pages_from_text(text: str, characters: int = PAGE_CHARACTERS) -> list[str]:
    """The pages of a text: cut at its form feeds; where it has none, after ``characters`` at most.

    A cut by length falls between two paragraphs where it can, else between lines, sentences, words, and inside a
    word only where a page has nothing else. No page is blank, except those that form feeds leave blank, which keep
    the number of the others right. A text without a character gives no page.
    """
    if not isinstance(text, str):
        raise TypeError(_("Pages are made of one text: got {kind}.").format(kind=type(text).__name__))
    if characters < 1:
        raise ValueError(_("A page must have room for at least 1 character: got {n}.").format(n=characters))
    if not text.strip():
        return []
    if "\f" in text:
        pages = [page.strip("\n") for page in text.split("\f")]
        # A form feed at the very end closes the last page and begins none.
        return pages[:-1] if not pages[-1].strip() else pages
    return _cut(text, characters)


def _cut(text: str, characters: int) -> list[str]:
    pages, start = [], 0
    while start < len(text):
        end = start + characters
        if end < len(text):
            end = _last_break(text, start, end)
        if page := text[start:end].strip("\n").rstrip():
            pages.append(page)
        start = end
    return pages


def _last_break(text: str, start: int, end: int) -> int:
    """Where to end a page that begins at ``start`` and must end at ``end``: not before its middle, if it can be."""
    middle = (start + end) // 2
    for pattern in _BREAKS:
        places = [place.end() for place in pattern.finditer(text, middle, end)]
        if places:
            return places[-1]
    return end
