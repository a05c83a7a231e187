"""Same code is found whatever was done to its looks; different code, and code that says nothing, is not."""

import ast
import functools
import importlib
import inspect
import itertools

import nbformat
import pytest
from conftest import ROOT

from grader.classroom.code_form import form_of
from grader.classroom.similar import LEAST_PARTS, compare_cells, solution_cells
from grader.exercises import EXERCISES
from grader.notebooks import released

UNIT = "04_retriever"
RETRIEVER = EXERCISES["retriever"]

MINE = '''
import math
from collections import defaultdict as dd

class Retriever:
    """Asks the indexes."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = list(indexes)

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        """The best k."""
        sums = dd(float)
        docs = {}
        for index in self.indexes:
            position = 0  # counts from 1
            for doc, value in index.search(query, candidates):
                position += 1
                docs[id(doc)] = doc
                sums[id(doc)] += self._worth(position, k_rrf)
        order = sorted(sums, key=lambda key: -sums[key])
        return [(docs[key], sums[key]) for key in order][:k]

    def _worth(self, rank, k_rrf):
        try:
            return 1 / (k_rrf + rank)
        except ZeroDivisionError as error:
            raise ValueError("k_rrf") from error
'''

# The same with everything renamed that can be, other comments, spaces, annotations and imports.
THEIRS = '''
import collections, os
from collections import defaultdict
class Retriever:
    def __init__(self_, *all_of_them):
        # nobody there?
        if not all_of_them: raise ValueError('no index')
        self_.parts: list = list(all_of_them)
    def add_document(self_, d):
        """Gives the document
        to every index."""
        for one in self_.parts: one.add_document(d)
    def search(self_, question: str, k: int = 1, k_rrf = 60, candidates = 20) -> list:
        pass
        total: dict[int, float]
        total = defaultdict(float)
        by_id = {}
        for one in self_.parts:
            r = 0
            for found, _ in one.search(
                question,
                candidates,
            ):
                r += 1
                by_id[id(found)] = found
                total[id(found)] += self_.one_rank(r, k_rrf)
        best = sorted(total, key=lambda identity: -total[identity])
        return [(by_id[i], total[i]) for i in best][:k]
    def one_rank(self_, place, constant):
        try: return 1 / (constant + place)
        except ZeroDivisionError as e: raise ValueError("k_rrf") from e
'''


# Exercises with a solution of a line or two, and one that is not the published one.
SHORT = {
    "rrf_score": "def rrf_score(rank, k_rrf=60):\n    return 1 / (rank + k_rrf)",
    "find_term": "def find_term(t, ds):\n    return [d for d in ds if t.upper() in d['content'].upper()]",
    "idf": "import math\ndef idf(term, documents):\n    n = len([d for d in documents if term in d])\n"
    "    return math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))",
    "cosine_distance": "def cosine_distance(a, b):\n    return 1 - np.dot(a, b) / np.linalg.norm(a) "
    "/ np.linalg.norm(b)",
    "chunk_by_characters": "def chunk_by_characters(t, size=1000, overlap=100):\n"
    "    starts = range(0, max(len(t) - overlap, 1), size - overlap)\n"
    "    return [t[i : i + size] for i in starts] if t else []",
}


@pytest.fixture(scope="module")
def cells():
    """A function from a unit to its released and its published cells, each a mapping exercise -> source."""

    @functools.cache
    def of(unit: str) -> tuple[dict, dict]:
        published = nbformat.read(ROOT / "solutions" / "notebooks" / unit / f"{unit}.ipynb", as_version=4)
        return solution_cells(released(unit)), solution_cells(published)

    return of


def compared(cells, sources: dict, exercise=RETRIEVER):
    stubs, published = cells(exercise.unit)
    return compare_cells(exercise, sources, stubs[exercise.id], published[exercise.id])


