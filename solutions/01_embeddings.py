# %% [markdown]
# # 01 · Embeddings
#
# Plain search finds letters. "hacker" finds nothing in a report that says "attacker". In this unit you build
# a search that compares what texts **mean**.
#
# At the end of this unit
# - you can measure how close two texts are in meaning,
# - your `VectorIndex` answers a question that shares no important word with its answer,
# - you have seen where such a search fails, and why.
#
# **Minutes:** 50. **You need:** unit 00, and a little numpy: arrays, `a @ b`.

# %%
from grader import check, hint
from lab import embedder, plot_similarity, report, sections

# %% [markdown]
# ## A text becomes a list of numbers
#
# An **embedding model** reads a text and gives a list of numbers, a **vector**. The model has learned from
# very many texts to give similar vectors to texts of similar meaning. You need not know how it does that.
# You use it through an **embedder**, an object that has the model inside.

# %%
vector = embedder().embed_query("The pump is leaking.")
print(vector.shape)
print(vector[:5])

# %% [markdown]
# When an embedder is first used, a line says which one it is. The default one gives 384 numbers for any text,
# short or long. A single number has no meaning that you could name. What counts is how two vectors lie to
# each other.

# %% [markdown]
# ## How close are two vectors?
#
# Think of a vector as an arrow that starts at zero. A vector of two numbers can be drawn on paper: go `a[0]`
# to the right and `a[1]` up. What tells about meaning is the **direction** of the arrow.
#
# The **cosine** measures how well two directions agree:
#
# $$\cos(a, b) = \frac{a \cdot b}{\text{length of } a \;\times\; \text{length of } b}$$
#
# - $a \cdot b$ is the dot product: multiply number by number, then add up.
# - The length of an arrow comes from Pythagoras: square the numbers, add up, take the root.
#
# Take a = (3, 4) and b = (4, 3).
#
# ```
# 4 │        a
# 3 │           b
# 2 │
# 1 │
# 0 └──────────────
#   0  1  2  3  4
# ```
#
# - dot product: 3 · 4 + 4 · 3 = 24
# - length of a: √(9 + 16) = 5; length of b: √(16 + 9) = 5
# - cosine: 24 / (5 · 5) = 0.96
#
# We want a number that is **small** for things that are close. So we take **cosine distance = 1 − cosine**,
# here 0.04.
#
# | the arrows point | cosine | cosine distance |
# |---|---|---|
# | in the same direction | 1 | 0 |
# | at a right angle | 0 | 1 |
# | in opposite directions | −1 | 2 |

# %% [markdown]
# **Predict.** What is the cosine distance of (3, 4) and (6, 8)? And of (3, 4) and (−4, 3)? Draw the arrows, and
# the table above gives both answers. Write two numbers.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %% [markdown]
# numpy has the parts of the formula. These are the ones for the first example:

# %%
import numpy as np

a = np.array([3.0, 4.0])
b = np.array([4.0, 3.0])
print("dot product:", a @ b)
print("length of a:", np.linalg.norm(a))

# %% [markdown]
# ## Exercise `cosine_distance` · 2 points · easy, about 5 minutes
#
# Write `cosine_distance(a, b)`.
#
# - `a` and `b` are numpy arrays with the same number of values: two, 384 or any other number.
# - It returns one number: 1 − cosine of `a` and `b`.
# - The arrows may have any length. None of them is all zeros.
#
# Replace `raise NotImplementedError` with your code. Then run the check below it.


# %% exercise="cosine_distance"
def cosine_distance(a, b):
    """1 minus the cosine of the angle between two vectors. Lower is closer.

    a, b: arrays of shape (d,), not all zeros. Returns a number: 0 same direction, 2 opposite.
    """
    ### BEGIN SOLUTION
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    return 1 - cosine
    ### END SOLUTION


# %% check="cosine_distance"
check("cosine_distance", cosine_distance)

# %% [markdown]
# Stuck? Run `hint("cosine_distance")` in a new cell. Each call helps a little more.

# %% [markdown]
# Compare with your guess:

# %%
print("guess:", my_guess)
print("(3, 4) and (6, 8): ", round(cosine_distance(np.array([3.0, 4.0]), np.array([6.0, 8.0])), 3))
print("(3, 4) and (-4, 3):", round(cosine_distance(np.array([3.0, 4.0]), np.array([-4.0, 3.0])), 3))

