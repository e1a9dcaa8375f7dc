"""Pages of tasks by filter and order, and how many there are, without a scan where an index or a counter knows."""

from __future__ import annotations

import base64
import binascii
import contextlib
import sqlite3
from collections.abc import Iterator, Sequence

import msgspec

from services.domain.errors import UsageError
from services.domain.query import Page, Query, Term
from services.domain.task import Task, decode
from services.store import embedded_plan as plans
from services.store.embedded_filter import INDEX, Condition
from services.store.embedded_plan import Plan, Way

#: records that one call looks into for a term that needs a scan, and how many at a time
SCAN_LIMIT, SCAN_SLICE = 20_000, 1_000
#: steps of SQLite's machine after which counting, or walking along the order, is given up
COUNT_STEPS, WALK_STEPS, STEPS_PER_LOOK = 2_000_000, 500_000, 10_000
#: rows that are fetched and sorted without a thought; or that part of all
FEW_ROWS, FEW_PART = 5_000, 20
#: a priority that has more tasks than this is met soon enough along the ids
COMMON = 20_000
BY_ID = INDEX["task_id"]
Place = tuple[int, str]


class _TooMuch(Exception):
    """The statement took more steps than it may."""


def run(conn: sqlite3.Connection, query: Query) -> Page:
    """One page.

    Raises:
        UsageError: the question makes no sense.
    """
    place = _read_cursor(query)
    plan = plans.make(conn, query)
    if plan.tests:
        return _scan(conn, plan, query.limit, place)
    tasks = _rows(conn, plan, query.limit + 1, place)
    more = len(tasks) > query.limit
    tasks = tasks[: query.limit]
    total = _total(conn, query.terms, plan) if query.want_total else None
    return Page(tasks=tuple(tasks), next=_cursor(plan, tasks[-1]) if more else None, total=total)


