"""Unit 02: wrong tokenizers, wrong weights and wrong BM25 indexes."""

import math
import re
import unicodedata

from rank_bm25 import BM25Okapi

from hybrid_search import idf
from hybrid_search import tokenize as right_tokenize
from hybrid_search.bm25 import _fold as fold
from hybrid_search.bm25 import _stop_words as stop_words

_RUN = r"\w+(?:[-.]\w+)*"


def _split(run):
    return [run] if re.search(r"[\d_]", run) else re.split(r"[-.]", run)


def _without_stop_words(tokens):
    return [token for token in tokens if token not in stop_words()]


def _tokenizer(fold=fold, run=_RUN, split=_split, drop=_without_stop_words):
    """A right tokenizer in small steps; each mistake below replaces one of them."""

    def tokenize(text):
        return drop([token for found in re.findall(run, fold(text)) for token in split(found)])

    return tokenize


def _split_at_spaces(text):
    return _without_stop_words(fold(text).split())


def _split_unless_digits(run):
    return [run] if re.search(r"\d", run) else re.split(r"[-.]", run)


def _with_parts(run):
    parts = re.split(r"[-.]", run)
    return [run, *parts] if re.search(r"[\d_]", run) and len(parts) > 1 else parts


def _split_at_hyphens(run):
    return [run] if re.search(r"[\d_]", run) else run.split("-")


def _case_kept(text):
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _ascii_only(text):
    return text.casefold().encode("ascii", "ignore").decode()


def _stop_words_before_folding(text):
    kept = [run for run in re.findall(_RUN, text) if run not in stop_words()]
    return [token for run in kept for token in _split(fold(run))]


def _stop_words_before_splitting(text):
    return [token for run in _without_stop_words(re.findall(_RUN, fold(text))) for token in _split(run)]


def _tokens_as_text(text):
    return " ".join(right_tokenize(text))


def _list_of_a_set(text):
    """A set comes in another order on each run: this is one of them."""
    return sorted(set(right_tokenize(text)), reverse=True)


def _parts_appended(text):
    tokens = []
    for run in re.findall(_RUN, fold(text)):
        tokens.append(run if re.search(r"[\d_]", run) else _split(run))
    return _without_stop_words(tokens)


def _parts_filtered_and_appended(text):
    tokens = []
    for run in re.findall(_RUN, fold(text)):
        if re.search(r"[\d_]", run):
            tokens.append(run)
        else:
            tokens.append(_without_stop_words(_split(run)))
    return tokens


def _containing(term, documents):
    return sum(term in document for document in documents)


def _weight(count, n):
    return math.log(1 + (count - n + 0.5) / (n + 0.5))


def _occurrences_counted(term, documents):
    n = sum(document.count(term) for document in documents)
    return _weight(len(documents), n)


def _log10(term, documents):
    return idf(term, documents) / math.log(10)


def _log2(term, documents):
    return idf(term, documents) / math.log(2)


def _no_logarithm(term, documents):
    n = _containing(term, documents)
    return 1 + (len(documents) - n + 0.5) / (n + 0.5)


def _not_smoothed(term, documents):
    return math.log(len(documents) / _containing(term, documents))


def _one_forgotten(term, documents):
    n = _containing(term, documents)
    return math.log((len(documents) - n + 0.5) / (n + 0.5))


def _one_outside(term, documents):
    return 1 + _one_forgotten(term, documents)


def _upside_down(term, documents):
    n = _containing(term, documents)
    return math.log(1 + (n + 0.5) / (len(documents) - n + 0.5))


def _precedence(term, documents):
    n = _containing(term, documents)
    return math.log(1 + len(documents) - n + 0.5 / n + 0.5)


def _numerator_brackets(term, documents):
    n = _containing(term, documents)
    return math.log(1 + len(documents) - n + 0.5 / (n + 0.5))


def _denominator_brackets(term, documents):
    n = _containing(term, documents)
    return math.log(1 + (len(documents) - n + 0.5) / n + 0.5)


def _n_not_subtracted(term, documents):
    return math.log(1 + (len(documents) + 0.5) / (_containing(term, documents) + 0.5))


def _n_plus_one(term, documents):
    return math.log(len(documents) / (_containing(term, documents) + 1))


def _scikit_learn(term, documents):
    return math.log((1 + len(documents)) / (1 + _containing(term, documents))) + 1


