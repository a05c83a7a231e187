# %% [markdown]
# # 02 · Search by words: BM25
#
# In unit 01 you built a search by meaning. Here you build the second half of the hybrid: a search by
# **words**, with BM25, a formula that many search engines use to rank what they find.
#
# You will
# - cut a text into **tokens**, and keep identifiers such as `INC-2023-Q4-011` in one piece,
# - work out by hand how much a word is worth: its **IDF**,
# - put both into a `BM25Index` that has the same `search` as your `VectorIndex`.
#
# **Minutes:** 50. **You need:** units 00 and 01.

# %%
from grader import check, hint
from lab import sections

question = "what happened with INC-2023-Q4-011?"

# %% [markdown]
# ## Why words still matter
#
# `hybrid_search` has finished versions of what you build, so each unit works on its own. Here is its
# `VectorIndex` on the question of the course. The numbers are cosine distances: lower is closer.

# %%
from hybrid_search import VectorIndex
from lab import embedder

vector_index = VectorIndex(embedder())
for document in sections():
    vector_index.add_document(document)
for document, distance in vector_index.search(question, k=4):
    names_it = "INC-2023-Q4-011" in document["content"]
    print(f"{distance:.3f}  names the incident: {names_it!s:5}  {document['title']}")

# %% [markdown]
# With the default embedder, section 3 (Financial Analysis) comes second. It speaks of "Q4 2023" and of "an
# incident charge", so its meaning is close. But it never names *this* incident. Sections 2 and 5 do, and they
# come after it.
#
# Somebody made the identifier up, so a model cannot have learned what it stands for. To find it for certain,
# look for the word itself.
#
# ## Cutting a text into tokens
#
# A search by words compares pieces of text: **tokens**. The simplest way to get tokens is to cut at spaces.
#
# **Predict.** We cut the question and the ten sections at spaces. Which tokens will the question share with
# section 10, which names the incident three times?

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
print("guess:", my_guess)
for document in sections():
    shared = set(question.split()) & set(document["content"].split())
    print(document["id"], shared or "nothing")

# %% [markdown]
# Only "with" is left, and four sections that contain it are not about the incident at all. Two things went
# wrong:
#
# - The question has the token `INC-2023-Q4-011?`, with the question mark. No section has that.
# - "with" is in many texts and says nothing about any of them. Such a word is called a **stop word**.
#
# Case and accents make the same trouble as the question mark: `Pump` is not `pump`, `École` is not `ecole`.
#
# ## Three tools
#
# You get three tools for your tokenizer. The first is `fold(text)`. It **folds** a text: lower case, no
# accents. Unicode can write "é" in two ways, as one character or as "e" plus an accent; `fold` makes them the
# same.

# %%
import unicodedata


def fold(text):
    """The text in lower case and without accents: "École" gives "ecole"."""
    letters = unicodedata.normalize("NFD", text.casefold())
    bare = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare)


fold("L'École, PUMP")

# %% [markdown]
# The second is a pattern, `RUN`. A **run** is a stretch of letters, digits and underscores. A single hyphen or
# dot belongs to it when it stands right between two of them. Anything else ends a run: spaces, commas, question
# marks, apostrophes, the full stop at the end of a sentence.

# %%
import re

RUN = re.compile(r"\w+(?:[-.]\w+)*")

RUN.findall("see INC-2023-Q4-011, release 4.2.7. the pump's two-factor login?")

# %% [markdown]
# To split a run at its hyphens and dots, use `re.split(r"[-.]", run)`.
#
# The third tool is `stop_words()`, a set of English and French stop words, folded already.

# %%
from lab import stop_words

print(re.split(r"[-.]", "two-factor"))
print(len(stop_words()), "stop words")
for word in ["with", "what", "s", "incident"]:
    print(word, word in stop_words())

