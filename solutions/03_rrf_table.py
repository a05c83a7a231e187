# %% [markdown]
# # 03 · The RRF table
#
# You have two searches: one by meaning (unit 01), one by words (unit 02). They give two rankings, and the
# rankings disagree. In this unit you join them into one.
#
# You will
# - see why distances and BM25 scores cannot simply be added,
# - work out a **reciprocal rank fusion** (RRF) by hand, with a pencil or in a cell,
# - then write it as two short functions: `rrf_score` and `rrf_table`,
# - see how one constant, `k_rrf`, decides who wins.
#
# **Minutes:** 40. **You need:** units 01 and 02.

# %%
from grader import check, hint
from hybrid_search import BM25Index, VectorIndex
from lab import embedder, plot_fusion, plot_rrf_curve, sections

question = "what happened with INC-2023-Q4-011?"

# %% [markdown]
# ## Two searches, two kinds of numbers
#
# Here are the finished indexes of units 01 and 02, filled with the ten sections of the annual review. Their
# `add_documents` calls `add_document` for each.

# %%
documents = sections()
vector_index = VectorIndex(embedder())
bm25_index = BM25Index()
for index in (vector_index, bm25_index):
    index.add_documents(documents)

for name, index in {"vector": vector_index, "BM25": bm25_index}.items():
    print(name, [(document["id"], round(value, 3)) for document, value in index.search(question, k=10)])

# %% [markdown]
# Each pair is a section's number and its value. Both lists begin with the best section. But look at the
# values:
#
# - the vector search gives **distances**: lower is better, so the values rise from left to right;
# - BM25 gives **scores**: higher is better, so the values fall. A section without a word of the question is
#   not in the list at all.
#
# The simplest idea is to add the two values of each section and to put the highest sum first.
#
# **Predict.** Section 3 is second in the vector search, and BM25 does not find it. Where will it stand among
# the ten, from 1 to 10, when the sums are sorted?

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
distances = {document["id"]: value for document, value in vector_index.search(question, k=10)}
scores = {document["id"]: value for document, value in bm25_index.search(question, k=10)}
sums = {number: distances[number] + scores.get(number, 0) for number in distances}
print("guess:", my_guess)
for number in sorted(sums, key=sums.get, reverse=True):
    print(f"section {number:2}  {distances[number]:.3f} + {scores.get(number, 0):.3f} = {sums[number]:.3f}")

# %% [markdown]
# With the default embedder, section 3 comes **last**: among the sections that BM25 does not find, it has the
# smallest distance, and a small distance makes a small sum. Section 4 is farthest from the question of all,
# and it comes fourth. The seven sections without a BM25 score stand in the wrong order, the worst first.
#
# Turning the distance round does not help for long. `1 - distance` is higher for a closer section, but the
# two numbers still have different sizes:

# %%
for query in (question, "software engineering project phoenix stability"):
    _, distance = vector_index.search(query, k=1)[0]
    _, score = bm25_index.search(query, k=1)[0]
    print(f"{query:48}  best 1 - distance {1 - distance:.2f}   best BM25 score {score:.2f}")

# %% [markdown]
# `1 - distance` is never above 1. A BM25 score has no such limit: it grows with the number of words that
# match and with how rare they are. For the second query the distance would hardly count any more.
#
# What can be compared is the **position**. First is first, in any list. So forget the values and keep the
# ranks.
#
# ## What a rank is worth
#
# Reciprocal rank fusion gives a document points for its rank in each list:
#
# $$\text{score}(d) = \sum_i \frac{1}{k_\text{rrf} + \text{rank}_i(d)}$$
#
# In words: take the document's rank in a list, add the constant `k_rrf`, and divide 1 by the result. Do that
# for every list that contains the document, and add up what you get.
#
# - Ranks count from **1**: the best document of a list has the rank 1.
# - `k_rrf` is a number that we choose, the same for all documents. It has nothing to do with `k`, the number
#   of results.
# - A list that does not contain the document adds nothing.
# - A **higher** score is better.

