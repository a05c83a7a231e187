"""Each rule of the fusion is held by a test: break the rule in a copy of the package, and a test turns red.

A break is one replacement in the source. Run as a script, this file runs the tests of the fusion against each
copy of the package that it is given: in one process of its own, which saves starting fifty.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "solutions" / "hybrid_search"
CHECKS = ("test_retriever", "test_rrf")
UNBROKEN = "nothing is broken"

# What is broken: the module, the code that holds the rule, what stands there instead.
BREAKS = {
    # The score
    "ranks count from 1": (
        "rrf",
        "in enumerate(ranking, start=1):",
        "in enumerate(ranking):",
    ),
    "rrf_score counts ranks from 1": (
        "rrf",
        "1 / (check_k_rrf(k_rrf) + rank)",
        "1 / (check_k_rrf(k_rrf) + rank - 1)",
    ),
    "k_rrf is added to the rank before the division": (
        "rrf",
        "part = weight / (k_rrf + rank)",
        "part = weight / (k_rrf or 1) + rank",
    ),
    "k_rrf is the one asked for": (
        "retriever",
        "rrf_scores(rankings, k_rrf, weights)",
        "rrf_scores(rankings, 60, weights)",
    ),
    "k_rrf is 60 unless told": (
        "retriever",
        "k_rrf: float = 60",
        "k_rrf: float = 1",
    ),
    "a ranking counts a document once": (
        "rrf",
        "return list(dict.fromkeys(ranking))",
        "return list(ranking)",
    ),
    "a document absent from a ranking gets nothing from it": (
        "rrf",
        "    order = sorted(",
        "    for key in scores:\n"
        "        scores[key] += sum(1 / (k_rrf + len(other) + 1) for other in rankings if key not in other)\n"
        "    order = sorted(",
    ),
    "weights multiply": (
        "rrf",
        "part = weight / (k_rrf + rank)",
        "part = 1 / (k_rrf + rank)",
    ),
    "weights reach the fusion": (
        "retriever",
        "rrf_scores(rankings, k_rrf, weights)",
        "rrf_scores(rankings, k_rrf)",
    ),
    "weights are not scaled to a sum of 1": (
        "rrf",
        "    scores: dict",
        "    weights = [weight / sum(weights) for weight in weights]\n    scores: dict",
    ),
    "weight 0 contributes nothing": (
        "rrf",
        "if weight == 0:",
        "if weight < 0:",
    ),
    "an index of weight 0 is not asked": (
        "retriever",
        "if weight else []",
        "if True else []",
    ),
    "scores are summed, not the best kept": (
        "rrf",
        "math.fsum(parts)",
        "max(parts)",
    ),
    "scores are summed, not averaged": (
        "rrf",
        "math.fsum(parts)",
        "math.fsum(parts) / len(rankings)",
    ),
    "equal sums are exactly equal": (
        "rrf",
        "math.fsum(parts)",
        # From Python 3.12 on, the built-in sum makes up for rounding.
        "__import__('functools').reduce(lambda total, part: total + part, parts)",
    ),
    # The order
    "higher scores come first": (
        "rrf",
        "key=scores.get, reverse=True",
        "key=scores.get",
    ),
    "equal scores: the better best rank comes first": (
        "rrf",
        "sorted(scores, key=best_rank.get)",
        "scores",
    ),
    "the best rank is the smallest": (
        "rrf",
        "if rank < best_rank[key]:",
        "if rank > best_rank[key]:",
    ),
    "equal scores and best ranks: the first seen comes first": (
        "rrf",
        "sorted(scores, key=",
        "sorted(reversed(scores), key=",
    ),
    # How many
    "k results and no more": (
        "retriever",
        "islice(scores.items(), k)",
        "scores.items()",
    ),
    "k is not bounded by candidates": (
        "retriever",
        "islice(scores.items(), k)",
        "islice(scores.items(), min(k, candidates))",
    ),
    "one result unless told": (
        "retriever",
        "k: int = 1, k_rrf",
        "k: int = 10, k_rrf",
    ),
    "each index is asked for its candidates": (
        "retriever",
        "index.search(query, candidates)",
        "index.search(query, 1000)",
    ),
    "an index that gives more is cut at its candidates": (
        "retriever",
        "islice(found, candidates)",
        "islice(found, 1000)",
    ),
    "20 candidates unless told": (
        "retriever",
        "candidates: int = 20",
        "candidates: int = 10",
    ),
    "every index is asked": (
        "retriever",
        "zip(self.indexes, weights, strict=True)",
        "zip(self.indexes[:2], weights)",
    ),
    # What makes two documents the same
    "an explicit id is the identity": (
        "documents",
        "if explicit is None:",
        "if True:",
    ),
    "without an id the object is the identity": (
        "documents",
        "return _NO_ID, id(document)",
        'return _NO_ID, document["content"]',
    ),
    "documents with an id are not merged by text": (
        "documents",
        "    return explicit\n",
        '    return document["content"]\n',
    ),
    "an id is not mixed up with an object": (
        "documents",
        "return _NO_ID, id(document)",
        "return id(document)",
    ),
    "temporary documents are kept until the end": (
        "retriever",
        "            rankings.append(ranking)",
        "            rankings.append(ranking)\n            documents = {key: None for key in documents}",
    ),
    "the document given back is the one that was found": (
        "retriever",
        "documents.append(document)",
        "documents.append({**document})",
    ),
    # Refusals
    "no index is refused": (
        "retriever",
        "if not indexes:",
        "if False:",
    ),
    "an index that cannot search is refused": (
        "retriever",
        "if isinstance(index, type) or not callable(",
        "if False and callable(",
    ),
    "an empty query is refused": (
        "retriever",
        "        check_query(query)\n        k, candidates =",
        "        k, candidates =",
    ),
    "k below 1 is refused": (
        "retriever",
        'k, candidates = check_count(k, "k"), ',
        "k, candidates = k, ",
    ),
    "candidates below 1 are refused": (
        "retriever",
        'check_count(candidates, "candidates")',
        "candidates",
    ),
    "a count of 0 is refused": (
        "documents",
        "if count < least:",
        "if count < least - 1:",
    ),
    "a k_rrf below 0 is refused": (
        "rrf",
        "math.isfinite(k_rrf) and k_rrf >= 0",
        "math.isfinite(k_rrf)",
    ),
    "a k_rrf that is NaN or infinite is refused": (
        "rrf",
        "math.isfinite(k_rrf) and k_rrf >= 0",
        "not k_rrf < 0",
    ),
    "a k_rrf of 0 is allowed": (
        "rrf",
        "and k_rrf >= 0",
        "and k_rrf > 0",
    ),
    "k_rrf is checked before an index is asked": (
        "retriever",
        "        check_k_rrf(k_rrf)\n",
        "",
    ),
    "negative weights are refused": (
        "rrf",
        "math.isfinite(weight) and weight >= 0",
        "math.isfinite(weight)",
    ),
    "weights that are NaN or infinite are refused": (
        "rrf",
        "math.isfinite(weight) and weight >= 0",
        "not weight < 0",
    ),
    "weights of 0 alone are refused": (
        "rrf",
        "if rankings and not any(weights):",
        "if False:",
    ),
    "one weight for each index": (
        "rrf",
        "if len(weights) != rankings:",
        "if False:",
    ),
    "weights are checked at once": (
        "retriever",
        "self.weights = weights if weights is None else check_weights(weights, len(indexes))",
        "self.weights = weights",
    ),
    "weights set later are checked": (
        "retriever",
        "weights = check_weights(self.weights, len(self.indexes))",
        "weights = self.weights",
    ),
    "results that are no pairs are refused": (
        "retriever",
        "if not isinstance(document, dict):",
        "if False:",
    ),
    "a bad document reaches no index": (
        "retriever",
        "new = self._documents.new(documents)",
        "new = list(documents)",
    ),
    "a document given twice reaches an index once": (
        "retriever",
        "                    index.add_document(document)\n        self._documents.extend(new)\n",
        "                    index.add_document(document)\n",
    ),
    "an index that joins later weighs 1": (
        "retriever",
        "return [1.0] * len(self.indexes) if",
        "return [1.0] if",
    ),
}


def make_copy(folder: Path, rule: str) -> None:
    """A copy of the package in ``folder`` with one rule broken."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    if rule == UNBROKEN:
        return
    module, code, instead = BREAKS[rule]
    source = folder / PACKAGE.name / f"{module}.py"
    text = source.read_text(encoding="utf-8")
    assert text.count(code) == 1, f"{module}.py must hold this once, not {text.count(code)} times: {code}"
    source.write_text(text.replace(code, instead), encoding="utf-8")