# %% [markdown]
# ## Exercise `tokenize` · 2 points · medium, about 10 minutes
#
# Write `tokenize(text)`. It returns a **list of tokens**, in the order of the text. Repeated tokens stay.
#
# 1. Fold the text.
# 2. Find its runs.
# 3. A run with a digit or an underscore is an **identifier**. It stays one token: `inc-2023-q4-011`,
#    `tx-99402`, `err_mem`, `4.2.7`, `3`. Any other run is split at its hyphens and dots: `two-factor` gives
#    `two` and `factor`.
# 4. Drop the tokens that are stop words. Do this last, so that the parts of `state-of-the-art` are looked at
#    too.
#
# A text with nothing but stop words gives an empty list. Apostrophes need no extra care: `pump's` gives the
# runs `pump` and `s`, `l'école` gives `l` and `ecole`, and `s` and `l` are stop words.


# %% exercise="tokenize"
def tokenize(text):
    """The tokens of a text, a list of str in the order of the text.

    Folded, identifiers in one piece, other runs split at hyphens and dots, without stop words.
    """
    ### BEGIN SOLUTION
    tokens = []
    for run in RUN.findall(fold(text)):
        if any(character.isdigit() or character == "_" for character in run):
            tokens.append(run)
        else:
            tokens.extend(re.split(r"[-.]", run))
    return [token for token in tokens if token not in stop_words()]
    ### END SOLUTION


# %% check="tokenize"
check("tokenize", tokenize)

# %% [markdown]
# Stuck? `hint("tokenize")` goes one step further each time you run it.

# %% [markdown]
# Now the same comparison with your tokens:

# %%
for document in sections():
    shared = set(tokenize(question)) & set(tokenize(document["content"]))
    print(document["id"], shared or "nothing")

# %% [markdown]
# Three sections share a token with the question, and they are the three that name the incident.
#
# ## What is a word worth?
#
# Sections that share a word with the question still have to be **ranked**. A word that is in every document
# does not help to choose one. A word that is in a single document nearly decides. So count the documents that
# contain a word. Call that number $n$, and the number of all documents $N$.
#
# **Predict.** Of the ten sections, how many contain the token `incident`, how many `percent`, how many
# `section`? Write three numbers, such as `(1, 1, 1)`.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
print("guess:", my_guess)
for term in ["inc-2023-q4-011", "incident", "year", "percent", "section"]:
    n = sum(term in tokenize(document["content"]) for document in sections())
    print(f"{term:16} in {n} of {len(sections())} sections")

# %% [markdown]
# The **inverse document frequency**, IDF, turns this count into a weight. It is high for rare words and low
# for common ones:
#
# $$\text{idf}(t) = \ln\left(1 + \frac{N - n + 0.5}{n + 0.5}\right)$$
#
# The top of the fraction counts the documents *without* the word, the bottom those *with* it. Both get 0.5,
# so that nothing is divided by zero. The 1 keeps the weight above zero.
#
# By hand, for `inc-2023-q4-011`: $N = 10$ and $n = 3$. The fraction is $7.5 / 3.5 = 2.143$. Plus 1 is
# $3.143$. The natural logarithm of that is $1.145$.
#
# For `section`, $n = 10$: the fraction is $0.5 / 10.5 = 0.048$, and the logarithm of $1.048$ is $0.047$. The
# word is worth almost nothing, as it should be.
#
# ## Exercise `idf` · 2 points · easy, about 6 minutes
#
# Write `idf(term, documents)`. It returns the number of the formula above.
#
# - `documents` is a list of documents, and here each document is a **list of tokens**.
# - A document that contains the term five times counts once.
# - Compare whole tokens: `leak` is not in `["leakage"]`.
# - $\ln$ is the natural logarithm, `math.log`. Do not round the result.
# - A term that is in no document is no exception: use the formula with $n = 0$.


# %% exercise="idf"
import math


def idf(term, documents):
    """The inverse document frequency of a term: a float above 0, higher for a rarer term.

    term: a str. documents: a list of documents, each a list of tokens.
    """
    ### BEGIN SOLUTION
    n = sum(term in document for document in documents)
    return math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
    ### END SOLUTION


# %% check="idf"
check("idf", idf)