# %% [markdown]
# ## The table by hand
#
# Three sections and two lists are small enough for a pencil. Suppose a search for "pump leak" gave this, best
# first:
#
# | rank | vector | distance | BM25 | score |
# |---|---|---|---|---|
# | 1 | Section 2 | 0.31 | Section 6 | 7.4 |
# | 2 | Section 7 | 0.42 | Section 2 | 6.1 |
# | 3 | Section 6 | 0.55 | Section 7 | 2.2 |
#
# (The values are made up. You will not need them.)
#
# **Step 1: turn the lists round.** For each section, write down its rank in each list. Section 2 is first in
# the vector list and second in the BM25 list.
#
# | document | rank in vector | rank in BM25 |
# |---|---|---|
# | Section 2 | 1 | 2 |
# | Section 7 | 2 | 3 |
# | Section 6 | 3 | 1 |
#
# **Step 2: turn ranks into points.** We take `k_rrf = 1`. For section 2:
#
# - vector, rank 1: 1 / (1 + 1) = 1/2 = 0.500
# - BM25, rank 2: 1 / (1 + 2) = 1/3 = 0.333
#
# **Step 3: add.** 0.500 + 0.333 = 0.833.
#
# Now you. Replace each `None` by the sum for that section. Section 2 shows how to write it.

# %%
section_2 = 1 / (1 + 1) + 1 / (1 + 2)
section_7 = None
section_6 = None
print("k_rrf = 1:", section_2, section_7, section_6)

# %% [markdown]
# <details><summary>Answer</summary>
#
# `section_7 = 1 / (1 + 2) + 1 / (1 + 3)` and `section_6 = 1 / (1 + 3) + 1 / (1 + 1)`.
#
# **Step 4: sort, highest first, and number the rows.**
#
# | document | rank in vector | rank in BM25 | sum | score | fused rank |
# |---|---|---|---|---|---|
# | Section 2 | 1 | 2 | 1/2 + 1/3 | 0.833 | 1 |
# | Section 6 | 3 | 1 | 1/4 + 1/2 | 0.750 | 2 |
# | Section 7 | 2 | 3 | 1/3 + 1/4 | 0.583 | 3 |
#
# Section 6 overtakes section 7: a first and a third place are worth more than a second and a third.
#
# </details>
#
# Once more with `k_rrf = 60`, the value of the paper that introduced RRF (Cormack, Clarke and Büttcher,
# 2009). Only the constant changes: section 2 now gets 1 / (60 + 1) from the vector list.

# %%
section_2 = None
section_7 = None
section_6 = None
print("k_rrf = 60:", section_2, section_7, section_6)

# %% [markdown]
# <details><summary>Answer</summary>
#
# | document | rank in vector | rank in BM25 | sum | score | fused rank |
# |---|---|---|---|---|---|
# | Section 2 | 1 | 2 | 1/61 + 1/62 | 0.0325 | 1 |
# | Section 6 | 3 | 1 | 1/63 + 1/61 | 0.0323 | 2 |
# | Section 7 | 2 | 3 | 1/62 + 1/63 | 0.0320 | 3 |
#
# The order is the same here. The scores are small and close together. That is normal for 60.
#
# </details>
#
# You have done a reciprocal rank fusion. The rest is teaching it to Python.
#
# ## Exercise `rrf_score` · 1 point · easy · about 3 minutes
#
# Write the function `rrf_score(rank, k_rrf=60)`. It returns what one rank is worth: 1 divided by the sum of
# `k_rrf` and `rank`.
#
# `rank` is a whole number from 1 on. Return the number as it is, do not round it. `rrf_score(1, k_rrf=1)` is
# 0.5, as in your first table.


# %% exercise="rrf_score"
def rrf_score(rank, k_rrf=60):
    """What one rank is worth: a number, higher is better. Ranks count from 1."""
    ### BEGIN SOLUTION
    return 1 / (k_rrf + rank)
    ### END SOLUTION


# %% check="rrf_score"
check("rrf_score", rrf_score)

# %% [markdown]
# If you are stuck, write `hint("rrf_score")` in a new cell. Each call goes one step further.

# %% [markdown]
# ## Exercise `rrf_table` · 3 points · medium · about 15 minutes
#
# Write the function `rrf_table(rankings, k_rrf=60)`. It makes the table that you made by hand.
#
# **What it is given.** `rankings` is a dict: the name of each list, and the list of its documents, best
# first. Here a document is just a name, a `str`, and stands at most once in a list. There may be one list, two
# or more, with any names but `document`, `score` and `rank`; a list may be empty. For example
#
# ```python
# {"vector": ["Section 2", "Section 7", "Section 6"], "BM25": ["Section 6", "Section 2", "Section 7"]}
# ```
#
# **What it returns.** A list of rows, one for each document that is in any of the lists. A row is a dict with
#
# - `"document"`: the document, as it stands in the list,
# - one entry for each list, **under the list's name**: the document's rank there, from 1, or `None` where the
#   list does not contain it,
# - `"score"`: the sum of what its ranks are worth, not rounded; a list without the document adds nothing,
# - `"rank"`: its place in the fused order: 1 for the first row, 2 for the second, and so on.
#
# The rows are sorted by score, **highest first**. Where scores are equal, any order is right.
#
# The first row of the example, for `k_rrf=1`, is (the score is shortened here; yours is not)
#
# ```python
# {"document": "Section 2", "vector": 1, "BM25": 2, "score": 0.8333, "rank": 1}
# ```
#
# You may call your `rrf_score`. Useful: `enumerate(ranking, start=1)` gives pairs (1, first document), (2,
# second document) and so on.