def _tokens_counted(term, documents):
    return _weight(sum(map(len, documents)), _containing(term, documents))


def _letters_compared(term, documents):
    return _weight(len(documents), sum(term in " ".join(document) for document in documents))


def _unknown_is_zero(term, documents):
    return idf(term, documents) if _containing(term, documents) else 0.0


class _BM25Index:
    """A right index in small steps; each mistake below replaces one of them."""

    def __init__(self, tokenize=right_tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents, self.tokens = [], []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.document_tokens(document["content"]))

    def search(self, query, k=1):
        if not self.documents:
            return []
        model = self.model()
        scores = model.get_scores(self.query_tokens(query))
        found = [(i, float(score)) for i, score in enumerate(scores) if self.keep(i, score, query)]
        return self.cut([(self.documents[i], score) for i, score in self.order(found)], k)

    def document_tokens(self, text):
        return self.tokenize(text)

    def query_tokens(self, query):
        return self.tokenize(query)

    def model(self):
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        self.weigh(model)
        return model

    def weigh(self, model):
        model.idf = {term: idf(term, self.tokens) for term in model.idf}

    def keep(self, position, score, query):
        return score > 0

    def order(self, found):
        return sorted(found, key=lambda pair: pair[1], reverse=True)

    def cut(self, results, k):
        return results[:k]


class OkapiIdf(_BM25Index):
    def weigh(self, model):
        pass


class IdfOfDocuments(_BM25Index):
    def weigh(self, model):
        model.idf = {term: idf(term, self.documents) for term in model.idf}


class ZeroScoresReturned(_BM25Index):
    def keep(self, position, score, query):
        return True


class TopNPadding(_BM25Index):
    def search(self, query, k=1):
        if not self.documents:
            return []
        return self.model().get_top_n(self.tokenize(query), self.documents, n=k)


class DocumentsOnly(_BM25Index):
    def cut(self, results, k):
        return [document for document, _ in results[:k]]


class PositionsReturned(_BM25Index):
    def cut(self, results, k):
        positions = {id(document): position for position, document in enumerate(self.documents)}
        return [(positions[id(document)], score) for document, score in results[:k]]


class PairsWrongWayRound(_BM25Index):
    def cut(self, results, k):
        return [(score, document) for document, score in results[:k]]


class QueryAsString(_BM25Index):
    def query_tokens(self, query):
        return query


class QueryTermsOnce(_BM25Index):
    def query_tokens(self, query):
        return list(dict.fromkeys(self.tokenize(query)))


class DocumentsAsStrings(_BM25Index):
    def document_tokens(self, text):
        return text


class QuerySplitAtSpaces(_BM25Index):
    def query_tokens(self, query):
        return query.split()


class TokenizerIgnored(_BM25Index):
    def __init__(self, tokenize=right_tokenize, k1=1.5, b=0.75):
        super().__init__(right_tokenize, k1, b)


class TokenizerIgnoredForQuery(_BM25Index):
    def query_tokens(self, query):
        return right_tokenize(query)


class EverythingSplitAtSpaces(_BM25Index):
    def __init__(self, tokenize=right_tokenize, k1=1.5, b=0.75):
        super().__init__(str.split, k1, b)


class NeverRebuilt(_BM25Index):
    made = None

    def model(self):
        self.made = self.made or super().model()
        return self.made


class LowestFirst(_BM25Index):
    def order(self, found):
        return sorted(found, key=lambda pair: pair[1])


class NotSorted(_BM25Index):
    def order(self, found):
        return found


class KIgnored(_BM25Index):
    def cut(self, results, k):
        return results


class SettingsIgnored(_BM25Index):
    def __init__(self, tokenize=right_tokenize, k1=1.5, b=0.75):
        super().__init__(tokenize)


class K1Ignored(_BM25Index):
    def __init__(self, tokenize=right_tokenize, k1=1.5, b=0.75):
        super().__init__(tokenize, b=b)


class BIgnored(_BM25Index):
    def __init__(self, tokenize=right_tokenize, k1=1.5, b=0.75):
        super().__init__(tokenize, k1=k1)


class K1AndBSwapped(_BM25Index):
    def __init__(self, tokenize=right_tokenize, k1=1.5, b=0.75):
        super().__init__(tokenize, k1=b, b=k1)


class AllTermsNeeded(_BM25Index):
    def keep(self, position, score, query):
        return set(self.tokenize(query)) <= set(self.tokens[position])


