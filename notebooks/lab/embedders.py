"""Which embedder serves the notebooks: a service with a key, the offline model, or stored vectors.

An embedder has LangChain's two methods, ``embed_documents(texts)`` giving an array (n, d) and
``embed_query(text)`` giving an array (d,), both float32, and a ``name``.
"""

import os

from lab.errors import ModelError
from lab.language import _

# Loading takes time and a choice is announced once, so each embedder is made once a process.
_made: dict = {}


def embedder(name: str | None = None):
    """The embedder to use. The first time one is taken, a printed line says which it is.

    Without a name: Voyage AI where VOYAGE_API_KEY is set, else the offline model, else stored vectors of the
    course's own texts. "voyage", "local" and "stored" force one. Only Voyage AI is sent any text.

    Raises ValueError for an unknown name, ServiceError for Voyage AI without a usable key, ModelError where
    the offline model is forced and cannot be loaded.
    """
    makers = {"voyage": _voyage, "local": _local, "stored": _stored}
    if name is None:
        return _voyage() if os.environ.get("VOYAGE_API_KEY", "").strip() else _local_or_stored()
    if name not in makers:
        known = ", ".join(repr(known) for known in makers)
        raise ValueError(
            _("There is no embedder named {name!r}: choose one of {known}.").format(name=name, known=known)
        )
    return makers[name]()


def _local_or_stored():
    try:
        return _local()
    except ModelError as error:
        return _stored(str(error))


def _voyage():
    # A key, a model or an address that has been changed since makes another embedder.
    settings = tuple(os.environ.get(name) for name in ("VOYAGE_API_KEY", "VOYAGE_MODEL", "VOYAGE_BASE_URL"))
    if settings not in _made:
        from lab.vector_cache import CachedEmbedder, VectorCache
        from lab.voyage import VoyageEmbedder

        _made[settings] = CachedEmbedder(VoyageEmbedder(), VectorCache(), queries=True)
        print(
            _("Embeddings: {name} by Voyage AI, which is sent your texts, as VOYAGE_API_KEY is set.").format(
                name=_made[settings].name
            )
        )
    return _made[settings]


def _local():
    if "local" not in _made:
        from lab.minilm import MiniLM
        from lab.stored_vectors import known
        from lab.vector_cache import CachedEmbedder, VectorCache

        # Few texts a step, so that the bar of a slow computer moves.
        _made["local"] = CachedEmbedder(MiniLM(), VectorCache(), queries=False, stored=known, step=8)
        print(_("Embeddings: {name}, on this computer.").format(name=_made["local"].name))
    return _made["local"]


def _stored(reason: str = ""):
    if "stored" not in _made:
        from lab.stored_vectors import StoredEmbedder

        _made["stored"] = StoredEmbedder()
        line = _("Embeddings: stored vectors of the course's own texts.")
        print(f"{line} {reason}".strip())
    return _made["stored"]