def test_renaming_formatting_comments_docstrings_annotations_and_imports_hide_nothing(cells):
    comparison = compared(cells, {"zoe": MINE, "adam": THEIRS})
    assert [group.learners for group in comparison.groups] == [("adam", "zoe")]
    assert comparison.groups[0].sources == (THEIRS, MINE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("position = 0", "position = 1"),
        ("k_rrf + rank", "rank + k_rrf"),
        ("(query, candidates)", "(query, k)"),
        ("-sums[key]", "sums[key]"),
        ("docs[id(doc)] = doc", "docs[id(doc)] = value"),
        ("ValueError", "TypeError"),
        ("[:k]", "[:candidates]"),
        ("list(indexes)", "tuple(indexes)"),
        ("defaultdict as dd", "Counter as dd"),
        ("self._worth(position, k_rrf)", "worth(position, k_rrf)"),
        ("            index.add_document(document)", "            index.add_document(index)"),
    ],
)
def test_other_code_is_other_code(cells, old, new):
    assert old in MINE
    assert compared(cells, {"a": MINE, "b": MINE.replace(old, new)}).groups == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[d for d in ds]", "[e for e in ds]"),
        ("{a: b for a, b in pairs for c in a if c}", "{x: y for x, y in pairs for z in x if z}"),
        ("f = lambda a, *b, c=1, **d: (a, b, c, d)", "g = lambda w, *x, y=1, **z: (w, x, y, z)"),
        ("import numpy as np\nnp.dot(a, b)", "import numpy\nnumpy.dot(a, b)"),
        ("from math import log\nlog(2)", "from math import log as ln\nln(2)"),
        ("if (n := len(ds)) > 1: n", "if (m := len(ds)) > 1: m"),
        ("any((hit := d) for d in ds); hit", "any((it := d) for d in ds); it"),
        ("with open(p) as f: f", "with open(p) as g: g"),
        ("match ds:\n case [a, *b]: a, b", "match ds:\n case [x, *y]: x, y"),
        ("match ds:\n case {'k': v, **r}: v, r", "match ds:\n case {'k': x, **y}: x, y"),
        (
            "def f():\n n = 0\n def g():\n  nonlocal n\n  n = 1",
            "def a():\n m = 0\n def b():\n  nonlocal m\n  m = 1",
        ),
        ("x = 1\nx: int\n'x'", "y: int = 1"),
        ("def f(a, b=a): return a", "def f(c, b=a): return c"),
        ("f = lambda a, b=a: a", "g = lambda c, b=a: c"),
        ("[a for a in a]", "[b for b in a]"),
        ("class A:\n m = 1\n def f(self): return m", "class B:\n n = 1\n def g(self): return m"),
    ],
)
def test_a_name_counts_as_its_place_in_every_kind_of_scope(one, other):
    assert form_of(one).parsed and form_of(one).text == form_of(other).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sorted(ds)", "reversed(ds)"),
        ("a = 1; b = 2; a", "a = 1; b = 2; b"),
        ("f(k=1)", "f(candidates=1)"),
        ("f(1)", "f(1.0)"),
        ("def f(a, b): return a - b", "def f(a, b): return b - a"),
        ("def f(a): return [a for b in a]", "def f(a): return [b for b in a]"),
        ("class A:\n def __init__(self): self.a = 1", "class A:\n def __call__(self): self.a = 1"),
        ("from math import log\nlog(2)", "from math import exp as log\nlog(2)"),
        ("row['rank']", "row['score']"),
        ("yield_ = 1", "yield_ = -1"),
        ("[d for d in ds]", "[d for d in es]"),
        ("def f(a=1): return a", "def f(a=2): return a"),
        ("def f(*, a=1): return a", "def f(*, a=2): return a"),
        ("lambda a=1: a", "lambda a=2: a"),
    ],
)
def test_what_a_program_does_is_kept(one, other):
    assert form_of(f"x = 1\n{one}").text != form_of(f"x = 1\n{other}").text


