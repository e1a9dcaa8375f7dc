"""Pages of tasks by filter and order, and how many there are, without a scan where an index or a counter knows."""

from __future__ import annotations

import base64
import binascii
import contextlib
import heapq
import sqlite3
from collections.abc import Iterator, Sequence

import msgspec

from services.domain.errors import UsageError
from services.domain.query import Page, Query, Term
from services.domain.task import Task
from services.store import embedded_plan as plans
from services.store.embedded_filter import INDEX, Condition
from services.store.embedded_plan import Plan
from services.store.embedded_write import IN_LIST
from services.store.unreadable import readable

#: records that one call looks into for a term that needs a scan, and how many at a time
SCAN_LIMIT, SCAN_SLICE = 20_000, 1_000
#: steps of SQLite's machine after which counting in an index alone (some 8,000 a millisecond) and counting with a look at
#: each row (1,500 a millisecond in a large file) are given up, so that a page never waits for its total; of walking along
#: the order it is these, and then so many for each row that could be fetched instead
INDEX_STEPS, COUNT_STEPS, WALK_STEPS, STEPS_PER_ROW, STEPS_PER_LOOK = 300_000, 50_000, 80_000, 5, 5_000
#: fewer rows than this are fetched and sorted without a try; less than that part of all after a short one
FEW_ROWS, FEW_PART = 3_000, 25
#: a priority that has more tasks than this is met soon enough along the ids
COMMON = 5_000
BY_ID = INDEX["task_id"]
ALL = Condition("(1)")
Place = tuple[int, str]
#: sort value, task id, row
Found = tuple[int, str, int]
Arms = tuple[tuple[str, Condition], ...]


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
    """The next rows in order; the records themselves are read last, when it is known which."""
    found = _find(conn, plan, limit, place)
    sql = f"SELECT data FROM tasks WHERE rowid {IN_LIST}"
    stored = conn.execute(sql, (msgspec.json.encode([row for *_, row in found]).decode(),))
    rows = [task for (data,) in stored if (task := readable(data)) is not None]
    if len(rows) < len(found) == limit:  # a short answer would end the list
        at, task_id, _ = found[-1]
        rows += _rows(conn, plan, limit - len(rows), (at, task_id))
    return sorted(rows, key=plan.place_of, reverse=plan.descending)


def _find(conn: sqlite3.Connection, plan: Plan, limit: int, place: Place | None) -> list[Found]:
    """By the way to few rows, or along the order if that meets them soon."""
    way = plan.way
    if way is None:
        return _along(conn, plan, limit, place)
    if plan.sort == "created" and way.ordered:
        return _merged(conn, plan, way.arms, limit, place)
    tries = (WALK_STEPS,) if way.expected < plan.total // FEW_PART else (WALK_STEPS, way.expected * STEPS_PER_ROW)
    for steps in () if way.expected < FEW_ROWS else tries:
        with contextlib.suppress(_TooMuch), _at_most(conn, steps):
            return _along(conn, plan, limit, place)
    found: set[Found] = set()
    for index, arm in way.arms:
        found.update(_select(conn, index, arm, plan, limit, place))
    return sorted(found, reverse=plan.descending)[:limit]


def _merged(conn: sqlite3.Connection, plan: Plan, arms: Arms, limit: int, place: Place | None) -> list[Found]:
    """Walk along several indexes in the plan's order at once; a row may be in several of them."""
    if len(arms) == 1:
        return _select(conn, *arms[0], plan, limit, place)
    streams = [_execute(conn, *arm, plan, place, tested=False) for arm in arms]
    found: list[Found] = []
    try:
        for at, task_id, row, holds in heapq.merge(*streams, reverse=plan.descending):
            if holds and (at, task_id, row) not in found[-1:]:
                found.append((at, task_id, row))
                if len(found) == limit:
                    break
    finally:
        for stream in streams:
            stream.close()
    return found


