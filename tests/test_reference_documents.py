"""The documents of many pages, and the judged queries over them: what they must be for a measurement to mean much."""

import csv
import re
from collections import Counter

import pytest

import lab
from lab import manuals
from lab.paths import ASSETS


@pytest.fixture(scope="module")
def documents():
    return lab.reference_documents()


@pytest.fixture(scope="module")
def queries():
    return lab.judged_queries("pages", language=None)


@pytest.fixture(scope="module")
def topics():
    from pydoc_data.topics import topics

    return topics


def rows():
    with open(ASSETS / "pages_queries.tsv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def paragraphs(text):
    """The text's paragraphs, without line ends and without the lines drawn under headings."""
    plain = re.sub(r"^\W+$", "", text, flags=re.MULTILINE)
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", plain) if paragraph.strip()]


# ---- documents


def test_there_are_several_documents_and_at_least_300_pages(documents):
    assert 8 <= len(documents) <= 12
    assert sum(map(len, documents.values())) >= 300
    assert min(map(len, documents.values())) >= 10


def test_no_page_is_blank_or_longer_than_a_page(documents):
    for file_name, pages in documents.items():
        for page in pages:
            assert page.strip() and len(page) <= 1200, file_name


def test_no_two_pages_are_the_same(documents):
    pages = [page for pages in documents.values() for page in pages]
    assert len(set(pages)) == len(pages)


def test_every_topic_stands_in_one_document_whole_or_as_a_part_of_another(topics):
    named = [topic for names in manuals.DOCUMENTS.values() for topic in names]
    assert len(set(named)) == len(named) and set(named) <= set(topics)
    in_named = {paragraph for topic in named for paragraph in paragraphs(topics[topic])}
    for topic in set(topics) - set(named):
        own = paragraphs(topics[topic])
        assert sum(paragraph in in_named for paragraph in own) >= 0.8 * len(own), topic
    for topic in named:
        others = {paragraph for name in named if name != topic for paragraph in paragraphs(topics[name])}
        own = paragraphs(topics[topic])
        assert sum(paragraph in others for paragraph in own) < 0.5 * len(own), topic


def test_no_words_are_lost_and_a_topic_begins_a_page(documents, topics):
    for file_name, names in manuals.DOCUMENTS.items():
        text = " ".join(manuals.without_drawings(topics[name]) for name in names)
        assert " ".join(documents[file_name]).split() == text.split()
        for name in names:
            start = topics[name].strip().split("\n")[0]
            assert any(page.startswith(start) for page in documents[file_name]), name


def test_documents_are_the_same_and_new_at_each_call(documents):
    lab.reference_documents()["debugger.txt"].clear()
    assert lab.reference_documents() == documents


def test_a_topic_that_another_python_lacks_leaves_a_shorter_document(documents, topics, monkeypatch):
    others = {name: text for name, text in topics.items() if name not in ("debugger", "assert")}
    monkeypatch.setattr("pydoc_data.topics.topics", others)
    shorter = lab.reference_documents()
    assert shorter["debugger.txt"] == []
    assert len(shorter["simple-statements.txt"]) == len(documents["simple-statements.txt"]) - 1


def test_the_report_is_a_small_document_of_ten_pages():
    assert lab.report_pages() == [section["content"] for section in lab.sections()]
    assert len(lab.report_pages()) == 10


# ---- judged queries


def test_each_kind_has_its_third(queries):
    kinds = Counter(query.kind for query in queries)
    assert set(kinds) == {"conceptual", "identifier", "mixed"}
    assert len(queries) >= 60 and max(kinds.values()) - min(kinds.values()) <= 1
    assert queries == lab.judged_queries("pages")


def test_no_id_and_no_text_occurs_twice_here_or_among_the_other_judged_queries(queries):
    assert len({query.id for query in queries}) == len(queries)
    others = {
        query.text.casefold() for name in ("python", "report") for query in lab.judged_queries(name, None)
    }
    texts = [query.text.casefold() for query in queries]
    assert len(set(texts)) == len(texts) and others.isdisjoint(texts)
    assert all(query.text == " ".join(query.text.split()) for query in queries)


def test_every_passage_is_found_on_a_page_of_the_running_interpreters_reference():
    for row in rows():
        for passage in row["relevant"].split(" | "):
            found = manuals.pages_with([passage])
            assert 1 <= len(found) <= 2, (row["id"], passage, sorted(found))


def test_no_query_is_left_out_and_one_to_four_pages_answer_each(queries, documents):
    assert [query.id for query in queries] == [row["id"] for row in rows()]
    known = {f"{name}:{number}" for name, pages in documents.items() for number in range(1, len(pages) + 1)}
    for query in queries:
        assert 1 <= len(query.relevant) <= 4 and query.relevant <= known, query


def test_a_relevant_page_holds_the_passage_itself(queries, documents):
    by_id = {query.id: query for query in queries}
    assert by_id["g23"].text == "popitem"
    (page,) = by_id["g23"].relevant
    file_name, _, number = page.rpartition(":")
    assert "Remove and return a" in documents[file_name][int(number) - 1]


def test_an_identifier_stands_on_each_page_that_answers_it_or_on_the_page_before(queries, documents):
    """A page may end between the head of a description and the description."""
    for query in queries:
        if query.kind == "identifier":
            for page in query.relevant:
                file_name, _, number = page.rpartition(":")
                around = documents[file_name][max(int(number) - 2, 0) : int(number)]
                assert any(query.text in text for text in around), (query, page)


def test_answers_are_spread_over_the_documents(queries):
    pages = frozenset().union(*(query.relevant for query in queries))
    assert len(pages) >= 70
    assert {page.rpartition(":")[0] for page in pages} == set(manuals.DOCUMENTS)


def test_conceptual_queries_share_few_words_with_the_passages_that_answer_them():
    conceptual = [row for row in rows() if row["kind"] == "conceptual"]
    apart = [row for row in conceptual if words(row["text"]).isdisjoint(words(row["relevant"]))]
    assert len(apart) >= 0.7 * len(conceptual)


def words(text):
    return set(re.findall(r"\w+", text.lower())) - lab.stop_words()


def test_a_query_that_no_page_answers_is_left_out(monkeypatch, queries):
    monkeypatch.setattr(manuals, "pages_with", lambda passages: frozenset())
    with pytest.raises(ValueError, match="have none in the language"):
        lab.judged_queries("pages")
    assert lab.judged_queries("pages", language=None) == []


def test_layout_does_not_count_when_a_passage_is_looked_for():
    assert manuals._words('a *named*\n   "thing"') == manuals._words("a named thing")
    assert manuals.pages_with(["no page says this sentence"]) == frozenset()