def run_checks(folder: str) -> dict:
    """The tests of the fusion against the package in ``folder``, up to the first failure."""
    for name in list(sys.modules):
        if name.split(".")[0] in (PACKAGE.name, *CHECKS):
            del sys.modules[name]
    sys.path.insert(0, folder)
    options = ["-q", "-x", "--tb=short", "--assert=plain", "--noconftest", "-p", "no:cacheprovider"]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = pytest.main([*options, *(str(HERE / f"{name}.py") for name in CHECKS)])
    sys.path.remove(folder)
    used = Path(sys.modules[PACKAGE.name].__file__)
    return {"code": int(code), "used": str(used.parents[1]), "output": output.getvalue()}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A mapping rule -> what the tests said to the copy where it is broken."""
    folders = {rule: tmp_path_factory.mktemp("copy") for rule in (UNBROKEN, *BREAKS)}
    for rule, folder in folders.items():
        make_copy(folder, rule)
    done = subprocess.run(
        [sys.executable, __file__, *map(str, folders.values())],
        cwd=HERE.parent,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = dict(zip(folders, map(json.loads, done.stdout.splitlines()), strict=True))
    for rule, folder in folders.items():
        assert results[rule]["used"] == str(folder), "the tests used another package than the copy"
    return results


def test_an_unbroken_copy_passes(runs):
    assert runs[UNBROKEN]["code"] == pytest.ExitCode.OK, runs[UNBROKEN]["output"]


@pytest.mark.parametrize("rule", BREAKS)
def test_breaking_the_rule_turns_a_test_red(rule, runs):
    code, output = runs[rule]["code"], runs[rule]["output"]
    assert code == pytest.ExitCode.TESTS_FAILED, f"no test noticed: {rule}\n{output}"
    assert "NameError" not in output and "SyntaxError" not in output, output


if __name__ == "__main__":
    for copy in sys.argv[1:]:
        print(json.dumps(run_checks(copy)))
