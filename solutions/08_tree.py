# %% [markdown]
# # 08 · Trees of summaries
#
# So far each page of a document stood alone. But pages belong together: three pages make a section, some sections make
# a chapter. In this unit a document becomes a **tree**. Its leaves are the pages, and each node above is a summary of
# what lies below, up to one root for the whole document. A search then starts at the root, and goes down where it gets
# better. It can stop at a page, or higher up, where the section as a whole fits best.
#
# You will
# - write `build_tree`: from pages to one root,
# - keep the tree in Qdrant, a vector database, as a flat list of points, and see how Qdrant counts ranks,
# - write `branch_search`: go down a tree, wherever a child fits the question better than its parent,
# - see with figures where such a search loses against the flat search that you know.
#
# **Minutes:** 45. **You need:** units 01 to 04; a glance at recall in unit 05 helps.

# %%
import lab
from grader import check, hint
from hybrid_search import TreeIndex, check_tree, rrf_scores
from lab import embedder

# %% [markdown]
# ## A page in three sentences
#
# A node of the tree needs two things that can be searched: a short **summary**, and **keywords**. `lab.summariser()`
# gives a function for that: `summarise(text)` returns a dict with both.
#
# The default one writes nothing of its own. It takes sentences out of the text, those nearest to the middle of all its
# sentence vectors, and the terms that weigh most. (With a key of Anthropic, a language model would write the summary.
# The line below says which one is in use.)
#
# **Predict:** here is the page about the security incident. Will its identifier, `INC-2023-Q4-011`, be in the summary,
# in the keywords, in both, or in neither?

# %%
my_guess = None  # replace None with "summary", "keywords", "both" or "neither"
report = lab.report_pages()
print(len(report), "pages; page 10:", len(report[9]), "characters")

# %%
summarise = lab.summariser()
about = summarise(report[9])
print("guess:", my_guess)
print("summary: ", about["summary"])
print("keywords:", ", ".join(about["keywords"]))

# %% [markdown]
# ## From pages to a root
#
# Take four pages, and let at most three nodes share a parent (`width` is 3):
#
# ```
#             6            level 2, the root: pages 1-4
#           /   \
#         5      |         level 1: pages 1-3
#       / | \    |
#      1  2  3   4         level 0: the pages
# ```
#
# The nodes 1 to 4 are the pages. Three of them get a parent, node 5. Page 4 is left over, alone. A parent for it would
# only repeat it. So it moves up as it is, and node 6 becomes the parent of 5 and 4.
#
# **Predict:** how many nodes does the tree have for 7 pages, and for 10 pages? Draw it on paper.

# %%
my_guess = {7: None, 10: None}
my_guess

# %% [markdown]
# For 7 pages: 7 pages, then 2 parents and page 7 left over, then 1 root above these three. That is 7 + 2 + 1 = 10.
# For 10 pages: 10 pages, 3 parents and page 10 left over; of these four nodes three get a parent, and page 10 is left
# over once more; then the root. That is 10 + 3 + 1 + 1 = 15.
#
# ## Exercise `build_tree` · 3 points · about 15 minutes
#
# Write `build_tree(pages, summarise, width=3, file_name="", first_id=1)`. `pages` is a list of texts. Return a list of
# nodes. **A node is a dict** with these keys:
#
# | key | what it is |
# |---|---|
# | `id` | a whole number: `first_id` for page 1, then one more for each node, in the order of the list |
# | `file_name` | the argument, in every node |
# | `first_page`, `last_page` | the pages that the node covers, counted from 1; `last_page` is covered, too |
# | `level` | 0 for a page; for a parent, one more than the **highest** level among its children |
# | `parent_id` | the parent's id; `-1` for the root |
# | `child_ids` | the ids of the children, in the order of the pages; `[]` for a page |
# | `summary` | of a page: what `summarise` makes of its text; of a parent: see below |
# | `keywords` | of a page: what `summarise` gives; of a parent: see below |
#
# - **Order.** First the pages, then the parents level by level, from left to right; the root comes last.
# - **Groups.** Neighbours form groups of `width`. Only the last group of a level may be smaller. A group of **one**
#   gets no parent: that node moves up to the next level as it is, and stands last there. Go on until one node is left.
# - **A parent's summary.** Join the summaries of its children with `"\n"`, and give that text to `summarise`. Take the
#   `"summary"` of the answer, and leave its keywords.
# - **A parent's keywords.** All keywords of its children, each once, in the order in which they are first seen.
# - A blank page is a page. One page gives one node, page and root at once. No pages give `[]`.