# %% exercise="rrf_table"
def rrf_table(rankings, k_rrf=60):
    """The fused table: a list of rows (dicts), highest score first.

    rankings: a dict, name of a list -> its documents, best first.
    A row: "document", under each list's name the rank (from 1) or None, "score", "rank" (from 1).
    """
    ### BEGIN SOLUTION
    rows = {}
    for name, ranking in rankings.items():
        for rank, document in enumerate(ranking, start=1):
            if document not in rows:
                rows[document] = {"document": document, **dict.fromkeys(rankings), "score": 0}
            rows[document][name] = rank
            rows[document]["score"] += rrf_score(rank, k_rrf)
    table = sorted(rows.values(), key=lambda row: row["score"], reverse=True)
    for place, row in enumerate(table, start=1):
        row["rank"] = place
    return table
    ### END SOLUTION


# %% check="rrf_table"
check("rrf_table", rrf_table)

# %% [markdown]
# In the report, an arrow such as `<- score` names the first column in which your row differs from the expected
# one.

# %% [markdown]
# ## Your table
#
# Compare it with the two that you made by hand. `pandas` only draws it, with the fused rank in front.

# %%
import pandas as pd

rankings = {
    "vector": ["Section 2", "Section 7", "Section 6"],
    "BM25": ["Section 6", "Section 2", "Section 7"],
}
pd.DataFrame(rrf_table(rankings, k_rrf=1)).set_index("rank")

# %%
pd.DataFrame(rrf_table(rankings, k_rrf=60)).set_index("rank")

# %% [markdown]
# The picture shows the same fusion. Follow each section from its place in the left and in the right list to
# its place in the middle.

# %%
plot_fusion(rankings, [row["document"] for row in rrf_table(rankings)])

# %% [markdown]
# ## What k_rrf does
#
# **Predict.** The first document of a list gets 100 %. What share of that does the **second** get, for
# `k_rrf = 1` and for `k_rrf = 60`? Write two percentages, in brackets.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
print("guess:", my_guess)
plot_rrf_curve(k_rrfs=(1, 60), ranks=20)

# %% [markdown]
# For 1, rank 2 is worth 67 % of rank 1, and rank 10 only 18 %. The first places are precious. For 60, rank 2
# is worth 98 % and rank 10 still 87 %: a place more or less hardly matters. What matters then is in **how
# many** lists a document stands.
#
# Here are two lists that have only one document in common, `b`, and it is last in both:
#
# | rank | vector | BM25 |
# |---|---|---|
# | 1 | a | z |
# | 2 | x | w |
# | 3 | y | v |
# | 4 | b | b |
#
# **Predict.** Who wins for `k_rrf = 1`, who for `k_rrf = 60`? Compute the scores of `a` and `b` by hand first:
# `a` has one rank, `b` has two. Write two letters.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
opposed = {"vector": ["a", "x", "y", "b"], "BM25": ["z", "w", "v", "b"]}
print("guess:", my_guess)
for k_rrf in (1, 2, 60):
    best = rrf_table(opposed, k_rrf)[:3]
    print(f"k_rrf = {k_rrf:2}  ", "   ".join(f"{row['document']} {row['score']:.5f}" for row in best))

# %% [markdown]
# - `k_rrf = 1`: `a` and `z` have 1/2 = 0.5. `b` has 1/5 + 1/5 = 0.4 and loses.
# - `k_rrf = 2`: 1/3 against 1/6 + 1/6. All three are equal, 0.333.
# - `k_rrf = 60`: 1/61 = 0.0164 against 1/64 + 1/64 = 0.03125. `b` is alone in front.
#
# In the picture, a dashed line starts at a document that only one list contains.

# %%
plot_fusion(opposed, [row["document"] for row in rrf_table(opposed, k_rrf=60)])

