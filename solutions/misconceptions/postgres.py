"""Unit 06: wrong ways to cut a text, to ask Postgres, and to keep a snapshot."""

import hashlib
import json
import pickle
from pathlib import Path

from hybrid_search import BM25Index


def _chunker(step=lambda size, overlap: size - overlap, length=lambda size, overlap: size, finish=list):
    """A right function, but for what is replaced: how far it moves on, how long a chunk is, what is returned."""

    def chunk_by_characters(text, size=1000, overlap=100):
        chunks, start = [], 0
        while text:
            chunks.append(text[start : start + length(size, overlap)])
            if start + size >= len(text):
                break
            start += max(1, step(size, overlap))
        return finish(chunks)

    return chunk_by_characters


def _overlap_doubled(size, overlap):
    return size - 2 * overlap


def _size_alone(size, overlap):
    return size


def _size_and_overlap(size, overlap):
    return size + overlap


def _one_more(size, overlap):
    return size - overlap + (overlap > 0)


def _one_less(size, overlap):
    return size - overlap - (overlap > 0)


def _overlap(size, overlap):
    return overlap or size


def _size_minus_overlap(size, overlap):
    return size - overlap


def last_lost(text, size=1000, overlap=100):
    chunks = _chunker()(text, size, overlap)
    return chunks[:-1] if len(chunks) > 1 and len(chunks[-1]) < size else chunks


def tail_repeated(text, size=1000, overlap=100):
    return [text[start : start + size] for start in range(0, len(text), size - overlap)]


def overlap_from_the_start(text, size=1000, overlap=100):
    step = size - overlap
    pieces = [text[start : start + step] for start in range(0, len(text), step)]
    return (
        [text[:size]] + [before[:overlap] + piece for before, piece in zip(pieces, pieces[1:], strict=False)]
        if text
        else []
    )


def last_moved_back(text, size=1000, overlap=100):
    chunks = _chunker()(text, size, overlap)
    return [*chunks[:-1], text[-size:]] if len(text) > size else chunks


def last_filled_up(text, size=1000, overlap=100):
    return [chunk.ljust(size) for chunk in _chunker()(text, size, overlap)]


def words_kept_whole(text, size=1000, overlap=100):
    chunks, start = [], 0
    while start < len(text):
        end = start + size
        if end < len(text):
            space = text.rfind(" ", start + overlap + 1, end)
            end = space if space > 0 else end
        chunks.append(text[start:end])
        if end >= len(text):
            break
        start = end - overlap
    return chunks


def short_text_lost(text, size=1000, overlap=100):
    return _chunker()(text, size, overlap) if len(text) >= size else []


def empty_text_kept(text, size=1000, overlap=100):
    return _chunker()(text, size, overlap) or [""]


def words_counted(text, size=1000, overlap=100):
    return [" ".join(part) for part in _chunker()(text.split(), size, overlap)]


def defaults_swapped(text, size=500, overlap=50):
    return _chunker()(text, size, overlap)


def starts_returned(text, size=1000, overlap=100):
    return [i * (size - overlap) for i in range(len(_chunker()(text, size, overlap)))]


def one_text(text, size=1000, overlap=100):
    return "\n".join(_chunker()(text, size, overlap))


class _PgVectorIndex:
    """A right index in small steps; each mistake below replaces one of them."""

    columns = "id, content, embedding <=> %(query)s::vector AS distance"
    order = "ORDER BY distance, id"
    limit = "LIMIT %(k)s"
    where = ""
    conflict = "ON CONFLICT (id) DO UPDATE SET content = EXCLUDED.content, embedding = EXCLUDED.embedding"

    def __init__(self, connection, embedder, table="documents", dimensions=384):
        columns = f"id bigint PRIMARY KEY, content text NOT NULL, embedding vector({dimensions}) NOT NULL"
        connection.execute(f"CREATE TABLE {table} ({columns})")
        self.connection, self.embedder, self.table = connection, embedder, table

    def add_document(self, document):
        vector = self.embed_document(document["content"])
        self.insert(document["id"], self.stored(document["content"]), list(map(float, vector)))

    def insert(self, number, content, vector):
        self.connection.execute(
            f"INSERT INTO {self.table} (id, content, embedding) VALUES (%s, %s, %s::vector) {self.conflict}",
            (number, content, str(vector)),
        )

    def search(self, query, k=1):
        vector = str(list(map(float, self.embed_query(query))))
        statement = f"SELECT {self.columns} FROM {self.table} {self.where} {self.order} {self.limit}"
        rows = self.connection.execute(statement, {"query": vector, "k": k}).fetchall()
        return [self.result(*row) for row in self.chosen(rows)]

    def embed_document(self, text):
        return self.embedder.embed_documents([text])[0]

    def embed_query(self, text):
        return self.embedder.embed_query(text)

    def stored(self, text):
        return text

    def chosen(self, rows):
        return rows

    def result(self, number, content, distance):
        return {"id": number, "content": content}, distance