# %% exercise="build_tree"
def build_tree(pages, summarise, width=3, file_name="", first_id=1):
    """The nodes of the tree over some pages, a list of dicts: the pages first, the root last.

    pages: a list of texts. summarise(text): a dict with "summary", a text, and "keywords", a list of texts.
    width: how many nodes share a parent, at most. first_id: the id of page 1.
    """
    ### BEGIN SOLUTION
    nodes = []

    def add(first_page, last_page, level, children, summary, keywords):
        node = {"id": first_id + len(nodes), "file_name": file_name, "level": level, "parent_id": -1}
        node |= {"first_page": first_page, "last_page": last_page, "summary": summary, "keywords": keywords}
        node["child_ids"] = [child["id"] for child in children]
        for child in children:
            child["parent_id"] = node["id"]
        nodes.append(node)
        return node

    level = []
    for number, text in enumerate(pages, start=1):
        about = summarise(text)
        level.append(add(number, number, 0, [], about["summary"], about["keywords"]))
    while len(level) > 1:
        above = []
        for start in range(0, len(level), width):
            group = level[start : start + width]
            if len(group) == 1:
                above.append(group[0])
                continue
            summary = summarise("\n".join(child["summary"] for child in group))["summary"]
            keywords = list(dict.fromkeys(word for child in group for word in child["keywords"]))
            highest = max(child["level"] for child in group)
            pages_of = group[0]["first_page"], group[-1]["last_page"]
            above.append(add(*pages_of, highest + 1, group, summary, keywords))
        level = above
    return nodes
    ### END SOLUTION


# %% check="build_tree"
check("build_tree", build_tree)

# %% [markdown]
# ## The tree of the report
#
# The annual review as a document of ten pages, a section each. `check_tree` comes with the course: it refuses what is
# no tree, such as a node with two parents, or one that no root leads to.

# %%
import pandas as pd

nodes = build_tree(report, summarise, file_name="report.md")
check_tree(nodes)
columns = ["id", "first_page", "last_page", "level", "parent_id", "child_ids"]
table = pd.DataFrame(nodes)[columns]
table.assign(keywords=[len(node["keywords"]) for node in nodes]).set_index("id")

# %% [markdown]
# 15 nodes for 10 pages, as you predicted. Now look at the root. **Predict:** can its summary name all ten sections?
# And will the root still know `INC-2023-Q4-011`?

# %%
my_guess = {"all ten sections in the summary": None, "incident in the keywords": None}
my_guess

# %%
print("guess:", my_guess)
root = build_tree(report, summarise, file_name="report.md")[-1]
print("summary:", root["summary"])
print("incident in the summary: ", "INC-2023-Q4-011" in root["summary"])
print("incident in the keywords:", "INC-2023-Q4-011" in root["keywords"], "of", len(root["keywords"]))

# %% [markdown]
# Three sentences cannot speak for ten pages. On the way up most is lost, and what the summaries do not say, a search by
# meaning cannot find from above. The keywords are handed up, all of them: so a search by **words** still sees at the
# root what is named on a page. Keep both in mind; we come back to them.
#
# ## A tree as flat points
#
# Qdrant is a database for vectors. It knows no trees. It holds **points**: an id, vectors, and a **payload**, a dict of
# anything. So the tree is stored flat: each node is a point, and `parent_id` and `child_ids` are in its payload.
#
# A point may have several vectors, each under a name. Ours have two: `dense`, the embedder's vector, and `sparse`,
# which holds a weight for each term of a text and nothing for all other terms. With its IDF **modifier**, Qdrant
# multiplies each weight by the term's IDF, that of unit 02. Then a sparse search is a BM25 search.
#
# Here are three sections of unit 03 as points, with made-up vectors: by `dense` the order is 2, 7, 6, by `sparse` 6,
# 2, 7. All three hold the one term, number 17.

# %%
from qdrant_client import models

client = lab.qdrant()
name = "unit_08_three_sections"
dense = {2: [1.0, 0.0], 7: [0.9, 0.3], 6: [0.5, 0.8]}
sparse = {6: 2.0, 2: 1.5, 7: 1.0}

if client.collection_exists(name):
    client.delete_collection(name)
