"""Finds messages of other programs in the lanes of which no notice came, so that they are recorded all the same.

They were sent before the fleet had declared its notices, or these were dropped, purged or deleted. Where a broker holds
more than records and notices tell, the queues that nobody consumes are read once and everything goes back to its place.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from services.domain.insight import depth
from services.domain.task.order import Delivery
from services.ports import Broker, Clock, Store

log = logging.getLogger(__name__)
KIND, NAME = "fleet", "unnoticed"
#: so many messages are looked at, how long the first is waited for, and how long nothing comes where there are no more
MOST, BATCH, FIRST_S, QUIET_S = 10_000, 500, 5.0, 0.3
#: seconds between two looks of who reads notices all the time, and between the two counts of one look
EVERY_S, AGAIN_S = 5.0, 0.2


class _Count(NamedTuple):
    beyond: int  #: messages of which neither records nor notices tell
    ready: int  #: messages in these
    queues: tuple[str, ...]  #: that nobody consumes


class Unnoticed:
    """What is left after a look (old messages of tasks that were moved or cancelled) is kept as a document, so that
    neither this process nor another one reads it again before there is more.
    """

    def __init__(
        self, store: Store, broker: Broker, clock: Clock, name: str, record: Callable[[Sequence[Delivery]], None]
    ) -> None:
        """``record``: makes the records that such messages call for, and none of those that are there."""
        self._store, self._broker, self._clock, self._name, self._record = store, broker, clock, name, record
        self._next = float("-inf")

    def look_now_and_then(self) -> None:
        """As ``look``, where the last one is some seconds ago."""
        if self._clock.monotonic() >= self._next:
            self.look()

    def look(self) -> int:
        """Record what no notice told of; how many messages were looked at.

        Raises:
            ConsoleError: store or broker do not answer; everything is where it was.
        """
        self._next = self._clock.monotonic() + EVERY_S
        first, known = self._count(), self._known()
        if first is not None and first.beyond < known:
            self._note(first.beyond)
        if first is None or first.beyond <= known:
            return 0
        self._clock.wait(threading.Event(), AGAIN_S)
        if self._count() != first or not first.queues:
            return 0  # what is on its way just now is counted on one side and not yet on the other
        found = self._read(first)
        for start in range(0, len(found), BATCH):
            self._record(found[start : start + BATCH])
        # a slow broker may have delivered only some: what was not looked at must not be taken for known
        if len(found) >= min(MOST, first.ready) and (after := self._count()) is not None:
            self._note(after.beyond)
        log.info("%d messages that no notice told of were looked at in %s", len(found), ", ".join(first.queues))
        return len(found)

    def _count(self) -> _Count | None:
        """None while notices wait: they come first."""
        depths = self._broker.depths()
        if any(one.kind == "notice" and one.ready for one in depths):
            return None
        asked = [one for one in depths if one.kind in ("lane", "shop") and one.ready and not one.consumers]
        beyond = depth.beyond(self._store.counts(), depths)
        return _Count(beyond, sum(one.ready for one in asked), tuple(one.name for one in asked))

    def _read(self, told: _Count) -> list[Delivery]:
        """What lies in these queues; it is back there before anything else is done, for meanwhile nobody sees it."""
        consumer = self._broker.consumer(told.queues, window=MOST, name=f"{self._name}-looks")
        found: list[Delivery] = []
        most = min(MOST, told.ready)
        try:
            while len(found) < most and (got := consumer.take(most - len(found), QUIET_S if found else FIRST_S)):
                found += got
        finally:
            consumer.requeue(found)
            consumer.close()
        return found

    def _known(self) -> int:
        try:
            return int(json.loads(self._store.documents(KIND).get(NAME, "0")))
        except (ValueError, TypeError, RecursionError):  # of another program
            return 0

    def _note(self, left: int) -> None:
        self._store.put_document(KIND, NAME, json.dumps(left))
