"""Unit 01: wrong ways to cut a text, to measure a distance, and to search by vector."""

import re

import numpy as np


def _sections(text):
    """The text before the first heading, and pairs (heading, body as it stands)."""
    start, *parts = f"\n{text}".split("\n## ")
    return start.strip(), [part.split("\n", 1) if "\n" in part else [part, ""] for part in parts]


def _is_title(start):
    return start.startswith("# ") and "\n" not in start


def _start_chunk(start):
    return [] if not start or _is_title(start) else [start]


def _joined(heading, body):
    return f"{heading.strip()}\n\n{body.strip()}".strip()


def _chunker(join=_joined, start_chunk=_start_chunk):
    """A right function, but for what is replaced: how a section becomes a chunk, and what the start becomes."""

    def chunk_by_section(text):
        start, sections = _sections(text)
        return start_chunk(start) + [join(heading, body) for heading, body in sections]

    return chunk_by_section


def _body(heading, body):
    return body.strip()


def _with_marks(heading, body):
    return _joined("## " + heading, body)


def _heading(heading, body):
    return heading.strip()


def _as_found(heading, body):
    return f"{heading}\n{body}"


def _two_blank_lines(heading, body):
    return f"{heading}\n\n{body}"


def _marks_as_found(heading, body):
    return f"## {heading}\n{body}"


def _one_break(heading, body):
    return f"{heading}\n{body.strip()}"


def _without_blank_lines(heading, body):
    return _joined(heading, "\n".join(line for line in body.split("\n") if line.strip()))


def _one_line(heading, body):
    return _joined(heading, " ".join(body.split("\n")))


def _first_paragraph(heading, body):
    return _joined(heading, body.strip().split("\n\n")[0])


def _pair(heading, body):
    return heading.strip(), body.strip()


def _no_start(start):
    return []


def _whole_start(start):
    return [start] if start else []


def _start_without_title(start):
    kept = [line for line in start.split("\n") if not line.startswith("# ")]
    return _start_chunk("\n".join(kept).strip())


def split_anywhere(text):
    start, *parts = text.split("## ")
    return _start_chunk(start.strip()) + [_joined(*part.partition("\n")[::2]) for part in parts]


def every_level(text):
    start, *parts = re.split(r"(?m)^##+ ", text)
    return _start_chunk(start.strip()) + [_joined(*part.partition("\n")[::2]) for part in parts]


def last_lost(text):
    start, sections = _sections(text)
    if not sections:
        return []
    return _start_chunk(start) + [_joined(heading, body) for heading, body in sections[:-1]]


def empty_section_lost(text):
    start, sections = _sections(text)
    return _start_chunk(start) + [_joined(heading, body) for heading, body in sections if body.strip()]


def every_paragraph(text):
    paragraphs = [paragraph.strip() for paragraph in text.split("\n\n")]
    return [paragraph.removeprefix("## ") for paragraph in paragraphs if not _is_title(paragraph)]


def last_first(text):
    return _chunker()(text)[::-1]


