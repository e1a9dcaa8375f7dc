"""What a pool tells of its browsers: which shop's, what they do, and since when."""

from __future__ import annotations

from collections.abc import Iterable

from services.clock import SystemClock
from services.domain.fleet.worker import BrowserState
from services.domain.task import ids
from services.executors.browser.launch import Chromium

#: key of the place, its browser, how many work in it, whether it is lent, whether one is being started
Seen = tuple[str, Chromium | None, int, bool, bool]
_ORDER = ("busy", "lent", "starting", "closing", "idle")


class Census:
    """Taken about once a second: a state lasts since the first time that it was seen."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[tuple[str, int], int]] = {}
        self._clock = SystemClock()

    def take(self, seen: Iterable[Seen]) -> tuple[BrowserState, ...]:
        """Those at work first; those of one state by shop."""
        now = self._clock.now_ms()
        known, self._since = self._since, {}
        found = [self._one(one, known, now) for one in seen]
        return tuple(sorted(found, key=lambda state: (_ORDER.index(state.state), state.shop)))

    def _one(self, one: Seen, known: dict[str, tuple[tuple[str, int], int]], now: int) -> BrowserState:
        key, browser, users, lent, starting = one
        word = _state(browser, users, lent=lent, starting=starting)
        uses = browser.uses if browser is not None else 0
        before = known.get(key)
        since = before[1] if before is not None and before[0] == (word, uses) else now
        self._since[key] = (word, uses), since
        platform, _, shop_id = key.partition(":")
        return BrowserState(
            shop=key,
            profile=ids.profile_id(platform, shop_id) if key else "",
            state=word,
            since=since,
            uses=uses,
            memory_mb=round(browser.memory, 1) if browser is not None else -1.0,
            port=browser.debug_port() if browser is not None else 0,
        )


def _state(browser: Chromium | None, users: int, *, lent: bool, starting: bool) -> str:
    if browser is None:
        return "starting" if starting else "closing"
    if users:
        return "lent" if lent else "busy"
    return "idle"