client.create_collection(
    name,
    vectors_config={"dense": models.VectorParams(size=2, distance=models.Distance.COSINE)},
    sparse_vectors_config={"sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)},
)
for number in dense:
    vectors = {
        "dense": dense[number],
        "sparse": models.SparseVector(indices=[17], values=[sparse[number]]),
    }
    point = models.PointStruct(id=number, vector=vectors, payload={"title": f"Section {number}"})
    client.upsert(name, [point])

query = {"dense": [1.0, 0.0], "sparse": models.SparseVector(indices=[17], values=[1.0])}
for vector in query:
    found = client.query_points(name, query=query[vector], using=vector, limit=3).points
    print(vector, [(point.id, round(point.score, 4)) for point in found])

# %% [markdown]
# The term is in all 3 points, so its IDF is ln(1 + (3 - 3 + 0.5) / (3 + 0.5)) = 0.1335; section 6 scores twice that.
#
# ## How Qdrant counts
#
# Qdrant can fuse the two rankings itself, in one request. Its documentation calls that RRF, and `Fusion.RRF` asks for
# it. **Predict:** the formula of unit 03 with `k_rrf` = 60 gives section 2 a score of 1/61 + 1/62 = 0.0325. Which score
# does `Fusion.RRF` give it: the same, about 0.03, or about 0.8?

# %%
my_guess = None  # a score
my_guess

# %%
both = [models.Prefetch(query=query[vector], using=vector, limit=3) for vector in query]


def fused(how):
    points = client.query_points(name, prefetch=both, query=how, limit=3).points
    return {point.id: round(point.score, 6) for point in points}


print("guess:", my_guess)
print("Qdrant, Fusion.RRF", fused(models.FusionQuery(fusion=models.Fusion.RRF)))
for k in [2, 60, 61]:
    print(f"Qdrant, Rrf(k={k})".ljust(18), fused(models.RrfQuery(rrf=models.Rrf(k=k))))
for k_rrf in [1, 60]:
    scores = rrf_scores([[2, 7, 6], [6, 2, 7]], k_rrf)
    print(f"ours, k_rrf={k_rrf}".ljust(18), {key: round(score, 6) for key, score in scores.items()})

# %% [markdown]
# `Fusion.RRF` gives 0.833333: it uses k = 2, and counts ranks from **0**. The first of a list adds 1 / (2 + 0), which
# is our 1 / (1 + 1). So its k is one more than ours: `Fusion.RRF` is the `k_rrf` = 1 of the book, and for the
# book's 60 you have to ask for `Rrf(k=61)`. With `Rrf(k=60)` you get the scores of ranks that start at 0, the first
# mistake in unit 03. No error tells you; you have to compute it once by hand.
#
# ## The report in Qdrant
#
# `TreeIndex(client, collection, embedder)` comes with the course. It makes the points: `dense` is the embedded summary,
# `sparse` has the BM25 weights of the terms in file name, summary and keywords. `add_tree(nodes, pages)` writes them.

# %%
from functools import cache


@cache
def report_index():
    """The tree of the report in Qdrant. Run this cell again when you have changed build_tree."""
    index = TreeIndex(lab.qdrant(), "unit_08_report", embedder())
    index.add_tree(build_tree(report, summarise, file_name="report.md"), report)
    return index


index = report_index()
page = index.nodes("report.md")[9]
(point,) = index.client.retrieve(index.collection, [page["id"]], with_vectors=True)
print("vectors:", {name: len(getattr(vector, "indices", vector)) for name, vector in point.vector.items()})
for key, value in point.payload.items():
    print(f"{key}: {str(value)[:90]}")

# %% [markdown]
# That is page 10: a dense vector, a sparse one with a weight for each term, and the node as payload. A page has its
# text, too. (In a new collection ids start at 1, and no id is ever used again.) `parent_id` makes a useful question
# cheap: all roots are the points with `parent_id` = -1.
#
# You need four methods of a `TreeIndex`. `query` is a text, a node is a dict as above.
#
# - `search_roots(query, k)`: the best `k` roots, as pairs (node, score), best first.
# - `rank(query, nodes)`: exactly these nodes in one ranking, as pairs (node, score), best first. It fuses the ranking
#   by meaning and the one by words, with `k_rrf` = 60, and counts ranks **among these nodes only**.
# - `children(node)`: the children of a node, as a list; `[]` for a page.
# - `text(node)`: the text of all pages of a node.

# %%
(best, score), *others = report_index().search_roots("SBT-4410", 3)
print("roots:", best["id"], f"with {score:.6f}, and {len(others)} others")
for node, score in report_index().rank("SBT-4410", [best, *report_index().children(best)]):
    print(f"{score:.6f}  node {node['id']:2}, pages {node['first_page']}-{node['last_page']}")

# %% [markdown]
# The root and its two children in one ranking. Node 14, which covers the pages 1 to 9, beats the root, if only just.
# So it is worth going down to it. Page 10 does not.
#
# ## Exercise `branch_search` · 3 points · about 12 minutes
#
# Write `branch_search(index, query, roots=3)`. `index` has the four methods above.
#
# - **Start** with the best `roots` roots, from `index.search_roots`. Each is tested, like any other node.
# - **Test a node.** Rank it **together with all its children** in one call of `index.rank`. Children whose score is
#   **higher** than the node's own go on, each by itself: they are tested in the same way. There may be several. If no
#   child is higher, the node is **final**. With an equal score the parent stays. A page, without children, is final.
# - A node whose children go on is not part of the result.
# - **At the end**, rank all final nodes together, in one call of `index.rank`. That gives their order and their scores.
#
# Return a list of **chunks**, in that order. A chunk is a dict: `id`, `file_name`, `first_page` and `last_page` of the
# node; `text`, from `index.text(node)`; `score`, from the last ranking; `path`, the list of ids from the root down to
# the node, both included. Where there is no root, return `[]`.


# %% exercise="branch_search"
def branch_search(index, query, roots=3):
    """What is found where no child beats its parent: a list of chunks (dicts), best first; [] if there is no tree.

    index: has search_roots(query, k), rank(query, nodes), children(node) and text(node); higher scores are better.
    roots: how many trees are searched, at most.
    """
    ### BEGIN SOLUTION
    waiting = [(node, [node["id"]]) for node, _ in index.search_roots(query, roots)]
    final, paths = [], {}
    while waiting:
        node, path = waiting.pop(0)
        ranked = index.rank(query, [node, *index.children(node)])
        own = next(score for other, score in ranked if other["id"] == node["id"])
        winners = [child for child, score in ranked if score > own]
        for child in winners:
            waiting.append((child, [*path, child["id"]]))
        if not winners:
            final.append(node)
            paths[node["id"]] = path
    chunks = []
    for node, score in index.rank(query, final):
        chunk = {key: node[key] for key in ("id", "file_name", "first_page", "last_page")}
        chunks.append({**chunk, "text": index.text(node), "score": score, "path": paths[node["id"]]})
    return chunks
    ### END SOLUTION


# %% check="branch_search"
check("branch_search", branch_search)

# %% [markdown]
# ## Watch it
#
# `lab.watch_search` runs your search and notes each ranking that it asks for. Drag the slider, or click on it and use
# the arrow keys. (`lab.plot_walk(walk, step=2)` draws one step without a slider.)

# %%
walk = lab.watch_search(branch_search, report_index(), "SBT-4410")
lab.WalkView(walk, step=len(walk.steps))

# %% [markdown]
# Three comparisons lead from the root to page 9, the one that names `SBT-4410`. No summary above that page names it.
# But the keywords do, up to the root: it was the words that led the way.
#
# ## Where it loses
#
# Now the question that runs through the course. Flat search finds the sections 10, 2 and 5; all three name the
# incident. **Predict:** which pages does your tree search find?

# %%
my_guess = None  # a list of pages
question = "what happened with INC-2023-Q4-011?"


def pages_found(chunks):
    return [(chunk["first_page"], chunk["last_page"]) for chunk in chunks]


print("guess:", my_guess)
print("flat:", [node["first_page"] for node, _ in report_index().search(question, k=3)])
print("tree:", pages_found(branch_search(report_index(), question)))

# %%
walk = lab.watch_search(branch_search, report_index(), question)
lab.plot_walk(walk, step=2)

# %% [markdown]
# With the default models, the tree finds page 10 alone. Look at the ranking: node 14, with pages 2 and 5 below it, has
# **exactly** the score of the root: one is 2nd by meaning and 3rd by words, the other the other way round. It does not
# beat the root, so it is dropped, and nine pages with it. Two relevant ones are lost in a single comparison.
#
# Scores of RRF come from ranks. Among three nodes there are few of them, so ties and narrow wins are common, and a
# narrow win says little.
#
# The tree errs the other way, too. **Predict:** what does it find for these?

# %%
for question in [
    "What made the servers crash and how was it repaired?",
    "Were there any lawsuits or court rulings?",
]:
    print(question)
    print("  flat:", [node["first_page"] for node, _ in report_index().search(question, k=3)])
    print("  tree:", pages_found(branch_search(report_index(), question)))

# %% [markdown]
# For the first, no child beats the root. The result is the whole report: it holds the answer, on page 2, and nine pages
# more. For the second, page 10 wins early, and page 5, about legal matters, is never looked at: no summary above it
# says anything about courts.

# %% [markdown]
# ## Many pages, and two widths
#
# One small report proves nothing. `lab.reference_documents()` gives Python's language reference as 11 documents of many
# pages, and 66 questions have been judged: for each it is known which pages answer it. Both were written down before
# any search ran on them. All numbers from here on are those of extracts and of the model on your computer, so that you
# can compare yours with those in the text.
#
# A wider tree has fewer levels. **Predict:** which width loses less, 3 or 5?

# %%
my_guess = None  # 3 or 5
extracts = lab.summariser("extractive")


@cache
def reference_index(width):
    """The trees of all documents in one collection. Run this cell again when you have changed build_tree."""
    index = TreeIndex(lab.qdrant(), f"unit_08_width_{width}", embedder("local"))
    for file_name, pages in lab.reference_documents().items():
        index.add_tree(build_tree(pages, extracts, width, file_name), pages)
    return index


for width in [3, 5]:
    index = reference_index(width)
    levels = [node["level"] for name in index.documents for node in index.nodes(name)]
    print(f"width {width}: {len(levels)} nodes, {levels.count(0)} pages, highest level {max(levels)}")

# %% [markdown]
# How do you measure a search that returns pieces of any size? The
# **recall** is the share of the relevant pages that are in the result. But whoever returns everything has a recall
# of 1. So each result is compared with a flat search that returns **the same number of pages**, for each question.
#
# `measure_trees` does that. "pages" is how many pages a result has, "compared" how many nodes were ranked for it.
# **Predict:** which recall is higher, that of the tree or that of the flat search with as many pages?

# %%
from lab.tree_evaluation import RememberedIndex, measure_trees, pages_of

my_guess = None  # "tree" or "flat"
judged = lab.judged_queries("pages")


@cache
def measured():
    """A row for each width, search and question."""
    searches = {
        "branch_search": branch_search,
        "flat, 10 pages": lambda index, query: index.search(query, k=10, candidates=100),
    }
    return measure_trees(searches, {f"width {width}": reference_index(width) for width in [3, 5]}, judged)


columns = ["recall", "pages", "flat recall", "compared"]
means = measured()[columns].groupby(level=["shape", "search"], sort=False).mean()
print("guess:", my_guess)
means.round(3)

# %% [markdown]
# With Python 3.11:
#
# - With width 3, the tree search finds 55 % of the relevant pages, in 48 pages a question. The flat search finds 85 %
#   in as many. With width 5 it is 62 % in 38 pages, against 82 %.
# - The **ten** best pages of the flat search alone hold 67 %.
# - What the tree saves is work: it ranks 50 to 60 nodes a question, and not 354 pages.
#
# Are these differences more than chance? As in unit 05, take them question by question.


# %%
def recalls(width, column="recall"):
    return list(measured().loc[(f"width {width}", "branch_search"), column])


for width in [3, 5]:
    low, high = lab.paired_bootstrap(recalls(width), recalls(width, "flat recall"))
    print(f"width {width}: tree minus flat, 95 % interval {low:+.2f} to {high:+.2f}")
low, high = lab.paired_bootstrap(recalls(5), recalls(3))
print(f"width 5 minus width 3, 95 % interval {low:+.2f} to {high:+.2f}")

# %% [markdown]
# The tree loses against the flat search with either width: both intervals lie below 0. Between the widths, the
# interval holds 0: on these questions nobody can say which one is better.
#
# ## Where the pages are lost
#
# **Predict:** on which kind of question does the tree lose most: conceptual ones, which use other words than the text,
# or identifiers?

# %%
my_guess = None  # "conceptual", "identifier" or "mixed"
kinds = {query.id: query.kind for query in judged}
of_trees = measured().xs("branch_search", level="search")[columns].reset_index()
print("guess:", my_guess)
of_trees.assign(kind=of_trees["query"].map(kinds)).groupby(["shape", "kind"])[columns].mean().round(3)

# %% [markdown]
# On **conceptual** questions it loses most: with width 3 a recall of 0.19, where flat search with as many pages has
# 0.64. Identifiers do better: their words are handed up. And where is the right way missed: at the roots already, or
# further down? (`RememberedIndex` answers as the index does, only faster.)


# %%
def lost_at(width):
    """Of the questions without any relevant page in the result: where was the last chance lost?"""
    index, lost = RememberedIndex(reference_index(width)), {"at the roots": [], "on the way down": []}
    for query in judged:
        walk = lab.watch_search(branch_search, index, query.text)
        if query.relevant.isdisjoint(pages_of(walk.results)):
            files = {root["file_name"] for root, _ in walk.steps[0].ranked}
            right = {page.split(":")[0] for page in query.relevant}
            lost["on the way down" if files & right else "at the roots"].append(query.text)
    return lost


lost = lost_at(3)
print({where: len(texts) for where, texts in lost.items()})
print(*lost["at the roots"], sep="\n")

# %% [markdown]
# With width 3, 27 of the 66 questions end without a single relevant page: 10 are lost at the roots, since no right
# document is among the best three, and 17 on the way down. One of the 10 is `rpartition`, a method of strings. Which
# nodes know this word?

# %%
for width in [3, 5]:
    index = reference_index(width)
    everything = [node for name in index.documents for node in index.nodes(name)]
    knowing = [
        node for node in everything if "rpartition" in node["keywords"] or "rpartition" in node["summary"]
    ]
    print(f"width {width}: {len(knowing)} of {len(everything)} nodes")
pages = lab.reference_documents()["string-methods.txt"]
print("pages with it:", [number for number, page in enumerate(pages, start=1) if "rpartition" in page])

# %% [markdown]
# None. Page 14 has it, but its three sentences and twelve keywords are about other things, and what a node does not
# hold, nobody above can find. A summary **is** a loss. Everything that you will ever ask for must survive it.
#
# And this is a tree search at its best, on the same pages:

# %%
walk = lab.watch_search(branch_search, reference_index(5), "What does list.sort() return?")
lab.WalkView(walk, step=len(walk.steps))

# %% [markdown]
# The answer is on page 12 of `containers.txt`; it comes second, next to its neighbour. But see what else is final: 25
# pages of another document, and 46 of a third. Each of the three roots gives at least one result, however little it has
# to do with the question. (A triangle stands for nodes below that nobody has looked at.)
#
# So what would help? To follow several branches at once, and to compare nodes of all trees with each other, not only a
# node with its children. Then most of them can be dropped early. That is the beam search of unit 09.
#
# ## Common mistakes
#
# - Wrapping a node that is left over alone into a parent of its own, which says the same twice.
# - Sorting the keywords, or keeping doubles, or taking those of the summary: names get lost on the way up.
# - Beginning with the children of the root, so that the root can never be the answer.
# - Letting a child go on with an equal score, or only the best child of several that win.
# - Comparing scores of two different rankings: RRF scores hold within one ranking only.
# - Taking `Fusion.RRF` for RRF with 60.
#
# ## Summary
#
# - A tree of summaries: pages, groups of `width`, one root with `parent_id` -1; a leftover moves up as it is.
# - A vector database holds it flat: each node a point with two vectors, the tree in the payload.
# - Qdrant counts ranks from 0: its k is one more than `k_rrf`.
# - Branch search ranks a node with its children; those that beat it go on, and a node that nobody beats is final.
# - It ranks few nodes, and pays with recall. What a summary leaves out is lost, and a narrow win drops whole branches.

# %% [markdown]
# ## Quiz
#
# **1.** A document has 28 pages, and `width` is 3. How many levels has the tree, that of the pages included? And how
# many nodes must be ranked at most, to come from the root down to a single page, if one child wins each time?
#
# <details><summary>Answer</summary>
#
# 28 pages give 9 groups and page 28 left over; these 10 give 3 parents, page 28 left over; these 4 give 1 parent, page
# 28 left over; these 2 give the root. That is 5 levels, 0 to 4. The root is ranked with 2 children, then a node with 3
# children three times: 3 + 4 + 4 + 4 = 15 nodes.
#
# </details>
#
# **2.** Somebody moves from `Rrf(k=61)` to `Fusion.RRF`, to make the code shorter. No test fails. What changes?
#
# <details><summary>Answer</summary>
#
# The constant: from 60 to 1, in our counting. With 1, the first place of a single list weighs far more, so a document
# that one list has first overtakes one that both have fourth: 1/2 against 1/5 + 1/5. The order changes, not only the
# scores.
#
# </details>
#
# The finished parts are in the package `hybrid_search`: `trees.py`, `branch.py`, `tree_index.py` and `trace.py`. There
# a search keeps its own record (`results.trace`), and leaves blank chunks out. In a class they come with the next unit.
#
# **Next:** [09 · The knee](../09_knee/09_knee.ipynb).
