"""How a query is best answered: which index finds few enough rows, judged by the counters."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence

import msgspec

from services.domain.errors import UsageError
from services.domain.step.transitions import WITH_DUE
from services.domain.task.record import Task
from services.domain.task.search import log_match, match
from services.domain.task.search.query import ANY, Query, Term
from services.store.sqlite import filter as filters
from services.store.sqlite import payloads
from services.store.sqlite.filter import Condition

SORT_COLUMNS = {"created": "created_at", "updated": "updated_at", "priority": "priority", "due": "due_at"}
#: terms that a table of counters can answer
TALLIES = {
    "tallies": frozenset({"lane", "platform", "type", "status", "triage"}),
    "shop_tallies": frozenset({"shop", "platform", "status", "triage"}),
}
#: alternatives of one term that are looked up one by one
MANY_ARMS = 64
#: of a page of so many rows so many indexes are merged, each of which is asked anew for every page
LONG_PAGE, MERGED_ARMS = 500, 512
#: rows are counted so far where no counter knows them
COUNTED = 50_000


class Way(msgspec.Struct, frozen=True):
    """Rows found by one of these conditions, each through its index; ``expected`` is their number, up to a bound.

    ``ordered``: each index gives its rows by ``created_at``.
    """

    arms: tuple[tuple[str, Condition], ...]
    expected: int
    ordered: bool


class QueryPlan(msgspec.Struct, frozen=True):
    """Conditions that all hold, questions to each record, the order, and the best way to few rows (None: all rows)."""

    where: tuple[Condition, ...]
    tests: tuple[Callable[[Task], bool], ...]
    sort: str
    descending: bool
    way: Way | None
    statuses: tuple[str, ...]  #: that the rows can have
    searched: tuple[str, ...] = ()  #: see ``Page``
    among: int = 0
    logs: tuple[Term, ...] = ()  #: what logs must say
    changed: tuple[Condition, ...] = ()  #: those of the conditions that say when a record was changed last

    @property
    def column(self) -> str:
        """The sort column."""
        return SORT_COLUMNS[self.sort]

    @property
    def dated(self) -> bool:
        """Whether all of the rows have a due time, so that nobody need look among those that have none."""
        return bool(self.statuses) and WITH_DUE.issuperset(self.statuses)

    def place_of(self, task: Task) -> tuple[int, str]:
        """Where a task stands in the order."""
        return int(getattr(task, self.column)), task.task_id


def make(conn: sqlite3.Connection, query: Query) -> QueryPlan:
    """Look at the terms and at the counters.

    Raises:
        UsageError: the question makes no sense.
    """
    if query.sort not in SORT_COLUMNS:
        raise UsageError(f"tasks cannot be sorted by {query.sort}", field="sort")
    known = payloads.answered(conn, query.terms)
    plain = [term for term in query.terms if not match.is_scan(term)]
    asked = [one for one in log_match.others(query.terms) if match.is_scan(one) and one.field not in known]
    tests = tuple(match.conditions(asked))
    where = (*(filters.condition(term) for term in plain), *map(filters.kept_as, known.values()))
    kinds = [filters.condition(term) for term in (*plain, *_implied(plain)) if term.field in TALLIES["tallies"]]
    rows = conn.execute(
        f"""SELECT status, lane, platform, task_type, sum(n) FROM tallies WHERE {conjunction(kinds)} AND n <> 0
            GROUP BY 1, 2, 3, 4""",
        values(kinds),
    ).fetchall()
    ways = [_way(conn, term) for term in plain]
    ways += [_by_payload(conn, asked) for asked in known.values()]
    logs = log_match.of_logs(query.terms)
    if kinds:
        most = MERGED_ARMS if query.limit >= LONG_PAGE and not (tests or logs) else MANY_ARMS
        ways.append(Way(tuple(_kind_arm(row) for row in rows), sum(row[-1] for row in rows), len(rows) <= most))
    best = min((way for way in ways if way is not None), key=lambda way: way.expected, default=None)
    statuses = tuple({row[0] for row in rows})
    searched = payloads.searched(query.terms, known)
    if searched and best is None:
        among = tally(conn, "tallies", [])
    else:
        among = best.expected if searched and best is not None else 0
    changed = tuple(filters.condition(term) for term in plain if term.field == "updated")
    return QueryPlan(where, tests, query.sort, query.descending, best, statuses, searched, among, logs, changed)


def _implied(terms: Sequence[Term]) -> Iterator[Term]:
    """Only the dead have a triage, only the blocked a gate, and a shop has a platform."""
    for term in terms:
        if term.negated or term.op != "=":
            continue
        status = {"triage": "dead", "gate": "blocked"}.get(term.field)
        if status and "" not in term.values and "*" not in term.values:
            yield Term(field="status", op="=", values=(status,))
        if term.field == "shop" and all(":" in value for value in term.values):
            yield Term(field="platform", op="=", values=tuple(value.partition(":")[0] for value in term.values))


def _kind_arm(row: tuple[str, str, str, str, int]) -> tuple[str, Condition]:
    sql = "(status = ? AND lane = ? AND platform = ? AND task_type = ?)"
    return "tasks_kind", Condition(sql, row[:4])


def _way(conn: sqlite3.Connection, term: Term) -> Way | None:
    """The way that a term opens by itself, if it is of an indexed field with few alternatives."""
    if term.negated:
        return None
    if term.field == "created" and term.op != "=":
        return _counted(conn, (("tasks_created", filters.condition(term)),), ordered=True)
    if term.op != "=" or term.field in filters.NUMBERS or term.field == ANY:
        return None
    parts = filters.alternatives(term)
    if not parts:  # nothing is one of no values
        return Way((), 0, ordered=True)
    most = (
        MERGED_ARMS if term.field == "shop" else MANY_ARMS
    )  # a group has many shops, of each of which a counter tells
    if len(parts) > most or not all(part.column for part in parts):
        return None
    arms = tuple((filters.INDEX[part.column], part) for part in parts)
    ordered = all(part.exact for part in parts)
    if term.field == "shop":
        return Way(arms, sum(tally(conn, "shop_tallies", [part]) for part in parts), ordered)
    if term.field == "triage":
        return Way(arms, sum(tally(conn, "tallies", [part]) for part in parts), ordered)
    return _counted(conn, arms, ordered=ordered)


def _by_payload(conn: sqlite3.Connection, asked: Sequence[str]) -> Way:
    """What the index of payloads has, by the ids of the tasks."""
    listed = "term IN (SELECT value FROM json_each(?))"
    values = (msgspec.json.encode(asked).decode(),)
    sql = f"SELECT count(*) FROM (SELECT 1 FROM payload_terms WHERE {listed} LIMIT {COUNTED})"
    arm = Condition(f"(task_id IN (SELECT task_id FROM payload_terms WHERE {listed}))", values)
    return Way(((filters.INDEX["task_id"], arm),), conn.execute(sql, values).fetchone()[0], ordered=False)


def _counted(conn: sqlite3.Connection, arms: tuple[tuple[str, Condition], ...], *, ordered: bool) -> Way:
    found = 0
    for index, part in arms:
        sql = f"SELECT count(*) FROM (SELECT 1 FROM tasks INDEXED BY {index} WHERE {part.sql} LIMIT {COUNTED})"
        found += conn.execute(sql, part.values).fetchone()[0]
    return Way(arms, found, ordered)


def tally(conn: sqlite3.Connection, table: str, where: Sequence[Condition]) -> int:
    """A number of tasks from a table of counters."""
    sql = f"SELECT coalesce(sum(n), 0) FROM {table} WHERE {conjunction(where)}"
    return int(conn.execute(sql, values(where)).fetchone()[0])


def conjunction(where: Sequence[Condition]) -> str:
    """The conditions joined by AND."""
    return " AND ".join(part.sql for part in where) or "1"


def values(where: Sequence[Condition]) -> tuple[str | float, ...]:
    """Their parameters."""
    return tuple(value for part in where for value in part.values)
