"""Unit 07: what its text says is so, and its optional section beside LangChain."""

import json
import sys
import warnings

import pytest
from conftest import need, posix_only

import lab
from hybrid_search import BM25Index, Retriever, VectorIndex
from hybrid_search.reranking import RerankingRetriever
from lab import stored_vectors
from lab.minilm import MiniLM

OF_STORED_PYTHON = sys.version_info[:2] in (stored_vectors.PYTHON, *stored_vectors.NEWER_PYTHONS)
OF_PYTHON_3_11 = pytest.mark.skipif(
    sys.version_info[:2] != stored_vectors.PYTHON, reason="the text speaks of the reference of Python 3.11"
)


@pytest.fixture(scope="module")
def rerank():
    return lab.reranker("local")


@pytest.fixture(scope="module")
def over_sections():
    retriever = Retriever(VectorIndex(MiniLM()), BM25Index(), weights=(0.5, 0.5))
    retriever.add_documents(lab.sections())
    return retriever


def numbers(results):
    return [document["id"] for document, _ in results]


def test_the_reranker_brings_the_medical_section_from_the_fifth_place_to_the_first(over_sections, rerank):
    question = "Did the new medicine help people walk?"
    assert numbers(over_sections.search(question, k=10, candidates=10)).index(1) == 4
    assert numbers(over_sections.indexes[0].search(question, k=1)) == [1]
    assert 1 not in numbers(over_sections.indexes[1].search(question, k=10))
    (first, score), (_, second), *_ = RerankingRetriever(over_sections, rerank).search(question)
    assert first["id"] == 1 and score > second + 1


def test_the_sections_that_name_the_incident_stay_in_front(over_sections, rerank):
    results = RerankingRetriever(over_sections, rerank).search("what happened with INC-2023-Q4-011?")
    assert numbers(results) == [10, 2, 5]
    assert all(one > other + 1 for (_, one), (_, other) in zip(results, results[1:], strict=False))


def test_the_employees_are_found_without_a_word_in_common(rerank):
    scores = rerank(
        "How many people work here?",
        [
            "The company was founded in 1987. Its first office was in a garage.",
            "At the end of the year, 8 432 employees worked in 14 countries.",
            "Bananas are rich in potassium.",
        ],
    )
    assert scores[1] > 1 and max(scores[0], scores[2]) < -9


@pytest.fixture(scope="module")
def measured():
    if not OF_STORED_PYTHON:
        pytest.skip("the scores of other versions' language references are stored")
    from lab.stored_vectors import StoredEmbedder

    retriever = Retriever(VectorIndex(StoredEmbedder()), BM25Index(lab.python_tokens), weights=(0.5, 0.5))
    retriever.add_documents(lab.python_reference())
    return retriever