def _scan(conn: sqlite3.Connection, plan: Plan, limit: int, place: Place | None) -> Page:
    """Look into the records in slices until the page is full or enough was looked at."""
    found: list[Task] = []
    for _ in range(SCAN_LIMIT // SCAN_SLICE):
        rows = _rows(conn, plan, SCAN_SLICE, place)
        for task in rows:
            if all(test(task) for test in plan.tests):
                if len(found) == limit:
                    return Page(tasks=tuple(found), next=_cursor(plan, found[-1]))
                found.append(task)
        if len(rows) < SCAN_SLICE:
            return Page(tasks=tuple(found))
        place = plan.place_of(rows[-1])
    return Page(tasks=tuple(found), next=_cursor(plan, rows[-1]))


# ------------------------------------------------------------------------- reading
def _rows(conn: sqlite3.Connection, plan: Plan, limit: int, place: Place | None) -> list[Task]:
    """The next rows in order: by the way to few rows, or along the order if that meets them soon."""
    way = plan.way
    if way is None:
        return _along(conn, plan, limit, place)
    in_order = plan.sort == "created" and len(way.arms) <= plans.MANY_ARMS
    if in_order or way.expected <= max(FEW_ROWS, plan.total // FEW_PART):
        return _by(conn, plan, way, limit, place)
    try:
        with _at_most(conn, WALK_STEPS):
            return _along(conn, plan, limit, place)
    except _TooMuch:
        return _by(conn, plan, way, limit, place)


def _by(conn: sqlite3.Connection, plan: Plan, way: Way, limit: int, place: Place | None) -> list[Task]:
    """The best rows of every arm, merged; a row may be in several."""
    found: dict[str, Task] = {}
    for index, arm in way.arms:
        found.update((task.task_id, task) for task in _select(conn, index, plan, (arm,), limit, place))
    return sorted(found.values(), key=plan.place_of, reverse=plan.descending)[:limit]


def _along(conn: sqlite3.Connection, plan: Plan, limit: int, place: Place | None) -> list[Task]:
    """Walk along the order and leave out what the conditions refuse."""
    if plan.sort == "created":
        return _select(conn, "tasks_created", plan, (), limit, place)
    if plan.sort == "updated":
        arms = tuple(("tasks_updated", Condition("(status = ?)", (status,))) for status in plan.statuses)
        return _by(conn, plan, Way(arms, 0), limit, place)
    found: list[Task] = []
    for index, part, start in _due_parts(plan, place) if plan.sort == "due" else _priority_parts(conn, plan, place):
        if len(found) < limit:
            found += _select(conn, index, plan, (part,), limit - len(found), start)
    return found


def _due_parts(plan: Plan, place: Place | None) -> Iterator[tuple[str, Condition, Place | None]]:
    """Those without a due time by id, those with one by it."""
    inside = place is not None and place[0] > 0
    if plan.descending and (place is None or inside):
        yield "tasks_due", Condition("(due_at > 0)"), place
    if plan.descending or not inside:
        yield BY_ID, _only("due_at", 0, plan, place), None
    if not plan.descending:
        yield "tasks_due", Condition("(due_at > 0)"), place if inside else None


def _priority_parts(
    conn: sqlite3.Connection, plan: Plan, place: Place | None
) -> Iterator[tuple[str, Condition, Place | None]]:
    """One priority after the other, each by id: a common one is met soon along all ids, a rare one has an index."""
    sql = "SELECT (SELECT min(priority) FROM tasks), (SELECT max(priority) FROM tasks)"
    low, high = conn.execute(sql).fetchone()
    if low is None:
        return
    first = (high if plan.descending else low) if place is None else place[0]
    for priority in range(first, low - 1, -1) if plan.descending else range(first, high + 1):
        sql = f"SELECT count(*) FROM (SELECT 1 FROM tasks WHERE priority = ? LIMIT {COMMON})"
        (count,) = conn.execute(sql, (priority,)).fetchone()
        yield BY_ID if count == COMMON else "tasks_priority", _only("priority", priority, plan, place), None


def _only(column: str, value: int, plan: Plan, place: Place | None) -> Condition:
    """The rows with one value of the sort column, after the place if it lies among them."""
    if place is None or place[0] != value:
        return Condition(f"({column} = ?)", (value,))
    return Condition(f"({column} = ? AND task_id {'<' if plan.descending else '>'} ?)", (value, place[1]))


def _select(
    conn: sqlite3.Connection, index: str, plan: Plan, more: Sequence[Condition], limit: int, place: Place | None
) -> list[Task]:
    column, way, than = plan.column, "DESC" if plan.descending else "ASC", "<" if plan.descending else ">"
    parts = [*more, *plan.where]
    if place is not None:
        at, task_id = place
        parts.append(Condition(f"{column} {than}= ? AND ({column} {than} ? OR task_id {than} ?)", (at, at, task_id)))
    sql = f"""SELECT data FROM tasks INDEXED BY {index} WHERE {plans.conjunction(parts)}
        ORDER BY {column} {way}, task_id {way} LIMIT ?"""
    return [decode(data) for (data,) in conn.execute(sql, (*plans.values(parts), limit))]


# ------------------------------------------------------------------------ counting
def _total(conn: sqlite3.Connection, terms: Sequence[Term], plan: Plan) -> int | None:
    names = {term.field for term in terms}
    for table, fields in plans.TALLIES.items():
        if names <= fields:
            return plans.tally(conn, table, plan.where)
    try:
        with _at_most(conn, COUNT_STEPS):
            return _count(conn, plan)
    except _TooMuch:
        return None


def _count(conn: sqlite3.Connection, plan: Plan) -> int:
    way = plan.way
    where, values = plans.conjunction(plan.where), plans.values(plan.where)
    if way is None or len(way.arms) > plans.MANY_ARMS:
        return int(conn.execute(f"SELECT count(*) FROM tasks WHERE {where}", values).fetchone()[0])
    sql = " UNION ".join(
        f"SELECT rowid FROM tasks INDEXED BY {index} WHERE {arm.sql} AND {where}" for index, arm in way.arms
    )
    if not way.arms:
        return 0
    chosen = tuple(value for _, arm in way.arms for value in (*arm.values, *values))
    if len(way.arms) == 1:
        sql = sql.replace("SELECT rowid", "SELECT count(*)", 1)
        return int(conn.execute(sql, chosen).fetchone()[0])
    return int(conn.execute(f"SELECT count(*) FROM ({sql})", chosen).fetchone()[0])


@contextlib.contextmanager
def _at_most(conn: sqlite3.Connection, steps: int) -> Iterator[None]:
    """Interrupt what takes more steps of SQLite's machine."""
    left = steps // STEPS_PER_LOOK

    def look() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    conn.set_progress_handler(look, STEPS_PER_LOOK)
    try:
        yield
    except sqlite3.OperationalError as exc:
        if exc.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise _TooMuch from exc
        raise
    finally:
        conn.set_progress_handler(None, 0)


# ------------------------------------------------------------------------- cursors
def _cursor(plan: Plan, task: Task) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((plan.sort, *plan.place_of(task)))).decode()


def _read_cursor(query: Query) -> Place | None:
    if not query.cursor:
        return None
    try:
        raw = base64.b64decode(query.cursor, altchars=b"-_", validate=True)
        sort, at, task_id = msgspec.json.decode(raw, type=tuple[str, int, str])
    except (binascii.Error, msgspec.MsgspecError, ValueError) as exc:
        raise UsageError("the page cursor is not one of this list", field="cursor") from exc
    if sort != query.sort:
        raise UsageError("the page cursor belongs to another order", field="cursor")
    return at, task_id
