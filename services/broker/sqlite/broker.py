"""The message broker on one machine: lanes, delays and the dead queue as rows of one SQLite file.

Tables of the embedded broker; a step that was released is never changed, only followed by another.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from services.broker.sqlite import messages
from services.broker.sqlite import shops as shop_queues
from services.broker.sqlite.consumer import EmbeddedConsumer
from services.domain.errors import BrokerUnavailable, SchemaTooNew, TopologyMismatch
from services.domain.task import lane
from services.domain.task.order import BrokerHealth, Inspection, Order, QueueDepth, Receipt
from services.domain.text.said import said
from services.domain.upkeep.health import Finding
from services.ports import Clock, Consumer
from services.ports.broker import Capabilities
from services.processes import this_process
from services.sqlite.holder import Displaced, Locked, sentence
from services.sqlite.setup import Schema, mark_of
from services.sqlite.writer import close_file, open_file

#: ``queue`` is where a message is ready or, while ``visible_at`` > 0, will be; ``owner`` is the consumer that holds it
_MESSAGES = """
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    routing_key TEXT NOT NULL,
    message_id TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL,
    delay_s INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    owner INTEGER NOT NULL DEFAULT 0,
    redelivered INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX messages_ready ON messages (queue, priority DESC, id) WHERE owner = 0 AND visible_at = 0;
