"""The speed of a bulk: steps of a logarithmic slider and the numbers that follow. Pure but for the language."""

from __future__ import annotations

import math

from services.i18n import _, ngettext
from views.support import text

SLOWEST, FASTEST = 6, 600
STEPS = 100  #: the last step is all at once, the one before it the fastest pace
MARKS = (6, 30, 60, 120, 600, 0)
ALL = 0


def rate_at(step: int) -> int:
    """Tasks a minute at a step of the slider, ``ALL`` for all at once."""
    if step >= STEPS:
        return ALL
    rate = SLOWEST * math.pow(FASTEST / SLOWEST, step / (STEPS - 1))
    return max(SLOWEST, round(rate))


def step_of(rate: int) -> int:
    """The step nearest to a rate."""
    if rate <= ALL:
        return STEPS
    share = math.log(min(max(rate, SLOWEST), FASTEST) / SLOWEST) / math.log(FASTEST / SLOWEST)
    return round(share * (STEPS - 1))


def words(rate: int) -> str:
    """``30 a minute``, ``all at once``."""
    if rate <= ALL:
        return _("all at once")
    return ngettext("{n} a minute", "{n} a minute", rate).format(n=text.count(rate))