# %% [markdown]
# (6, 8) is twice as long as (3, 4) and points the same way: distance 0. (−4, 3) stands at a right angle to
# (3, 4): distance 1. The length of an arrow makes no difference.
#
# ## Which sentences are closest?
#
# **Predict.** Here are four sentences.
#
# - A: The pump is leaking.
# - B: Water drips from the machine.
# - C: The bank raised its interest rates.
# - D: We sat on the bank of the river.
#
# A and B share one word, "the". C and D share two, "the" and "bank". Which two of the four sentences are closest
# in meaning to the model? Write two letters, such as `"B D"`.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %% [markdown]
# `embed_documents` takes a **list** of texts and gives one vector for each of them.

# %%
from itertools import combinations

sentences = [
    "The pump is leaking.",
    "Water drips from the machine.",
    "The bank raised its interest rates.",
    "We sat on the bank of the river.",
]
vectors = embedder().embed_documents(sentences)
print("guess:", my_guess)
for i, j in combinations(range(4), 2):
    print("ABCD"[i], "ABCD"[j], round(float(cosine_distance(vectors[i], vectors[j])), 3))

# %% [markdown]
# Lower is closer. With the default embedder A and B win, although "the" is all that they share. C and D
# come second: they share the word "bank", but one bank lends money and the other is full of grass.
#
# ## Cut the report into chunks
#
# One vector for a whole report would be a blur of ten topics. And an embedding model reads only so much: the
# default one stops after 256 **tokens**, which are words and pieces of words. So a long text is cut into
# **chunks**, and each chunk gets its own vector. This is how our report begins:

# %%
from textwrap import fill

for line in report()[:600].split("\n"):
    print(fill(line, 100))

# %% [markdown]
# The report is written in Markdown. A line that begins with `# ` is the title, and each line that begins
# with `## ` is the heading of a section. The author has done the cutting for you: one section, one chunk.
#
# ## Exercise `chunk_by_section` · 2 points · medium, about 12 minutes
#
# Write `chunk_by_section(text)`. It returns a list of chunks, each a `str`, in the order of the text.
#
# A line that **begins with** `## ` (two marks and a space) is a heading. A section goes from its heading to the
# next heading, or to the end. Its chunk is the heading without the `## `, **one** blank line, and the body:
#
# ```python
# "# Zoo\n\n## Cats\n\nThey purr.\n\n## Dogs\nThey bark."   # the text
# ["Cats\n\nThey purr.", "Dogs\n\nThey bark."]             # its chunks
# ```
#
# The title alone, one line that begins with `# `, gives no chunk. Any other text before the first heading is one
# chunk, left as it is. A section without a body is its heading alone:
#
# ```python
# "We open at noon.\n\n## Cats\n\n## Dogs\n\nThey bark."
# ["We open at noon.", "Cats", "Dogs\n\nThey bark."]
# ```
#
# Where there is more than the title, the title stays too. A body keeps its lines and its blank lines. `### Food`
# begins with three marks, so it is no heading here, and neither is a `## ` in the middle of a line:
#
# ```python
# "# Zoo\n\nOpen daily.\n\n## Cats\n\nSee hall ## 4.\n\n### Food\n\nFish."
# ["# Zoo\n\nOpen daily.", "Cats\n\nSee hall ## 4.\n\n### Food\n\nFish."]
# ```
#
# White space at the start and the end of a chunk does not matter. A text without any heading is treated like
# the text before the first one: it gives one chunk, or none where it is blank or only a title.


# %% exercise="chunk_by_section"
def chunk_by_section(text):
    """Cut a Markdown text at its "## " headings.

    text: a str. Returns a list of str, in order: heading without marks, blank line, body.
    """
    ### BEGIN SOLUTION
    start, *parts = ("\n" + text).split("\n## ")
    start = start.strip()
    only_title = start.startswith("# ") and "\n" not in start
    chunks = [start] if start and not only_title else []
    for part in parts:
        heading, _, body = part.partition("\n")
        chunks.append((heading.strip() + "\n\n" + body.strip()).strip())
    return chunks
    ### END SOLUTION