# %% [markdown]
# ## BM25 in one formula
#
# BM25 gives a document a score for a query. It adds up one number for each term $t$ of the query:
#
# $$\text{score}(d) = \sum_t \text{idf}(t) \cdot
# \frac{f \cdot (k_1 + 1)}{f + k_1 \cdot (1 - b + b \cdot \text{length} / \text{average length})}$$
#
# Here $f$ is how often the term stands in the document. You do not have to compute this fraction yourself.
# Read what it does:
#
# - A term that is not in the document has $f = 0$ and adds **nothing**.
# - A term that stands twice in the query is added twice.
# - More repetitions add more, but less each time. Where the document has average length, the fraction is 1
#   for $f = 1$ and never reaches $k_1 + 1$.
# - In a document that is longer than the average, the same $f$ is worth less.
#
# **A higher score is better.** A cosine distance goes the other way.
#
# The package `rank_bm25` does the sum. You give it a list of token lists, one list a document. Then
# `get_scores` takes the tokens of a query and gives one score a document.

# %%
from rank_bm25 import BM25Okapi

three_notes = [["pump", "leak", "pump"], ["pump", "valve"], ["canteen"]]
model = BM25Okapi(three_notes, k1=1.5, b=0.75)
print("scores of 'leak':", model.get_scores(["leak"]).round(3))
print("weights:", {term: round(float(weight), 3) for term, weight in model.idf.items()})

# %% [markdown]
# `model.idf` is a dict: from each term to its weight. The library computes these weights without the 1 of
# our formula: $\ln((N - n + 0.5) / (n + 0.5))$. For rare terms in a large collection that is hardly a
# difference. `pump` is in two of these three notes and would come out negative, $-0.51$: the library puts
# another number there. You will see which in a moment.
#
# **Predict.** Here are five terms of the report, from rare to common: `inc-2023-q4-011`, `closed`, `year`,
# `percent`, `section`. To which one will the library give the smallest weight?

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
print("guess:", my_guess)
tokens = [tokenize(document["content"]) for document in sections()]
model = BM25Okapi(tokens, k1=1.5, b=0.75)
print("term             sections  formula without 1   model.idf   your idf")
for term in ["inc-2023-q4-011", "closed", "year", "percent", "section"]:
    n = sum(term in document for document in tokens)
    without_1 = math.log((10 - n + 0.5) / (n + 0.5))
    print(f"{term:16} {n:8} {without_1:18.3f} {model.idf[term]:11.3f} {idf(term, tokens):10.3f}")

# %% [markdown]
# For common terms the difference breaks the ranking, and in ten documents many terms are common:
#
# - A term in half of the documents gets the weight **0**. A search for `year` gives every section the score
#   0, although five of them contain the word.
# - A term in more than half would get a weight **below 0**. The library puts another number there, the same
#   for each such term. So `percent` and `section` weigh the same, and both weigh more than `closed`, which is
#   rarer.
#
# Your IDF falls from row to row and stays above 0. So you will use `rank_bm25` for the sum, and put your own
# weights into `model.idf`.
#
# ## Exercise `bm25_index` · 4 points · medium, about 15 minutes
#
# Write the class `BM25Index`. The constructor is there already.
#
# **`BM25Index(tokenize=tokenize, k1=1.5, b=0.75)`** keeps the function that turns a text into tokens, and the
# two numbers of the formula. Use `self.tokenize` for the documents **and** for the query. The check gives
# other functions than yours, such as `str.split`.
#
# **`add_document(document)`** adds a document, a dict with `"content"`.
#
# **`search(query, k=1)`** returns a list of at most `k` pairs `(document, score)`, highest score first. Equal
# scores may come in any order.
# - The scores are those of `BM25Okapi` with `k1=self.k1`, `b=self.b`, and with **your** IDF: replace each
#   weight in `model.idf` by `idf(term, self.tokens)`. So finish exercise `idf` first.
# - A document with the score 0 shares no term with the query. It is not returned, so the list may be shorter
#   than `k`.
# - An empty index gives `[]`. `BM25Okapi` fails where there is no document, and where no document has a token.
#   So look first: `if not any(self.tokens)`.
# - Documents that were added after a search are found too, and the weights count them. A model does not see
#   later additions: make a new one when documents were added, or at each search.


