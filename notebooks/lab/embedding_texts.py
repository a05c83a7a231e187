"""Which texts can be embedded."""

from collections.abc import Iterable

from lab.language import _


def checked_texts(texts: Iterable[str]) -> list[str]:
    """The texts as a list.

    Raises TypeError for a lone string or a text that is no string, ValueError for a text without a character
    to embed or with half a character; the message gives the text's position, counted from 1.
    """
    if isinstance(texts, str):
        raise TypeError(_("embed_documents needs a list of texts, and got one string: put it in [ ]."))
    texts = list(texts)
    for position, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise TypeError(
                _("Text {position} is no string but {kind}: only strings can be embedded.").format(
                    position=position, kind=type(text).__name__
                )
            )
        if not text.strip():
            raise ValueError(
                _("Text {position} is empty: there is nothing to embed.").format(position=position)
            )
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                _(
                    "Text {position} holds half a character (a lone surrogate): decode the text as UTF-8."
                ).format(position=position)
            ) from None
    return texts
