"""The language of the sentences that learners read. English is the source and the fallback."""

import gettext

from lab.paths import ASSETS

_ = gettext.translation("course", ASSETS / "locale", fallback=True).gettext
