"""The terms of a query as SQL conditions; what SQL cannot say is asked of each record (``search.match``)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from services.domain.errors import UsageError
from services.domain.task.search.query import ANY, Term

TEXTS = {
    "id": "task_id",
    "status": "status",
    "platform": "platform",
    "type": "task_type",
    "lane": "lane",
    "worker": "worker",
    "batch": "batch",
    "fp": "fp",
    "kind": "error_kind",
    "triage": "triage",
    "uniq": "uniq",
    "gate": "gate",
}
NUMBERS = {
    "created": "created_at",
    "updated": "updated_at",
    "priority": "priority",
    "attempts": "attempt",
    "due": "due_at",
}
#: index that begins with the column; all but the first go on with ``created_at``
INDEX = {
    "task_id": "sqlite_autoindex_tasks_1",
    "worker": "tasks_worker",
    "batch": "tasks_batch",
    "fp": "tasks_fp",
    "shop_id": "tasks_shop",
    "gate": "tasks_gate",
    "triage": "tasks_letters",
}
#: their empty value is not in the index
_PARTIAL = frozenset({"worker", "batch", "fp", "gate", "triage"})
_ORDERS = ("<", "<=", ">", ">=")
#: more values than this are looked up in one list, for the depth of an expression is limited
MANY = 20


class Condition(msgspec.Struct, frozen=True):
    """A piece of WHERE with its parameters; ``column`` is what an index could find it by."""

    sql: str
    values: tuple[str | float, ...] = ()
    column: str = ""
    exact: bool = False  #: one value of the column, so that its index gives the rows by ``created_at``


def condition(term: Term) -> Condition:
    """A term without scan as SQL.

    Raises:
        UsageError: unknown field or operator, or a value that is no number.
    """
    if term.field == ANY:
        found = _any(term)
    elif term.field in NUMBERS:
        found = _number(term, NUMBERS[term.field])
    elif term.op != "=":
        raise UsageError(f"{term.field} cannot be compared with {term.op}", field="filter")
    elif (listed := _listed(term)) is not None:
        found = listed
    else:
        parts = alternatives(term)
        sql = " OR ".join(part.sql for part in parts) or "0"
        found = Condition(f"({sql})", tuple(value for part in parts for value in part.values))
    return Condition(f"NOT {found.sql}", found.values) if term.negated else found


def alternatives(term: Term) -> list[Condition]:
    """One condition for each value of an ``=`` term on a text field, each one that an index can serve."""
    if term.field == "shop":
        return [part for value in term.values for part in _shop(value)]
    column = TEXTS.get(term.field)
    if column is None:
        raise UsageError(f"unknown field {term.field}", field="filter")
    return [_text(column, value) for value in term.values]


def kept_as(asked: Sequence[str]) -> Condition:
    """What the index of payloads keeps under one of these."""
    row = "SELECT 1 FROM payload_terms WHERE payload_terms.task_id = tasks.task_id"
    return Condition(f"(EXISTS ({row} AND term IN ({', '.join('?' * len(asked))})))", tuple(asked))


def _any(term: Term) -> Condition:
    lists = [[condition(one) for one in terms] for terms in term.any_of]
    sql = " OR ".join(f"({' AND '.join(part.sql for part in parts) or '1'})" for parts in lists) or "0"
    return Condition(f"({sql})", tuple(value for parts in lists for part in parts for value in part.values))


def _listed(term: Term) -> Condition | None:
    """Many whole values as one list; None where they are few, or not all of them whole."""
    if len(term.values) <= MANY or any(value.endswith("*") for value in term.values):
        return None
    column = TEXTS.get(term.field, "")
    if term.field == "shop" and all(":" in value for value in term.values):
        column = "platform || ':' || shop_id"
    if not column:
        return None
    return Condition(f"({column} IN (SELECT value FROM json_each(?)))", (json.dumps(term.values),))


def _number(term: Term, column: str) -> Condition:
    if term.op == "=":
        numbers = [_as_number(term.field, value) for value in term.values] or [term.number]
        return Condition(f"({' OR '.join([f'{column} = ?'] * len(numbers))})", tuple(numbers))
    if term.op not in _ORDERS:
        raise UsageError(f"{term.field} cannot be compared with {term.op}", field="filter")
    return Condition(f"({column} {term.op} ?)", (term.number,))


def _as_number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as exc:
        raise UsageError(f"{name} must be a number, not {value!r:.40}", field="filter") from exc


def _text(column: str, value: str) -> Condition:
    partial = f" AND {column} <> ''" if column in _PARTIAL else ""
    indexed = column if column in INDEX and not (partial and value in ("", "*")) else ""
    if not value.endswith("*"):
        return Condition(f"({column} = ?{partial if value else ''})", (value,), indexed, exact=True)
    prefix = value[:-1]
    end = _after(prefix)
    if not prefix:
        return Condition("(1)")
    if end is None:
        return Condition(f"({column} >= ?{partial})", (prefix,), indexed)
    return Condition(f"({column} >= ? AND {column} < ?{partial})", (prefix, end), indexed)


def _shop(value: str) -> list[Condition]:
    platform, colon, shop_id = value.partition(":")
    if colon:
        left, right = _text("platform", platform), _text("shop_id", shop_id)
        return [Condition(f"({right.sql} AND {left.sql})", right.values + left.values, right.column, right.exact)]
    by_id = _text("shop_id", value)
    return [by_id, _text("platform", value)] if value.endswith("*") and value != "*" else [by_id]


def _after(prefix: str) -> str | None:
    """The least text that is greater than every text with this prefix."""
    while prefix:
        code = ord(prefix[-1]) + 1
        if code <= 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)
        prefix = prefix[:-1]
    return None