class ScoresScaled(_BM25Index):
    def cut(self, results, k):
        return [(document, score / results[0][1]) for document, score in results[:k]]


class IdfOfFirstSearch(_BM25Index):
    weights = None

    def weigh(self, model):
        super().weigh(model)
        self.weights = model.idf = self.weights or model.idf


IMPLEMENTATIONS = {
    "tokenize": {
        "split_at_spaces": (_split_at_spaces,),
        "identifiers_split": (_tokenizer(split=lambda run: re.split(r"[-.]", run)),),
        "underscore_forgotten": (_tokenizer(split=_split_unless_digits),),
        "parts_added": (_tokenizer(split=_with_parts),),
        "never_split": (_tokenizer(split=lambda run: [run]),),
        "dots_kept": (_tokenizer(split=_split_at_hyphens),),
        "letters_only": (_tokenizer(run="[a-z]+"),),
        "case_kept": (_tokenizer(fold=_case_kept),),
        "accents_kept": (_tokenizer(fold=str.casefold),),
        "accented_letters_lost": (_tokenizer(fold=_ascii_only),),
        "apostrophes_kept": (_tokenizer(run=r"\w+(?:[-.'\u2019]\w+)*"),),
        "stop_words_kept": (_tokenizer(drop=list),),
        "stop_words_before_folding": (_stop_words_before_folding,),
        "stop_words_before_splitting": (_stop_words_before_splitting,),
        "repetitions_dropped": (lambda text: list(dict.fromkeys(right_tokenize(text))),),
        "set_returned": (lambda text: set(right_tokenize(text)),),
        "list_of_a_set": (_list_of_a_set,),
        "parts_appended": (_parts_appended,),
        "parts_filtered_and_appended": (_parts_filtered_and_appended,),
        "sorted": (lambda text: sorted(right_tokenize(text)),),
        "short_words_dropped": (lambda text: [token for token in right_tokenize(text) if len(token) > 2],),
        "text_returned": (_tokens_as_text,),
    },
    "idf": {
        "occurrences_counted": (_occurrences_counted,),
        "log10": (_log10,),
        "log2": (_log2,),
        "no_logarithm": (_no_logarithm,),
        "not_smoothed": (_not_smoothed,),
        "one_forgotten": (_one_forgotten,),
        "one_outside": (_one_outside,),
        "document_frequency": (_containing,),
        "upside_down": (_upside_down,),
        "precedence": (_precedence,),
        "numerator_brackets": (_numerator_brackets,),
        "denominator_brackets": (_denominator_brackets,),
        "n_not_subtracted": (_n_not_subtracted,),
        "n_plus_one": (_n_plus_one,),
        "scikit_learn": (_scikit_learn,),
        "tokens_counted": (_tokens_counted,),
        "letters_compared": (_letters_compared,),
        "unknown_is_zero": (_unknown_is_zero,),
    },
    "bm25_index": {
        "okapi_idf": (OkapiIdf,),
        "idf_of_documents": (IdfOfDocuments,),
        "zero_scores_returned": (ZeroScoresReturned,),
        "top_n_padding": (TopNPadding,),
        "documents_only": (DocumentsOnly,),
        "positions_returned": (PositionsReturned,),
        "pairs_wrong_way_round": (PairsWrongWayRound,),
        "query_as_string": (QueryAsString,),
        "documents_as_strings": (DocumentsAsStrings,),
        "query_split_at_spaces": (QuerySplitAtSpaces,),
        "tokenizer_ignored": (TokenizerIgnored,),
        "tokenizer_ignored_for_query": (TokenizerIgnoredForQuery,),
        "everything_split_at_spaces": (EverythingSplitAtSpaces,),
        "never_rebuilt": (NeverRebuilt,),
        "lowest_first": (LowestFirst,),
        "not_sorted": (NotSorted,),
        "query_terms_once": (QueryTermsOnce,),
        "k_ignored": (KIgnored,),
        "settings_ignored": (SettingsIgnored,),
        "k1_ignored": (K1Ignored,),
        "b_ignored": (BIgnored,),
        "k1_and_b_swapped": (K1AndBSwapped,),
        "all_terms_needed": (AllTermsNeeded,),
        "scores_scaled": (ScoresScaled,),
        "idf_of_first_search": (IdfOfFirstSearch,),
    },
}