CREATE INDEX messages_delayed ON messages (visible_at, delay_s) WHERE visible_at > 0;
CREATE INDEX messages_held ON messages (owner, queue) WHERE owner > 0;
CREATE TABLE consumers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    queues TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_started REAL NOT NULL,
    beat_at INTEGER NOT NULL
);
CREATE TABLE delays (seconds INTEGER PRIMARY KEY);
"""

#: dedicated queues and what they take
_SHOPS = "CREATE TABLE shop_queues (queue TEXT PRIMARY KEY, routing_key TEXT NOT NULL UNIQUE) WITHOUT ROWID"

SCHEMA = Schema("broker", (_MESSAGES, _SHOPS))


#: messages in one transaction at most
CHUNK = 500
LOOK_AFTER_S, BEAT_MS = 1.0, 5_000
DEAD_WINDOW = 50


@contextlib.contextmanager
def broker_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.ProgrammingError) as exc:
        raise BrokerUnavailable(sentence(exc)) from exc
    except sqlite3.Error as exc:
        raise BrokerUnavailable(said("file.damaged", path=str(path), mark=str(mark_of(path)), error=str(exc))) from exc


class EmbeddedBroker:
    """``services.ports.Broker`` on SQLite; any thread may call it, several processes may open the same file."""

    capabilities = Capabilities(priority=True, delay=True, depth=True, unroutable=True, dead_log=False, others=False)

    def __init__(self, path: Path, clock: Clock, *, lifo: Iterable[str] = (), read_only: bool = False) -> None:
        """Open or make the file. ``lifo``: lanes that hand out the youngest message of a priority first; ``read_only``:
        nothing is made or changed, not even what a dead process holds given back.

        Raises:
            SchemaTooNew: a newer program wrote it.
            BrokerUnavailable: it cannot be opened now; read-only: it is not there yet.
            BrokerError: it is no database.
        """
        try:
            with broker_errors(path):
                self._file, _ = open_file(path, SCHEMA, read_only=read_only)
        except OSError as exc:
            raise BrokerUnavailable(said("file.cannot_open", path=str(path), error=str(exc))) from exc
        self._lifo = frozenset(messages.LANE_QUEUES[lane] for lane in lifo)
        self._clock = clock
        self._since = clock.now_ms()
        self._latency = -1.0
        self._error = ""
        self._me = this_process()
        self._consumers: list[EmbeddedConsumer] = []
        self._looking = threading.Lock()
        self._looked_at = 0.0
        self._beat_at = self._since
        self._beating = False  #: that is being written
        self._open = True

    # ----------------------------------------------------------------------- topology
    def ensure(self, platforms: Iterable[str] = (), delays: Iterable[int] = ()) -> None:
        """Note the delays; lanes and dead queue are always there, and a platform needs no binding here. Where they are
        known nothing is written: who only looks does not wait for another writer.
        """
        with broker_errors(self._file.path):
            with self._file.reader() as conn:
                known = {row[0] for row in conn.execute("SELECT seconds FROM delays")}
            rows = [(seconds,) for seconds in {int(one) for one in delays} - known]
            if not rows:
                return
            self._file.write(lambda conn: conn.executemany("INSERT OR IGNORE INTO delays (seconds) VALUES (?)", rows))

    def open_shop(self, platform: str, shop_id: str) -> None:
        """Make the dedicated queue of a shop."""
        queue, key = lane.shop_queue(shop_id), f"task.{platform}.{shop_id}"
        with broker_errors(self._file.path):
            taken = self._file.write(lambda conn: shop_queues.open_shop(conn, queue, key))
        if taken != key:
            raise TopologyMismatch(said("broker.other_shop", name=queue, other=taken, key=key))

    def close_shop(self, platform: str, shop_id: str) -> bool:
        """Delete the dedicated queue of a shop if it is empty and nobody consumes it."""
        with broker_errors(self._file.path):
            return self._file.write(lambda conn: shop_queues.close_shop(conn, lane.shop_queue(shop_id)))

    def know(self, shops: Iterable[str], delays: Iterable[int] = ()) -> None:
        """Nothing to do: the file lists its queues."""

    # --------------------------------------------------------------------- publishing
    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """See ``services.ports.Broker``: a confirmed message is on the disk."""
        begun = time.perf_counter()
        now = self._clock.now_ms()
        receipts = [Receipt(True)] * len(orders)
        ready: list[tuple[int, tuple[Any, ...]]] = []
        for place, order in enumerate(orders):
            queue = messages.queue_of(order)
            if queue:
                ready.append((place, messages.row_of(order, queue, now)))
            else:
                receipts[place] = Receipt(False, "unroutable")
        for start in range(0, len(ready), CHUNK):
            chunk = ready[start : start + CHUNK]
            for place, receipt in self._put(chunk):
                receipts[place] = receipt
        self._latency = (time.perf_counter() - begun) * 1000
        return receipts

    def _put(self, chunk: Sequence[tuple[int, tuple[Any, ...]]]) -> list[tuple[int, Receipt]]:
        """Store rows by their place; the places of those that are not stored, and why."""
        try:
            bad = self._file.write(lambda conn: messages.put(conn, [row for _, row in chunk]), "messages")
        except (Displaced, Locked) as exc:  # by the time that is over they may be sent as they are
            self._change(sentence(exc))
            return [(place, Receipt(False, "disconnected")) for place, _ in chunk]
        except sqlite3.OperationalError as exc:
            self._change(f"{exc}")
            return [(place, Receipt(False, f"refused: {exc}")) for place, _ in chunk]
        except sqlite3.Error as exc:
            self._change(f"{exc}")
            return [(place, Receipt(False, "disconnected")) for place, _ in chunk]
        if self._error:
            self._change("")
        return [(chunk[number][0], Receipt(False, "unroutable")) for number in bad]

    def _change(self, error: str) -> None:
        self._error, self._since = error, self._clock.now_ms()

    # ---------------------------------------------------------------------- consuming
    def consumer(self, lanes: Sequence[str], *, window: int, name: str) -> Consumer:
        """Start consuming lanes."""
        return self._enter([messages.LANE_QUEUES[str(one)] for one in lanes], window, name)

    def dead_letters(self, *, name: str) -> Consumer:
        """Start consuming the dead queue."""
        return self._enter([messages.DEAD_QUEUE], DEAD_WINDOW, name, duty=True)

    def notices(self, *, name: str) -> Consumer | None:
        """There are none: who writes to this file by the engine records what it sends."""
        return None

    def work_queue(self, queue: str, *, name: str) -> Consumer | None:
        """No other program has queues in this file."""
        return None

    def dead_log(self, *, name: str) -> Consumer | None:
        """There is no second copy here: store and broker are one file."""
        return None

    def _enter(self, queues: list[str], window: int, name: str, *, duty: bool = False) -> EmbeddedConsumer:
        now = self._clock.now_ms()
        with broker_errors(self._file.path):
            number = self._file.write(lambda conn: messages.enter(conn, name, queues, self._me, now))
        consumer = EmbeddedConsumer(
            self._file, self._clock, number, queues, window, self._look_after, self._lifo, duty=duty
        )
        self._consumers = [one for one in self._consumers if not one.closed] + [consumer]
        return consumer

    def _look_after(self) -> None:
        """About once a second: show that this process lives, and give back what dead ones held."""
        now = time.monotonic()
        if self._file.read_only or now - self._looked_at < LOOK_AFTER_S or not self._looking.acquire(blocking=False):
            return
        try:
            self._looked_at = now
            at = self._clock.now_ms()
            # this process was silent too: after a sleep, or a clock set ahead, the others have their turn first
            alike = self._beat_at and at - self._beat_at > messages.SILENT_MS
            with self._file.reader() as conn:
                gone = messages.dead_consumers(conn, self._me, 0 if alike else at - messages.SILENT_MS)
            if gone:
                with contextlib.suppress(SchemaTooNew):  # a newer program does so; whoever looks is to see all the same
                    self._file.write(lambda conn: messages.leave(conn, gone), "messages")
            if at - self._beat_at >= BEAT_MS and not self._beating and not self._file.kept:
                self._beat_at, self._beating = at, True
                # whoever only looks must not wait for another process to let go of the file
                self._file.post(lambda conn: messages.beat(conn, self._me, at), "", self._on_beaten, aside=True)
        finally:
            self._looking.release()

    def _on_beaten(self, _none: None, _error: BaseException | None) -> None:
        self._beating = False

    # ------------------------------------------------------------------------ looking
    def depths(self) -> list[QueueDepth]:
        """Live depths."""
        begun = time.perf_counter()
        with broker_errors(self._file.path):
            self._look_after()
            found, _due = self._file.answer("depths", self._depths, lambda kept: self._clock.now_ms() < kept[1])
        self._latency = (time.perf_counter() - begun) * 1000
        return list(found)

    def _depths(self, conn: sqlite3.Connection) -> tuple[list[QueueDepth], float]:
        now = self._clock.now_ms()
        return messages.depths(conn, now), messages.due_next(conn, now)

    def health(self) -> BrokerHealth:
        """What is known."""
        return BrokerHealth(
            connected=self._open and not self._error,
            latency_ms=self._latency,
            error=self._error,
            since_ms=self._since,
            version=f"SQLite {sqlite3.sqlite_version}",
            embedded=True,
        )

    def inspect(self, delays: Iterable[int] = ()) -> Inspection:
        """The file has every queue."""
        return Inspection(present=len(self.depths()))

    def dial_anew(self) -> None:
        """Nothing: a file is not dialled."""

    def facts(self) -> Mapping[str, str]:
        """What holds the messages."""
        return {"kind": "sqlite", "version": sqlite3.sqlite_version}

    def findings(self, longest: tuple[str, int]) -> list[Finding]:
        """None: the file is looked at where the store is."""
        return []

    def close(self) -> None:
        """Close the consumers and give the file back."""
        if not self._open:
            return
        self._open = False
        for consumer in self._consumers:
            consumer.close()
        close_file(self._file)
