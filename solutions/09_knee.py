# %% [markdown]
# # 09 · The knee
#
# A search gives a ranking. How many of it should you keep? Ten? All above some score? A popular answer: look at the
# curve of the scores, and cut where it bends. That point is called the **knee**. You will find it quoted that a knee
# removes about 62 % of the irrelevant documents. In this unit you build it, and find out what that number is worth.
#
# You will
# - write `knee`: how many scores to keep,
# - see it cut where there is nothing to find,
# - write `beam_search`: a search through trees that keeps a beam of nodes, cut at a width or at a knee,
# - measure five searches on 66 judged questions: what they find, what they drop, and what that says.
#
# **Minutes:** 50. **You need:** units 03, 05 and 08.

# %%
from functools import cache

import lab
from grader import check, hint
from hybrid_search import TreeIndex, branch_search

# %% [markdown]
# ## How many to keep?
#
# As in unit 08, Python's language reference is 11 documents of many pages, each with a tree of summaries, in Qdrant.
# Two widths are built: a parent has up to 3 children, or up to 5. The summaries are extracts, and the model is the one
# on your computer, so that you can compare your numbers with those in the text.


# %%
@cache
def tree_index(width):
    index = TreeIndex(lab.qdrant(), f"unit_09_width_{width}", lab.embedder("local"))
    for file_name, pages in lab.reference_documents().items():
        index.add_document(file_name, pages, lab.summariser("extractive"), width)
    return index


judged = lab.judged_queries("pages")
indexes = {f"width {width}": tree_index(width) for width in (3, 5)}
for name, index in indexes.items():
    print(f"{name}: {len(index.documents)} trees, {len(index)} nodes")

# %% [markdown]
# A question, and the ranking of the 11 roots together with their children. **Predict:** look at the curve. Behind
# which rank would you cut?

# %%
my_guess = None  # a rank
query = next(query for query in judged if query.id == "g49")
index = indexes["width 3"]
roots = [node for node, _ in index.search_roots(query.text, 20)]
ranked = index.rank(query.text, [*roots, *(child for root in roots for child in index.children(root))])
print(query.text)
lab.plot_knee([score for _, score in ranked])

# %% [markdown]
# Both axes are scaled: the first place is 0 and the last is 1, the best score is 1 and the lowest is 0. The dashed
# line joins the two ends. It is called the **chord**.
#
# ## Exercise `knee` · 3 points · about 10 minutes
#
# The knee is the point that is **farthest from the chord**. Write `knee(scores, sensitivity=None)`. It returns a
# number: how many scores to keep.
#
# - `scores` is a list of numbers, **best first**. The scores are never in another order.
# - **Scale both axes** to [0, 1]. Of n scores, number i, counted from 0, is at x = i / (n - 1), and at
#   y = (score - lowest) / (highest - lowest). Then the chord goes from (0, 1) to (1, 0): on it, x + y = 1.
# - A point's **distance** from the chord is |x + y - 1| / √2. It may be on **either side**. (All distances have the
#   same √2, so you may leave it out.)
# - The knee is the point with the largest distance; of equals, the **first**. It is **kept**, with all before it.
# - **No knee:** keep all. That is so for fewer than 3 scores, for equal scores, and where no point is farther from the
#   chord than 1e-9. Two distances that differ by less than 1e-9 are equal: a computer rounds.
# - With a **`sensitivity`**, a number between 0 and 1, more is kept: up to the **last** point whose distance is **at
#   least** `sensitivity` times the largest distance.


# %% exercise="knee"
def knee(scores, sensitivity=None):
    """How many scores to keep: a whole number, those up to the knee of their curve, the knee included.

    scores: a list of numbers, best first; it may be empty.
    sensitivity: None, or a share of the largest distance from the chord, above 0 and at most 1.
    """
    ### BEGIN SOLUTION
    n = len(scores)
    if n < 3 or scores[0] == scores[-1]:
        return n
    distances = []
    for i, score in enumerate(scores):
        x = i / (n - 1)
        y = (score - scores[-1]) / (scores[0] - scores[-1])
        distances.append(abs(x + y - 1))
    largest = max(distances)
    if largest <= 1e-9:
        return n
    if sensitivity is None:
        return 1 + next(i for i in range(n) if distances[i] >= largest - 1e-9)
    return 1 + max(i for i in range(n) if distances[i] >= sensitivity * largest - 1e-9)
    ### END SOLUTION


