"""Every exercise of the course, by name, in the order of the units."""

from ..exercise import Exercise
from . import bm25, embeddings, knee, postgres, reranking, retriever, rrf_table, start, tree, tuning

_MODULES = (
    start,
    embeddings,
    bm25,
    rrf_table,
    retriever,
    tuning,
    postgres,
    reranking,
    tree,
    knee,
)

EXERCISES: dict[str, Exercise] = {
    exercise.id: exercise for module in _MODULES for exercise in module.EXERCISES
}