def _cosine(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def similarity(a, b):
    return _cosine(a, b)


def sign(a, b):
    return _cosine(a, b) - 1


def dot_product(a, b):
    return a @ b


def not_normalised(a, b):
    return 1 - a @ b


def one_normalised(a, b):
    return 1 - a @ b / np.linalg.norm(a)


def euclidean(a, b):
    return np.linalg.norm(a - b)


def absolute(a, b):
    return 1 - abs(_cosine(a, b))


def angle(a, b):
    return np.arccos(np.clip(_cosine(a, b), -1, 1))


def angle_in_degrees(a, b):
    return np.degrees(angle(a, b))


def squared_lengths(a, b):
    return 1 - a @ b / ((a @ a) * (b @ b))


def precedence(a, b):
    return 1 - a @ b / np.linalg.norm(a) * np.linalg.norm(b)


def lengths_added(a, b):
    return 1 - a @ b / (np.linalg.norm(a) + np.linalg.norm(b))


def number_of_values(a, b):
    return 1 - a @ b / (len(a) * len(b))


def halved(a, b):
    return (1 - _cosine(a, b)) / 2


def not_summed(a, b):
    return 1 - a * b / (np.linalg.norm(a) * np.linalg.norm(b))


class _VectorIndex:
    """A right index in small steps; each mistake below replaces one of them."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.entries = []

    def add_vector(self, vector, document):
        self.entries.append((vector, document))

    def add_document(self, document):
        self.add_vector(self.embed_document(document), document)

    def search(self, query_or_vector, k=1):
        query = query_or_vector
        if isinstance(query, str):
            query = self.embed_query(query)
        return self.cut(self.order(self.measured(query)), k)

    def embed_document(self, document):
        return self.embedder.embed_documents([document["content"]])[0]

    def embed_query(self, text):
        return self.embedder.embed_query(text)

    def distance(self, query, vector):
        return 1 - _cosine(query, vector)

    def measured(self, query):
        return [(document, self.distance(query, vector)) for vector, document in self.entries]

    def order(self, results):
        return sorted(results, key=lambda pair: pair[1])

    def cut(self, results, k):
        return results[:k]


class _BestIsHighest(_VectorIndex):
    def order(self, results):
        return sorted(results, key=lambda pair: pair[1], reverse=True)


class SimilarityReturned(_BestIsHighest):
    def distance(self, query, vector):
        return _cosine(query, vector)


class FarthestFirst(_BestIsHighest):
    pass


class DotProduct(_VectorIndex):
    def distance(self, query, vector):
        return 1 - query @ vector


class DotProductReturned(_BestIsHighest):
    def distance(self, query, vector):
        return query @ vector


class Euclidean(_VectorIndex):
    def distance(self, query, vector):
        return np.linalg.norm(query - vector)


class QueryNormalisedOnly(_VectorIndex):
    def distance(self, query, vector):
        return 1 - query @ vector / np.linalg.norm(query)


class DocumentsNormalisedOnly(_VectorIndex):
    def distance(self, query, vector):
        return 1 - query @ vector / np.linalg.norm(vector)


class DocumentsOnly(_VectorIndex):
    def cut(self, results, k):
        return [document for document, _ in results[:k]]


class PairsReversed(_VectorIndex):
    def cut(self, results, k):
        return [(distance, document) for document, distance in results[:k]]


class VectorsReturned(_VectorIndex):
    def cut(self, results, k):
        vectors = {id(document): vector for vector, document in self.entries}
        return [(vectors[id(document)], distance) for document, distance in results[:k]]


class KIgnored(_VectorIndex):
    def cut(self, results, k):
        return results


class OneResult(_VectorIndex):
    def cut(self, results, k):
        return results[:1]


class PairWithoutList(_VectorIndex):
    def cut(self, results, k):
        return results[0] if k == 1 else results[:k]


class FirstPairReturned(_VectorIndex):
    def cut(self, results, k):
        return results[:k][0]


class NotSorted(_VectorIndex):
    def order(self, results):
        return results


class DistancesMoved(_VectorIndex):
    def order(self, results):
        distances = sorted(distance for _, distance in results)
        return [(document, distance) for (document, _), distance in zip(results, distances, strict=True)]


class PairsCompared(_VectorIndex):
    def order(self, results):
        return [(document, distance) for distance, document in sorted((pair[1], pair[0]) for pair in results)]


class DistanceAsKey(_VectorIndex):
    def measured(self, query):
        documents = {distance: document for document, distance in super().measured(query)}
        return [(document, distance) for distance, document in documents.items()]


class VectorAsKey(_VectorIndex):
    def measured(self, query):
        documents = {tuple(vector): document for vector, document in self.entries}
        return [(document, self.distance(query, np.array(vector))) for vector, document in documents.items()]


class LastDocumentOnly(_VectorIndex):
    def add_vector(self, vector, document):
        self.entries = [(vector, document)]


class DocumentNotKept(_VectorIndex):
    def add_document(self, document):
        self.embed_document(document)


class QueryEmbeddedAsDocument(_VectorIndex):
    def embed_query(self, text):
        return self.embedder.embed_documents([text])[0]


class DocumentEmbeddedAsQuery(_VectorIndex):
    def embed_document(self, document):
        return self.embedder.embed_query(document["content"])


class VectorInAList(_VectorIndex):
    def embed_document(self, document):
        return self.embedder.embed_documents([document["content"]])


class VectorInAListAsDistance(VectorInAList):
    def distance(self, query, vector):
        return 1 - vector @ query / (np.linalg.norm(vector) * np.linalg.norm(query))


class TextNotInAList(_VectorIndex):
    def embed_document(self, document):
        return self.embedder.embed_documents(document["content"])


class DocumentNotItsText(_VectorIndex):
    def embed_document(self, document):
        return self.embedder.embed_documents([document])[0]


class VectorEmbedded(_VectorIndex):
    def search(self, query_or_vector, k=1):
        query = self.embed_query(query_or_vector)
        return self.cut(self.order(self.measured(query)), k)


class VectorEmbeddedWherePossible(VectorEmbedded):
    def embed_query(self, text):
        return super().embed_query(text) if self.embedder else text


class NumberOfQueryVector(_VectorIndex):
    def embed_query(self, text):
        return super().embed_query(text)[0]


def _measuring_with(wrong_distance):
    class WrongDistance(_VectorIndex):
        def distance(self, query, vector):
            return wrong_distance(query, vector)

    return WrongDistance


IMPLEMENTATIONS = {
    "chunk_by_section": {
        "heading_dropped": (_chunker(_body),),
        "marks_kept": (_chunker(_with_marks),),
        "headings_only": (_chunker(_heading),),
        "split_anywhere": (split_anywhere,),
        "every_level": (every_level,),
        "start_lost": (_chunker(start_chunk=_no_start),),
        "title_kept": (_chunker(start_chunk=_whole_start),),
        "title_cut_off": (_chunker(start_chunk=_start_without_title),),
        "last_lost": (last_lost,),
        "empty_section_lost": (empty_section_lost,),
        "spacing_as_found": (_chunker(_as_found),),
        "two_blank_lines": (_chunker(_two_blank_lines),),
        "two_blank_lines_and_title_kept": (_chunker(_two_blank_lines, _whole_start),),
        "marks_and_title_kept": (_chunker(_marks_as_found, _whole_start),),
        "no_blank_line": (_chunker(_one_break),),
        "blank_lines_lost": (_chunker(_without_blank_lines),),
        "lines_joined": (_chunker(_one_line),),
        "first_paragraph_only": (_chunker(_first_paragraph),),
        "every_paragraph": (every_paragraph,),
        "pairs_returned": (_chunker(_pair),),
        "last_first": (last_first,),
    },
    "cosine_distance": {
        "similarity": (similarity,),
        "sign": (sign,),
        "dot_product": (dot_product,),
        "not_normalised": (not_normalised,),
        "one_normalised": (one_normalised,),
        "euclidean": (euclidean,),
        "absolute": (absolute,),
        "angle": (angle,),
        "angle_in_degrees": (angle_in_degrees,),
        "squared_lengths": (squared_lengths,),
        "precedence": (precedence,),
        "lengths_added": (lengths_added,),
        "number_of_values": (number_of_values,),
        "halved": (halved,),
        "not_summed": (not_summed,),
    },
    "vector_index": {
        "similarity_returned": (SimilarityReturned,),
        "farthest_first": (FarthestFirst,),
        "dot_product": (DotProduct,),
        "dot_product_returned": (DotProductReturned,),
        "euclidean": (Euclidean,),
        "query_normalised_only": (QueryNormalisedOnly,),
        "documents_normalised_only": (DocumentsNormalisedOnly,),
        "documents_only": (DocumentsOnly,),
        "pairs_reversed": (PairsReversed,),
        "vectors_returned": (VectorsReturned,),
        "k_ignored": (KIgnored,),
        "one_result": (OneResult,),
        "pair_without_list": (PairWithoutList,),
        "first_pair_returned": (FirstPairReturned,),
        "not_sorted": (NotSorted,),
        "distances_moved": (DistancesMoved,),
        "pairs_compared": (PairsCompared,),
        "distance_as_key": (DistanceAsKey,),
        "vector_as_key": (VectorAsKey,),
        "last_document_only": (LastDocumentOnly,),
        "document_not_kept": (DocumentNotKept,),
        "query_embedded_as_document": (QueryEmbeddedAsDocument,),
        "document_embedded_as_query": (DocumentEmbeddedAsQuery,),
        "vector_in_a_list": (VectorInAList,),
        "vector_in_a_list_as_distance": (VectorInAListAsDistance,),
        "text_not_in_a_list": (TextNotInAList,),
        "document_not_its_text": (DocumentNotItsText,),
        "vector_embedded": (VectorEmbedded,),
        "vector_embedded_where_possible": (VectorEmbeddedWherePossible,),
        "number_of_query_vector": (NumberOfQueryVector,),
        "distance_similarity": (_measuring_with(similarity),),
        "distance_sign": (_measuring_with(sign),),
        "distance_raw_dot_product": (_measuring_with(dot_product),),
        "distance_absolute": (_measuring_with(absolute),),
        "distance_angle": (_measuring_with(angle),),
        "distance_angle_in_degrees": (_measuring_with(angle_in_degrees),),
        "distance_squared_lengths": (_measuring_with(squared_lengths),),
        "distance_precedence": (_measuring_with(precedence),),
        "distance_lengths_added": (_measuring_with(lengths_added),),
        "distance_number_of_values": (_measuring_with(number_of_values),),
        "distance_halved": (_measuring_with(halved),),
        "distance_not_summed": (_measuring_with(not_summed),),
    },
}