# %% check="chunk_by_section"
check("chunk_by_section", chunk_by_section)

# %% [markdown]
# Cut the report with your function. The first line of each chunk is its heading.

# %%
for chunk in chunk_by_section(report()):
    print(len(chunk), "characters:", chunk.split("\n")[0])

# %% [markdown]
# Ten chunks. `sections()` gives the same ten as documents: dicts with an `"id"`, a `"title"`, and the chunk
# as `"content"`.
#
# ## The vector index
#
# Now the parts come together. A **vector index** keeps a vector for each document. For a query it measures
# the distance to every vector and returns the nearest documents.
#
# ```
# document ──► embed_documents ──► vector ──┐
#                                           ├──► cosine distance ──► nearest first
# query ─────► embed_query ──────► vector ──┘
# ```
#
# An embedder has two methods, because some models treat a document and a question differently:
#
# - `embed_documents(texts)` takes a list of texts and gives one vector for each,
# - `embed_query(text)` takes one text and gives one vector.

# %% [markdown]
# ## Exercise `vector_index` · 4 points · medium, about 15 minutes
#
# Write the class `VectorIndex`. Your `cosine_distance` does the measuring.
#
# **`VectorIndex(embedder=None)`** makes an empty index. Without an embedder it takes vectors only.
#
# **`add_vector(vector, document)`** keeps a document under a vector that is given.
#
# **`add_document(document)`** embeds the document's `"content"` with `embed_documents` and keeps the document
# under that vector.
#
# **`search(query_or_vector, k=1)`**
# - takes a text (`str`) or a vector; a text is embedded with `embed_query`,
# - returns a list of at most `k` pairs `(document, distance)`, the **nearest first**,
# - where `document` is the dict that was added, and `distance` is its cosine distance,
# - gives all documents where `k` is larger than the index, and `[]` where the index is empty.
#
# Vectors are numpy arrays, and all vectors of one index have the same number of values. Two documents may
# have the same vector and still be two documents; equal distances may come in any order.


# %% exercise="vector_index"
class VectorIndex:
    """Documents under their vectors, searched by cosine distance."""

    def __init__(self, embedder=None):
        ### BEGIN SOLUTION
        self.embedder = embedder
        self.entries = []
        ### END SOLUTION

    def add_vector(self, vector, document):
        """Keep a document under a vector. vector: shape (d,). document: a dict."""
        ### BEGIN SOLUTION
        self.entries.append((vector, document))
        ### END SOLUTION

    def add_document(self, document):
        """Embed the document's "content" and keep the document under that vector."""
        ### BEGIN SOLUTION
        vector = self.embedder.embed_documents([document["content"]])[0]
        self.add_vector(vector, document)
        ### END SOLUTION

    def search(self, query_or_vector, k=1):
        """The k nearest documents as pairs (document, distance), lowest distance first.

        query_or_vector: a str, or a vector of shape (d,). k: how many results.
        """
        ### BEGIN SOLUTION
        query = query_or_vector
        if isinstance(query, str):
            query = self.embedder.embed_query(query)
        results = [(document, cosine_distance(query, vector)) for vector, document in self.entries]
        results.sort(key=lambda pair: pair[1])
        return results[:k]
        ### END SOLUTION


# %% check="vector_index"
check("vector_index", VectorIndex)

# %% [markdown]
# ## Ask in other words
#
# Here are two helpers. `ask` puts the ten sections into your index and asks it. `short` writes the results
# in one line: the number of each section and its distance.


# %%
def ask(question, k):
    """The k sections nearest to a question, as pairs (document, distance)."""
    index = VectorIndex(embedder())
    for document in sections():
        index.add_document(document)
    return index.search(question, k)


def short(results):
    return [(document["id"], round(float(distance), 3)) for document, distance in results]


# %% [markdown]
# The report says "attacker", "stolen credentials" and "intrusion". We ask about hackers who break in. No section
# contains "hackers", "break" or "systems".

# %%
plot_similarity(ask("How did the hackers break into our systems?", k=10))

# %% [markdown]
# With the default embedder section 10, on cybersecurity, is first, and there is a wide gap to the second.
# A search that only compares words cannot do this.
#
# ## Ask for the incident
#
# **Predict.** Now the question of unit 00: "what happened with INC-2023-Q4-011?" Sections 2, 5 and 10 name
# the incident. Which three sections will your index put first? Write a list of three numbers.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
print("guess:", my_guess)
plot_similarity(ask("what happened with INC-2023-Q4-011?", k=10))

