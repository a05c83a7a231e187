"""The texts, the judged queries, and documents read from a file."""

import sys
from collections import Counter

import pytest

import lab
from hybrid_search import chunk_by_section


def test_stored_sections_are_what_chunk_by_section_cuts():
    assert [section["content"] for section in lab.sections()] == chunk_by_section(lab.report())


def test_sections_are_numbered_as_their_headings_say():
    assert [section["id"] for section in lab.sections()] == list(range(1, 11))
    for section in lab.sections():
        assert section["title"].startswith(f"Section {section['id']}: ")
        assert section["content"].startswith(section["title"] + "\n\n")


def test_sections_are_new_at_each_call():
    lab.sections()[0]["content"] = "changed"
    assert lab.sections()[0]["content"] != "changed"


def test_judged_queries_are_english_unless_asked_otherwise():
    queries = lab.judged_queries("report")
    assert len(queries) == 30 and {query.language for query in queries} == {"en"}
    assert {query.kind for query in queries} == {"conceptual", "identifier", "mixed"}
    assert {query.language for query in lab.judged_queries("report", language="fr")} == {"fr"}
    assert len(lab.judged_queries("report", language=None)) == 38


def test_judged_queries_name_sections_that_exist():
    queries = lab.judged_queries("report", language=None)
    known = {section["id"] for section in lab.sections()}
    assert all(query.relevant and query.relevant <= known for query in queries)
    assert len({query.id for query in queries}) == len(queries)
    assert queries[0].relevant == frozenset({10, 2, 5})


def test_identifiers_of_queries_stand_in_their_relevant_sections():
    content = {section["id"]: section["content"] for section in lab.sections()}
    for query in lab.judged_queries("report"):
        if query.kind == "identifier":
            holding = {number for number, text in content.items() if query.text in text}
            assert holding == query.relevant, query.text


def test_unknown_judged_queries_list_the_known_ones():
    with pytest.raises(ValueError, match="'reprot'.*'report'"):
        lab.judged_queries("reprot")
    with pytest.raises(ValueError, match="'de'.*'en', 'fr'"):
        lab.judged_queries("report", language="de")


def test_python_reference_is_the_same_at_every_call():
    documents = lab.python_reference()
    assert documents == lab.python_reference()
    assert len({document["id"] for document in documents}) == len(documents)
    assert 550 <= len(documents) <= 800
    if sys.version_info[:2] == (3, 11):
        assert len(documents) <= 600


def test_python_reference_pieces_are_of_a_size_to_embed():
    contents = [document["content"] for document in lab.python_reference()]
    assert max(map(len, contents)) < 1200
    assert all(content.strip() and "\n\n" in content for content in contents)
    assert "---+---" not in "".join(contents)


def test_python_reference_loses_no_word_of_a_topic():
    from pydoc_data.topics import topics

    wanted, given = Counter(), Counter()
    wanted.update(lab.python_tokens(topics["attribute-access"]))
    for document in lab.python_reference():
        if document["topic"] == "attribute-access":
            given.update(lab.python_tokens(document["content"]))
    assert not wanted - given


def test_python_reference_ids_tell_topic_and_number():
    documents = [document for document in lab.python_reference() if document["topic"] == "attribute-access"]
    assert [document["id"] for document in documents[:2]] == ["attribute-access#1", "attribute-access#2"]


