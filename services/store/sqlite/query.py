"""Pages of tasks by filter and order, and how many there are, without a scan where an index or a counter knows."""

from __future__ import annotations

import base64
import binascii
import contextlib
import heapq
import sqlite3
import time
from collections.abc import Generator, Iterator, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.task.record import Task
from services.domain.task.search import log_match
from services.domain.task.search.query import GROUPED, Groups, Page, Query, Term, groups_of
from services.domain.text.said import said
from services.store.sqlite import plan as plans
from services.store.sqlite.filter import INDEX, TEXTS, Condition
from services.store.sqlite.part import words
from services.store.sqlite.plan import QueryPlan
from services.store.sqlite.write import IN_LIST
from services.store.unreadable import readable

#: records that one call looks into for a term that needs a scan, and how many at a time
SCAN_LIMIT, SCAN_SLICE = 20_000, 1_000
#: steps of SQLite's machine after which counting in an index alone (some 8,000 a millisecond) and counting with a look
#: at each row (1,500 a millisecond in a large file) are given up, so that a page never waits for its total; and
#: of walking along the order
INDEX_STEPS, COUNT_STEPS, WALK_STEPS, STEPS_PER_LOOK = 300_000, 50_000, 40_000, 5_000
#: a count that was given up says so many, or several times as many; fewer with their first digit
ROUND = 100
#: so many rows are fetched and sorted; beyond, a page is what is met among so many in order, and where to go on
FETCHED, LOOKED = 20_000, 3_000
#: so many rows of many indexes are looked at for how many match
COUNTED = 2_000
#: indexes that one statement unites, and its steps
MOST_UNITED, GROUP_STEPS = 100, 20_000_000
#: each of so many indexes may be asked with all conditions
FEW_ARMS = 4
#: fewer rows than this are fetched and sorted without a try along the order
FEW_ROWS = 3_000
_ID = "coalesce(CAST(task_id AS TEXT), '')"  #: whatever stands there
BY_ID = INDEX["task_id"]
#: indexes that give all rows in an order
ORDER = {"created": "tasks_created", "priority": "tasks_rank"}
ALL = Condition("(1)")
#: sort value, task id, row
Found = tuple[int, str, int]
Arms = tuple[tuple[str, Condition], ...]
#: sort value, task id
Place = tuple[int, str]


def _text_of(plan: QueryPlan, place: Place | None) -> str | None:
    """The text that a page hands out for a place."""
    return None if place is None else base64.urlsafe_b64encode(msgspec.json.encode((plan.sort, *place))).decode()


def _place_of(query: Query) -> Place | None:
    """The place of a query's text.

    Raises:
        UsageError: it is none, or belongs to another order.
    """
    if not query.cursor:
        return None
    try:
        raw = base64.b64decode(query.cursor, altchars=b"-_", validate=True)
        sort, at, task_id = msgspec.json.decode(raw, type=tuple[str, int, str])
    except (binascii.Error, msgspec.MsgspecError, ValueError) as exc:
        raise UsageError(said("query.cursor"), field="cursor") from exc
    if sort != query.sort:
        raise UsageError(said("query.cursor_order", sort=f"{sort:.40}"), field="cursor")
    return at, task_id


class _TooMuch(Exception):
    """The statement took more steps than it may."""


def run(conn: sqlite3.Connection, query: Query) -> Page:
    """One page.

    Raises:
        UsageError: the question makes no sense.
    """
    place = _place_of(query)
    plan = plans.make(conn, query)
    if plan.logs:
        return replace(_scan_logs(conn, plan, query.limit, place), searched=plan.searched, among=plan.among)
    if plan.tests:
        return replace(_scan(conn, plan, query.limit, place), searched=plan.searched, among=plan.among)
    tasks, cut = _rows(conn, plan, query.limit + 1, place)
    short = cut is not None
    if len(tasks) > query.limit:
        tasks = tasks[: query.limit]
        cut = plan.place_of(tasks[-1])
    if not query.want_total:
        return Page(tasks=tuple(tasks), next=_text_of(plan, cut))
    if place is None and cut is None:
        return Page(tasks=tuple(tasks), total=len(tasks), at_least=len(tasks))
    found, whole = _total(conn, query.terms, plan, short=short and place is None)
    seen = max(found, len(tasks))
    return Page(tasks=tuple(tasks), next=_text_of(plan, cut), total=found if whole else None, at_least=seen)


