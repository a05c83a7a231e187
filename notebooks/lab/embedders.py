"""Which embedder serves the notebooks: a service with a key, the offline model, or stored vectors.

An embedder has LangChain's two methods, ``embed_documents(texts)`` giving an array (n, d) and
``embed_query(text)`` giving an array (d,), both float32, and a ``name``.
"""

from lab.language import _

_loaded: dict = {}


def embedder(name: str | None = None):
    """The embedder to use; "local" forces one. The first time it is taken, one printed line says which it is.

    Raises ValueError for an unknown name, ModelError where the one asked for cannot be loaded.
    """
    makers = {"local": _local}
    if name is not None and name not in makers:
        known = ", ".join(repr(known) for known in makers)
        raise ValueError(
            _("There is no embedder named {name!r}: choose one of {known}.").format(name=name, known=known)
        )
    return makers[name or "local"]()


def _local():
    if "local" not in _loaded:
        from lab.minilm import MiniLM

        _loaded["local"] = MiniLM()
        print(_("Embeddings: {name}, on this computer.").format(name=_loaded["local"].name))
    return _loaded["local"]