class _Similarity(_PgVectorIndex):
    columns = "id, content, 1 - (embedding <=> %(query)s::vector) AS distance"


class SimilarityReturned(_Similarity):
    order = "ORDER BY distance DESC, id"


class SimilaritySortedUpwards(_Similarity):
    pass


class FarthestFirst(_PgVectorIndex):
    order = "ORDER BY distance DESC, id"


class Euclidean(_PgVectorIndex):
    columns = "id, content, embedding <-> %(query)s::vector AS distance"


class InnerProduct(_PgVectorIndex):
    columns = "id, content, embedding <#> %(query)s::vector AS distance"


class NotSorted(_PgVectorIndex):
    order = ""


class SortedAfterTheLimit(_PgVectorIndex):
    order = ""

    def chosen(self, rows):
        return sorted(rows, key=lambda row: (row[2], row[0]))


class NoOrderAmongTies(_PgVectorIndex):
    order = "ORDER BY distance"


class TiesFromTheHighestId(_PgVectorIndex):
    order = "ORDER BY distance, id DESC"


class SortedById(_PgVectorIndex):
    order = "ORDER BY id"


class LimitIgnored(_PgVectorIndex):
    limit = ""


class OneRow(_PgVectorIndex):
    limit = "LIMIT 1"


class FarOnesLeftOut(_PgVectorIndex):
    where = "WHERE embedding <=> %(query)s::vector < 1"


class SecondTimeAnError(_PgVectorIndex):
    conflict = ""


class OldKept(_PgVectorIndex):
    conflict = "ON CONFLICT (id) DO NOTHING"


class EmbeddingNotUpdated(_PgVectorIndex):
    conflict = "ON CONFLICT (id) DO UPDATE SET content = EXCLUDED.content"


class ContentNotUpdated(_PgVectorIndex):
    conflict = "ON CONFLICT (id) DO UPDATE SET embedding = EXCLUDED.embedding"


class OwnNumbers(_PgVectorIndex):
    def insert(self, number, content, vector):
        rows = self.connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0]
        super().insert(rows + 1, content, vector)


class TableEmptied(_PgVectorIndex):
    def insert(self, number, content, vector):
        self.connection.execute(f"DELETE FROM {self.table}")
        super().insert(number, content, vector)


class ValuesInTheText(_PgVectorIndex):
    def insert(self, number, content, vector):
        self.connection.execute(
            f"INSERT INTO {self.table} (id, content, embedding) VALUES ({number}, '{content}', '{vector}') "
            + self.conflict
        )


class QuotesTakenOut(_PgVectorIndex):
    def stored(self, text):
        return text.replace("'", "").replace('"', "")


class QueryEmbeddedAsDocument(_PgVectorIndex):
    def embed_query(self, text):
        return self.embedder.embed_documents([text])[0]


class DocumentEmbeddedAsQuery(_PgVectorIndex):
    def embed_document(self, text):
        return self.embedder.embed_query(text)


class RowsReturned(_PgVectorIndex):
    def result(self, number, content, distance):
        return number, content, distance


class PairsReversed(_PgVectorIndex):
    def result(self, number, content, distance):
        return distance, {"id": number, "content": content}


class DocumentsOnly(_PgVectorIndex):
    def result(self, number, content, distance):
        return {"id": number, "content": content}


class IdsOnly(_PgVectorIndex):
    def result(self, number, content, distance):
        return number, distance


