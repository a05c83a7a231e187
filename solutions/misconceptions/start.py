"""Unit 00: wrong ways to find a term."""


def dict_searched(term, documents):
    return [document for document in documents if term.lower() in document]


def case_kept(term, documents):
    return [document for document in documents if term in document["content"]]


def text_case_kept(term, documents):
    return [document for document in documents if term.lower() in document["content"]]


def first_only(term, documents):
    for document in documents:
        if term.lower() in document["content"].lower():
            return [document]
    return []


def true_or_false(term, documents):
    return any(term.lower() in document["content"].lower() for document in documents)


def others_returned(term, documents):
    return [document for document in documents if term.lower() not in document["content"].lower()]


def ids_returned(term, documents):
    return [document["id"] for document in documents if term.lower() in document["content"].lower()]


def whole_words_only(term, documents):
    return [document for document in documents if term.lower() in document["content"].lower().split()]


def texts_returned(term, documents):
    return [document["content"] for document in documents if term.lower() in document["content"].lower()]


def beginning_only(term, documents):
    return [document for document in documents if document["content"].lower().startswith(term.lower())]


_WRONG = (
    dict_searched,
    case_kept,
    text_case_kept,
    first_only,
    true_or_false,
    others_returned,
    ids_returned,
    whole_words_only,
    texts_returned,
    beginning_only,
)

IMPLEMENTATIONS = {"find_term": {wrong.__name__: (wrong,) for wrong in _WRONG}}
