"""Files and texts as pages: where a page ends, what a PDF gives, and what is said of a file that gives none."""

import io
import re
import subprocess
import sys
import time

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

import lab
from lab import paging

TEXT = "".join(f"Paragraph {number}. " + "It says a little more. " * 8 + "\n\n" for number in range(30))


def pdf(*texts, **encryption) -> bytes:
    """A PDF with one text a page, and a page without any for ""."""
    writer = PdfWriter()
    font = DictionaryObject(
        {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")}
    )
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    for text in texts:
        page = writer.add_blank_page(300, 300)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        drawn = DecodedStreamObject()
        drawn.set_data(
            f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode("latin-1") if text else b"0 0 9 9 re f"
        )
        page[NameObject("/Contents")] = writer._add_object(drawn)
    if encryption:
        writer.encrypt(algorithm="RC4-128", **encryption)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


@pytest.fixture
def file(tmp_path):
    def written(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return written


# ---- texts


def test_a_text_is_cut_at_its_form_feeds_and_blank_pages_keep_their_numbers():
    assert lab.pages_from_text("one\n\f\ntwo\f\f four\n") == ["one", "two", "", " four"]
    assert lab.pages_from_text("one\ftwo\f\n") == ["one", "two"]
    assert lab.pages_from_text("\fone") == ["", "one"]


def test_form_feeds_go_before_length():
    assert lab.pages_from_text(TEXT + "\fend") == [TEXT.strip("\n"), "end"]


@pytest.mark.parametrize("text", ["", " \n\t", "\f\f \n"])
def test_a_text_without_a_character_gives_no_page(text):
    assert lab.pages_from_text(text) == []


def test_pages_cut_by_length_end_between_paragraphs_and_lose_no_word():
    pages = lab.pages_from_text(TEXT)
    assert len(pages) > 4 and all(len(page) <= paging.PAGE_CHARACTERS for page in pages)
    assert all(page.startswith("Paragraph") for page in pages)
    lengths = [len(page) for page in pages]
    assert min(lengths[:-1]) > 0.8 * paging.PAGE_CHARACTERS  # no further paragraph would have fitted
    assert " ".join(pages).split() == TEXT.split()


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("a line of words\n" * 20, "words"),
        ("One sentence is this. " * 20, "this."),
        ("word " * 60, "word"),
        ("x" * 300, "x"),
    ],
    ids=["lines", "sentences", "words", "one word"],
)
def test_where_there_is_no_paragraph_a_page_ends_at_the_next_best_place(text, ends):
    pages = lab.pages_from_text(text, characters=70)
    assert all(page.endswith(ends) and 35 <= len(page) <= 70 for page in pages[:-1])
    assert "".join("".join(pages).split()) == "".join(text.split())


def test_a_short_text_is_one_page_and_no_page_is_blank():
    assert lab.pages_from_text("\n\na pump\n") == ["a pump"]
    pages = lab.pages_from_text("start" + "\n" * 5000 + "end")
    assert pages == ["start", "end"]


def test_an_end_at_the_limit_makes_no_page_longer():
    for characters in range(1, 40):
        pages = lab.pages_from_text("One two. Three\nfour\n\nfive six seven.", characters=characters)
        assert max(map(len, pages)) <= characters
        assert "".join("".join(pages).split()) == "Onetwo.Threefourfivesixseven."


def test_a_text_of_a_megabyte_is_cut_in_bounded_time():
    begin = time.perf_counter()
    for text in ("x" * 1_000_000, "word " * 200_000, "\n" * 1_000_000 + "end"):
        assert lab.pages_from_text(text)
    assert time.perf_counter() - begin < 20


def test_what_is_no_text_and_a_page_without_room_are_refused():
    with pytest.raises(TypeError, match="one text: got list"):
        lab.pages_from_text(["a page"])
    with pytest.raises(ValueError, match="at least 1 character: got 0"):
        lab.pages_from_text("a page", characters=0)


# ---- files


def test_a_text_file_has_the_pages_of_its_text(file):
    assert lab.pages_from_file(file("notes.md", b"\xef\xbb\xbfone\r\n\r\n\ftwo\r\nlines")) == [
        "one",
        "two\nlines",
    ]
    assert lab.pages_from_file(str(file("long.txt", TEXT.encode()))) == lab.pages_from_text(TEXT)


