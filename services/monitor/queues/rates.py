"""What comes into each queue and goes out of it, counted from events in parts of some seconds. Thread-safe."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Collection, Sequence

from services.domain.insight.queue import Flow
from services.domain.task.event import Event
from services.domain.task.status import WAITING, Status

PART_S, PARTS = 10, 30
#: ``lane``, ``platform:shop_id`` of what waits there; the same of what was let in and out of back-off and dead letters
Place = tuple[str, str]
BACK_OFF, DEAD = "back_off", "dead"


class QueueRates:
    """Counts by lane and shop, so that a shop may get a queue of its own meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since = 0
        self._parts: deque[tuple[int, Counter[Place], Counter[Place]]] = deque()

    def begin(self, now_ms: int) -> None:
        """Nothing is known of the time before this instant."""
        with self._lock:
            self._since = now_ms
            self._parts.clear()

    def note(self, events: Sequence[Event]) -> None:
        """Take in events in their order."""
        with self._lock:
            for event in events:
                if event.from_ != event.to:
                    self._note(event)

    def _note(self, event: Event) -> None:
        shop = f"{event.platform}:{event.shop_id}"
        was, is_ = event.from_ in WAITING, event.to in WAITING
        if was != is_:
            self._count(event.at, (event.lane, shop), came=is_)
        if Status.RETRYING in (event.from_, event.to):
            self._count(event.at, (BACK_OFF, shop), came=event.to == Status.RETRYING)
        if event.to == Status.DEAD:
            self._count(event.at, (DEAD, shop), came=True)

    def _count(self, at_ms: int, place: Place, *, came: bool) -> None:
        part = at_ms // (PART_S * 1000)
        if not self._parts or part > self._parts[-1][0]:
            self._parts.append((part, Counter(), Counter()))
            while self._parts[0][0] <= part - PARTS:
                self._parts.popleft()
        _part, into, out = self._parts[-1]
        (into if came else out)[place] += 1

    def flows(self, now_ms: int, dedicated: Collection[str], seconds: int = PART_S * PARTS) -> dict[str, Flow]:
        """By lane of what has no queue of its own, and by ``platform:shop_id`` of the ``dedicated`` ones; over at most
        the last ``seconds``.
        """
        own = frozenset(dedicated)
        with self._lock:
            if not self._since:
                return {}
            known = min(float(seconds), max(0.001, (now_ms - self._since) / 1000))
            edge = now_ms // (PART_S * 1000) - seconds // PART_S
            came, went = Counter[str](), Counter[str]()
            for part, into, out in self._parts:
                if part > edge:
                    for total, counted in ((came, into), (went, out)):
                        for (lane, shop), number in counted.items():
                            total[shop if shop in own and lane not in (BACK_OFF, DEAD) else lane] += number
        names = {*came, *went, "high", "normal", "low", BACK_OFF, DEAD, *own}
        return {name: Flow(came[name] / known, went[name] / known, known) for name in names}
