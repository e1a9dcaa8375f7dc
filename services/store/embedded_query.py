"""Pages of tasks by filter and order, and how many there are, without a scan where an index or a counter knows."""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from services.domain.errors import UsageError
from services.domain.query import SORTS, Page, Query, Term
from services.domain.task import Task, decode
from services.store import embedded_filter as filters
from services.store.embedded_filter import Condition

SORT_COLUMNS = {"created": "created_at", "updated": "updated_at", "priority": "priority", "due": "due_at"}
SORT_INDEXES = {name: f"tasks_{name}" for name in SORTS}
#: records that one call looks into for a term that needs a scan, and how many at a time
SCAN_LIMIT, SCAN_SLICE = 20_000, 1_000
#: steps of SQLite's machine after which counting, or walking along the order, is given up
COUNT_STEPS, WALK_STEPS, STEPS_PER_LOOK = 2_000_000, 1_000_000, 10_000
#: a filter that leaves less than this part is served by its own index, any order
SELECTIVE = 20
#: columns of the two tables of counters
TALLIES = {
    "tallies": {"lane", "platform", "type", "status", "triage"},
    "shop_tallies": {"shop", "platform", "status", "triage"},
}
MANY = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask for: conditions that all hold, order, and the place to start from."""

    where: tuple[Condition, ...]
    tests: tuple[Callable[[Task], bool], ...]
    sort: str
    descending: bool
    arms: tuple[Condition, ...] = ()  #: alternatives of which one holds, each with an index
    expected: int = 0  #: rows that the arms find

    @property
    def column(self) -> str:
        """The sort column."""
        return SORT_COLUMNS[self.sort]

    def place_of(self, task: Task) -> tuple[int, str]:
        """Where a task stands in the order."""
        return int(getattr(task, self.column)), task.task_id


class _TooMuch(Exception):
    """The statement took more steps than it may."""


def run(conn: sqlite3.Connection, query: Query) -> Page:
    """One page.

    Raises:
        UsageError: the question makes no sense.
    """
    if query.sort not in SORT_COLUMNS:
        raise UsageError(f"tasks cannot be sorted by {query.sort}", field="sort")
    place = _read_cursor(query)
    plan = _plan(conn, query)
    if plan.tests:
        return _scan(conn, plan, query.limit, place)
    tasks = _rows(conn, plan, query.limit + 1, place)
    more = len(tasks) > query.limit
    tasks = tasks[: query.limit]
    total = _total(conn, query.terms, plan) if query.want_total else None
    return Page(tasks=tuple(tasks), next=_cursor(plan, tasks[-1]) if more else None, total=total)


# ------------------------------------------------------------------------ planning
def _plan(conn: sqlite3.Connection, query: Query) -> Plan:
    plain = [term for term in query.terms if not filters.is_scan(term)]
    tests = tuple(filters.test(term) for term in query.terms if filters.is_scan(term))
    where = tuple(filters.condition(term) for term in plain)
    best: tuple[int, tuple[Condition, ...]] | None = None
    for term in (*plain, *_implied(plain)):
        arms = _arms(term)
        if arms:
            found = _estimate(conn, term, arms)
            best = (found, arms) if best is None or found < best[0] else best
    expected, chosen = best if best is not None else (0, ())
    return Plan(where, tests, query.sort, query.descending, chosen, expected)


def _implied(terms: Sequence[Term]) -> Iterator[Term]:
    """Only the dead have a triage, only the blocked a gate."""
    for term in terms:
        status = {"triage": "dead", "gate": "blocked"}.get(term.field)
        if status and not term.negated and "" not in term.values and "*" not in term.values:
            yield Term(field="status", op="=", values=(status,))


def _arms(term: Term) -> tuple[Condition, ...]:
    if term.negated or term.op != "=" or term.field in filters.NUMBERS:
        return ()
    parts = filters.alternatives(term)
    if not parts or len(parts) > MANY or not all(part.column for part in parts):
        return ()
    return tuple(parts)


def _estimate(conn: sqlite3.Connection, term: Term, arms: Sequence[Condition]) -> int:
    """How many rows the arms find: from the counters, else counted up to a bound."""
    for table, fields in TALLIES.items():
        if term.field in fields:
            return _tally(conn, table, [filters.condition(term)])
    bound = 20_000
    found = 0
    for arm in arms:
        sql = (
            f"SELECT count(*) FROM (SELECT 1 FROM tasks INDEXED BY {filters.INDEX[arm.column]} WHERE {arm.sql} LIMIT ?)"
        )
        found += conn.execute(sql, (*arm.values, bound)).fetchone()[0]
    return found


def _tally(conn: sqlite3.Connection, table: str, where: Sequence[Condition]) -> int:
    sql = f"SELECT coalesce(sum(n), 0) FROM {table} WHERE {_and(where)}"
    return int(conn.execute(sql, _values(where)).fetchone()[0])


def _and(where: Sequence[Condition]) -> str:
    return " AND ".join(part.sql for part in where) or "1"


def _values(where: Sequence[Condition]) -> tuple[str | float, ...]:
    return tuple(value for part in where for value in part.values)


# ------------------------------------------------------------------------- reading
def _rows(conn: sqlite3.Connection, plan: Plan, limit: int, place: tuple[int, str] | None) -> list[Task]:
    """The next rows in order, by the cheaper of two ways: along the order, or by the arms' own indexes."""
    if not plan.arms:
        return _ordered(conn, plan, limit, place)
    ordered = plan.sort == "created" or (plan.sort == "updated" and plan.arms[0].column == "status")
    if not ordered and plan.expected * SELECTIVE > max(_tally(conn, "tallies", ()), SELECTIVE * SCAN_SLICE):
        try:
            with _at_most(conn, WALK_STEPS):
                return _ordered(conn, plan, limit, place)
        except _TooMuch:
            pass
    return _by_arms(conn, plan, limit, place)


