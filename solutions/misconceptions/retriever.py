"""Unit 04: wrong retrievers and wrong keyword indexes."""

from hybrid_search import tokenize


class _Retriever:
    """A right retriever in small steps; each mistake below replaces one of them."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = list(indexes)

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        self.documents, parts = {}, {}
        for results in self.ask(query, k, candidates):
            for rank, (document, value) in enumerate(results, start=1):
                key = self.key(document)
                self.documents[key] = document
                parts.setdefault(key, []).append(self.part(rank, k_rrf, value))
        scores = {key: self.join(found) for key, found in parts.items()}
        return self.cut([(self.documents[key], scores[key]) for key in self.order(scores)], k, candidates)

    def ask(self, query, k, candidates):
        return [index.search(query, candidates) for index in self.indexes]

    def key(self, document):
        return id(document)

    def part(self, rank, k_rrf, value):
        return 1 / (k_rrf + rank)

    def join(self, found):
        return sum(found)

    def order(self, scores):
        return sorted(scores, key=scores.get, reverse=True)

    def cut(self, results, k, candidates):
        return results[:k]


class RanksFromZero(_Retriever):
    def part(self, rank, k_rrf, value):
        return 1 / (k_rrf + rank - 1)


class RawValuesAdded(_Retriever):
    def part(self, rank, k_rrf, value):
        return value


class SortedByValue(_Retriever):
    def ask(self, query, k, candidates):
        return [
            sorted(results, key=lambda pair: pair[1], reverse=True)
            for results in super().ask(query, k, candidates)
        ]


class KInsteadOfKRrf(_Retriever):
    def search(self, query, k=1, k_rrf=60, candidates=20):
        return super().search(query, k, k, candidates)


class SetNotAdded(_Retriever):
    def join(self, found):
        return found[-1]


class KRrfIgnored(_Retriever):
    def part(self, rank, k_rrf, value):
        return 1 / (60 + rank)


class CandidatesIgnored(_Retriever):
    def ask(self, query, k, candidates):
        return super().ask(query, k, 20)


class KInsteadOfCandidates(_Retriever):
    def ask(self, query, k, candidates):
        return super().ask(query, k, k)


class CutAfterFusing(_Retriever):
    def ask(self, query, k, candidates):
        return super().ask(query, k, 10_000)

    def cut(self, results, k, candidates):
        return results[:candidates][:k]


class MissingCountedAsLast(_Retriever):
    def ask(self, query, k, candidates):
        lists = super().ask(query, k, candidates)
        found = {id(document): document for results in lists for document, _ in results}
        padded = []
        for results in lists:
            here = {id(document) for document, _ in results}
            padded.append((results, [found[key] for key in found if key not in here]))
        return padded

    def search(self, query, k=1, k_rrf=60, candidates=20):
        scores, documents = {}, {}
        for results, missing in self.ask(query, k, candidates):
            ranked = [(document, rank) for rank, (document, _) in enumerate(results, start=1)]
            for document, rank in ranked + [(document, len(results) + 1) for document in missing]:
                documents[id(document)] = document
                scores[id(document)] = scores.get(id(document), 0) + 1 / (k_rrf + rank)
        return [(documents[key], scores[key]) for key in self.order(scores)][:k]


class LastIndexOnly(_Retriever):
    def ask(self, query, k, candidates):
        return super().ask(query, k, candidates)[-1:]


class MergedByText(_Retriever):
    def key(self, document):
        return document["content"]


class BestInsteadOfSum(_Retriever):
    def join(self, found):
        return max(found)


class AverageInsteadOfSum(_Retriever):
    def join(self, found):
        return sum(found) / len(found)


class Precedence(_Retriever):
    def part(self, rank, k_rrf, value):
        return 1 / k_rrf + rank


class WholeListReturned(_Retriever):
    def cut(self, results, k, candidates):
        return results


class PairsWrongWayRound(_Retriever):
    def cut(self, results, k, candidates):
        return [(score, document) for document, score in results[:k]]


class WorstFirst(_Retriever):
    def order(self, scores):
        return sorted(scores, key=scores.get)


class DocumentsOnly(_Retriever):
    def cut(self, results, k, candidates):
        return [document for document, _ in results[:k]]


class RanksCountOn(_Retriever):
    def search(self, query, k=1, k_rrf=60, candidates=20):
        scores, documents, rank = {}, {}, 0
        for results in self.ask(query, k, candidates):
            for document, _ in results:
                rank += 1
                documents[id(document)] = document
                scores[id(document)] = scores.get(id(document), 0) + 1 / (k_rrf + rank)
        return [(documents[key], scores[key]) for key in self.order(scores)][:k]


class NotSorted(_Retriever):
    def order(self, scores):
        return list(scores)


class FoundByAllOnly(_Retriever):
    def cut(self, results, k, candidates):
        common = set.intersection(
            *({id(document) for document, _ in index.search("", candidates)} for index in self.indexes)
        )
        return [(document, score) for document, score in results if id(document) in common][:k]


class _KeywordIndex:
    """A right keyword index in small steps."""

    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        results = [(document, self.count(query, document["content"])) for document in self.documents]
        return self.order([pair for pair in results if self.keep(pair[1], query)])[:k]

    def count(self, query, text):
        return len(set(tokenize(query)) & set(tokenize(text)))

    def keep(self, count, query):
        return count > 0

    def order(self, results):
        return sorted(results, key=lambda pair: pair[1], reverse=True)


class RepetitionsCounted(_KeywordIndex):
    def count(self, query, text):
        return sum(tokenize(text).count(word) for word in set(tokenize(query)))


class QueryRepetitionsCounted(_KeywordIndex):
    def count(self, query, text):
        return sum(word in tokenize(text) for word in tokenize(query))


class KeywordsNotSorted(_KeywordIndex):
    def order(self, results):
        return results


class SplitAtSpaces(_KeywordIndex):
    def count(self, query, text):
        return len(set(query.lower().split()) & set(text.lower().split()))


class ZeroMatchesReturned(_KeywordIndex):
    def keep(self, count, query):
        return True


class LettersCompared(_KeywordIndex):
    def count(self, query, text):
        return sum(word in text.lower() for word in set(tokenize(query)))


class AllWordsNeeded(_KeywordIndex):
    def keep(self, count, query):
        return count > 0 and count == len(set(tokenize(query)))


class FewestFirst(_KeywordIndex):
    def order(self, results):
        return sorted(results, key=lambda pair: pair[1])


class KIgnored(_KeywordIndex):
    def search(self, query, k=1):
        return super().search(query, 10_000)


IMPLEMENTATIONS = {
    "retriever": {
        "ranks_from_zero": (RanksFromZero,),
        "raw_values_added": (RawValuesAdded,),
        "sorted_by_value": (SortedByValue,),
        "k_instead_of_k_rrf": (KInsteadOfKRrf,),
        "set_not_added": (SetNotAdded,),
        "k_rrf_ignored": (KRrfIgnored,),
        "candidates_ignored": (CandidatesIgnored,),
        "k_instead_of_candidates": (KInsteadOfCandidates,),
        "cut_after_fusing": (CutAfterFusing,),
        "missing_counted_as_last": (MissingCountedAsLast,),
        "last_index_only": (LastIndexOnly,),
        "merged_by_text": (MergedByText,),
        "best_instead_of_sum": (BestInsteadOfSum,),
        "average_instead_of_sum": (AverageInsteadOfSum,),
        "precedence": (Precedence,),
        "whole_list_returned": (WholeListReturned,),
        "pairs_wrong_way_round": (PairsWrongWayRound,),
        "worst_first": (WorstFirst,),
        "documents_only": (DocumentsOnly,),
        "ranks_count_on": (RanksCountOn,),
        "not_sorted": (NotSorted,),
        "found_by_all_only": (FoundByAllOnly,),
    },
    "keyword_index": {
        "repetitions_counted": (RepetitionsCounted,),
        "query_repetitions_counted": (QueryRepetitionsCounted,),
        "not_sorted": (KeywordsNotSorted,),
        "split_at_spaces": (SplitAtSpaces,),
        "zero_matches_returned": (ZeroMatchesReturned,),
        "letters_compared": (LettersCompared,),
        "all_words_needed": (AllWordsNeeded,),
        "fewest_first": (FewestFirst,),
        "k_ignored": (KIgnored,),
    },
}