@pytest.fixture(scope="module")
def both(measured):
    """The fused order of each pool, and the same pool reranked."""
    rerank = lab.reranker("stored")

    def searches(pool):
        reranking = RerankingRetriever(measured, rerank, pool)
        share = -(-pool // 2)
        return {
            "fused": lambda text, k: measured.search(text, k=pool, candidates=share),
            "reranked": reranking.search,
        }

    return searches


def test_every_pair_of_the_unit_has_a_stored_score(both):
    rerank = lab.reranker("stored")
    before = rerank.computed
    for query in lab.judged_queries("python"):
        assert both(50)["reranked"](query.text, k=3).reranked
    assert rerank.computed == before


@OF_PYTHON_3_11
def test_few_candidates_gain_and_many_lose(both):
    judged, mrr, ndcg = lab.judged_queries("python"), {}, {}
    for pool in (5, 10, 20, 50):
        for name, row in lab.compare(both(pool), judged, k=3).iterrows():
            mrr[name, pool], ndcg[name, pool] = row["MRR"], row["nDCG@3"]
    said = {5: (0.665, 0.717), 10: (0.709, 0.735), 20: (0.743, 0.725), 50: (0.760, 0.738)}
    for pool, values in said.items():
        assert (round(mrr["fused", pool], 3), round(mrr["reranked", pool], 3)) == values
        assert (ndcg["reranked", pool] > ndcg["fused", pool]) == (pool <= 10)
    assert max(mrr, key=mrr.get) == max(ndcg, key=ndcg.get) == ("fused", 50)


@OF_PYTHON_3_11
def test_no_difference_is_beyond_chance(both):
    judged = lab.judged_queries("python")
    for pool in (5, 10, 20, 50):
        values = [
            [lab.reciprocal_rank(lab.judged_ids(search(query.text, 50)), query.relevant) for query in judged]
            for search in both(pool).values()
        ]
        low, high = lab.paired_bootstrap(*values[::-1])
        assert low < 0 < high


@OF_PYTHON_3_11
def test_identifiers_gain_and_conceptual_questions_lose(both):
    table = lab.compare(both(20), lab.judged_queries("python"), k=3, by_kind=True)
    for metric in ("MRR", "nDCG@3"):
        gain = table[metric].unstack()["reranked"] - table[metric].unstack()["fused"]
        assert gain["identifier"] > 0 > gain["conceptual"]


@OF_PYTHON_3_11
def test_the_question_about_the_path_falls_from_first_to_seventh(both):
    (query,) = [query for query in lab.judged_queries("python") if query.id == "p14"]
    found = {name: lab.judged_ids(search(query.text, 50)) for name, search in both(20).items()}
    assert [ids.index("strings") + 1 for ids in found.values()] == [1, 7]
    assert all(score < -8 for _, score in both(20)["reranked"](query.text, k=20))


# ---- beside LangChain


@pytest.fixture(scope="module")
def langchain():
    try:
        import langchain_classic  # noqa: F401
        import langchain_community  # noqa: F401
        import langchain_postgres  # noqa: F401
        import langchain_text_splitters  # noqa: F401
    except ImportError:
        need(False, "LangChain (extra: langchain)")


@pytest.fixture(scope="module")
def optional_cells(root):
    """The code of the optional section, cell by cell."""
    import jupytext

    cells = jupytext.read(root / "solutions" / "07_reranking.py", fmt="py:percent").cells
    (start,) = [
        i for i, cell in enumerate(cells) if cell.source.startswith("## Optional: the same in LangChain")
    ]
    return [cell.source for cell in cells[start:] if cell.cell_type == "code"]


@posix_only
def test_the_section_shows_what_it_says_on_postgres(
    langchain, optional_cells, postgres_folder, rerank, capsys
):
    known = {"lab": lab, "sections": lab.sections, "embedder": lambda: lab.embedder("local"), "local": rerank}
    known |= {one.__name__: one for one in (Retriever, VectorIndex, BM25Index, RerankingRetriever)}
    with warnings.catch_warnings(action="ignore"):
        for source in optional_cells:
            exec(source, known)
    printed = [line.partition("[") for line in capsys.readouterr().out.splitlines() if "[" in line]
    shown = [(name.strip(), json.loads(start + ids)) for name, start, ids in printed]
    three, ten = shown[0:2], shown[2:4]
    near, padded, matching = (ids for _, ids in shown[4:7])
    merged, kept, reranked = shown[7:9], shown[9:11], shown[11:13]
    assert [name for name, _ in three] == ["LangChain", "ours"]
    assert three[0][1] == three[1][1] == [10, 2, 3, 5]
    # The padding, ten documents of which one matches.
    assert padded == [9, 10, 8, 7, 6, 5, 4, 3, 2, 1] and matching == [9]
    assert near[0] == 10 and ten[0][1][:2] == [10, 9] and ten[1][1][0] == 9
    # The section that stands there twice, under the ids 2 and 11.
    assert merged[0][1][0] in (2, 11) and len({2, 11} & set(merged[0][1])) == 1
    assert merged[1][1][:3] == [10, 2, 11]
    assert kept[0][1][0] == 10 and {2, 11} <= set(kept[0][1])
    assert reranked[0][1] == reranked[1][1] == [10, 2, 5]


def test_without_its_packages_the_optional_section_says_one_plain_line(monkeypatch, capsys, optional_cells):
    imports, define, *using = optional_cells
    monkeypatch.setitem(sys.modules, "langchain_postgres", None)
    names = {}
    with warnings.catch_warnings(action="ignore"):
        exec(imports, names)
    (line,) = capsys.readouterr().out.splitlines()
    assert names["langchain"] is False
    assert line.startswith("This part needs langchain_") and "pip install -e '.[langchain]'" in line
    assert "def both_pipelines(" in define
    assert len(using) == 4 and all("\nif langchain:" in f"\n{source}" for source in using)