@pytest.mark.parametrize(
    ("topics", "contents"),
    [
        pytest.param(
            {"in": 'Tests\n*****\n\n   in_test ::= "in"\n\n\nMore\n====\n\nText.'},
            ['Tests\n\n   in_test ::= "in"', "More\n\nText."],
            id="3.11",
        ),
        pytest.param(
            {"in": 'Tests\n*****\n\n   in_test: "in"\n\n\nMore\n====\n\nText.\n'},
            ['Tests\n\n   in_test: "in"', "More\n\nText."],
            id="3.14",
        ),
        pytest.param({"in": "No heading at all."}, ["in\n\nNo heading at all."], id="no heading"),
    ],
)
def test_python_reference_reads_the_markup_of_each_version(monkeypatch, topics, contents):
    monkeypatch.setattr("pydoc_data.topics.topics", topics)
    assert [document["content"] for document in lab.python_reference()] == contents


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("what does @= do", ["@="]),
        ("How does *__slots__* save memory?", ["__slots__", "save", "memory"]),
        ("a/b and a // b", ["/", "b", "and", "//", "b"]),
        ('The "with" statement, "not in", **PEP 343**', ["with", "statement", "not", "in", "pep", "343"]),
        ("f(*args, **kwargs) -> x", ["f", "*", "args", "**", "kwargs", "->", "x"]),
        (
            "left-hand side; x - 1; -x; x -= 1",
            ["left", "hand", "side", "x", "-", "1", "-", "x", "x", "-=", "1"],
        ),
        ("augop ::= '|=' | '|'\n==========\n", ["augop", "|=", "|", "|"]),
        ("is_integer() in version 3.12", ["is_integer", "in", "version", "3.12"]),
        ("object.__getattr__(self, name)", ["object", "__getattr__", "self", "name"]),
        ("", []),
    ],
)
def test_python_tokens_keep_keywords_names_and_operators(text, tokens):
    assert lab.python_tokens(text) == tokens


@pytest.mark.parametrize(
    "data",
    [
        "# Début\n\nTexte.\n".encode(),
        "\ufeff# Début\n\nTexte.\n".encode(),
        "# Début\r\n\r\nTexte.\r\n".encode(),
        "# Début\r\rTexte.\r".encode(),
    ],
    ids=["utf-8", "byte order mark", "windows line ends", "old mac line ends"],
)
@pytest.mark.parametrize("name", ["notes.md", "notes.TXT"])
def test_document_from_file_reads_utf8_text(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    assert lab.document_from_file(path) == {"id": name, "content": "# Début\n\nTexte.\n"}
    assert lab.document_from_file(str(path))["id"] == name


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("missing.txt", None, "There is no file"),
        ("report.pdf", b"%PDF", "is no .txt or .md file"),
        ("latin.txt", "déjà".encode("latin-1"), r"not text in UTF-8 \(byte 2"),
        ("utf16.txt", "text".encode("utf-16"), "not text in UTF-8"),
        ("binary.txt", b"text\0text", "binary data"),
        ("empty.txt", b"", "is empty"),
        ("blank.md", b" \r\n\n", "is empty"),
        ("bom.txt", "\ufeff".encode(), "is empty"),
    ],
)
def test_document_from_file_says_what_is_wrong_and_where(tmp_path, name, data, message):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(lab.DocumentError, match=message) as caught:
        lab.document_from_file(path)
    assert str(path) in str(caught.value)
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_document_from_file_refuses_a_folder(tmp_path):
    with pytest.raises(ValueError, match="is a folder") as caught:
        lab.document_from_file(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_document_from_file_refuses_more_than_it_should_read(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.corpora.MAX_FILE_BYTES", 10)
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * 10)
    assert lab.document_from_file(path)["content"] == "x" * 10
    path.write_bytes(b"x" * 11)
    with pytest.raises(lab.DocumentError, match=r"long\.txt is larger than 20 MB"):
        lab.document_from_file(path)


def test_importing_lab_loads_nothing_heavy():
    import subprocess

    code = "import sys, lab; print(sorted({'numpy', 'onnxruntime', 'pandas', 'voyageai'} & set(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "[]"


def test_a_name_that_no_file_can_have_is_a_missing_file():
    with pytest.raises(lab.DocumentError, match="There is no file"):
        lab.document_from_file("a" * 5000 + ".txt")


def test_a_home_folder_may_be_written_short(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "notes.md").write_text("a pump", encoding="utf-8")
    assert lab.document_from_file("~/notes.md")["content"] == "a pump"