def test_independent_right_solutions_are_not_grouped(cells):
    pairs = grouped = 0
    for exercise in EXERCISES.values():
        if exercise.keys:
            continue
        variants = importlib.import_module(f"variants.{exercise.id}").VARIANTS
        sources = {}
        for name, objects in variants.items():
            try:
                sources[name] = inspect.getsource(objects[0])
            except (TypeError, OSError):  # made by a call, so it has no source of its own
                continue
        assert len(sources) >= 9
        pairs += sum(1 for _ in itertools.combinations(sources, 2))
        comparison = compared(cells, sources, exercise)
        grouped += sum(len(list(itertools.combinations(g.learners, 2))) for g in comparison.groups)
    assert (pairs > 1500, grouped) == (True, 0)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.id)
def test_the_released_cell_and_the_published_solution_are_no_groups(cells, exercise):
    stubs, published = cells(exercise.unit)
    stub, solution = stubs[exercise.id], published[exercise.id]
    renamed = solution.replace("document", "item").replace("scores", "sums")
    sources = {"a": stub, "b": f"# mine\n{stub}", "c": solution, "d": f"{solution}\n# mine", "e": renamed}
    comparison = compared(cells, sources, exercise)
    assert comparison.groups == () and comparison.compared <= 1
    if not exercise.keys:
        assert (comparison.released, comparison.published >= 2) == (2, True)


@pytest.mark.parametrize("exercise", SHORT)
def test_a_cell_of_a_line_or_two_says_nothing(cells, exercise):
    short = SHORT[exercise]
    comparison = compared(cells, {"a": short, "b": short}, EXERCISES[exercise])
    assert (comparison.groups, comparison.short) == ((), 2)


@pytest.mark.parametrize(
    "exercise",
    [e for e in EXERCISES.values() if not e.keys and e.id not in SHORT],
    ids=lambda exercise: exercise.id,
)
def test_a_whole_solution_is_long_enough_to_be_compared(cells, exercise):
    stubs, published = cells(exercise.unit)
    assert form_of(published[exercise.id]).size - form_of(stubs[exercise.id]).size >= LEAST_PARTS


def test_numbers_are_not_compared(cells):
    numbers = "metrics = {'recall@3': 1, 'precision@3': 2 / 3, 'reciprocal rank': 1 / 2, 'MRR': 3 / 8}\n" * 9
    assert compared(cells, {"a": numbers, "b": numbers}, EXERCISES["metrics"]).groups == ()


def test_what_is_no_python_is_compared_word_by_word(cells):
    broken = MINE.replace("class Retriever:", "class Retriever")
    other = (
        broken.replace("docs", "found").replace("# counts from 1", "# one").replace("sums = ", "sums  =  ")
    )
    with pytest.raises(SyntaxError):
        ast.parse(broken)
    assert len(compared(cells, {"a": broken, "b": other}).groups) == 1
    assert compared(cells, {"a": broken, "b": other.replace("= 0", "= 1")}).groups == ()
    assert compared(cells, {"a": broken, "b": MINE}).groups == ()
    for exercise in (RETRIEVER, EXERCISES["bm25_index"]):
        nearly = cells(exercise.unit)[0][exercise.id] + "\n???"
        assert compared(cells, {"a": nearly, "b": nearly}, exercise).short == 2


@pytest.mark.parametrize(
    "source",
    [
        "(" * 20_000,
        "-" * 20_000 + "1",
        "x = " + "+".join(["1"] * 20_000),
        "x" + ".y" * 20_000,
        "x = 0x" + "f" * 20_000,
        "x = '\0'",
        "'" * 5_001,
        '"\\d"',
        "\ud800",
        "x = 1\n" * 20_000,
        "",
        "%time x\n!ls",
        "def f(a=(b := 1)):\n  global b\n  return *a,",
        "lambda: (yield)",
        "async def f():\n  [x async for x in y]",
        "try: pass\nexcept* E as e: e",
    ],
    ids=lambda source: source[:12],
)
def test_any_text_has_a_form(source):
    assert form_of(source) == form_of(source)


def test_groups_come_largest_first(cells):
    changed = MINE.replace("position = 0", "position = 1")
    sources = {"b": MINE, "a": THEIRS, "e": changed, "d": changed, "c": changed, "f": ""}
    comparison = compared(cells, sources)
    assert [group.learners for group in comparison.groups] == [("c", "d", "e"), ("a", "b")]
    assert comparison.compared == 5
