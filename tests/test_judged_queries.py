"""The judged queries over Python's language reference: what they must be for a measurement to mean anything."""

import re
from collections import Counter

import pytest

import lab


@pytest.fixture(scope="module")
def queries():
    return lab.judged_queries("python", language=None)


@pytest.fixture(scope="module")
def topics():
    from pydoc_data.topics import topics

    return topics


def content_words(*texts):
    return set(re.findall(r"\w+", " ".join(texts).lower())) - lab.stop_words()


def test_each_kind_has_its_third(queries):
    kinds = Counter(query.kind for query in queries)
    assert set(kinds) == {"conceptual", "identifier", "mixed"}
    assert len(queries) >= 66
    assert min(kinds.values()) >= 22 and max(kinds.values()) - min(kinds.values()) <= 1


def test_all_are_english_so_that_no_language_need_be_asked(queries):
    assert queries == lab.judged_queries("python")


def test_no_id_and_no_text_occurs_twice(queries):
    assert len({query.id for query in queries}) == len(queries)
    assert len({query.text.casefold() for query in queries}) == len(queries)
    assert all(query.text == " ".join(query.text.split()) for query in queries)


def test_one_to_three_topics_of_the_running_interpreter_answer_each(queries, topics):
    for query in queries:
        assert 1 <= len(query.relevant) <= 3, query
        assert query.relevant <= set(topics), query


def test_topics_are_those_of_the_documents(queries):
    known = {document["topic"] for document in lab.python_reference()}
    assert frozenset().union(*(query.relevant for query in queries)) <= known


def test_answers_are_spread_over_the_reference(queries):
    assert len(frozenset().union(*(query.relevant for query in queries))) >= 40


def test_a_third_of_the_conceptual_share_no_content_word_with_their_topics(queries, topics):
    conceptual = [query for query in queries if query.kind == "conceptual"]
    apart = [
        query
        for query in conceptual
        if content_words(query.text).isdisjoint(content_words(*map(topics.get, query.relevant)))
    ]
    assert all(content_words(query.text) for query in apart)
    assert len(apart) >= len(conceptual) / 3


def test_an_identifier_stands_in_a_topic_that_answers_it(queries, topics):
    for query in queries:
        if query.kind == "identifier":
            assert any(query.text in topics[topic] for topic in query.relevant), query
