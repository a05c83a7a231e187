"""Wrong implementations that the feedback can name, one module a unit. For the build and the tests alone.

Each module maps an exercise to its wrong implementations: a name that the exercise declares, and the objects
that check() would be given.
"""

from . import bm25, embeddings, knee, postgres, reranking, retriever, rrf_table, start, tree, tuning

IMPLEMENTATIONS = {
    **start.IMPLEMENTATIONS,
    **embeddings.IMPLEMENTATIONS,
    **bm25.IMPLEMENTATIONS,
    **rrf_table.IMPLEMENTATIONS,
    **retriever.IMPLEMENTATIONS,
    **tuning.IMPLEMENTATIONS,
    **postgres.IMPLEMENTATIONS,
    **reranking.IMPLEMENTATIONS,
    **tree.IMPLEMENTATIONS,
    **knee.IMPLEMENTATIONS,
}
