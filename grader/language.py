"""The sentences a learner reads, in the learner's language. English is the source."""

import gettext

from .paths import LOCALE

# Never gettext.install: IPython keeps the last result in the builtin _.
translate = gettext.translation("course", LOCALE, fallback=True).gettext


def N_(sentence: str) -> str:
    """Mark a sentence for the catalogue where it is declared; it is translated where it is shown."""
    return sentence
