"""Which queries and texts can be reranked."""

from collections.abc import Iterable

from lab.language import _


def checked_question(query: str, texts: Iterable[str]) -> tuple[str, list[str]]:
    """The query, and the texts as a list.

    Raises TypeError for a lone string instead of a list, or for what is no string; ValueError for a query or a text
    without a character, or with half a character. The message gives the text's position, counted from 1.
    """
    if isinstance(texts, str):
        raise TypeError(_("rerank needs a list of texts, and got one string: put it in [ ]."))
    texts = list(texts)
    _check(query, _("The query"))
    for position, text in enumerate(texts, start=1):
        _check(text, _("Text {position}").format(position=position))
    return query, texts


def _check(text: str, which: str) -> None:
    if not isinstance(text, str):
        raise TypeError(
            _("{which} is no string but {kind}: only strings can be reranked.").format(
                which=which, kind=type(text).__name__
            )
        )
    if not text.strip():
        raise ValueError(_("{which} is empty: there is nothing to rerank.").format(which=which))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            _("{which} holds half a character (a lone surrogate): decode the text as UTF-8.").format(
                which=which
            )
        ) from None
