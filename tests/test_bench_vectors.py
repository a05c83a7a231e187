"""The benchmark of VectorIndex where nothing needs to be measured in earnest."""

import argparse

import numpy as np
import pytest
from bench import vectors


def test_a_library_that_is_missing_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr(vectors.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(vectors, "apart", lambda measure, options, sizes, others: {"rows": [], "ratios": {}})
    parser = argparse.ArgumentParser()
    vectors.add_options(parser)
    said, _table = vectors.against_others(parser.parse_args(["--others", "chromadb", "scikit-learn"]))
    assert said.startswith("Not installed, and left out: chromadb, scikit-learn.")
    assert 'pip install -e ".[bench]"' in said


@pytest.mark.parametrize(
    "name", ["VectorIndex", "InMemoryVectorStore", "Qdrant-local", "chromadb", "scikit-learn"]
)
def test_each_library_finds_the_nearest(name):
    if module := vectors.OTHERS.get(name):
        pytest.importorskip(module)
    found, queries = vectors.made_up(200, 16)
    search = vectors.FILL[name](found, vectors.documents_for(200))
    rows, directions = (one / np.linalg.norm(one, axis=1)[:, None] for one in (found, queries))
    expected = np.argsort(-directions @ rows.T, axis=1)[:, : vectors.K].tolist()
    assert search(queries[:1]) == expected[:1]
    assert search(queries) == expected


def test_one_copy_checks_what_it_copies():
    given = vectors.documents_for(2)
    assert vectors.one_copy(np.array([[3.0, 4], [0, 2]]), given).tolist() == [[0.6, 0.8], [0, 1]]
    for bad, documents, message in [
        ([[1, np.nan], [1, 1]], given, "finite"),
        ([[1, 1], [0, 0]], given, "zero"),
        ([[1, 1], [1, 1]], [given[0], given[0]], "one id"),
    ]:
        with pytest.raises(ValueError, match=message):
            vectors.one_copy(np.array(bad, dtype=np.float32), documents)