# %% check="knee"
check("knee", knee)

# %% [markdown]
# The curve from above, with your knee:

# %%
scores = [score for _, score in ranked]
print("guess:", my_guess, "| with a sensitivity of 0.85:", knee(scores, 0.85))
lab.plot_knee(scores, knee(scores))

# %% [markdown]
# The usual description of a knee is narrower than yours. It looks below the chord only, for a curve that falls at once
# and then flattens. But scores may also stay high and fall at the end:

# %%
lab.plot_knee([1, 0.98, 0.96, 0.94, 0.3], knee([1, 0.98, 0.96, 0.94, 0.3]))

# %% [markdown]
# Four high ones and a low one: whoever looks below the chord only sees no knee here.
#
# ## A knee without relevance
#
# Now the question that is seldom asked. With `k_rrf` = 60, a node at rank r in both rankings has the score
# 2 / (60 + r). Suppose that the two rankers **agree** on 100 nodes, from the first to the last. **Predict:** how many
# does the knee keep if 3 of the nodes are relevant? How many if 80 are? How many if none is?

# %%
my_guess = {"3 relevant": None, "80 relevant": None, "none relevant": None}


def agreeing(count, k_rrf=60):
    """The fused scores where two rankers agree."""
    return [2 / (k_rrf + rank) for rank in range(1, count + 1)]


lab.plot_knee(agreeing(100), knee(agreeing(100)))

# %%
print("guess:", my_guess)
for count in [10, 20, 100, 1000]:
    kept = knee(agreeing(count))
    print(f"{count:4} nodes: {kept:3} kept, {1 - kept / count:.0%} pruned")

# %% [markdown]
# 39 of 100, each time. No text has been read for this: the scores of RRF are made of **ranks**, and where the rankers
# agree, the curve depends on nothing but the number of nodes and `k_rrf`. It has a knee, whatever the question is, and
# 61 % of the nodes are pruned, whatever they say.
#
# And where the rankers know nothing at all? Here they shuffle the nodes.

# %%
import random


def shuffling(count, k_rrf=60, seed=0):
    """The fused scores, best first, of two rankers that put the nodes in an order by chance."""
    chance = random.Random(seed)
    ranks = [chance.sample(range(1, count + 1), count) for _ in range(2)]
    return sorted(
        (1 / (k_rrf + one) + 1 / (k_rrf + other) for one, other in zip(*ranks, strict=True)), reverse=True
    )


kept = [knee(shuffling(100, seed=seed)) for seed in range(200)]
print(f"200 times 100 nodes by chance: {1 - sum(kept) / len(kept) / 100:.0%} pruned, in the mean;", end=" ")
print(f"from {min(kept)} to {max(kept)} kept")

# %% [markdown]
# So a share that is pruned is no evidence that anything irrelevant was found. Keep that in mind for the measurement.
#
# ## Another knee
#
# The package kneed finds knees, too, with the algorithm of the paper that gave this one its name ("Finding a 'Kneedle'
# in a Haystack", 2011). It wants to be told the shape of the curve. **Predict:** for which of these curves does it
# find no knee?

# %%
import warnings

import pandas as pd
from kneed import KneeLocator