class Rounded(_PgVectorIndex):
    def result(self, number, content, distance):
        return {"id": number, "content": content}, round(distance, 2)


PROBE = "Pump LEAK, hall 2,INC-2023-Q4-011: l'École"


class StaleSnapshot(ValueError):
    pass


class _Snapshot:
    """Right functions in small steps; each mistake below replaces one of them."""

    def save(self, index, path):
        content = {
            "fingerprint": self.fingerprint(index.documents, index.tokenize),
            "tokens": [self.kept(tokens) for tokens in index.tokens],
            "k1": index.k1,
            "b": index.b,
        }
        self.write(Path(path), content)

    def load(self, path, tokenize, documents):
        content = self.read(Path(path))
        if content["fingerprint"] != self.fingerprint(documents, tokenize):
            return self.stale(tokenize, documents)
        index = self.empty_index(tokenize, content)
        for tokens, document in zip(content["tokens"], documents, strict=False):
            self.add(index, tokens, document)
        return index

    def write(self, path, content):
        path.write_text(json.dumps(content))

    def read(self, path):
        return json.loads(path.read_text())

    def fingerprint(self, documents, tokenize):
        parts = [self.of_documents(documents), self.of_tokenizer(tokenize, documents)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def of_documents(self, documents):
        return documents

    def of_tokenizer(self, tokenize, documents):
        return list(tokenize(PROBE))

    def kept(self, tokens):
        return tokens

    def stale(self, tokenize, documents):
        raise StaleSnapshot("the snapshot is stale")

    def empty_index(self, tokenize, content):
        return BM25Index(tokenize, content["k1"], content["b"])

    def add(self, index, tokens, document):
        index.add_tokens(tokens, document)


class StaleLoaded(_Snapshot):
    def fingerprint(self, documents, tokenize):
        return ""


class NumberOfDocumentsOnly(_Snapshot):
    def of_documents(self, documents):
        return len(documents)


class IdsOfDocumentsOnly(_Snapshot):
    def of_documents(self, documents):
        return [document["id"] for document in documents]


class TextsOnly(_Snapshot):
    def of_documents(self, documents):
        return [document["content"] for document in documents]


class LengthsOnly(_Snapshot):
    def of_documents(self, documents):
        return [len(document["content"]) for document in documents]


class OrderIgnored(_Snapshot):
    def of_documents(self, documents):
        return sorted([document["id"], document["content"]] for document in documents)


class DocumentsForgotten(_Snapshot):
    def of_documents(self, documents):
        return []


class TokenizerForgotten(_Snapshot):
    def of_tokenizer(self, tokenize, documents):
        return []


class TokenizerByName(_Snapshot):
    def of_tokenizer(self, tokenize, documents):
        return tokenize.__name__


class TokensByLength(_Snapshot):
    def of_tokenizer(self, tokenize, documents):
        return [len(list(tokenize(document["content"]))) for document in documents]


class NoneReturned(_Snapshot):
    def stale(self, tokenize, documents):
        return None


class BuiltAnewInSilence(_Snapshot):
    def stale(self, tokenize, documents):
        index = BM25Index(tokenize)
        index.add_documents(documents)
        return index


class AnotherError(_Snapshot):
    def stale(self, tokenize, documents):
        raise ValueError("stale")


class RefusesEverything(_Snapshot):
    def save(self, index, path):
        self.write(Path(path), {"fingerprint": "", "tokens": index.tokens, "k1": index.k1, "b": index.b})


class ParametersForgotten(_Snapshot):
    def empty_index(self, tokenize, content):
        return BM25Index(tokenize)


class Pickled(_Snapshot):
    def write(self, path, content):
        path.write_bytes(pickle.dumps(content))

    def read(self, path):
        return pickle.loads(path.read_bytes())


class TokensJoined(_Snapshot):
    def kept(self, tokens):
        return " ".join(tokens)

    def add(self, index, tokens, document):
        index.add_tokens(tokens.split(), document)


class EachTokenOnce(_Snapshot):
    def kept(self, tokens):
        return sorted(set(tokens))


class TokensLost(_Snapshot):
    def add(self, index, tokens, document):
        pass


class CutAtSpaces(_Snapshot):
    def empty_index(self, tokenize, content):
        return BM25Index(str.split, content["k1"], content["b"])


def _functions(snapshot):
    made = snapshot()
    return made.save, made.load


IMPLEMENTATIONS = {
    "chunk_by_characters": {
        "overlap_dropped": (_chunker(step=_size_alone),),
        "overlap_doubled": (_chunker(step=_overlap_doubled),),
        "overlap_added": (_chunker(length=_size_and_overlap, step=_size_alone),),
        "last_lost": (last_lost,),
        "tail_repeated": (tail_repeated,),
        "one_character_skipped": (_chunker(step=_one_more),),
        "one_character_repeated": (_chunker(step=_one_less),),
        "overlap_from_the_start": (overlap_from_the_start,),
        "step_is_overlap": (_chunker(step=_overlap),),
        "last_moved_back": (last_moved_back,),
        "last_filled_up": (last_filled_up,),
        "words_kept_whole": (words_kept_whole,),
        "stripped": (_chunker(finish=lambda chunks: [chunk.strip() for chunk in chunks]),),
        "size_minus_overlap": (_chunker(length=_size_minus_overlap),),
        "short_text_lost": (short_text_lost,),
        "empty_text_kept": (empty_text_kept,),
        "words_counted": (words_counted,),
        "defaults_swapped": (defaults_swapped,),
        "starts_returned": (starts_returned,),
        "one_text": (one_text,),
    },
    "pgvector_index": {
        "similarity_returned": (SimilarityReturned,),
        "similarity_sorted_upwards": (SimilaritySortedUpwards,),
        "farthest_first": (FarthestFirst,),
        "euclidean": (Euclidean,),
        "inner_product": (InnerProduct,),
        "not_sorted": (NotSorted,),
        "sorted_after_the_limit": (SortedAfterTheLimit,),
        "no_order_among_ties": (NoOrderAmongTies,),
        "ties_from_the_highest_id": (TiesFromTheHighestId,),
        "sorted_by_id": (SortedById,),
        "limit_ignored": (LimitIgnored,),
        "one_row": (OneRow,),
        "far_ones_left_out": (FarOnesLeftOut,),
        "second_time_an_error": (SecondTimeAnError,),
        "old_kept": (OldKept,),
        "embedding_not_updated": (EmbeddingNotUpdated,),
        "content_not_updated": (ContentNotUpdated,),
        "own_numbers": (OwnNumbers,),
        "table_emptied": (TableEmptied,),
        "values_in_the_text": (ValuesInTheText,),
        "quotes_taken_out": (QuotesTakenOut,),
        "query_embedded_as_document": (QueryEmbeddedAsDocument,),
        "document_embedded_as_query": (DocumentEmbeddedAsQuery,),
        "rows_returned": (RowsReturned,),
        "pairs_reversed": (PairsReversed,),
        "documents_only": (DocumentsOnly,),
        "ids_only": (IdsOnly,),
        "rounded": (Rounded,),
    },
    "snapshot": {
        "stale_loaded": _functions(StaleLoaded),
        "number_of_documents_only": _functions(NumberOfDocumentsOnly),
        "ids_only": _functions(IdsOfDocumentsOnly),
        "texts_only": _functions(TextsOnly),
        "lengths_only": _functions(LengthsOnly),
        "order_ignored": _functions(OrderIgnored),
        "documents_forgotten": _functions(DocumentsForgotten),
        "tokenizer_forgotten": _functions(TokenizerForgotten),
        "tokenizer_by_name": _functions(TokenizerByName),
        "tokens_of_the_documents_by_length": _functions(TokensByLength),
        "none_returned": _functions(NoneReturned),
        "built_anew_in_silence": _functions(BuiltAnewInSilence),
        "another_error": _functions(AnotherError),
        "refuses_everything": _functions(RefusesEverything),
        "parameters_forgotten": _functions(ParametersForgotten),
        "pickled": _functions(Pickled),
        "tokens_joined": _functions(TokensJoined),
        "each_token_once": _functions(EachTokenOnce),
        "tokens_lost": _functions(TokensLost),
        "cut_at_spaces": _functions(CutAtSpaces),
    },
}
