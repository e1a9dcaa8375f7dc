"""The statements of the embedded broker: put, take, settle, count, and give back what a dead process held."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Container, Iterable, Sequence
from typing import Any

import msgspec

from services.domain.task import lane as lanes
from services.domain.task.lane import LANES, SHOP_QUEUE
from services.domain.task.order import Delivery, Order, QueueDepth
from services.processes import Process, is_same, start_of

LANE_QUEUES = {str(lane): f"rpa_tasks_{lane}" for lane in LANES}
DEAD_QUEUE = "rpa_dead_queue"
SHOP_END = SHOP_QUEUE[:-1] + chr(ord(SHOP_QUEUE[-1]) + 1)  #: behind the names of all dedicated queues
#: a consumer that cannot be looked at, and shows no life for so long, is gone
SILENT_MS = 60_000
_PUT = """INSERT INTO messages (queue, priority, routing_key, message_id, headers, body, delay_s, visible_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
MAX_LEVEL = 9  #: of the priority of a message
_TAKE = """UPDATE messages SET owner = ? WHERE id IN (
        SELECT id FROM messages WHERE queue = ? AND owner = 0 AND visible_at = 0 ORDER BY priority DESC, id LIMIT ?)
    RETURNING id, queue, priority, routing_key, message_id, headers, body, redelivered"""
_READY = "SELECT 1 FROM messages WHERE queue = ? AND owner = 0 AND visible_at = 0 LIMIT 1"
_DUE = "SELECT 1 FROM messages WHERE visible_at > 0 AND visible_at <= ? LIMIT 1"
FRONT = """SELECT id FROM messages WHERE queue = ? AND owner = 0 AND visible_at = 0
    ORDER BY priority DESC, id LIMIT ?"""
_YOUNGEST = """SELECT id FROM messages WHERE queue = ? AND priority = ? AND owner = 0 AND visible_at = 0
    ORDER BY id DESC LIMIT ?"""
HEAD = "SELECT min(id), priority FROM messages WHERE queue = ? AND owner = 0 AND visible_at = 0"
TAKE_THESE = """UPDATE messages SET owner = ? WHERE id IN (SELECT value FROM json_each(?))
    RETURNING id, queue, priority, routing_key, message_id, headers, body, redelivered"""
_NEXT_SHOP = f"""(SELECT min(queue) FROM messages
    WHERE owner = 0 AND visible_at = 0 AND queue > {{}} AND queue < '{SHOP_END}')"""
#: from one dedicated queue with messages to the next, by hops through the index
READY_SHOPS = f"""WITH RECURSIVE found (queue) AS (
        SELECT {_NEXT_SHOP.format(repr(SHOP_QUEUE))}
        UNION ALL SELECT {_NEXT_SHOP.format("found.queue")} FROM found WHERE found.queue IS NOT NULL)
    SELECT queue FROM found WHERE queue IS NOT NULL"""
_ALL_READY = "SELECT queue, count(*) FROM messages WHERE owner = 0 AND visible_at = 0 GROUP BY queue"
#: ``> 0`` says to SQLite that the index of delayed messages has them all
_ALL_DUE = "SELECT queue, count(*) FROM messages WHERE visible_at > 0 AND visible_at <= ? GROUP BY queue"
_ALL_DELAYED = "SELECT delay_s, count(*) FROM messages WHERE visible_at > 0 AND visible_at > ? GROUP BY delay_s"
_RELEASE = "UPDATE messages SET owner = 0, redelivered = 1 WHERE owner = ?"


def queue_of(order: Order) -> str:
    """The queue that an order ends in, "" if there is none; a dedicated one may not exist."""
    if order.kind in ("dead", "letter"):
        return DEAD_QUEUE
    words = order.routing_key.split(".")
    if len(words) != 3 or words[0] != "task" or not words[1]:
        return ""
    return LANE_QUEUES.get(words[2], "") or (lanes.shop_queue(words[2]) if words[2] else "")


def row_of(order: Order, queue: str, now: int) -> tuple[Any, ...]:
    """An order as a row."""
    delay = order.delay_s if order.kind == "delay" else 0
    headers = msgspec.json.encode(dict(order.headers)).decode()
    visible_at = now + delay * 1000 if delay > 0 else 0
    return (
        queue, order.priority, order.routing_key, order.message_id, headers, order.body, delay, visible_at,
    )  # fmt: skip


def put(conn: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """Store messages; answers the places of those whose dedicated queue does not exist."""
    asked = {(row[0], row[2]) for row in rows if lanes.is_shop_queue(row[0])}
    sql = "SELECT 1 FROM shop_queues WHERE queue = ? AND routing_key = ?"
    missing = {pair for pair in asked if conn.execute(sql, pair).fetchone() is None}
    conn.executemany(_PUT, [row for row in rows if (row[0], row[2]) not in missing] if missing else rows)
    return [place for place, row in enumerate(rows) if (row[0], row[2]) in missing]


def anything(conn: sqlite3.Connection, queues: Iterable[str], now: int) -> bool | None:
    """Whether a take would find something; None for no."""
    if any(conn.execute(_READY, (queue,)).fetchone() for queue in queues):
        return True
    return True if conn.execute(_DUE, (now,)).fetchone() else None


def take(
    conn: sqlite3.Connection,
    owner: int,
    rooms: Sequence[tuple[str, int]],
    limit: int,
    now: int,
    lifo: Container[str] = (),
) -> list[tuple[Any, ...]]:
    """Give the best messages to an owner: queues in their order, so many of each, then priority, then age (the youngest
    first in the queues ``lifo``).
    """
    wake(conn, now)
    taken: list[tuple[Any, ...]] = []
    for queue, room in rooms:
        wanted = min(room, limit - len(taken))
        if wanted > 0 and queue in lifo:
            taken += take_these(conn, owner, youngest(conn, queue, wanted))
        elif wanted > 0:
            rows = conn.execute(_TAKE, (owner, queue, wanted)).fetchall()
            taken += sorted(rows, key=lambda row: (-row[2], row[0]))
    return taken


def youngest(conn: sqlite3.Connection, queue: str, most: int) -> list[int]:
    """The first messages of a queue that is last in, first out: by priority, of each the youngest."""
    found: list[int] = []
    for priority in range(MAX_LEVEL, -1, -1):  # each walks the index backwards; one statement for all would sort them
        if len(found) < most:
            found += [number for (number,) in conn.execute(_YOUNGEST, (queue, priority, most - len(found)))]
    return found


def take_these(conn: sqlite3.Connection, owner: int, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    """Give these messages to an owner, in this order."""
    rows = conn.execute(TAKE_THESE, (owner, msgspec.json.encode(numbers).decode())).fetchall()
    by_number = {row[0]: row for row in rows}
    return [by_number[number] for number in numbers]


def wake(conn: sqlite3.Connection, now: int) -> None:
    """Let go what has waited long enough."""
    conn.execute("UPDATE messages SET visible_at = 0 WHERE visible_at > 0 AND visible_at <= ?", (now,))


def delivery(row: tuple[Any, ...], received: float) -> Delivery:
    """A taken row as it is handed out."""
    place, queue, priority, routing_key, message_id, headers, body, redelivered = row
    return Delivery(
        token=place,
        queue=queue,
        body=body,
        routing_key=routing_key,
        message_id=message_id,
        content_type="application/json",
        headers=msgspec.json.decode(headers),
        priority=priority,
        redelivered=bool(redelivered),
        received=received,
    )


def delete(conn: sqlite3.Connection, owner: int, places: Sequence[int]) -> int:
    """Settle messages as done; returns how many were still the owner's."""
    cursor = conn.executemany("DELETE FROM messages WHERE id = ? AND owner = ?", [(place, owner) for place in places])
    return cursor.rowcount


def put_back(conn: sqlite3.Connection, owner: int, places: Sequence[int]) -> int:
    """Make messages ready again as if nobody had taken them."""
    sql = "UPDATE messages SET owner = 0 WHERE id = ? AND owner = ?"
    return conn.executemany(sql, [(place, owner) for place in places]).rowcount


def give_back(conn: sqlite3.Connection, owner: int, places: Sequence[int]) -> int:
    """Make messages ready again at their places."""
    sql = "UPDATE messages SET owner = 0, redelivered = 1 WHERE id = ? AND owner = ?"
    return conn.executemany(sql, [(place, owner) for place in places]).rowcount


# ----------------------------------------------------------------------- consumers
def enter(conn: sqlite3.Connection, name: str, queues: Sequence[str], me: Process, now: int) -> int:
    """Note a consumer of a process; returns its number."""
    sql = "INSERT INTO consumers (name, queues, host, pid, pid_started, beat_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id"
    (number,) = conn.execute(sql, (name, msgspec.json.encode(queues).decode(), *me, now)).fetchone()
    return int(number)


def serve(conn: sqlite3.Connection, owner: int, queues: Sequence[str]) -> None:
    """Note what a consumer takes from now on."""
    conn.execute("UPDATE consumers SET queues = ? WHERE id = ?", (msgspec.json.encode(queues).decode(), owner))


def beat(conn: sqlite3.Connection, me: Process, now: int) -> None:
    """Show that a process lives."""
    conn.execute("UPDATE consumers SET beat_at = ? WHERE host = ? AND pid = ? AND pid_started = ?", (now, *me))


def leave(conn: sqlite3.Connection, owners: Iterable[int]) -> None:
    """Strike consumers off and give back all that they held."""
    for owner in owners:
        conn.execute(_RELEASE, (owner,))
        conn.execute("DELETE FROM consumers WHERE id = ?", (owner,))


def dead_consumers(conn: sqlite3.Connection, me: Process, heard_since: int) -> list[int]:
    """Consumers whose process is gone. Of another host (a container, say), and where the number of one belongs to a
    process of another start, as also that of a living one seems after the clock was set: those that were not heard of
    since then (UTC ms). ``me``: the process that asks.
    """
    host, own, born = me
    rows = conn.execute("SELECT id, host, pid, pid_started, beat_at FROM consumers").fetchall()
    # asking the system for oneself each second adds up
    starts = {pid: born if pid == own else start_of(pid) for _, name, pid, _, _ in rows if name == host}

    def is_gone(name: str, pid: int, started: float, beat_at: int) -> bool:
        if name == host and (pid == own or starts[pid] is None or is_same(starts[pid], started)):
            return not is_same(starts[pid], started)
        return beat_at < heard_since

    return [number for number, *row in rows if is_gone(*row)]


# -------------------------------------------------------------------------- depths
def depths(conn: sqlite3.Connection, now: int) -> list[QueueDepth]:
    """Live numbers of every queue."""
    able = _counted(conn, _ALL_READY)
    unacked = _counted(conn, "SELECT queue, count(*) FROM messages WHERE owner > 0 GROUP BY queue")
    for queue, count in _counted(conn, _ALL_DUE, now).items():
        able[queue] = able.get(queue, 0) + count
    waiting = _counted(conn, _ALL_DELAYED, now)
    declared = {seconds for (seconds,) in conn.execute("SELECT seconds FROM delays")}
    consumers: dict[str, int] = {}
    for (queues,) in conn.execute("SELECT queues FROM consumers"):
        for queue in msgspec.json.decode(queues):
            consumers[queue] = consumers.get(queue, 0) + 1
    shops = conn.execute("SELECT queue FROM shop_queues ORDER BY queue")
    kinds = [*((queue, "lane") for queue in LANE_QUEUES.values()), (DEAD_QUEUE, "dead")]
    kinds += [(queue, "shop") for (queue,) in shops]
    return [
        QueueDepth(
            name=queue,
            ready=able.get(queue, 0),
            unacked=unacked.get(queue, 0),
            consumers=consumers.get(queue, 0),
            kind=kind,
        )
        for queue, kind in kinds
    ] + [
        QueueDepth(name=f"rpa_delay_{seconds}s", ready=waiting.get(seconds, 0), unacked=0, consumers=0, kind="delay")
        for seconds in sorted(declared | set(waiting))
    ]


def due_next(conn: sqlite3.Connection, now: int) -> float:
    """When the next of the delayed messages will be due."""
    (at,) = conn.execute(
        "SELECT min(visible_at) FROM messages WHERE visible_at > 0 AND visible_at > ?", (now,)
    ).fetchone()
    return math.inf if at is None else at


def _counted(conn: sqlite3.Connection, sql: str, *values: int) -> dict[Any, int]:
    return dict(conn.execute(sql, values).fetchall())