def kneed(scores):
    """How many to keep by kneed, or None where it finds no knee."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where it finds none
        ranks = range(1, len(scores) + 1)
        found = KneeLocator(ranks, scores, curve="convex", direction="decreasing").knee
    return None if found is None else int(found)


# %%
my_guess = []  # names of curves
curves = {
    "early fall": [1, 0.95, 0.2, 0.18, 0.16, 0.15],
    "late fall": [1, 0.98, 0.96, 0.94, 0.3],
    "flat": [0.5, 0.5, 0.5, 0.5],
    "straight": [1, 0.75, 0.5, 0.25, 0],
    "two scores": [0.9, 0.2],
    "both rankers, then one": [0.0328, 0.0325, 0.0323, 0.0164, 0.0161, 0.0159],
    "10 that agree": agreeing(10),
    "20 that agree": agreeing(20),
    "100 that agree": agreeing(100),
    "the ranking above": [score for _, score in ranked],
}
rows = {name: {"scores": len(of), "kneed": kneed(of), "knee": knee(of)} for name, of in curves.items()}
print("guess:", my_guess)
pd.DataFrame(rows).T.astype("Int64")

# %% [markdown]
# It finds none for the flat and the straight curve, for two scores, and for 10 scores that agree; on an empty list it
# raises an error. Then you have to decide yourself what to keep. Where a curve bends once, in the direction it was
# told, both give the same. For the others it keeps fewer: it looks on one side of the chord, and takes the first bend
# that is sharp enough for it. No method is right or wrong here. Each describes a shape, and neither has read a text.
#
# ## A beam
#
# The branch search of unit 08 decides at each node by itself: a child that beats its parent goes on. So one narrow
# decision near the root can lose a whole branch. A **beam search** keeps several nodes at once, of all trees, and lets
# them compete with each other. In each round
#
# 1. the nodes of the beam and all their children are put into **one** ranking,
# 2. the ranking is cut,
# 3. a node and its parent cannot both stay: whoever is ranked first removes the other.
#
# **Predict:** P has the children A and B. The ranking is A, P, B. Who is left after step 3?

# %%
my_guess = None  # such as "A" or "A, B"
my_guess

# %% [markdown]
# A is first, and removes its parent P. B would have been removed by P. But P is gone, and **a node that has been
# removed removes nobody**. So A and B are left.
#
# ## Exercise `beam_search` · 4 points · about 15 minutes
#
# Write `beam_search(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20)`. `index` has the methods that
# you know: `search_roots(query, k)` and `rank(query, nodes)` give pairs (node, score), best first; `children(node)`
# gives a list. A node is a dict with `"id"` and `"parent_id"`.
#
# - **Start:** the beam is the best `max_roots` roots.
# - **A round.** Rank the nodes of the beam and all their children, in **one** call of `index.rank`. Then, in this
#   order:
#   - `cut="knee"`: keep the first `knee(scores)` of the ranking. `cut="sensitive"`: the first
#     `knee(scores, sensitivity)`. `cut="fixed"`: keep all so far.
#   - Go through what is left from the best down. A node that is still there removes its **parent** and its
#     **children**, wherever they are behind it. A removed node removes nobody.
#   - `cut="fixed"`: of what is left now, keep the first `width`. (The other two have no width.)
#
#   What is left is the next beam.
# - **End:** stop with the round after which the beam has the **same nodes** as before.
# - Return a list: the **nodes** of the last beam, in the order of the last ranking. Where there are no roots, return
#   `[]`.


# %% exercise="beam_search"
def beam_search(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    """The nodes that are left when a round changes nothing any more: a list of dicts, best first.

    index: search_roots(query, k), rank(query, nodes) -> pairs (node, score), best first; children(node) -> nodes.
    cut: "fixed", "knee" or "sensitive". width: for "fixed", how many nodes are kept in each round.
    """
    ### BEGIN SOLUTION
    beam = [node for node, _ in index.search_roots(query, max_roots)]
    before = set()
    while {node["id"] for node in beam} != before:
        before = {node["id"] for node in beam}
        children = [child for node in beam for child in index.children(node)]
        ranked = index.rank(query, beam + children)
        scores = [score for _, score in ranked]
        if cut == "knee":
            ranked = ranked[: knee(scores)]
        elif cut == "sensitive":
            ranked = ranked[: knee(scores, sensitivity)]
        kept = []
        for node, _ in ranked:
            relatives = [
                other
                for other in kept
                if other["id"] == node["parent_id"] or node["id"] == other["parent_id"]
            ]
            if not relatives:
                kept.append(node)
        beam = kept[:width] if cut == "fixed" else kept
    return beam
    ### END SOLUTION


# %% check="beam_search"
check("beam_search", beam_search)

# %% [markdown]
# It ends for sure: a node that has been removed by its child never comes back, and trees have an end.
#
# ## Watch the knee
#
# `lab.watch_search` notes the rankings that a search asks for. Here is the first round for the question from above:
# what the knee keeps and what it drops. A star marks each node that covers a page judged to be relevant.

# %%
steps = lab.watch_search(beam_search, index, query.text, cut="knee").steps
first_round = steps[1].ranked
lab.plot_kept(first_round, knee([score for _, score in first_round]), query.relevant)

# %%
steps = lab.watch_search(beam_search, index, query.text, cut="knee").steps
last_round = steps[-1].ranked
print(len(steps) - 1, "rounds; here is the last one")
lab.plot_kept(last_round, knee([score for _, score in last_round]), query.relevant)

# %% [markdown]
# With Python 3.11, all six relevant nodes of the first round are kept, and five of those of the last. Here the knee
# did well. Now another question. **Predict:** how many of the relevant nodes of the first round does it keep?

# %%
my_guess = None  # a number
other = next(query for query in judged if query.id == "g19")
steps = lab.watch_search(beam_search, indexes["width 3"], other.text, cut="knee").steps
first_round = steps[1].ranked
print("guess:", my_guess, "|", other.text)
lab.plot_kept(first_round, knee([score for _, score in first_round]), other.relevant)

# %% [markdown]
# One of six, with Python 3.11, and later it loses that one, too. The two curves look much alike. What differs is
# where the stars are, and no knee can see a star.
#
# ## The measurement
#
# Five searches, 66 judged questions, two widths. The questions, and which pages answer them, were written down before
# any search ran on them.
#
# - **flat**: the hybrid search over all pages, past the trees; its first 10 pages,
# - **branch**: the search of unit 08, from 3 roots,
# - **beam**: your beam search, with a width of 3,
# - **knee** and **sensitive**: your beam search, cut at the knee.
#
# Recall alone would be unfair: a search that returns a root returns a whole document, and with it all that is in it.
# So the table also has the mean number of **pages** in a result, and **flat recall**: what the flat search finds in
# as many pages. `compared` is how many nodes were ranked, each as often as it was.
#
# **Predict:** which search has the highest recall? And which is better than the flat search with as many pages?

# %%
my_guess = {"highest recall": None, "better than flat": None}
searches = {
    "flat": lambda index, query: index.search(query, k=10, candidates=100),
    "branch": branch_search,
    "beam": lambda index, query: beam_search(index, query),
    "knee": lambda index, query: beam_search(index, query, cut="knee"),
    "sensitive": lambda index, query: beam_search(index, query, cut="sensitive"),
}


# %%
@cache
def measured():
    """Query by query. Run the cell above and this one again when you have changed beam_search or knee."""
    return lab.measure_trees(searches, indexes, judged)


columns = ["recall", "recall low", "recall high", "pages", "flat recall", "compared"]
table = lab.with_intervals(measured(), ["recall"])[columns]
print("guess:", my_guess)
table.round({name: 0 if name in ("pages", "compared") else 2 for name in columns})

# %% [markdown]
# The columns "low" and "high" are the ends of the 95 % intervals. And here is, question by question, the recall of
# each search minus that of the flat search **with as many pages**, with the interval of the mean:

# %%
lab.paired_differences(measured(), "recall", "flat recall").round(2)

# %% [markdown]
# With Python 3.11:
#
# - `sensitive` and `knee` find the most. But they return four to five times as many pages as the flat search.
# - With **as many pages**, the flat search finds more than each of them. With width 3 all four intervals lie below 0;
#   with width 5 those of `beam` and `knee` hold 0, if only just for the knee.
# - What the trees save is comparisons: the beam ranks some 80 nodes instead of 354 pages, the knee about 190.
#
# A summary speaks for many pages, and a single lost comparison costs all of them. That is the price of every search
# that decides near the root.
#
# ## What is pruned
#
# `pruned` is the share of the nodes looked at of which no page is in the result. The next two columns are the same for
# the irrelevant nodes, and for the relevant ones, which should **not** be pruned. **Predict:** which share of the
# irrelevant nodes does the knee prune, and which share of the relevant ones?

# %%
my_guess = {"irrelevant pruned": None, "relevant pruned": None}
columns = ["pruned", "pruned low", "pruned high", "irrelevant pruned", "relevant pruned"]
print("guess:", my_guess)
lab.with_intervals(measured(), ["pruned"])[columns].round(2)

# %% [markdown]
# With Python 3.11 and width 3 the knee prunes about 71 % of the irrelevant nodes, with width 5 about 77 %. And 19 %
# and 20 % of the relevant ones. The fixed beam, which knows nothing of a curve, prunes more of both. So the ranking
# tells relevant from irrelevant.
#
# ## All in one table
#
# Here are recall, share pruned and nodes compared once more, and the time that a search takes: `ms` are milliseconds a
# question. They were taken on five of the questions, each search asking Qdrant itself. In brackets are the 95 %
# intervals.
#
# **Predict:** the trees compare fewer nodes than the flat search. Are they faster?

# %%
my_guess = None  # "faster" or "slower"


@cache
def in_all():
    """Recall, share pruned, nodes compared, and milliseconds, query by query."""
    times = lab.search_times(searches, indexes, judged[::16])
    return measured()[["recall", "pruned", "compared"]].join(times)


print("guess:", my_guess)
lab.interval_table(in_all())

# %% [markdown]
# And how much more or less than the flat search? Here is the value of each search minus that of `flat`, question by
# question, with the same trees. If an interval holds 0, the questions leave open which of the two has more. (For the
# recall remember that `flat` returns 10 pages, and most of the others many more.)

# %%
lab.interval_table(in_all(), minus="flat")

# %% [markdown]
# Fewer comparisons, but not less time. (With Python 3.11, `sensitive` with width 5 may even save no comparisons: its
# interval holds 0.) The flat search asks Qdrant once, the others once or more in each round. And Qdrant's local mode
# compares a query with all nodes, whichever were asked for. The search `branch` also fetches the texts of what it
# found. (For the first three columns Qdrant was asked only once a question, for the two rankings of all nodes, and all
# other rankings were made from them.) Comparisons pay where each of them is dear: where a model reads every node.
#
# ## Does the knee find relevance?
#
# The ranking tells relevant from irrelevant. Does the knee add anything to it? Take the trees away, and the cut alone
# is left: the first 100 pages of a flat search, cut in several ways. The knee keeps 20 of 100 in the mean (all this
# with Python 3.11). So it must be compared with a cut that has never seen a curve: keep **20, always**. The sensitive
# cut keeps about 41. **Predict:** which loses less of what is relevant, the knee or "20, always"?

# %%
my_guess = None  # "knee" or "20, always"
cuts = {
    "knee": lambda scores: knee(scores),
    "20, always": lambda scores: 20,
    "sensitive": lambda scores: knee(scores, 0.85),
    "41, always": lambda scores: 41,
    "kneed": lambda scores: kneed(scores) or len(scores),
}


@cache
def cut_by_query():
    return lab.measure_cuts(cuts, indexes["width 3"], judged)


print("guess:", my_guess)
lab.with_intervals(cut_by_query(), ["pruned", "relevant pruned"]).round(2)

# %%
lost = cut_by_query()["relevant pruned"].unstack("cut")
print(len(lost), "questions")
for one, other in [("knee", "20, always"), ("sensitive", "41, always")]:
    low, high = lab.paired_bootstrap(lost[one], lost[other])
    difference = (lost[one] - lost[other]).mean()
    print(f"lost by {one}, minus lost by {other}: {difference:+.3f}, interval {low:+.3f} to {high:+.3f}")

# %% [markdown]
# (Two questions are left out: nothing relevant is among their first 100.) Both intervals hold 0. On these questions
# nobody can say that the knee does better than a number that is always the same, or worse. And now ten questions to
# which the language reference has **no** answer. **Predict:** which share of the 100 pages does the knee prune?

# %%
my_guess = None  # a share
unanswerable = [
    "How long do I boil an egg?",
    "best time of year to plant tulips",
    "Who won the football match last night?",
    "recipe for tomato soup",
    "How do I get a wine stain out of a carpet?",
    "train from Vienna to Trieste",
    "Does my cat need a second litter box?",
    "symptoms of a cold in small children",
    "How do I tune a violin?",
    "cheap flights to Lisbon in May",
]
found = [indexes["width 3"].search(question, k=100, candidates=100) for question in unanswerable]
without = [1 - knee([score for _, score in ranking]) / len(ranking) for ranking in found]
by_chance = [1 - knee(shuffling(100, seed=seed)) / 100 for seed in range(200)]
print("guess:", my_guess)
print(f"judged questions:       {cut_by_query().loc['knee', 'pruned'].mean():.0%} of the pages pruned")
print(f"no answer to be found:  {sum(without) / len(without):.0%}")
print(f"two rankings by chance: {sum(by_chance) / len(by_chance):.0%}")
print(f"two that agree:         {1 - knee(agreeing(100)) / 100:.0%}")

# %% [markdown]
# Where there is something to find, where there is nothing, and where the order is made by chance, the knee prunes
# about the same share. The curve says how much two rankings **agree**, and nothing about how relevant their first
# hundred are.
#
# ## The 62 %
#
# "A knee removes about 62 % of the irrelevant documents." What was measured here?

# %%
by_cut = cut_by_query().groupby("cut").mean().loc["knee"]
of_trees = measured().groupby(["shape", "search"]).mean().xs("knee", level="search")
print(f"100 pages:   {by_cut['irrelevant pruned']:.0%} of the irrelevant pruned,", end=" ")
print(f"and {by_cut['relevant pruned']:.0%} of the relevant")
for shape, row in of_trees.iterrows():
    print(f"{shape}:     {row['irrelevant pruned']:.0%} of the irrelevant pruned,", end=" ")
    print(f"and {row['relevant pruned']:.0%} of the relevant")

# %% [markdown]
# So the measured share is higher than the quoted one, and it would be easy to boast of it. But a share of what is
# irrelevant says nothing by itself. Most nodes are irrelevant: whoever prunes 61 % of all prunes about 61 % of these,
# too. Two rankers that agree on 100 nodes come to 61 % with no text at all, close to what is quoted. A number like
# that needs three others beside it: what was lost of the **relevant**, what a cut without a curve achieves, and what
# comes out where there is nothing to find.
#
# ## Exercise `pruning` · 1 point · about 5 minutes
#
# First by hand: two rankers agree on **100** nodes with `k_rrf` = 60, and the knee keeps **39**. **10** of the nodes
# are relevant. All numbers are shares between 0 and 1.
#
# - `"agree"`: which share of the 100 nodes is pruned?
# - `"best case"`: the relevant ones are the **first** ten of the ranking. Which share of the **irrelevant** nodes is
#   pruned?
# - `"worst case"`: the relevant ones are the **last** ten. Which share of the **irrelevant** nodes is pruned?
#
# Then read off your measurement of the 100 pages, in the row `knee`; two digits are enough:
#
# - `"irrelevant pruned"` and `"relevant pruned"`.


# %% exercise="pruning"
pruning = {
    "agree": None,
    "best case": None,
    "worst case": None,
    "irrelevant pruned": None,
    "relevant pruned": None,
}
### BEGIN SOLUTION
pruning["agree"] = (100 - 39) / 100
pruning["best case"] = (100 - 39) / 90
pruning["worst case"] = (100 - 39 - 10) / 90
pruning["irrelevant pruned"] = 0.81
pruning["relevant pruned"] = 0.27
### END SOLUTION

# %% check="pruning"
check("pruning", pruning)

# %% [markdown]
# Best case or worst, between 57 % and 68 % of the irrelevant nodes are pruned: the ranking may be perfect or useless.
# What tells the two apart is what happens to the relevant ones.
#
# ## Common mistakes
#
# - Scores in ascending order: the knee is then that of another curve.
# - Cutting before the knee instead of behind it: the knee is kept.
# - Cutting a flat or straight curve, because some point must be the farthest.
# - Removing parents and children first, and looking for the knee in what is left.
# - Letting a node remove others that has been removed itself.
# - Taking a share that was pruned for a share that was rightly pruned.
#
# ## Summary
#
# - The knee is the point farthest from the chord. It describes the shape of a curve.
# - Scores of RRF are made of ranks. Their curve has a knee whether or not anything is relevant.
# - A beam search lets nodes of all trees compete, and ends when a round changes nothing.
# - Trees save comparisons. On these questions they lost pages that a flat search finds.
# - A share pruned means something beside three others: the relevant that were lost, a fixed cut, and nothing to find.

# %% [markdown]
# ## Quiz
#
# **1.** Somebody scales only the ranks, and leaves the scores as they are, between 0.016 and 0.033. The distances are
# measured from the straight line through the first and the last point. Does the knee move?
#
# <details><summary>Answer</summary>
#
# No. Stretching an axis stretches all distances from that line in the same proportion, so the farthest point stays the
# farthest. What changes is the size of the distances: 1e-9 would no longer mean the same. And x + y = 1 is the chord
# only where both axes are scaled.
#
# </details>
#
# **2.** A colleague reports: "Our adaptive cut removes 80 % of the irrelevant passages." What do you ask?
#
# <details><summary>Answer</summary>
#
# How many of the relevant passages it removes; what a cut at a fixed number, as deep in the mean, removes of both; and
# what it removes for questions without an answer. On the 100 pages here the knee removed 81 % of the irrelevant ones,
# and "20, always" did the same.
#
# </details>
#
# ## The end
#
# You have built a search that joins meaning and words, tuned it, put it into a database, reranked it, and sent it down
# trees. And you have measured at each step, and sometimes found that a step was not worth it. That is the part to take
# with you. The finished code is the package `hybrid_search`: `knees.py` and `beam.py` are those of this unit.
