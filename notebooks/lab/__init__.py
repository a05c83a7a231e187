"""Equipment that the notebooks are given: texts, embedders, plots. A name is loaded when first used."""

from importlib import import_module

_MODULES: dict[str, tuple[str, ...]] = {
    "corpora": ("Query", "document_from_file", "judged_queries", "report", "sections"),
    "embedders": ("embedder",),
    "rerankers": ("reranker",),
    "postgres_connection": ("postgres",),
    "qdrant_connection": ("qdrant",),
    "manuals": ("reference_documents", "report_pages"),
    "paging": ("pages_from_file", "pages_from_text"),
    "python_corpus": ("python_reference", "python_tokens"),
    "tradeoff": ("plot_tradeoff",),
    "tree_view": ("WalkView", "plot_walk"),
    "tree_walk": ("watch_search",),
    "plots": ("plot_fusion", "plot_rrf_curve", "plot_similarity", "plot_term_weights"),
    "stop_words": ("stop_words",),
    "summarisers": ("summariser",),
    "metrics": (
        "average_precision",
        "bootstrap_interval",
        "by_query",
        "mean_over_queries",
        "mrr",
        "ndcg_at",
        "paired_bootstrap",
        "precision_at",
        "recall_at",
        "reciprocal_rank",
    ),
    "evaluation": ("SearchError", "compare", "judged_ids", "losses"),
    "knee_view": ("plot_kept", "plot_knee"),
    "tree_evaluation": (
        "interval_table",
        "measure_cuts",
        "measure_trees",
        "paired_differences",
        "search_times",
        "with_intervals",
    ),
    "fusion_view": ("rrf_view",),
    "sweeps": ("sweep",),
    "tuning": ("TuningLab",),
    "upload": ("DocumentUpload",),
    "errors": ("DocumentError", "ModelError", "ServiceError"),
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