def _ordered(conn: sqlite3.Connection, plan: Plan, limit: int, place: tuple[int, str] | None) -> list[Task]:
    return _select(conn, SORT_INDEXES[plan.sort], plan, plan.where, limit, place)


def _by_arms(conn: sqlite3.Connection, plan: Plan, limit: int, place: tuple[int, str] | None) -> list[Task]:
    found: dict[str, Task] = {}
    for arm in plan.arms:
        index = filters.INDEX[arm.column]
        if plan.sort == "updated" and arm.column == "status":
            index = "tasks_status_updated"
        found.update({task.task_id: task for task in _select(conn, index, plan, (arm, *plan.where), limit, place)})
    return sorted(found.values(), key=plan.place_of, reverse=plan.descending)[:limit]


def _select(
    conn: sqlite3.Connection,
    index: str,
    plan: Plan,
    where: Sequence[Condition],
    limit: int,
    place: tuple[int, str] | None,
) -> list[Task]:
    column, way, than = plan.column, "DESC" if plan.descending else "ASC", "<" if plan.descending else ">"
    parts = list(where)
    if place is not None:
        at, task_id = place
        parts.append(Condition(f"{column} {than}= ? AND ({column} {than} ? OR task_id {than} ?)", (at, at, task_id)))
    sql = f"""SELECT data FROM tasks INDEXED BY {index} WHERE {_and(parts)}
        ORDER BY {column} {way}, task_id {way} LIMIT ?"""
    return [decode(data) for (data,) in conn.execute(sql, (*_values(parts), limit))]


def _scan(conn: sqlite3.Connection, plan: Plan, limit: int, place: tuple[int, str] | None) -> Page:
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


# ------------------------------------------------------------------------ counting
def _total(conn: sqlite3.Connection, terms: Sequence[Term], plan: Plan) -> int | None:
    names = {term.field for term in terms}
    for table, fields in TALLIES.items():
        if names <= fields:
            return _tally(conn, table, plan.where)
    try:
        with _at_most(conn, COUNT_STEPS):
            return _count(conn, plan)
    except _TooMuch:
        return None


def _count(conn: sqlite3.Connection, plan: Plan) -> int:
    if len(plan.arms) == 1:
        (arm,) = plan.arms
        sql = f"SELECT count(*) FROM tasks INDEXED BY {filters.INDEX[arm.column]} WHERE {_and((arm, *plan.where))}"
        return int(conn.execute(sql, (*arm.values, *_values(plan.where))).fetchone()[0])
    return int(conn.execute(f"SELECT count(*) FROM tasks WHERE {_and(plan.where)}", _values(plan.where)).fetchone()[0])


class _at_most:
    """Interrupt a statement after so many steps of SQLite's machine."""

    def __init__(self, conn: sqlite3.Connection, steps: int) -> None:
        self._conn, self._left = conn, steps // STEPS_PER_LOOK

    def __enter__(self) -> None:
        self._conn.set_progress_handler(self._look, STEPS_PER_LOOK)

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        self._conn.set_progress_handler(None, 0)
        if isinstance(exc, sqlite3.OperationalError) and exc.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise _TooMuch from exc

    def _look(self) -> bool:
        self._left -= 1
        return self._left < 0


# ------------------------------------------------------------------------- cursors
def _cursor(plan: Plan, task: Task) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((plan.sort, *plan.place_of(task)))).decode()


def _read_cursor(query: Query) -> tuple[int, str] | None:
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
