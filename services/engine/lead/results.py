"""Tells other programs how tasks ended: follows the events and publishes one result message for each terminal status.

The place up to which results are confirmed is kept in the store, so that the next leader goes on from there: each
result is told at least once (a consumer knows a repeated one by task id, gen and attempt), whichever way it ended.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from services.domain.errors import BrokerUnavailable, ConsoleError
from services.domain.task.event import Event
from services.domain.task.order import Order
from services.domain.task.record import Task
from services.domain.task.result import result_order
from services.domain.task.status import TERMINAL
from services.domain.text.said import said
from services.engine.lead.duty import DutyThread, OnDuty
from services.ports import Broker, Clock, Store

log = logging.getLogger(__name__)
BATCH, WAIT_S, PAUSE_S = 500, 1.0, 2.0
#: the place is written this often at most while results flow; what a crash makes of it is said twice
MARK_S = 1.0
#: how long a leader that leaves goes on telling what has ended already
LAST_S = 10.0
KIND, NAME = "relay", "results"


class ResultRelay(OnDuty):
    """Runs while its process leads."""

    def __init__(self, store: Store, broker: Broker, clock: Clock, name: str) -> None:
        self._store, self._broker, self._clock = store, broker, clock
        self._duty = DutyThread(self._loop, f"{name}-results", leave_s=LAST_S + 20.0)
        self._cursor = self._marked = ""
        self._marked_at = 0.0

    def start(self) -> None:
        """Go on where the last leader stopped."""
        self._cursor = ""
        super().start()

    def round(self, wait_s: float) -> bool:
        """Publish what ended since the last round; tell whether there may be more at once.

        Raises:
            ConsoleError: store or broker do not answer; the place is kept.
        """
        if not self._cursor:
            self._begin()
        batch = self._store.events(self._cursor, BATCH, wait_s)
        if batch.gap and (kept := self._kept()) not in ("", self._cursor):
            # a store that came back without its last moments knows a place before them, and what has ended since
            batch = self._store.events(kept, BATCH, 0.0)
        if batch.gap:
            log.warning("results of tasks that ended while no leader followed are not told: their events are gone")
        ended = [event for event in batch.events if event.to in TERMINAL and event.from_ != event.to]
        if ended:
            self._publish(ended)
        self._cursor = batch.cursor
        self._mark(at_once=batch.gap)
        return len(batch.events) >= BATCH

    def _begin(self) -> None:
        self._cursor = self._marked = self._kept()
        if not self._cursor:
            self._cursor = self._store.events("", 1, 0.0).cursor
            self._mark(at_once=True)

    def _kept(self) -> str:
        return self._store.documents(KIND).get(NAME, "")

    def _publish(self, ended: Sequence[Event]) -> None:
        records = self._store.get([event.task_id for event in ended])
        orders = [order for event, task in zip(ended, records, strict=True) if (order := _order(event, task))]
        errors = [receipt.error for receipt in self._broker.publish(orders) if not receipt.ok]
        lasting = [error for error in errors if error.startswith("refused")]
        if lasting:
            log.error("%d results cannot be told: %s", len(lasting), lasting[0])
        if len(errors) > len(lasting):
            raise BrokerUnavailable(said("broker.results", count=len(errors), error=errors[0]))

    def _mark(self, *, at_once: bool) -> None:
        now = self._clock.monotonic()
        if self._cursor != self._marked and (at_once or now - self._marked_at >= MARK_S):
            self._store.put_document(KIND, NAME, self._cursor)
            self._marked, self._marked_at = self._cursor, now

    def _loop(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self.round(WAIT_S)
            except ConsoleError as exc:
                log.warning("results wait: %s", exc)
                self._clock.wait(stop, PAUSE_S)
            except Exception:  # whatever one batch does to us, the telling must not end for good
                log.exception("results wait")
                self._clock.wait(stop, PAUSE_S)
        until = self._clock.monotonic() + LAST_S
        try:
            while self.round(0.0) and self._clock.monotonic() < until:
                pass
            self._mark(at_once=True)
        except ConsoleError as exc:
            log.warning("the next leader tells the last results: %s", exc)


def check_place(body: str) -> str:
    """The place in the event stream from which results are told.

    Raises:
        ValueError: it is none.
    """
    if not body.isascii() or not body.partition("/")[2] or len(body) > 200:
        raise ValueError("no place in the events")
    return body


def _order(event: Event, task: Task | None) -> Order | None:
    if task is None:
        log.warning("the record of %s is gone; its result (%s) is not told", event.task_id, event.to)
        return None
    try:
        return result_order(task, event)
    except Exception:  # one record that cannot be written down must not hold up the results of all others
        log.exception("the result of %s is not told", event.task_id)
        return None
