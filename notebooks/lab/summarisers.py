"""What summarises a page: a language model with a key, or extracts from the page itself.

A summariser is a function ``summarise(text)`` that gives {"summary": str, "keywords": [str, ...]}. It has a ``name``.
"""

import os

from lab.errors import ServiceError
from lab.language import _

# A choice is announced once a process, and so is each kind of trouble.
_made: dict = {}

_SETTINGS = ("ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL")


def summariser(name: str | None = None):
    """The summariser to use. The first time one is taken, a printed line says which it is.

    Without a name: a model of Anthropic where ANTHROPIC_API_KEY is set, with extracts instead wherever it fails; else
    extracts. "anthropic" and "extractive" force one: then a failure of the service is a ServiceError. Extracts are
    chosen on this computer, whatever keys are set; only Anthropic is sent any text.

    Raises ValueError for an unknown name, ServiceError for Anthropic without a usable key; extracts raise ModelError
    when they are first made, where the offline embedding model cannot be loaded.
    """
    makers = {"anthropic": _anthropic, "extractive": _extractive}
    if name is None:
        return _anthropic_or_extracts() if os.environ.get(_SETTINGS[0], "").strip() else _extractive()
    if name not in makers:
        known = ", ".join(repr(known) for known in makers)
        raise ValueError(
            _("There is no summariser named {name!r}: choose one of {known}.").format(name=name, known=known)
        )
    return makers[name]()


def _anthropic():
    # A key, a model or an address that has been changed since makes another summariser.
    settings = tuple(map(os.environ.get, _SETTINGS))
    if settings not in _made:
        from lab.anthropic_summary import AnthropicSummariser

        _made[settings] = AnthropicSummariser()
        print(
            _(
                "Summaries: {name} by Anthropic, which is sent your texts, as ANTHROPIC_API_KEY is set."
            ).format(name=_made[settings].name)
        )
    return _made[settings]


def _extractive():
    if "extractive" not in _made:
        _made["extractive"] = _extracts()
        print(_("Summaries: sentences and terms of the texts themselves, chosen on this computer."))
    return _made["extractive"]


def _extracts():
    from lab.extracts import ExtractiveSummariser
    from lab.stored_extracts import stored_choices

    return ExtractiveSummariser(_local_vectors, stored_choices())


def _local_vectors(sentences: list[str]):
    from lab.embedders import embedder

    return embedder("local").embed_documents(sentences)


def _anthropic_or_extracts():
    try:
        service = _anthropic()
    except ServiceError as error:
        _say_once(error)
        return _extracts()
    return WithExtractsInstead(service, _extracts())


class WithExtractsInstead:
    """A service's summaries, and extracts instead of those that it does not give.

    A page that the service cannot summarise is extracted. Where the service itself fails it is not asked again; a new
    call of lab.summariser() tries anew.
    """

    def __init__(self, service, extracts):
        self.name = service.name
        self._service, self._extracts, self._is_down = service, extracts, False

    def __call__(self, text: str) -> dict:
        from lab.anthropic_summary import MalformedAnswer

        if not self._is_down:
            try:
                return self._service(text)
            except ServiceError as error:
                self._is_down = not isinstance(error, MalformedAnswer)
                _say_once(error)
        return self._extracts(text)


def _say_once(error: ServiceError) -> None:
    if str(error) not in _made:
        _made[str(error)] = True
        print(f"{error} {_('Meanwhile, pages are summarised by extracts from them.')}")
