"""Unit 09: what share of the nodes a knee prunes, by hand and as it was measured."""

# Two rankers agree on 100 nodes with k_rrf = 60: the knee keeps 39. 10 of the nodes are relevant, in the best case the
# first ten, in the worst the last. The two other numbers are the means over the judged queries for pages, of the first
# 100 pages of a flat search, with the default models on Python 3.11.
pruning = {
    "agree": (100 - 39) / 100,
    "best case": (100 - 39) / 90,
    "worst case": (100 - 39 - 10) / 90,
    "irrelevant pruned": 0.807,
    "relevant pruned": 0.268,
}
