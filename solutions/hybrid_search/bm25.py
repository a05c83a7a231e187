"""Unit 02: turn text into tokens, weigh terms, search by words with BM25."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

from .documents import DocumentList, check_count, check_query

_ACCENTS = re.compile("[\u0300-\u036f]")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['\u2019](?=\w)")
_RUN = re.compile(r"\w+(?:[-.]\w+)*")
_IDENTIFIER = re.compile(r"[\d_]")
_PARTS = re.compile(r"[-.]")
_BLOCK = 256  # scores


def tokenize(text: str) -> list[str]:
    """The terms of a text, in order, ready for a keyword index.

    Case and accents are folded, so that "École", in either Unicode form, is "ecole". French elisions are
    split off ("l'école" gives "ecole"). A run with a digit or an underscore is an identifier and stays one
    token (``INC-2023-Q4-011``, ``ERR_MEM``, ``4.2.7``); any other run is split at hyphens and dots
    ("two-factor" gives "two" and "factor"). English and French stop words are dropped.

    Raises TypeError for anything but a str.
    """
    if not isinstance(text, str):
        raise TypeError(f"the text must be a str: got {type(text).__name__}")
    stop_words = _stop_words()
    tokens = []
    for run in _RUN.findall(_ELISION.sub(" ", _fold(text))):
        tokens += [run] if _IDENTIFIER.search(run) else _PARTS.split(run)
    return [token for token in tokens if token not in stop_words]


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))


@cache
def _stop_words() -> frozenset[str]:
    # The file with the lists alone: the package around it brings numpy and scipy, which take a quarter of a second.
    package = find_spec("bm25s")
    if package is None:
        raise ModuleNotFoundError("No module named 'bm25s'", name="bm25s")
    file = spec_from_file_location("stopwords", Path(package.origin).with_name("stopwords.py"))
    lists = module_from_spec(file)
    file.loader.exec_module(lists)
    return frozenset(_fold(word) for word in (*lists.STOPWORDS_EN_PLUS, *lists.STOPWORDS_FRENCH))


def idf(term: str, documents: Sequence[Sequence[str]]) -> float:
    """The inverse document frequency of a term: ln(1 + (N - n + 0.5) / (n + 0.5)).

    ``documents`` are N lists of tokens; n is the number of them that contain the term, however often.
    Never negative; higher is rarer. Source: Robertson and Zaragoza, 2009, with the 1 inside the logarithm
    that Lucene adds.
    """
    n = sum(term in document for document in documents)
    return _idf(len(documents), n)


def _idf(documents: int, containing: int) -> float:
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


def _best(scores, k: int) -> list[int]:
    """The positions of the k highest scores above zero, highest first; equal scores in their order."""
    import numpy as np

    # At least k scores reach the k-th highest of the blocks' maxima, and few more do: the others are out.
    maxima = np.maximum.reduceat(scores, np.arange(0, len(scores), _BLOCK))
    least = np.partition(maxima, -k)[-k] if k < len(maxima) else 0
    found = np.flatnonzero(scores >= least if least > 0 else scores > 0)
    if len(found) > k:
        # Whoever ties with the worst of the best k stays, so that the order of addition decides below.
        found = found[scores[found] >= np.partition(scores[found], -k)[-k]]
    return found[np.argsort(-scores[found], kind="stable")][:k].tolist()


@cache
def _model_class() -> type:
    # rank-bm25 brings numpy, which whoever only cuts text into tokens need not load.
    from rank_bm25 import BM25Okapi

    class Okapi(BM25Okapi):
        """BM25Okapi with an IDF that stays above zero for a term in half of the documents or more."""

        def _initialize(self, corpus: list[list[str]]) -> dict[str, int]:
            containing = super()._initialize(corpus)
            # With b = 1 the score of a document without tokens would be 0 divided by 0.
            self.doc_len = [max(1, length) for length in self.doc_len]
            return containing

        def _calc_idf(self, containing: dict[str, int]) -> None:
            self.idf = {term: _idf(self.corpus_size, n) for term, n in containing.items()}

    return Okapi


class BM25Index:
    """Search by words with BM25, on rank-bm25.

    ``tokenize`` turns a text into a list of tokens. k1 bounds what repeating a term is worth; b says how
    much long documents are held back. Source: Robertson and Zaragoza, "The Probabilistic Relevance
    Framework: BM25 and Beyond", 2009.
    """

    def __init__(
        self, tokenize: Callable[[str], Sequence[str]] = tokenize, k1: float = 1.5, b: float = 0.75
    ) -> None:
        if not (math.isfinite(k1) and k1 > 0):
            raise ValueError(f"k1 must be a number above 0: got {k1!r}")
        if not 0 <= b <= 1:
            raise ValueError(f"b must be between 0 and 1: got {b!r}")
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self._documents = DocumentList()
        self._tokens: list[list[str]] = []
        self._model = None  # made at the first search after an addition

    def __getstate__(self) -> dict:
        """For a copy or a pickle: without the model, which is made again."""
        return self.__dict__ | {"_model": None}

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def documents(self) -> list[dict]:
        """The documents, in the order in which they were added."""
        return list(self._documents)

    @property
    def tokens(self) -> list[list[str]]:
        """The tokens of each document, in the same order."""
        return [list(tokens) for tokens in self._tokens]

    def add_document(self, document: dict) -> None:
        """Add a document. The same object again is ignored; another with its id is a ValueError."""
        self.add_documents([document])

    def add_documents(self, documents: Iterable[dict]) -> None:
        """Add many documents. If one is refused, none is added."""
        new = self._documents.new(documents)
        self._append([self._tokens_of(document["content"]) for document in new], new)

    def add_tokens(self, tokens: Sequence[str], document: dict) -> None:
        """Add a document whose tokens are known, so that they need not be made again."""
        if isinstance(tokens, str):
            raise TypeError("tokens must be a list: got one str, which reads as single letters")
        new = self._documents.new([document])
        self._append([list(tokens) for _ in new], new)

    def _append(self, tokens: list[list[str]], documents: list[dict]) -> None:
        self._documents.extend(documents)
        self._tokens += tokens
        if documents:
            self._model = None

    def search(self, query: str, k: int = 1) -> list[tuple[dict, float]]:
        """At most k pairs (document, BM25 score), best first.

        The score rises as a document fits better. It has no upper bound and means nothing across queries.
        Only documents that share a term with the query are returned; equal scores keep the order of
        addition. An empty index or a query without a known term gives []. Raises ValueError for k < 1 or
        an empty query.
        """
        check_query(query)
        k = check_count(k, "k")
        terms = self._tokens_of(query)
        if not any(self._tokens):  # rank-bm25 divides by the number of tokens
            return []
        if self._model is None:
            self._model = self._make_model()
        scores = self._scores(terms)
        return [(self._documents[position], float(scores[position])) for position in _best(scores, k)]

    def _make_model(self):
        return _model_class()(self._tokens, k1=self.k1, b=self.b)

    def _scores(self, terms: list[str]):
        """The score of each document, as an array: 0 where it shares no term."""
        return self._model.get_scores(terms)

    def _tokens_of(self, text: str) -> list[str]:
        tokens = self.tokenize(text)
        if isinstance(tokens, str):
            raise TypeError(
                "tokenize must give a list of tokens: it gave one str, which reads as single letters"
            )
        return list(tokens)
