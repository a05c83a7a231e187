# %% [markdown]
# # 00 · Start here
#
# You have a report of ten sections and a question: **what happened with INC-2023-Q4-011?**
# In this course you build a search that answers it, from nothing, in small steps.
#
# In this first unit you
# - meet the report and the question,
# - write the simplest search there is,
# - meet `check()` and `hint()`, which are with you in every unit.
#
# **Minutes:** 15. **You need:** a little Python: functions, lists, dicts, `for`.
#
# Run a cell with Shift+Enter. Run the cells from top to bottom.

# %%
from grader import check, hint
from lab import sections

# %% [markdown]
# ## The report
#
# `sections()` gives the ten sections of the annual review of a company. Each section is a **document**: a
# dict with an `"id"`, a `"title"` and a `"content"`. Every search in this course returns such documents.

# %%
for document in sections():
    print(document["id"], document["title"])

# %% [markdown]
# The incident has a number: `INC-2023-Q4-011`. Look at the titles only.
#
# **Predict.** Which sections name the incident? Write your guess, a list of numbers, in the next cell. A wrong
# guess is worth as much as a right one: what counts is that you made one.

# %%
my_guess = None  # replace None with your list
print("guess:", my_guess)

# %% [markdown]
# ## Exercise `find_term` · 1 point · about 5 minutes
#
# Write `find_term(term, documents)`.
#
# - It returns a list of the documents whose `"content"` contains `term`, in the order of `documents`.
# - The documents themselves are returned: the dicts, not their ids or texts.
# - Upper and lower case are the same: `"tx-99402"` finds `"TX-99402"`.
# - The term may stand anywhere in the text, also inside a word. No match gives an empty list.
#
# Replace `raise NotImplementedError` with your code. Then run the check below it.


# %% exercise="find_term"
def find_term(term, documents):
    """The documents whose "content" contains the term, in their order; case does not matter.

    term: a str. documents: a list of dicts with "content". Returns a list of those dicts.
    """
    ### BEGIN SOLUTION
    return [document for document in documents if term.lower() in document["content"].lower()]
    ### END SOLUTION


# %% check="find_term"
check("find_term", find_term)

# %% [markdown]
# ## How checks and hints work
#
# The check tries your function on a few inputs and compares what it gives with what is right.
#
# - **not attempted yet** means that the stub is still there.
# - **wrong** shows the first input on which your answer differs, with the expected answer beside yours.
#   If your mistake is a known one, a sentence says which. Further down, **the same mistake** points back to it.
# - **partly** means that some inputs of this part are right, and earns a part of its points.
# - **ok** means that this part has all its points.
#
# The number below the report is the sum of the points for this exercise. It is there for whoever grades.
#
# You can run a check as often as you like. Stuck? Ask for a hint. Each call goes one step further: a nudge,
# where to look, the plan in words, and where the finished code is.

# %%
hint("find_term")

# %% [markdown]
# ## Who names the incident?

# %%
print("guess:", my_guess)
for document in find_term("INC-2023-Q4-011", sections()):
    print(document["id"], document["title"])

# %% [markdown]
# Three sections name the incident, and only one of their titles sounds like it. This is what section 10 says:

# %%
from textwrap import fill

for paragraph in sections()[9]["content"].split("\n\n"):
    print(fill(paragraph, 100))

# %% [markdown]
# Now ask for the same thing in other words.

# %%
for term in ["hacker", "break-in", "attacker"]:
    print(term, [document["id"] for document in find_term(term, sections())])

# %% [markdown]
# "hacker" and "break-in" find nothing, although section 10 is all about a break-in. It says "attacker". So
# plain search has three faults:
#
# - It finds letters, not **meaning**.
# - It does not **rank**. Three sections name the incident. Which one should you read first?
# - It wants a **term**, not a question. Look for the whole question and see.

# %%
question = "what happened with INC-2023-Q4-011?"
print([document["id"] for document in find_term(question, sections())])

# %% [markdown]
# ## What you will build
#
# | unit | you build | it finds |
# |---|---|---|
# | 01 | search by meaning, with **embeddings** | texts that mean the same in other words |
# | 02 | search by words, with **BM25** | rare words and identifiers such as `INC-2023-Q4-011` |
# | 03 | **reciprocal rank fusion**, by hand | what both lists agree on |
# | 04 | the **Retriever**, which joins any number of searches | what each of them finds, in one ranking |
# | 05 | a **measurement**, and settings chosen by it | how good a search is, and how sure you can be |
#
# In every unit you guess first, then run the code, then read why it came out so.

# %% [markdown]
# ## Common mistakes
#
# - Comparing without bringing both texts to the same case.
# - Returning after the first match: a `return` inside the loop ends the function.
# - Returning ids or texts. Later units need the document itself.
#
# ## Summary
#
# - A document is a dict with a `"content"`.
# - Plain search finds every text that contains a term, and nothing else.
# - It does not rank, it does not know what words mean, and it cannot take a question.
# - `check()` tells what is right and what is not; `hint()` helps one step at a time.

# %% [markdown]
# ## Quiz
#
# **1.** Plain search for `"pump"` also finds a text with "pumps" and one with "pumpkin". Why?
#
# <details><summary>Answer</summary>
#
# It looks for the letters. "pumps" and "pumpkin" both contain "pump". Unit 02 cuts a text into words first.
#
# </details>
#
# **2.** Could plain search answer "Did hackers get in?" if you looked for each word of the question?
#
# <details><summary>Answer</summary>
#
# Hardly. "in" is in nearly every text, and "hackers" is in none of the sections. You need words that are
# weighted by how rare they are (unit 02), and meaning (unit 01).
#
# </details>
#
# **Next:** [01 · Embeddings](../01_embeddings/01_embeddings.ipynb)
