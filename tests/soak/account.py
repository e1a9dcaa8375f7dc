"""What was asked for and what came of it, by the events alone: records go away while the run still goes on."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from services.domain.task.event import Event
from services.domain.task.status import TERMINAL, Status

#: tasks that have ended lately, among which a second end is looked for
REMEMBERED = 50_000


class Account:
    """Thread-safe; what it keeps does not grow with the run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: set[str] = set()  #: submitted, and no event yet
        self._open: dict[str, tuple[int, bool]] = {}  #: when created (UTC ms), and whether it has begun
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._looked_up: set[str] = set()  #: of which the store told that they have ended, and their event may yet come
        self._waits: list[float] = []
        self._lag_ms = 0.0
        self.created = 0
        self.ended: Counter[str] = Counter()  #: by status
        self.twice: list[str] = []  #: has ended more than once
        self.lost: list[str] = []  #: was accepted and never ended
        self.gaps = 0  #: times that events were missed

    # ------------------------------------------------------------------------------------------------------- told
    def asked(self, task_ids: Iterable[str]) -> None:
        """These were accepted."""
        with self._lock:
            self._asked.update(one for one in task_ids if one not in self._open and one not in self._ended)

    def note(self, events: Sequence[Event], now_ms: int) -> None:
        """What happened, in its order; ``now_ms``: the store's time at which it was told."""
        with self._lock:
            for event in events:
                self._note(event)
            if events:
                self._lag_ms = max(self._lag_ms, float(now_ms - events[-1].at))

    def looked_up(self, stand: Mapping[str, str]) -> None:
        """How these stand of which nothing was heard, by the store; "" where it knows nothing of one."""
        with self._lock:
            for task_id, status in stand.items():
                if status in TERMINAL:
                    self._end(task_id, status)
                    self._looked_up.add(task_id)
                elif not status and task_id in self._open:
                    self._lose(task_id)

    def missed(self) -> None:
        """Events were missed."""
        with self._lock:
            self.gaps += 1

    def close(self, stand: Mapping[str, str]) -> None:
        """The run is over: what has not ended by now is lost, unless a person is asked about it."""
        self.looked_up(stand)
        with self._lock:
            for task_id in [*self._asked, *self._open]:
                if stand.get(task_id, "") != Status.HELD:
                    self._lose(task_id)

    # ------------------------------------------------------------------------------------------------------- asked
    def unfinished(self) -> list[str]:
        """Accepted or created, and not ended."""
        with self._lock:
            return [*self._asked, *self._open]

    def take(self) -> tuple[list[float], float]:
        """Milliseconds from creation to first start of what began since the last call, and the worst event lag."""
        with self._lock:
            waits, self._waits = self._waits, []
            lag, self._lag_ms = self._lag_ms, 0.0
            return waits, lag

    # ----------------------------------------------------------------------------------------------------- private
    def _note(self, event: Event) -> None:
        if event.from_ == event.to or not event.to:
            return
        if event.task_id not in self._open and event.task_id not in self._ended:
            self._open[event.task_id] = (event.at, False)
            self._asked.discard(event.task_id)
            self.created += 1
        if event.to in TERMINAL:
            self._end(event.task_id, event.to)
        elif event.to == Status.RUNNING and event.task_id in self._open:
            at, begun = self._open[event.task_id]
            if not begun:
                self._waits.append(float(event.at - at))
                self._open[event.task_id] = (at, True)

    def _lose(self, task_id: str) -> None:
        self._open.pop(task_id, None)
        self._asked.discard(task_id)
        self.lost.append(task_id)

    def _end(self, task_id: str, status: str) -> None:
        if task_id in self._looked_up:
            self._looked_up.discard(task_id)
            return
        if task_id in self._ended:
            self.twice.append(task_id)
            return
        self._open.pop(task_id, None)
        self._asked.discard(task_id)
        self.ended[status] += 1
        self._ended[task_id] = status
        if len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