# %% [markdown]
# With the default embedder section 10 is first. But second is section 3, the financial analysis, which does
# **not** name the incident. Sections 2 and 5, which do, come after it. Why?
#
# This is how section 3 begins:

# %%
for line in sections()[2]["content"][:420].split("\n"):
    print(fill(line, 100))

# %% [markdown]
# It talks of events, of the fourth quarter of 2023, and of an incident. That is near to what the question is
# **about**. The index compares meaning, not letters, and `INC-2023-Q4-011` means very little by itself: the
# model cuts it into small pieces, and to the model one number looks much like another.
#
# **Predict.** Ask for an incident that does not exist, `INC-2023-Q4-999`. What will the index find?

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
print("guess:", my_guess)
for question in ["what happened with INC-2023-Q4-011?", "what happened with INC-2023-Q4-999?"]:
    print(question, short(ask(question, k=4)))

# %% [markdown]
# With the default embedder these are the same four sections in the same order, at nearly the same distances.
# To this search one number is as good as the other. For part numbers, error codes and names you need a search
# that looks at words. You build it in unit 02.
#
# ## What a distance means (optional, about 5 minutes more)
#
# A distance ranks the documents of **one** query. It is no mark that says "good enough".

# %%
for question in [
    "How did the hackers break into our systems?",
    "what happened with INC-2023-Q4-011?",
    "Which cake should I bake today?",
]:
    print(question, short(ask(question, k=2)))

# %% [markdown]
# With the default embedder:
#
# - For the hackers, the **right** section is at 0.552. For the incident, the **wrong** section 3 is at 0.522,
#   which is closer. A rule such as "below 0.54 is right" would fail on both.
# - The report says nothing about cakes. Some section is nearest all the same. A vector index always has an
#   answer.
# - Another embedding model has other distances. Never carry a limit from one to the other.
#
# **Try it yourself.** Change the sentences, and look for two that are closer than you would expect.
# A start: is "The pump is leaking." closer to its contrary, or to another sentence about the same fault?

# %%
one = "The pump is leaking."
for other in ["The pump is not leaking.", "Water drips from the machine."]:
    first, second = embedder().embed_documents([one, other])
    print(round(float(cosine_distance(first, second)), 3), other)

# %% [markdown]
# With the default embedder the contrary is much closer. A distance tells whether two texts are about the same
# thing, not whether they agree.
#
# ## Common mistakes
#
# - Returning the cosine where a distance is wanted: then the best value is the highest, and "smallest first"
#   gives the worst documents.
# - Using the dot product without the lengths: long vectors win.
# - Writing `x / p * q` for `x / (p * q)`.
# - Giving `embed_documents` a single text. It takes a list, and gives a list of vectors: `[0]` is the first.
# - Making the list of documents in the class body. All indexes then share it. Make it in `__init__`.
# - Sorting pairs without `key`: where two distances are equal, Python tries to compare two dicts, and fails.
#
# ## Summary
#
# - An embedding is a vector; texts of similar meaning get vectors of similar direction.
# - Cosine distance is 1 − cosine: 0 for the same direction, lower is closer.
# - Long texts are cut into chunks, and each chunk gets a vector.
# - A vector index ranks documents by distance. It finds the same meaning in other words.
# - It does not see identifiers, it always has an answer, and no distance says "good enough" by itself.

# %% [markdown]
# ## Quiz
#
# **1.** Every vector in your index is multiplied by 10. What happens to the results of a search?
#
# <details><summary>Answer</summary>
#
# Nothing. The arrows grow longer and keep their directions. The cosine divides by the lengths.
#
# </details>
#
# **2.** A colleague says: "The best distance is 0.43, so the answer must be in the report." What do you say?
#
# <details><summary>Answer</summary>
#
# The distance only says which section is nearest to the question. The question about `INC-2023-Q4-999` gets
# a result at about 0.42 with the default embedder, and that incident does not exist.
#
# </details>
#
# **Next:** [02 · BM25](../02_bm25/02_bm25.ipynb)
