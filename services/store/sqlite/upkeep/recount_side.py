"""Deadlines, links and lots at limits compared with the records, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from services.domain.gates import dependency, limit, listed
from services.domain.task.record import Task
from services.domain.upkeep.miscount import Miscount, some
from services.store.sqlite.gates import switches
from services.store.sqlite.part import words
from services.store.sqlite.write import IN_LIST, text_list
from services.store.unreadable import readable

Read = Callable[[], AbstractContextManager[sqlite3.Connection]]
Write = Callable[[Callable[[sqlite3.Connection], Any]], Any]
#: rows whose task waits for nobody (any more)
_STALE = f"""FROM dependencies WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.task_id = dependencies.task_id
    AND (status = 'scheduled' OR (status = 'blocked' AND gate = '{dependency.GATE}')))"""
#: lots whose shop is free and may start, that a limit holds back and that stand in none of its lists; a task that has
#: an active twin may stand back for it, and for others of its shop that are on their way to a worker
_FORGOTTEN = f"""SELECT DISTINCT lot, lot || '|' || task_type FROM tasks
    WHERE lot IS NOT NULL AND gate = '{limit.GATE}'
    AND EXISTS (SELECT 1 FROM limits WHERE scope IN ('platform:' || platform, 'type:' || task_type))
    AND NOT EXISTS (SELECT 1 FROM limit_waits WHERE limit_waits.lot = tasks.lot || '|' || task_type
        AND scope IN ('platform:' || platform, 'type:' || task_type))
    AND NOT EXISTS (SELECT 1 FROM tasks AS twin
        WHERE twin.held_uniq = tasks.held_uniq AND twin.held_uniq <> '' AND twin.task_id <> tasks.task_id)
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE shop = tasks.lot)
    AND NOT EXISTS (SELECT 1 FROM breakers WHERE shop = tasks.lot AND until > 0)
    AND NOT EXISTS (SELECT 1 FROM reservations
        WHERE reservations.platform = tasks.platform AND reservations.shop_id = tasks.shop_id)
    AND (SELECT coalesce(sum(n), 0) FROM shop_tallies WHERE shop_tallies.shop_id = tasks.shop_id
        AND shop_tallies.platform = tasks.platform AND status IN ('running', 'pending', 'queued'))
      < max(1, coalesce((SELECT concurrency FROM shops
        WHERE shops.shop_id = tasks.shop_id AND shops.platform = tasks.platform), 1))
    ORDER BY 2"""


def deadlines(read: Read, write: Write, tasks: Sequence[Task], *, mend: bool) -> list[str]:
    """Ids of these tasks that the list of deadlines does not know; with ``mend`` they are put there."""
    bound = {task.task_id: task.deadline for task in tasks if task.bound}
    if not bound:
        return []
    with read() as conn:
        sql = f"SELECT task_id, at FROM deadlines WHERE task_id {IN_LIST}"
        known = dict(conn.execute(sql, (text_list(bound),)).fetchall())
    missing = [task_id for task_id, at in bound.items() if known.get(task_id) != at]
    if missing and mend:
        write(lambda conn: _put(conn, missing))
    return missing


def _put(conn: sqlite3.Connection, task_ids: Sequence[str]) -> None:
    for (data,) in conn.execute(f"SELECT data FROM tasks WHERE task_id {IN_LIST}", (text_list(task_ids),)).fetchall():
        task = readable(data)
        if task is not None and task.bound:
            conn.execute("INSERT OR REPLACE INTO deadlines VALUES (?, ?)", (task.task_id, task.deadline))


def links(read: Read, write: Write, *, mend: bool) -> Miscount:
    """Links of tasks that wait for nobody any more."""
    with read() as conn:
        stale = [words(task_id) for (task_id,) in conn.execute(f"SELECT DISTINCT task_id {_STALE} ORDER BY task_id")]
    if stale and mend:
        write(lambda conn: conn.execute(f"DELETE {_STALE}"))
    return Miscount(kind="link", where=some(stale), count=len(stale), left=0 if mend else len(stale))


def forgotten(read: Read, now_ms: int) -> tuple[list[str], list[str]]:
    """Shops with lots that nobody would let go when their limit has room, and those lots."""
    with read() as conn:
        shut = switches.shut(conn, now_ms)
        rows = [(words(shop), words(lot)) for shop, lot in conn.execute(_FORGOTTEN)]
    lots = [lot for shop, lot in rows if not listed.at_switch(shut, _scopes(shop, lot.removeprefix(f"{shop}|")))]
    return list(dict.fromkeys(lot.rpartition("|")[0] for lot in lots)), lots


def _scopes(shop: str, kind: str) -> tuple[str, ...]:
    return "all", f"platform:{shop.partition(':')[0]}", f"shop:{shop}", f"type:{kind}"
