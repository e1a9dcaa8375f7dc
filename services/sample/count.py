"""Counts a demo three ways: its records, the events it saw, what the console shows; and its orders row by row."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services import assembly
from services.domain.task.query import Query
from services.domain.task.status import TERMINAL
from services.monitor.live import Changes
from services.sample.fleet import SampleFleet, Trickle

WATCH_S = 10.0  #: how long events may be late


class Count:
    """Begins before the first task; ``note`` hears of every event."""

    def __init__(self, engine: assembly.Engine, fleet: SampleFleet) -> None:
        self._engine, self._fleet = engine, fleet
        self._ends: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._since = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Remember what a store that others use too holds already."""
        self._since = self._engine.store.now_ms()
        self._before.update(self._recount()["status"])

    def note(self, changes: Changes) -> None:
        """Count the ends among these events."""
        with self._lock:
            self._ends.update(event.to for event in changes.events if event.to in TERMINAL and event.from_ != event.to)

    def report(self, trickle: Trickle, *, drained: bool) -> dict[str, Any]:
        """The figures: records, events and what the console shows must agree; orders must equal the storefront's."""
        records = self._recount()
        ended = self._new_ends(records["status"])
        seen = self._seen(ended)
        counts = self._engine.store.counts()
        shown = self._new_ends(counts.status)
        orders = self._orders()
        return {
            "drained": drained,
            "created": trickle.created,
            "duplicates_refused": trickle.duplicates,
            "records": records["status"],
            "events_ended": seen,
            "shown": shown,
            "agree": ended == shown == seen,
            "processes": records["attempts"],
            "retried": records["retried"],
            "dead_open": counts.triage.get("open", 0),
            "orders": orders,
            "retry_delays_s": list(self._engine.settings.delays),
            "ok": drained and ended == shown == seen and orders["exact"],
        }

    def _new_ends(self, status: Mapping[str, int]) -> dict[str, int]:
        """Ended tasks by status, without those that the store held before."""
        more = {word: number - self._before[word] for word, number in status.items() if word in TERMINAL}
        return {word: number for word, number in more.items() if number}

    def _seen(self, ended: dict[str, int]) -> dict[str, int]:
        """Ends that the event stream has told of; the last ones may still be on their way."""
        end = time.monotonic() + WATCH_S
        while True:
            with self._lock:
                seen = dict(self._ends)
            if seen == ended or time.monotonic() > end:
                return seen
            time.sleep(0.05)

    def _recount(self) -> dict[str, Any]:
        status: Counter[str] = Counter()
        attempts = retried = 0
        cursor: str | None = ""
        while cursor is not None:
            page = self._engine.store.query(Query(limit=1000, cursor=cursor, want_total=False))
            status.update(task.status for task in page.tasks)
            attempts += sum(task.attempt for task in page.tasks)
            retried += sum(1 for task in page.tasks if task.retries)
            cursor = page.next
        return {"status": dict(status), "attempts": attempts, "retried": retried}

    def _orders(self) -> dict[str, Any]:
        """Orders of every shop whose sync succeeded, compared row by row with what the storefront serves."""
        synced = self._synced_shops()
        kept = rows_of(self._fleet.database)
        wrong = []
        for platform, shop in sorted(synced):
            truth = {str(order["order_no"]) for order in self._fleet.ask(f"/_orders?platform={platform}&shop={shop}")}
            if kept.get((platform, shop), set()) != truth:
                wrong.append(f"{platform}:{shop}")
        return {
            "shops_synced": len(synced),
            "rows": sum(len(rows) for rows in kept.values()),
            "exact": not wrong,
            "wrong": wrong,
        }

    def _synced_shops(self) -> set[tuple[str, str]]:
        page = assembly.queries(self._engine).tasks.page("status:succeeded type:sync_order", limit=10_000)
        return {(task.platform, task.shop_id) for task in page.tasks if task.created_at >= self._since}


def rows_of(database: Path) -> dict[tuple[str, str], set[str]]:
    """Order numbers by (platform, shop) in the file that the sample flows write."""
    if not database.exists():
        return {}
    found: dict[tuple[str, str], set[str]] = {}
    with contextlib.closing(sqlite3.connect(database)) as db:
        for platform, shop, number in db.execute("SELECT platform, shop_id, order_no FROM orders"):
            found.setdefault((platform, shop), set()).add(str(number))
    return found