# %% [markdown]
# A small constant trusts a first place. A large one trusts agreement. Neither is always right: if `a` is the
# one document that answers the question, then 60 has put a worse document in front of it. Which constant suits
# your texts has to be measured.
#
# ## No score is "good" by itself
#
# **Predict.** You want to keep only good documents, and you decide: a score of at least 0.05. How many of the
# three sections stay, with `k_rrf = 60`?

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
table = rrf_table(
    {
        "vector": ["Section 2", "Section 7", "Section 6"],
        "BM25": ["Section 6", "Section 2", "Section 7"],
    }
)
print("guess:", my_guess)
print("the highest score that two lists can give:", round(rrf_score(1) + rrf_score(1), 4))
print("kept:", [row["document"] for row in table if row["score"] >= 0.05])

# %% [markdown]
# None. Two lists can give at most 1/61 + 1/61 = 2/61 = 0.0328, and only to a document that is first in both.
# A fixed limit of 0.05 drops everything, however well it fits.
#
# An RRF score says where a document stands among the others. It does not say how well it answers the
# question: the best of ten useless documents can have 2/61 as well. Use the order, not the size.
#
# ## Equal scores
#
# Two lists that say the opposite leave nothing to choose:

# %%
pd.DataFrame(rrf_table({"vector": ["a", "b"], "BM25": ["b", "a"]})).set_index("rank")

# %% [markdown]
# Both have 1/61 + 1/62. Any order is right, and `check` accepts any. But a search should give the same order
# on every run. Python's `sorted` helps: it leaves equal rows in the order in which they came. The finished
# `hybrid_search` puts the document with the better best rank first, then the one that was seen first.
#
# ## Back to the incident
#
# Now the real lists. The vector search always has something to return; here we take its first five. BM25
# returns only sections that share a word with the question.
#
# **Predict.** Section 3 is second in the vector list and missing in the BM25 list. Where does it end up, with
# `k_rrf = 60`?

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)


# %%
def found(index, k=5):
    """The names of the best k sections of an index."""
    return [f"Section {document['id']}" for document, _ in index.search(question, k)]


incident = {"vector": found(vector_index), "BM25": found(bm25_index)}
print("guess:", my_guess)
pd.DataFrame(rrf_table(incident)).convert_dtypes().set_index("rank")

# %%
plot_fusion(incident, [row["document"] for row in rrf_table(incident)])

# %% [markdown]
# With the default embedder, section 3 falls from second to fourth. It gets 1/62 from one list and nothing
# from the other (`<NA>` is how pandas shows your `None`). Sections 2 and 5 are further down in the vector
# list, but they stand in both. The dashed lines belong to sections that only one list found.
#
# Sections 10, 2 and 5 come first now: the three that name the incident. BM25 alone would have done the same
# here, because the question contains the exact name. For a question in other words, the vector search can
# be the better one. The fusion does not need to know beforehand which of the two is right.
#
# **Missing means nothing, not last.** It is tempting to give a missing document the rank behind the last one.
# Take a list of three documents and `k_rrf = 60`: a missing document would get 1/64, and the third, which the
# list did find, gets 1/63. That is nearly the same, for a document that the list never found.

# %% [markdown]
# ## Common mistakes
#
# - Counting ranks from 0: `enumerate` does that unless you write `start=1`.
# - Writing `1 / k_rrf + rank` without brackets: Python divides first.
# - Giving a missing document a rank, 0 or last. It has none, and gets nothing.
# - Keeping a document's best score instead of adding.
# - Going on counting in the second list where the first one stopped.
# - Numbering the rows before sorting them.
# - Comparing an RRF score with a fixed limit.
#
# ## Summary
#
# - Distances fall and scores rise as things fit better, and their sizes differ: do not add them.
# - RRF adds 1 / (k_rrf + rank) over the lists, with ranks from 1. Missing adds nothing.
# - A small `k_rrf` trusts first places, a large one trusts agreement.
# - Only the order of the scores has a meaning, not their size.
# - RRF does not know what is right. It only counts who agrees.

# %% [markdown]
# ## Quiz
#
# **1.** You fuse three lists: the vector list, the BM25 list, and the BM25 list once more. What changes?
#
# <details><summary>Answer</summary>
#
# Each BM25 rank now counts twice, so BM25 has more to say than the vector search. The documents have not become
# better. RRF counts who agrees, and it does not know that a list only agrees with itself.
#
# </details>
#
# **2.** A friend multiplies all BM25 scores by 1000 before the fusion. What changes?
#
# <details><summary>Answer</summary>
#
# Nothing. The order within the BM25 list stays the same, so the ranks stay the same, and RRF looks at nothing
# else.
#
# </details>
#
# **Next:** [04 · The Retriever](../04_retriever/04_retriever.ipynb), where this table becomes a class that
# asks the indexes itself.
