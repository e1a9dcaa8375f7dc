"""Dedicated queues of the embedded broker: made, served one message each at a time, ended when empty."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Container, Mapping, Sequence
from typing import Any

import msgspec

from services.broker.sqlite.messages import FRONT, HEAD, READY_SHOPS, take_these, wake, youngest
from services.domain.task import lane


class TakeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a take may bring."""

    quotas: Sequence[tuple[str, int]]  #: queues of lanes in their order, and how many of each lane
    rooms: Mapping[str, int]  #: of those queues, what the window leaves
    shops: Sequence[str]  #: dedicated queues that may give one each, who comes first in front
    seats: int
    limit: int
    lifo: Container[str] = ()  #: of those queues, which are last in, first out


def open_shop(conn: sqlite3.Connection, queue: str, routing_key: str) -> str:
    """Make a dedicated queue; answers what it takes, which is another key if it was there for another platform."""
    conn.execute("INSERT OR IGNORE INTO shop_queues (queue, routing_key) VALUES (?, ?)", (queue, routing_key))
    (key,) = conn.execute("SELECT routing_key FROM shop_queues WHERE queue = ?", (queue,)).fetchone()
    return str(key)


def close_shop(conn: sqlite3.Connection, queue: str) -> bool:
    """Delete a dedicated queue that nobody serves and that nothing is in or on its way to; tell whether it is gone."""
    if conn.execute("SELECT 1 FROM messages WHERE queue = ? LIMIT 1", (queue,)).fetchone():
        return False
    if any(queue in msgspec.json.decode(queues) for (queues,) in conn.execute("SELECT queues FROM consumers")):
        return False
    conn.execute("DELETE FROM shop_queues WHERE queue = ?", (queue,))
    return True


def anything(conn: sqlite3.Connection, wish: TakeRequest) -> bool | None:
    """Whether a take would find something in the dedicated queues; None for no."""
    return True if _heads(conn, wish, 1) else None


def take(conn: sqlite3.Connection, owner: int, wish: TakeRequest, now: int) -> list[tuple[Any, ...]]:
    """Give the best messages to an owner; one of a dedicated queue stands in the lane of its priority, by its age."""
    wake(conn, now)
    heads = _heads(conn, wish, wish.seats)
    rooms = dict(wish.rooms)
    chosen: list[int] = []
    for queue, most in wish.quotas:
        most = min(most, wish.limit - len(chosen))
        room, lifo = max(0, min(most, rooms.get(queue, 0))), queue in wish.lifo
        front = youngest(conn, queue, room) if lifo else [n for (n,) in conn.execute(FRONT, (queue, room))]
        front = [number for number in front if number not in chosen]
        place = lane.place_of(queue, None)
        mine = sorted((number for place_, number in heads if place_ == place and number not in chosen), reverse=lifo)
        while (front or mine) and most > 0:
            from_shop = bool(mine) and (not front or (mine[0] < front[0]) != lifo)
            chosen.append((mine if from_shop else front).pop(0))
            rooms[queue] = rooms.get(queue, 0) - (not from_shop)
            most -= 1
    return take_these(conn, owner, chosen)


def _heads(conn: sqlite3.Connection, wish: TakeRequest, most: int) -> list[tuple[int, int]]:
    """Place of the lane and number of the oldest message of the first queues that have one of a wanted lane."""
    wanted: Collection[int] = {lane.place_of(queue, None) for queue, quota in wish.quotas if quota > 0}
    ready = {queue for (queue,) in conn.execute(READY_SHOPS)}
    found: list[tuple[int, int]] = []
    for queue in wish.shops:
        if queue in ready and len(found) < most:
            number, priority = conn.execute(HEAD, (queue,)).fetchone()
            place = lane.place_of(queue, priority)
            if place in wanted:
                found.append((place, number))
    return found
