"""Which reranker serves the notebooks: a service with a key, the offline model, or stored scores.

A reranker is a function ``rerank(query, texts)`` that gives one float a text, in the order of the texts; higher fits
better. It has a ``name``. What the numbers mean is each model's own affair: only their order counts.
"""

import os

from lab.errors import ModelError
from lab.language import _

# Loading takes time and a choice is announced once, so each reranker is made once a process.
_made: dict = {}

_VOYAGE = ("VOYAGE_API_KEY", "VOYAGE_RERANK_MODEL", "VOYAGE_BASE_URL")
_COHERE = ("COHERE_API_KEY", "CO_API_KEY", "COHERE_RERANK_MODEL", "COHERE_BASE_URL")


def reranker(name: str | None = None):
    """The reranker to use. The first time one is taken, a printed line says which it is.

    Without a name: Voyage AI where VOYAGE_API_KEY is set, else Cohere where COHERE_API_KEY or CO_API_KEY is, else
    the offline model. Where both keys are set it is Voyage AI, as with lab.embedder(), so that one service alone is
    sent your texts. "voyage", "cohere", "local" and "stored" force one. "stored" is the offline model, whose scores
    for the course's own questions and texts were computed beforehand.

    Raises ValueError for an unknown name, ServiceError for a service without a usable key, ModelError where the
    offline model cannot be loaded.
    """
    makers = {"voyage": _voyage, "cohere": _cohere, "local": _local, "stored": _stored}
    if name is None:
        return _by_keys()
    if name not in makers:
        known = ", ".join(repr(known) for known in makers)
        raise ValueError(
            _("There is no reranker named {name!r}: choose one of {known}.").format(name=name, known=known)
        )
    return makers[name]()


def _by_keys():
    if _is_set("VOYAGE_API_KEY"):
        return _voyage()
    if _is_set("COHERE_API_KEY") or _is_set("CO_API_KEY"):
        return _cohere()
    try:
        return _local()
    except ModelError as error:
        return _stored(str(error))


def _is_set(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())


def _voyage():
    settings = _settings(_VOYAGE)
    if settings not in _made:
        from lab.voyage_rerank import VoyageReranker

        _made[settings] = VoyageReranker()
        print(
            _("Reranking: {name} by Voyage AI, which is sent your texts, as VOYAGE_API_KEY is set.").format(
                name=_made[settings].name
            )
        )
    return _made[settings]


def _cohere():
    settings = _settings(_COHERE)
    if settings not in _made:
        from lab.cohere_rerank import CohereReranker

        _made[settings] = CohereReranker()
        print(
            _("Reranking: {name} by Cohere, which is sent your texts, as {variable} is set.").format(
                name=_made[settings].name, variable=_made[settings].variable
            )
        )
    return _made[settings]


def _settings(variables: tuple[str, ...]) -> tuple:
    """A key, a model or an address that has been changed since makes another reranker."""
    return variables[0], *map(os.environ.get, variables)


def _local():
    if "local" not in _made:
        from lab.cross_encoder import CrossEncoder

        _made["local"] = CrossEncoder()
        print(
            _("Reranking: {name}, on this computer. It was trained on English texts only.").format(
                name=_made["local"].name
            )
        )
    return _made["local"]


def _stored(reason: str = ""):
    if "stored" not in _made:
        from lab.stored_scores import StoredReranker

        _made["stored"] = StoredReranker()
        line = _("Reranking: stored scores of the course's own texts, by {name} (English only).").format(
            name=_made["stored"].name
        )
        print(f"{line} {reason}".strip())
    return _made["stored"]
