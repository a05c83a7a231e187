"""What earlier units have built, finished. A module is loaded when a name of it is first used."""

from importlib import import_module

from ._units import LATER, MODULES

_HOME = {name: module for module, names in MODULES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name in LATER:
        # "from hybrid_search import name" would hide the sentence of an AttributeError.
        raise ImportError(f"hybrid_search.{name} comes after unit {LATER[name]}: you build it there")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
