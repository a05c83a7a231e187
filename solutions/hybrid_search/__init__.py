"""The finished hybrid retriever, one module a unit. A module is loaded when a name of it is first used."""

from importlib import import_module

# In the order in which the course builds them.
_MODULES = {
    "start": ("find_term",),
    "embeddings": ("chunk_by_section", "cosine_distance", "VectorIndex"),
    "bm25": ("tokenize", "idf", "BM25Index"),
    "fast_bm25": ("FastBM25Index",),
    "rrf": ("rrf_score", "rrf_scores", "rrf_table"),
    "retriever": ("Retriever", "KeywordIndex"),
    "tuning": ("metrics", "evaluate", "settings"),
    "chunks": ("chunk_by_characters",),
    "postgres": ("PgVectorIndex", "ingest"),
    "snapshots": ("save_snapshot", "load_snapshot", "StaleSnapshot"),
    "reranking": ("RerankingRetriever", "latency_budget"),
    "nodes": ("check_tree",),
    "trace": ("Trace", "Found", "as_chunks"),
    "sparse": ("term_index", "term_weights"),
    "qdrant_queries": (),
    "tree_index": ("TreeIndex",),
    "trees": ("build_tree",),
    "branch": ("branch_search",),
    "knees": ("knee",),
    "beam": ("beam_search",),
    "pruned": ("pruning",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
