"""What the services on the network have in common: a key, requests of a bounded size, a sentence for each failure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from lab.errors import ServiceError
from lab.language import _

TIMEOUT_SECONDS = 30
ATTEMPTS = 3


@dataclass(frozen=True)
class Service:
    """A service as its failures name it.

    ``variable`` of the environment holds the key; ``instead`` is the call that needs no service.
    """

    name: str
    variable: str
    instead: str

    def checked_key(self, key: str) -> str:
        """The key without the spaces around it. Raises ServiceError where there is none, or where it cannot be one."""
        key = key.strip()
        if not key:
            raise ServiceError(
                self._said(_("{variable} is not set: set it to your {service} key, or use {instead}."))
            )
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise ServiceError(self.bad_key())
        return key

    def library(self, package: str) -> ModuleType:
        """The service's own package, imported. Raises ServiceError where it is missing."""
        try:
            return import_module(package)
        except ImportError:
            raise ServiceError(
                self._said(
                    _("The package {package} is missing: run `pip install {package}`, or unset {variable}."),
                    package=package,
                )
            ) from None

    def bad_key(self) -> str:
        return self._said(_("{service} does not accept the key in {variable}: check it, or use {instead}."))

    def late(self, seconds: float) -> str:
        return self._said(
            _(
                "{service} did not answer within {seconds:g} seconds: run the cell again in a minute, "
                "or use {instead}."
            ),
            seconds=seconds,
        )

    def unreachable(self) -> str:
        return self._said(
            _(
                "{service} cannot be reached: check your network connection and run the cell again, "
                "or use {instead}."
            )
        )

    def of_status(self, status: int, model: str) -> str | None:
        """The sentence for a status that HTTP counts as a failure; None for any other."""
        if status in (401, 403):
            return self.bad_key()
        if status == 429:
            sentence = _(
                "{service}'s rate limit is reached: wait a minute and run the cell again, or use {instead}."
            )
        elif 400 <= status < 500:
            sentence = _(
                "{service} refused the request (status {status}): check that {model} is one of its models, "
                "or use {instead}."
            )
        elif status >= 500:
            sentence = _(
                "{service} has a fault of its own (status {status}): run the cell again in a minute, "
                "or use {instead}."
            )
        else:
            return None
        return self._said(sentence, status=status, model=model)

    def _said(self, sentence: str, **values: object) -> str:
        return sentence.format(service=self.name, variable=self.variable, instead=self.instead, **values)


def batches(
    texts: Sequence[str], most_texts: int, most_tokens: float, beside: int = 0
) -> Iterator[list[str]]:
    """The texts in order, cut so that no batch is over a request's limits unless one text alone is.

    ``beside`` are the tokens that each text brings along, such as the query that is read again with each of them.
    """
    batch, tokens = [], 0
    for text in texts:
        size = beside + estimated_tokens(text)
        if batch and (len(batch) == most_texts or tokens + size > most_tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch


def estimated_tokens(text: str) -> int:
    """At least as many tokens as the text has, nearly always; counting them would need a download."""
    return len(text.encode("utf-8", "replace")) // 3 + 1
