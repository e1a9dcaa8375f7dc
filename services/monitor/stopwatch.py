"""How long attempts took, as a histogram since this program began: read off the events, which tell begin and end."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable

import msgspec
from prometheus_client.core import HistogramMetricFamily, Metric

from services.domain.task.event import Event
from services.domain.task.status import Status

#: seconds; the last bound is without end
BOUNDS = (0.1, 0.5, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
#: task types that are told apart; more are told together
MOST_TYPES, OTHERS = 200, "other"
#: attempts whose end is waited for
MOST_RUNNING = 100_000


class _Histogram(msgspec.Struct):
    buckets: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    sum_s: float = 0.0


class Stopwatch:
    """Fed with events in their order; safe to read from another thread."""

    def __init__(self) -> None:
        self._begun: OrderedDict[tuple[str, int], int] = OrderedDict()
        self._seen: dict[tuple[str, str], _Histogram] = {}
        self._types: set[str] = set()
        self._lock = threading.Lock()

    def note(self, events: Iterable[Event]) -> None:
        """What happened next."""
        with self._lock:
            for one in events:
                key = (one.task_id, one.attempt)
                if one.to == Status.RUNNING:
                    self._begun[key] = one.at
                    if len(self._begun) > MOST_RUNNING:
                        self._begun.popitem(last=False)
                elif one.from_ == Status.RUNNING and (begun := self._begun.pop(key, None)) is not None:
                    self._count(one, max(0, one.at - begun) / 1000)

    def forget(self) -> None:
        """Events were missed: what runs now is not timed."""
        with self._lock:
            self._begun.clear()

    def _count(self, end: Event, seconds: float) -> None:
        known = end.task_type in self._types or len(self._types) < MOST_TYPES
        name = end.task_type if known else OTHERS
        self._types.add(name)
        seen = self._seen.setdefault((name, end.to), _Histogram())
        seen.buckets[bisect_left(BOUNDS, seconds)] += 1
        seen.sum_s += seconds

    def families(self) -> list[Metric]:
        """As Prometheus reads it."""
        text = "How long attempts ran, by type and by what the task became, since this process began"
        family = HistogramMetricFamily("fleetdeck_attempt_seconds", text, labels=["type", "became"])
        with self._lock:
            for (kind, became), seen in sorted(self._seen.items()):
                rows, total = [], 0
                for bound, number in zip((*map(str, BOUNDS), "+Inf"), seen.buckets, strict=True):
                    total += number
                    rows.append((bound, float(total)))
                family.add_metric([kind, became], rows, seen.sum_s)
        return [family]