# %% exercise="bm25_index"
class BM25Index:
    """Search by words. add_document takes a dict with "content"; search gives pairs, best first."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []  # a list of tokens for each document

    def add_document(self, document):
        """Add a document, a dict with "content"."""
        ### BEGIN SOLUTION
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))
        ### END SOLUTION

    def search(self, query, k=1):
        """The best k documents as pairs (document, BM25 score), highest score first.

        query: a str. Only documents that share a term with the query; [] for an empty index.
        """
        ### BEGIN SOLUTION
        if not any(self.tokens):
            return []
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        model.idf = {term: idf(term, self.tokens) for term in model.idf}
        scores = model.get_scores(self.tokenize(query))
        pairs = zip(self.documents, scores, strict=True)
        found = [(document, score) for document, score in pairs if score > 0]
        found.sort(key=lambda pair: pair[1], reverse=True)
        return found[:k]
        ### END SOLUTION


# %% check="bm25_index"
check("bm25_index", BM25Index)

# %% [markdown]
# A new model at each search is fine for ten sections. The finished `BM25Index`, which later units use, makes
# one at the first search after an addition.
#
# ## The incident, by words
#
# `filled` makes an index with the ten sections. `ranking` shows what a search gives.


# %%
def filled(tokenize=tokenize, **settings):
    """A BM25Index with the ten sections."""
    index = BM25Index(tokenize, **settings)
    for document in sections():
        index.add_document(document)
    return index


def ranking(index, query, k=10):
    """Section numbers with their scores, best first."""
    return [(document["id"], round(float(score), 2)) for document, score in index.search(query, k)]


# %% [markdown]
# **Predict.** The incident number stands three times in section 10, and once each in sections 2 and 5, of
# which section 5 is the longer one. Which sections will `BM25Index` return, and in what order? Write a list.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
print("guess:", my_guess)
ranking(filled(), question)

# %% [markdown]
# Sections 10, 2 and 5, and nothing else. Section 3 is gone: it shares no token with the question.
#
# ## Spoil the tokens
#
# **Predict.** What happens if you split identifiers at their hyphens too? Then `INC-2023-Q4-011` becomes
# `inc`, `2023`, `q4` and `011`. Which other section comes back?

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)


# %%
def split_everything(text):
    """Identifiers are split too."""
    return [token for token in re.findall(r"\w+", fold(text)) if token not in stop_words()]


print("guess:", my_guess)
print("tokens:", split_everything(question))
ranking(filled(split_everything), question)

# %% [markdown]
# Section 3 is back. It says "Q4 2023", and now these are two tokens of the question. Section 1 comes too,
# because it says "2023". Neither knows anything about the incident. That is why identifiers stay whole.
#
# **Try it yourself** (optional). Spoil the tokens in another way. This tokenizer keeps the stop words; `str.split`
# cuts at spaces only. Which sections come back, and for which word?


# %%
def spoiled(text):
    """Change me. Here nothing is dropped, and nothing is split."""
    return RUN.findall(fold(text))


print("tokens:", spoiled(question))
ranking(filled(spoiled), question)

# %% [markdown]
# <details><summary>Answer</summary>
#
# With the stop words, four more sections come along, for the word "with" alone. Section 1 (Medical Research) is
# second: saying "with" four times is worth more than naming the incident once.
#
# </details>
#
# ## Where BM25 loses
#
# **Predict.** Section 10 tells how an attacker broke in with stolen credentials. What will BM25 return for
# the question "How did the hackers break into our systems?" Write a list of section numbers.

# %%
my_guess = None  # replace None with your guess
print("guess:", my_guess)

# %%
other_words = "How did the hackers break into our systems?"
print("guess:", my_guess)
print("BM25:  ", ranking(filled(), other_words))
print("tokens:", tokenize(other_words))
print(
    "vector:", [(document["id"], round(value, 2)) for document, value in vector_index.search(other_words, 3)]
)

# %% [markdown]
# Nothing at all. Not one section contains "hackers", "break" or "systems". To BM25, "system" and "systems" are
# as different as "pump" and "invoice". Vector search answers this question with section 10.
#
# The course has 30 questions whose right sections are known. They are of three kinds: an **identifier**
# alone, a **conceptual** question in other words than the text, or both **mixed**. How often is the first
# result a right one?

# %%
import pandas as pd

from lab import judged_queries

searches = {"BM25": filled().search, "vector": vector_index.search}
rows = []
for query in judged_queries("report"):
    row = {"kind": query.kind, "questions": 1}
    for name, search in searches.items():
        row[name] = any(document["id"] in query.relevant for document, _ in search(query.text, 1))
    rows.append(row)
table = pd.DataFrame(rows).groupby("kind").sum()
table.loc["all"] = table.sum()
table

# %% [markdown]
# With the default embedder:
#
# - BM25 is right on every identifier, vector search on every conceptual question.
# - BM25 is right on 10 of the 13 conceptual questions too. Most of them share a word with their section, and one
#   rare word is enough. The question about the hackers is one of the three that BM25 misses.
# - Each search is right on 27 of the 30. The totals are equal, but they miss **different** questions. That is
#   the reason to join them, and the next two units do so.
#
# ## Optional, about 8 minutes more
#
# ### Where a score comes from
#
# A BM25 score is a sum over the terms of the query. So a search for one term alone gives that term's share of
# the score. Here are the shares for another question.

# %%
from lab import plot_term_weights


def term_weights(index, query):
    """For each section found: term -> share of its score. Sections best first."""
    shares = {document["title"].split(":")[0]: {} for document, _ in index.search(query, k=10)}
    for term in tokenize(query):
        for document, score in index.search(term, k=10):
            shares[document["title"].split(":")[0]][term] = float(score)
    return shares


plot_term_weights(term_weights(filled(), "customers complained about leaks on pumps"))

# %% [markdown]
# Section 6 (Product Engineering and Manufacturing) has the leaking pumps and comes first. Section 7 (Market
# Research) has customers who complained, but about slow answers. BM25 does not know that. It adds up words.
#
# ### k1 and b
#
# `k1` says how much repetitions count: with a small `k1`, a term counts about the same whether it stands there
# once or ten times. `b` says how much a long document is held back: 0 not at all, 1 in full proportion to its
# length. The usual values, 1.5 and 0.75, are a good start.
#
# **Try it yourself.** Section 10 names the incident three times, section 5 once. Does a larger `k1` move their
# scores apart or together? Put your own values below.

# %%
for k1, b in [(1.5, 0.75), (0.1, 0.75), (10, 0.75), (1.5, 0), (1.5, 1)]:
    print(f"k1={k1:<4} b={b:<5}", ranking(filled(k1=k1, b=b), question))

# %% [markdown]
# Apart. With `k1=0.1` the three scores are almost equal. `b` changes little here, because our sections have
# similar lengths; section 5 is the longest and loses a little as `b` grows.
#
# ## Common mistakes
#
# - Passing the query as one text: Python then reads it letter by letter, and nothing matches.
# - Using another tokenizer for the query than for the documents.
# - Splitting identifiers, or cutting at spaces and leaving the punctuation on.
# - Counting in the IDF how often a term occurs, not how many documents contain it.
# - Using `get_top_n` of `rank_bm25`: it fills up with documents that do not match at all.
# - Building the model once and never again, so that later documents are not found.
#
# ## Summary
#
# - Tokens decide what can be found. Fold case and accents, drop stop words, keep identifiers whole.
# - IDF weighs a term: rare is high, common is low. In a small collection, use the form with the 1.
# - A BM25 score is a sum over the terms of the query. Higher is better, and no shared term means no result.
# - BM25 finds exact names. It does not find other words for the same thing.

# %% [markdown]
# ## Quiz
#
# **1.** A document has the BM25 score 4.2 for one question, another has 3.9 for another question. Which one
# fits better?
#
# <details><summary>Answer</summary>
#
# You cannot tell. A score is a sum over the terms of one query, and other terms have other weights. Compare
# scores within one search only.
#
# </details>
#
# **2.** A search for "pumps" does not find a text that says "pump". Which step would you change, and what
# could go wrong?
#
# <details><summary>Answer</summary>
#
# The tokenizer. It could cut off endings, which is called stemming. But then different words may become one,
# and an identifier must never be changed. Or leave it as it is: vector search can help here.
#
# </details>
#
# **Next:** [03 · The RRF table](../03_rrf_table/03_rrf_table.ipynb), where you join two rankings by hand.