def _scan(conn: sqlite3.Connection, plan: QueryPlan, limit: int, place: Place | None) -> Page:
    """Look into the records in slices until the page is full or enough was looked at."""
    found: list[Task] = []
    for _ in range(SCAN_LIMIT // SCAN_SLICE):
        rows, cut = _rows(conn, plan, SCAN_SLICE, place)
        for task in rows:
            if all(test(task) for test in plan.tests):
                if len(found) == limit:
                    return Page(tasks=tuple(found), next=_text_of(plan, plan.place_of(found[-1])))
                found.append(task)
        if len(rows) < SCAN_SLICE:
            return Page(tasks=tuple(found), next=_text_of(plan, cut))
        place = plan.place_of(rows[-1])
    return Page(tasks=tuple(found), next=_text_of(plan, place))


def _scan_logs(conn: sqlite3.Connection, plan: QueryPlan, limit: int, place: Place | None) -> Page:
    """Look into the logs of the records in slices until the page is full, or for as long as a person may wait."""
    found: list[Task] = []
    looked, until = 0, time.monotonic() + log_match.LOOK_S
    while looked < log_match.LOOK_MOST:
        rows, cut = _rows(conn, plan, log_match.AT_ONCE, place)
        for task in _saying(conn, [task for task in rows if all(test(task) for test in plan.tests)], plan.logs):
            if len(found) == limit:
                return Page(tasks=tuple(found), next=_text_of(plan, plan.place_of(found[-1])), looked=looked)
            found.append(task)
        looked += len(rows)
        if len(rows) < log_match.AT_ONCE:
            return Page(tasks=tuple(found), next=_text_of(plan, cut), looked=looked)
        place = plan.place_of(rows[-1])
        if time.monotonic() > until:
            break
    return Page(tasks=tuple(found), next=_text_of(plan, place), looked=looked)


def _saying(conn: sqlite3.Connection, tasks: Sequence[Task], terms: Sequence[Term]) -> list[Task]:
    """Those of these tasks whose logs say so."""
    holds = log_match.finder(terms)
    sql = "SELECT line FROM logs WHERE task_id = ? AND attempt > ? ORDER BY attempt, place"
    return [
        task
        for task in tasks
        if holds(words(line) for (line,) in conn.execute(sql, (task.task_id, task.attempt - log_match.ATTEMPTS)))
    ]


def grouped(conn: sqlite3.Connection, terms: Sequence[Term], by: str, most: int) -> Groups:
    """How many there are by a value and by status, of the first ``most``.

    Raises:
        UsageError: the question makes no sense.
    """
    if by not in GROUPED:
        raise UsageError(said("query.no_group", by=f"{by!r:.40}", known=", ".join(GROUPED)), field="by")
    plan = plans.make(conn, Query(terms=tuple(terms)))
    if plan.logs:
        raise UsageError(said("query.logs_grouped"), field="by")
    if plan.tests:
        return _grouped_by_looking(conn, plan, by, most)
    matching = list(_matching(plan, MOST_UNITED))
    united = " UNION ".join(sql for sql, _ in matching) or "SELECT 0 WHERE 0"
    column = "platform || ':' || shop_id" if by == "shop" else TEXTS[by]
    sql = f"""SELECT {column}, status, count(*), max({_ID}) FROM tasks
        WHERE rowid IN (SELECT * FROM ({united}) LIMIT ?) GROUP BY 1, 2"""
    values = [value for _, values in matching for value in values]
    try:
        with _at_most(conn, GROUP_STEPS):
            rows = conn.execute(sql, (*values, most + 1)).fetchall()
    except _TooMuch:
        return Groups(whole=False)
    found = {(words(value), words(status)): (number, sample) for value, status, number, sample in rows}
    return groups_of(found, whole=sum(number for number, _ in found.values()) <= most)


def _grouped_by_looking(conn: sqlite3.Connection, plan: QueryPlan, by: str, most: int) -> Groups:
    found: dict[tuple[str, str], tuple[int, str]] = {}
    place: Place | None = None
    for _ in range(most // SCAN_SLICE):
        rows, cut = _rows(conn, plan, SCAN_SLICE, place)
        for task in rows:
            if all(test(task) for test in plan.tests):
                key = (str(getattr(task, GROUPED[by])), str(task.status))
                number, sample = found.get(key, (0, ""))
                found[key] = (number + 1, max(sample, task.task_id))
        if len(rows) < SCAN_SLICE and cut is None:
            return groups_of(found, whole=True)
        place = cut or plan.place_of(rows[-1])
    return groups_of(found, whole=False)


# ------------------------------------------------------------------------- reading
def _rows(
    conn: sqlite3.Connection, plan: QueryPlan, limit: int, place: Place | None
) -> tuple[list[Task], Place | None]:
    """The next rows in order, and where a long look was cut short; the records are read last, known to be wanted."""
    found, cut = _find(conn, plan, limit, place)
    sql = f"SELECT data FROM tasks WHERE rowid {IN_LIST}"
    stored = conn.execute(sql, (msgspec.json.encode([row for *_, row in found]).decode(),))
    rows = [task for (data,) in stored if (task := readable(data)) is not None]
    if len(rows) < len(found) == limit:  # a short answer would end the list
        at, task_id, _ = found[-1]
        others, cut = _rows(conn, plan, limit - len(rows), (at, task_id))
        rows += others
    return sorted(rows, key=plan.place_of, reverse=plan.descending), cut


def _find(
    conn: sqlite3.Connection, plan: QueryPlan, limit: int, place: Place | None
) -> tuple[list[Found], Place | None]:
    """By the way to few rows, or along the order if that meets them soon; else what a bounded look along it meets."""
    way = plan.way
    in_order = plan.sort == "created" and way is not None and way.ordered
    by_way = way is not None and not in_order and way.expected < FETCHED
    if way is not None and by_way and way.expected < FEW_ROWS:
        return _fetched(conn, plan, way.arms, limit, place), None
    with contextlib.suppress(_TooMuch), _at_most(conn, WALK_STEPS):
        if way is not None and in_order and len(way.arms) == 1:
            return _select(conn, *way.arms[0], plan, limit, place), None
        if not in_order and plan.sort != "updated":
            return _along(conn, plan, limit, place), None
    if way is None or not by_way:
        return _looked(conn, plan, limit, place)
    if plan.sort == "updated":
        found, cut = _looked(conn, plan, limit, place)
        if cut is None:
            return found, None
    return _fetched(conn, plan, way.arms, limit, place), None


def _fetched(conn: sqlite3.Connection, plan: QueryPlan, arms: Arms, limit: int, place: Place | None) -> list[Found]:
    """The first of few rows, which are all read."""
    if len(arms) <= FEW_ARMS:
        found = {row for arm in arms for row in _select(conn, *arm, plan, limit, place)}
        return sorted(found, reverse=plan.descending)[:limit]
    rows = {row for arm in arms for row in _execute(conn, *arm, plan, place, tested=False)}
    return list(islice(_holding(conn, plan, iter(sorted(rows, reverse=plan.descending))), limit))


def _looked(
    conn: sqlite3.Connection, plan: QueryPlan, limit: int, place: Place | None
) -> tuple[list[Found], Place | None]:
    """What is met among the next rows in order, and the last of them."""
    seen: list[Found] = []

    def noted() -> Iterator[Found]:
        for row in islice(stream, LOOKED):
            seen.append(row)
            yield row

    with contextlib.closing(_stream(conn, plan, place)) as stream:
        found = list(islice(_holding(conn, plan, noted(), limit), limit))
    return found, seen[-1][:2] if len(found) < limit and len(seen) == LOOKED else None


def _holding(
    conn: sqlite3.Connection, plan: QueryPlan, rows: Iterator[Found], first: int = SCAN_SLICE
) -> Iterator[Found]:
    """Those of rows for which the conditions hold, each once, asked for in slices: a condition may bring lists of
    thousands of shops, which SQLite takes in again for each statement.
    """
    before: Found | None = None
    while part := list(islice(rows, first)):
        first = min(2 * first, SCAN_SLICE)
        holds = _those(conn, plan, [row for *_, row in part])
        for row in part:
            if row != before and (row[0], row[2]) in holds:
                yield row
            before = row


def _those(conn: sqlite3.Connection, plan: QueryPlan, rows: Sequence[int]) -> set[tuple[int, int]]:
    """Sort value and number of those rows for which the conditions hold."""
    sql = f"""SELECT {_whole(plan.column)}, tasks.rowid
        FROM json_each(?) AS one CROSS JOIN tasks ON tasks.rowid = one.value WHERE {plans.conjunction(plan.where)}"""
    return set(conn.execute(sql, (msgspec.json.encode(rows).decode(), *plans.values(plan.where))))


def _stream(conn: sqlite3.Connection, plan: QueryPlan, place: Place | None) -> Generator[Found]:
    """Rows in the plan's order, whether the conditions hold or not."""
    if plan.sort == "due":
        for index, part, start in _due_parts(plan, place):
            if index == BY_ID:
                yield from _by_id(conn, part, plan)
            else:
                yield from _execute(conn, index, part, plan, start, tested=False)
        return
    arms: Arms = ((ORDER.get(plan.sort, ""), ALL),)
    if plan.sort == "updated":
        arms = _by_status(plan)
    elif plan.sort == "created" and plan.way is not None and plan.way.ordered:
        arms = plan.way.arms
    streams = [_execute(conn, *arm, plan, place, tested=False) for arm in arms]
    yield from heapq.merge(*streams, reverse=plan.descending)


def _by_id(conn: sqlite3.Connection, part: Condition, plan: QueryPlan) -> sqlite3.Cursor:
    """All rows by id, as if they were all of the part: no index has these alone; see ``_only``."""
    value, *after = part.values
    way, than = ("DESC", "<") if plan.descending else ("ASC", ">")
    sql = f"""SELECT ?, {_ID}, rowid FROM tasks INDEXED BY {BY_ID}
        WHERE {f"task_id {than} ?" if after else "1"} ORDER BY task_id {way}"""
    return conn.execute(sql, (value, *after))


def _along(conn: sqlite3.Connection, plan: QueryPlan, limit: int, place: Place | None) -> list[Found]:
    """Walk along the order and leave out what the conditions refuse; not for the order by ``updated``."""
    if plan.sort in ORDER:
        return _select(conn, ORDER[plan.sort], ALL, plan, limit, place)
    found: list[Found] = []
    for index, part, start in _due_parts(plan, place):
        found += _select(conn, index, part, plan, limit - len(found), start)
        if len(found) >= limit:
            break
    return found


def _by_status(plan: QueryPlan) -> Arms:
    """Each status by itself, from where on to where what is asked for was changed: its index begins and ends there."""
    when = "".join(f" AND {part.sql}" for part in plan.changed)
    whens = plans.values(plan.changed)
    return tuple(("tasks_updated", Condition(f"(status = ?{when})", (status, *whens))) for status in plan.statuses)


def _due_parts(plan: QueryPlan, place: Place | None) -> Iterator[tuple[str, Condition, Place | None]]:
    """Those without a due time by id, those with one by it."""
    inside = place is not None and place[0] > 0
    if plan.dated:
        yield "tasks_due", Condition("(due_at > 0)"), place
        return
    if plan.descending and (place is None or inside):
        yield "tasks_due", Condition("(due_at > 0)"), place
    if plan.descending or not inside:
        yield BY_ID, _only("due_at", 0, plan, place), None
    if not plan.descending:
        yield "tasks_due", Condition("(due_at > 0)"), place if inside else None


def _only(column: str, value: int, plan: QueryPlan, place: Place | None) -> Condition:
    """The rows with one value of the sort column, after the place if it lies among them."""
    if place is None or place[0] != value:
        return Condition(f"({column} = ?)", (value,))
    return Condition(f"({column} = ? AND task_id {'<' if plan.descending else '>'} ?)", (value, place[1]))


def _select(
    conn: sqlite3.Connection, index: str, arm: Condition, plan: QueryPlan, limit: int, place: Place | None
) -> list[Found]:
    return _execute(conn, index, arm, plan, place, limit=limit).fetchall()


def _execute(
    conn: sqlite3.Connection,
    index: str,
    arm: Condition,
    plan: QueryPlan,
    place: Place | None,
    *,
    limit: int = -1,
    tested: bool = True,
) -> sqlite3.Cursor:
    """Rows of an arm in order; ``tested``: only those for which the conditions hold."""
    column, way, than = plan.column, "DESC" if plan.descending else "ASC", "<" if plan.descending else ">"
    start = Condition("1")
    if place is not None:
        at, task_id = place
        start = Condition(f"{column} {than}= ? AND ({column} {than} ? OR task_id {than} ?)", (at, at, task_id))
    parts = [arm, start, *(plan.where if tested else ())]
    sql = f"""SELECT {_whole(column)}, {_ID}, rowid FROM tasks INDEXED BY {index}
        WHERE {plans.conjunction(parts)} ORDER BY {column} {way}, task_id {way} LIMIT ?"""
    return conn.execute(sql, (*plans.values(parts), limit))


def _whole(column: str) -> str:
    """A column of numbers, whatever stands there."""
    return f"iif(typeof({column}) = 'integer', {column}, 0)"


# ------------------------------------------------------------------------ counting
def _total(conn: sqlite3.Connection, terms: Sequence[Term], plan: QueryPlan, *, short: bool) -> tuple[int, bool]:
    """How many match, and whether these are all of them; ``short``: the page itself looked at as many as it may."""
    names = {term.field for term in terms}
    for table, fields in plans.TALLIES.items():
        if names <= fields:
            return plans.tally(conn, table, plan.where), True
    if short:
        return 0, False
    if plan.way is not None and len(terms) > 1 and len(plan.way.arms) > FEW_ARMS:
        return _counted(conn, plan, plan.way.arms)
    covered = len(terms) <= 1 and plan.way is not None
    rows: set[int] = set()
    try:
        with _at_most(conn, INDEX_STEPS if covered else COUNT_STEPS):
            for sql, values in _matching(plan):
                # one by one, so that what was counted so far is known where counting is given up
                for (row,) in conn.execute(sql, values):
                    rows.add(row)
    except _TooMuch:
        # new versions of SQLite do not stop at the same row each time, and two looks should say the same
        step = next(step for step in (ROUND, 10, 1) if step <= max(len(rows), 1))
        return len(rows) // step * step, False
    return len(rows), True


def _counted(conn: sqlite3.Connection, plan: QueryPlan, arms: Arms) -> tuple[int, bool]:
    """How many of the first rows of many arms match, and whether these rows were all."""
    rows: set[int] = set()
    for index, arm in arms:
        sql = f"SELECT rowid FROM tasks INDEXED BY {index} WHERE {arm.sql} LIMIT ?"
        rows.update(row for (row,) in conn.execute(sql, (*arm.values, COUNTED + 1 - len(rows))))
        if len(rows) > COUNTED:
            break
    return len(_those(conn, plan, list(islice(rows, COUNTED)))), len(rows) <= COUNTED


def _matching(plan: QueryPlan, most: int = 0) -> Iterator[tuple[str, tuple[str | float, ...]]]:
    """Statements that together give every row that matches, some of them maybe twice; one where there would be more
    than ``most``.
    """
    where, values = plans.conjunction(plan.where), plans.values(plan.where)
    if plan.way is None or (most and len(plan.way.arms) > most):
        yield f"SELECT rowid FROM tasks WHERE {where}", values
        return
    for index, arm in plan.way.arms:
        yield f"SELECT rowid FROM tasks INDEXED BY {index} WHERE {arm.sql} AND {where}", (*arm.values, *values)


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