def test_each_page_of_a_pdf_is_a_page_also_one_without_text(file):
    path = file("Manual.PDF", pdf("The pump leaks", "", "Seal 4 of 7"))
    assert lab.pages_from_file(path) == ["The pump leaks", "", "Seal 4 of 7"]


def test_a_pdf_that_all_may_read_but_not_change_is_read(file):
    assert lab.pages_from_file(file("a.pdf", pdf("open", user_password="", owner_password="x"))) == ["open"]


FAULTS = {
    "encrypted": ("a.pdf", pdf("secret", user_password="x"), "is encrypted: open it in a viewer"),
    "scanned": ("a.pdf", pdf("", ""), "pictures of pages but no text, as a scan does"),
    "empty PDF": ("a.pdf", b"\n", "is empty: give another file"),
    "no PDF": ("a.pdf", b"hello", "is damaged, or no PDF"),
    "PDF cut short": ("a.pdf", pdf("one", "two")[:200], "is damaged, or no PDF"),
    "only a head": ("a.pdf", b"%PDF-1.4\n" + b"x" * 1000, "is damaged, or no PDF"),
    "empty text": ("a.txt", b"", "is empty"),
    "blank text": ("a.txt", b" \n\f\n", "is empty"),
    "no UTF-8": ("a.txt", b"caf\xe9", "is not text in UTF-8"),
    "another kind": ("a.docx", b"PK", "is no .pdf, .txt or .md file"),
}


@pytest.mark.parametrize(("name", "data", "message"), FAULTS.values(), ids=FAULTS)
def test_a_file_without_pages_says_what_is_wrong_and_what_to_do(file, name, data, message, capfd):
    path = file(name, data)
    with pytest.raises(lab.DocumentError, match=re.escape(message)) as caught:
        lab.pages_from_file(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert capfd.readouterr().err == ""


def test_a_pdf_in_a_cipher_that_the_library_lacks_is_encrypted_too(file, monkeypatch):
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    def lacking(self, password):
        raise DependencyError("cryptography>=3.1 is required for AES algorithm")

    monkeypatch.setattr(PdfReader, "decrypt", lacking)
    with pytest.raises(lab.DocumentError, match="is encrypted"):
        lab.pages_from_file(file("a.pdf", pdf("open", user_password="")))


def test_a_file_that_is_none_is_named(tmp_path):
    with pytest.raises(lab.DocumentError, match="is a folder"):
        lab.pages_from_file(tmp_path)
    with pytest.raises(lab.DocumentError, match="There is no file"):
        lab.pages_from_file(tmp_path / "none.pdf")


@pytest.mark.parametrize("limit", ["MAX_PDF_BYTES", "MAX_PDF_PAGES"])
def test_a_pdf_that_is_too_large_is_refused(file, monkeypatch, limit):
    path = file("a.pdf", pdf("one", "two"))
    monkeypatch.setattr(paging, limit, 1)
    with pytest.raises(lab.DocumentError, match="larger than 100 MB or 5,000 pages"):
        lab.pages_from_file(path)


def test_a_text_file_that_is_too_large_is_refused(file, monkeypatch):
    monkeypatch.setattr("lab.corpora.MAX_FILE_BYTES", 10)
    monkeypatch.setattr(paging, "MAX_FILE_BYTES", 10)
    with pytest.raises(lab.DocumentError, match="larger than 20 MB"):
        lab.pages_from_file(file("a.txt", b"x" * 11))


def test_what_no_text_holds_is_left_out_of_a_page():
    assert paging._clean("a\0b \ud800c  \n\n") == "ab ?c"


def test_of_a_damaged_pdf_nothing_is_said_on_stderr(file):
    """nbgrader takes any output there for a failure, and the library warns of all that it cannot make out."""
    path = file("a.pdf", b"hello")
    code = f"import lab\ntry:\n    lab.pages_from_file({str(path)!r})\nexcept lab.DocumentError:\n    print('refused')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("refused\n", "")


def test_a_pdf_library_is_loaded_only_for_a_pdf():
    code = "import sys, lab; lab.pages_from_text('a'); print('pypdf' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
