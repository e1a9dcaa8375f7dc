"""The live feed of the embedded store: events after a cursor, and the counters of the same instant."""

from __future__ import annotations

import sqlite3
import time

import msgspec

from services.clock import together
from services.domain.task.event import Event, EventBatch
from services.domain.task.search.query import Counts
from services.domain.task.status import ACTIVE, Status
from services.domain.upkeep.stored import Instant, Number
from services.sqlite.writer import ANEW_SECONDS
from services.store.sqlite.part import Part, store_errors
from services.store.unreadable import all_of, all_sound

_EVENTS = """SELECT id, task_id, shop_id, platform, task_type, from_, to_, at, worker, gen, attempt, lane
    FROM events WHERE id > ? ORDER BY id LIMIT ?"""
_SHOPS = """SELECT platform, shop_id, status, n FROM shop_tallies
    WHERE n > 0 AND status NOT IN ('succeeded', 'cancelled') AND triage IN ('', 'open')"""
#: differs where they were put right without an event
_SUM = "SELECT count(*), sum(n) FROM shop_tallies"

#: events of another process are looked for this often: a person does not see a tenth of a second, and a window or a
#: duty of the leader that waits all day for news must cost next to nothing
POLL_S = 0.1
#: and this often where none has come for so long, which is still within what a change may take to be seen
REST_S, REST_AFTER_S = 0.2, 10.0
#: all rows of 10,000 shops, as they are stored and as they are read, were 13 MB for each thread that asks at the moment
ROWS_AT_ONCE = 2_000
_ROW = tuple[int, str, str, str, str, str, str, Instant, str, Number, Number, str]
#: one string for each, however many shops have one
_STATUSES = {name: name for name in map(str, Status)}


class Feed(Part):
    """Events and counters."""

    #: until when (monotonic seconds), and as long as what stands, they are taken for what each shop has
    _shops_known: tuple[float, object, dict[str, dict[str, int]]] = (0.0, None, {})
    _came_at = 0.0  #: monotonic seconds of the newest event that was read, or of the first wait

    def events(self, cursor: str, limit: int, wait_s: float) -> EventBatch:
        if not cursor:
            return EventBatch(events=(), cursor=self._newest())
        epoch, _, place = cursor.partition("/")
        if epoch != self._epoch or not place.isascii() or not place.isdigit():
            return EventBatch(events=(), cursor=self._newest(), gap=True)
        position = int(place)
        self._came_at = self._came_at or time.monotonic()
        resting = time.monotonic() - self._came_at >= REST_AFTER_S
        with store_errors(self._file.path):
            batch = self._file.wait_for(
                "events",
                together(wait_s),
                lambda conn: self._after(conn, position, limit),
                poll_s=REST_S if resting else POLL_S,
            )
        if batch is not None:
            self._came_at = time.monotonic()
        return batch or EventBatch(events=(), cursor=cursor)

    def _after(self, conn: sqlite3.Connection, position: int, limit: int) -> EventBatch | None:
        """What follows a position; None for nothing."""
        rows = conn.execute(_EVENTS, (position, limit)).fetchall()
        newest = _last_id(conn) if not rows else 0
        if (rows and rows[0][0] != position + 1) or (not rows and position > newest):
            return EventBatch(events=(), cursor=f"{self._epoch}/{_last_id(conn)}", gap=True)
        if not rows:
            return None
        events = tuple(all_sound(self._event, rows, "event"))
        return EventBatch(events=events, cursor=f"{self._epoch}/{rows[-1][0]}")

    def _event(self, row: tuple[object, ...]) -> Event:
        place, task_id, shop_id, platform, task_type, from_, to, at, worker, gen, attempt, lane = msgspec.convert(
            row, type=_ROW
        )
        return Event(
            cursor=f"{self._epoch}/{place}",
            task_id=task_id,
            shop_id=shop_id,
            platform=platform,
            task_type=task_type,
            from_=from_,
            to=to,
            at=at,
            worker=worker,
            gen=gen,
            attempt=attempt,
            lane=lane,
        )

    def _newest(self) -> str:
        with self._read() as conn:
            return f"{self._epoch}/{_last_id(conn)}"

    def counts(self) -> Counts:
        with store_errors(self._file.path):
            return self._file.answer("counts", self._counts)

    def _counts(self, conn: sqlite3.Connection) -> Counts:
        tallies = conn.execute("SELECT lane, status, triage, sum(n) FROM tallies GROUP BY 1, 2, 3").fetchall()
        (unsent,) = conn.execute("SELECT count(*) FROM tasks WHERE outbox_at > 0").fetchone()
        cursor = f"{self._epoch}/{_last_id(conn)}"
        shops = self._of_shops(conn, (cursor, tallies, conn.execute(_SUM).fetchone()))
        tallies = all_of(tuple[str, str, str, Number], tallies, "counter")
        tallies = [row for row in tallies if row[1] in _STATUSES]
        lost = any(n < 0 for *_, n in tallies)
        found = Counts(total=sum(max(0, n) for *_, n in tallies), unsent=unsent, cursor=cursor, lost=lost)
        for lane, status, triage, n in tallies:
            if n <= 0:  # below it where others were lost
                continue
            found.status[status] = found.status.get(status, 0) + n
            if triage:
                found.triage[triage] = found.triage.get(triage, 0) + n
            if status in ACTIVE:
                of_lane = found.lanes.setdefault(lane, {})
                of_lane[status] = of_lane.get(status, 0) + n
        found.shops.update(shops)
        return found

    def _of_shops(self, conn: sqlite3.Connection, told: object) -> dict[str, dict[str, int]]:
        """What each shop has, by status. Tens of thousands of rows are read only where something else is ``told``, and
        now and then: they are asked for every few seconds, by several threads, also while nothing happens.
        """
        until, before, known = self._shops_known
        if told == before and time.monotonic() < until:
            return known
        shops: dict[str, dict[str, int]] = {}
        rows = conn.execute(_SHOPS)
        while some := rows.fetchmany(ROWS_AT_ONCE):
            for platform, shop_id, status, n in all_of(tuple[str, str, str, Number], some, "counter of a shop"):
                shops.setdefault(f"{platform}:{shop_id}", {})[_STATUSES.get(status, status)] = n
        # several answers are at hand at any time, and most of one is what stood in the one before
        for key, row in shops.items():
            if (was := known.get(key)) == row:
                shops[key] = was
        self._shops_known = (time.monotonic() + ANEW_SECONDS, told, shops)
        return shops


def _last_id(conn: sqlite3.Connection) -> int:
    (last,) = conn.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
    return int(last)