def _along(conn: sqlite3.Connection, plan: Plan, limit: int, place: Place | None) -> list[Found]:
    """Walk along the order and leave out what the conditions refuse."""
    if plan.sort == "created":
        return _select(conn, "tasks_created", ALL, plan, limit, place)
    if plan.sort == "updated":
        arms = tuple(("tasks_updated", Condition("(status = ?)", (status,))) for status in plan.statuses)
        return _merged(conn, plan, arms, limit, place) if arms else []
    found: list[Found] = []
    for index, part, start in _due_parts(plan, place) if plan.sort == "due" else _priority_parts(conn, plan, place):
        found += _select(conn, index, part, plan, limit - len(found), start)
        if len(found) >= limit:
            break
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
    lanes = msgspec.json.encode(plan.lanes).decode()
    sql = f"SELECT count(*) FROM (SELECT 1 FROM tasks WHERE priority = ? AND lane {IN_LIST} LIMIT {COMMON})"
    for priority in range(first, low - 1, -1) if plan.descending else range(first, high + 1):
        (count,) = conn.execute(sql, (priority, lanes)).fetchone()
        if count:
            yield BY_ID if count == COMMON else "tasks_priority", _only("priority", priority, plan, place), None


def _only(column: str, value: int, plan: Plan, place: Place | None) -> Condition:
    """The rows with one value of the sort column, after the place if it lies among them."""
    if place is None or place[0] != value:
        return Condition(f"({column} = ?)", (value,))
    return Condition(f"({column} = ? AND task_id {'<' if plan.descending else '>'} ?)", (value, place[1]))


def _select(
    conn: sqlite3.Connection, index: str, arm: Condition, plan: Plan, limit: int, place: Place | None
) -> list[Found]:
    return _execute(conn, index, arm, plan, place, limit=limit).fetchall()


def _execute(
    conn: sqlite3.Connection,
    index: str,
    arm: Condition,
    plan: Plan,
    place: Place | None,
    *,
    limit: int = -1,
    tested: bool = True,
) -> sqlite3.Cursor:
    """Rows of an arm in order; ``tested``: only those for which the conditions hold, else with whether they do."""
    column, way, than = plan.column, "DESC" if plan.descending else "ASC", "<" if plan.descending else ">"
    start = Condition("1")
    if place is not None:
        at, task_id = place
        start = Condition(f"{column} {than}= ? AND ({column} {than} ? OR task_id {than} ?)", (at, at, task_id))
    shown, parts = ("", [arm, start, *plan.where])
    if not tested:
        shown, parts = f", ({plans.conjunction(plan.where)})", [*plan.where, arm, start]
    sql = f"""SELECT {column}, task_id, rowid{shown} FROM tasks INDEXED BY {index}
        WHERE {plans.conjunction(parts if tested else [arm, start])}
        ORDER BY {column} {way}, task_id {way} LIMIT ?"""
    return conn.execute(sql, (*plans.values(parts), limit))


# ------------------------------------------------------------------------ counting
def _total(conn: sqlite3.Connection, terms: Sequence[Term], plan: Plan) -> int | None:
    names = {term.field for term in terms}
    for table, fields in plans.TALLIES.items():
        if names <= fields:
            return plans.tally(conn, table, plan.where)
    try:
        covered = len(terms) <= 1 and plan.way is not None
        with _at_most(conn, INDEX_STEPS if covered else COUNT_STEPS):
            return _count(conn, plan)
    except _TooMuch:
        return None


def _count(conn: sqlite3.Connection, plan: Plan) -> int:
    where, values = plans.conjunction(plan.where), plans.values(plan.where)
    arms = plan.way.arms if plan.way is not None else ()
    if plan.way is not None and not arms:
        return 0
    if not arms or len(arms) > plans.MANY_ARMS:
        return int(conn.execute(f"SELECT count(*) FROM tasks WHERE {where}", values).fetchone()[0])
    if len(arms) == 1:
        index, arm = arms[0]
        sql = f"SELECT count(*) FROM tasks INDEXED BY {index} WHERE {arm.sql} AND {where}"
        return int(conn.execute(sql, (*arm.values, *values)).fetchone()[0])
    each = [f"SELECT rowid FROM tasks INDEXED BY {index} WHERE {arm.sql} AND {where}" for index, arm in arms]
    chosen = [value for _, arm in arms for value in (*arm.values, *values)]
    return int(conn.execute(f"SELECT count(*) FROM ({' UNION '.join(each)})", chosen).fetchone()[0])


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
