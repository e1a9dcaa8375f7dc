"""What a cell of the heat map tells instead of its state: how much waits, how long ago something succeeded, and
how much of what ended in a day did. No Qt.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from services.domain.insight.shop import GOOD, ShopNow
from services.i18n import N_

STATE, WAITING, SHARE, SUCCESS = "state", "waiting", "share", "success"
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


class Shade(msgspec.Struct, frozen=True):
    """One step: its key, its word (source text), the role of its colour, and how high it fills a cell (0 to 1)."""

    key: str
    word: str
    role: str
    share: float


class Scale(NamedTuple):
    """What cells tell: its steps, from where on each but the first is, and what of a shop is measured."""

    shades: tuple[Shade, ...]
    bounds: tuple[float, ...]
    measure: Callable[[ShopNow, int], float | None]  #: at a moment (UTC ms); None: the last shade
    low_stands_out: bool = False


SCALES: Mapping[str, Scale] = {
    WAITING: Scale(
        shades=(  # from the least to the most: told by height as well as by colour
            Shade("waiting.0", N_("nothing waits"), "running", 0.0),
            Shade("waiting.1", N_("1–2"), "running", 0.2),
            Shade("waiting.2", N_("3–9"), "running", 0.4),
            Shade("waiting.3", N_("10–29"), "running", 0.6),
            Shade("waiting.4", N_("30–99"), "retryfill", 0.8),
            Shade("waiting.5", N_("100 and more"), "deadfill", 1.0),
        ),
        bounds=(1, 3, 10, 30, 100),
        measure=lambda cell, _now_ms: cell.waiting,
    ),
    SHARE: Scale(
        shades=(  # the less succeeded, the fuller
            Shade("share.0", N_("below 50 %"), "deadfill", 1.0),
            Shade("share.1", N_("50–80 %"), "deadfill", 0.6),
            Shade("share.2", N_("80–95 %"), "retryfill", 0.5),
            Shade("share.3", N_("95 % and more"), "okcell", 1.0),
            Shade("share.4", N_("none ended"), "text3", 0.0),
        ),
        bounds=(0.5, 0.8, GOOD),
        measure=lambda cell, _now_ms: cell.success_share,
        low_stands_out=True,
    ),
    SUCCESS: Scale(
        shades=(  # the longer ago, the fuller: what stands out is what did not succeed for long
            Shade("success.0", N_("within 15 min"), "okcell", 1.0),
            Shade("success.1", N_("within 1 h"), "okcell", 1.0),
            Shade("success.2", N_("within 6 h"), "running", 0.4),
            Shade("success.3", N_("within 24 h"), "retryfill", 0.7),
            Shade("success.4", N_("longer ago"), "deadfill", 1.0),
            Shade("success.5", N_("no success known"), "text3", 0.0),
        ),
        bounds=(15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS),
        measure=lambda cell, now_ms: now_ms - cell.success_at if cell.success_at else None,
    ),
}
SHADES: Mapping[str, tuple[Shade, ...]] = {by: scale.shades for by, scale in SCALES.items()}
BY_KEY: Mapping[str, Shade] = {one.key: one for shades in SHADES.values() for one in shades}


def shade_of(by: str, cell: ShopNow, now_ms: int) -> Shade:
    """How a shop stands in one of ``SHADES``."""
    scale = SCALES[by]
    measured = scale.measure(cell, now_ms)
    return scale.shades[-1 if measured is None else bisect_right(scale.bounds, measured)]


def worst(by: str, cells: Sequence[ShopNow]) -> ShopNow:
    """The one that stands out among several, for a cell that stands for all of them; one of which nothing is known only
    where nothing is known of any.
    """
    scale = SCALES[by]

    def out(cell: ShopNow) -> float:
        measured = scale.measure(cell, 0)
        if measured is None:
            return -math.inf
        return -measured if scale.low_stands_out else measured

    return max(cells, key=out)


def counts(by: str, cells: Iterable[ShopNow], now_ms: int) -> Mapping[str, int]:
    """How many shops stand in each shade, by its key."""
    return Counter(shade_of(by, cell, now_ms).key for cell in cells)
