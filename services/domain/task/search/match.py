"""Whether a record matches the terms of a filter: one condition per term. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from services.domain.errors import UsageError
from services.domain.task.search import payload_match
from services.domain.task.search.query import ANY, LETTER, LOG, PAYLOAD, WAS, Term, any_of, equals
from services.domain.task.status import DEAD, TERMINAL, Triage
from services.domain.text.said import said

Condition = Callable[[Any], bool]

#: attribute of the record behind each field that holds a text
TEXTS: Mapping[str, str] = {
    "id": "task_id",
    "status": "status",
    "shop": "shop",
    "platform": "platform",
    "type": "task_type",
    "lane": "lane",
    "worker": "worker",
    "batch": "batch",
    "fp": "fingerprint",
    "kind": "error_kind",
    "triage": "triage",
    "error": "error",
    "uniq": "uniq",
    "gate": "gate",
}
NUMBERS: Mapping[str, str] = {
    "created": "created_at",
    "updated": "updated_at",
    "attempts": "attempt",
    "priority": "priority",
    "due": "due_at",
}


_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def conditions(terms: Iterable[Term]) -> list[Condition]:
    """One condition per term.

    Raises:
        UsageError: a field or operator that is none.
    """
    return [_negated(condition(term)) if term.negated else condition(term) for term in terms]


def all_of(terms: Iterable[Term]) -> Condition:
    """The condition that all terms hold.

    Raises:
        UsageError: a field or operator that is none.
    """
    wanted = conditions(terms)
    return lambda task: all(fits(task) for fits in wanted)


def condition(term: Term) -> Condition:
    """The condition of a term, its negation left aside.

    Raises:
        UsageError: a field or operator that is none.
    """
    special = _SPECIAL.get(term.field)
    if special is not None:
        return special(term)
    if term.field.startswith(PAYLOAD):
        return payload_match.condition(term)
    if term.field not in TEXTS and term.field != "text":
        code = "query.lists_only" if term.field == LOG else "query.no_field"
        raise UsageError(said(code, field=f"{term.field!r:.40}"), field="filter")
    if term.op == "~" or term.field == "text":
        return _contains(term)
    if term.op != "=":
        raise UsageError(said("query.op_words", field=term.field, op=f"{term.op!r:.10}"), field="filter")
    if term.field == "shop":
        return _shop(term.values)
    return _equals(TEXTS[term.field], term.values)


def is_scan(term: Term) -> bool:
    """Whether every candidate must be looked into to answer this term."""
    return term.op == "~" or term.field in ("text", "error", LOG, WAS) or term.field.startswith(PAYLOAD)


def narrowed(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The same, and beside each term on what was at an instant what indexes know of it: who was so has been created by
    then, and has changed since or is so still.
    """
    found: list[Term] = []
    for term in terms:
        found.append(term)
        if term.field == WAS and not term.negated:
            states = {DEAD if value == LETTER else value for value in term.values}
            found.append(Term(field="created", op="<=", number=term.number))
            still = equals("status", *sorted(states))
            since = Term(field="updated", op=">", number=term.number)
            found.append(still if states <= TERMINAL else any_of((since,), (still,)))
    return tuple(found)


def bounds(terms: Iterable[Term], field: str) -> tuple[float, bool, float, bool]:
    """The window that the terms leave of an instant: lowest, inclusive?, highest, inclusive?"""
    low, low_in, high, high_in = float("-inf"), True, float("inf"), True
    for term in terms:
        if term.field != field or term.negated:
            continue
        if term.op in (">", ">=", "=") and (not term.values) and (term.number, term.op == ">") > (low, not low_in):
            low, low_in = term.number, term.op != ">"
        if term.op in ("<", "<=", "=") and (not term.values) and (-term.number, term.op == "<") > (-high, not high_in):
            high, high_in = term.number, term.op != "<"
    return low, low_in, high, high_in


def _was(term: Term) -> Condition:
    wanted, at = frozenset(term.values), term.number

    def holds(task: Any) -> bool:
        before = [step for step in task.steps if step.at <= at]
        if not before:
            return False  # not there yet, or nobody knows any more
        now = before[-1]
        return now.to in wanted or (LETTER in wanted and now.to == DEAD and _lay_open(task, len(before)))

    return holds


def _lay_open(task: Any, known: int) -> bool:
    """Whether nobody had dealt with what was dead after so many of its steps: each act on it is one, and what the
    newest of them did is known. What a success overtook while it was held dies and is dealt with in one.
    """
    if known == len(task.steps):
        return bool(task.triage == Triage.OPEN)
    return bool(task.steps[known - 1].from_ != DEAD)


def _negated(wanted: Condition) -> Condition:
    return lambda task: not wanted(task)


def _any(term: Term) -> Condition:
    lists = [conditions(terms) for terms in term.any_of]
    return lambda task: any(all(fits(task) for fits in wanted) for wanted in lists)


def _split(values: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Whole values and prefixes."""
    values = tuple(values)
    whole = frozenset(value for value in values if not value.endswith("*"))
    return whole, tuple(value[:-1] for value in values if value.endswith("*"))


def _equals(attribute: str, values: Iterable[str]) -> Condition:
    whole, prefixes = _split(values)
    read = operator.attrgetter(attribute)
    if not prefixes:
        return lambda task: read(task) in whole
    return lambda task: read(task) in whole or read(task).startswith(prefixes)


def _shop(values: Iterable[str]) -> Condition:
    whole, prefixes = _split(values)

    def wanted(task: Any) -> bool:
        names = (task.shop_id, task.shop)
        return any(name in whole for name in names) or any(name.startswith(prefixes) for name in names)

    return wanted


def _contains(term: Term) -> Condition:
    if term.op not in ("=", "~"):
        raise UsageError(said("query.op", field=term.field, op=f"{term.op!r:.10}"), field="filter")
    needles = [value.lower() for value in term.values]
    names = ("task_id", "shop", "error") if term.field == "text" else (TEXTS[term.field],)
    read = [operator.attrgetter(name) for name in names]
    return lambda task: any(needle in get(task).lower() for get in read for needle in needles)


def _number(term: Term) -> Condition:
    if term.op not in _COMPARE:
        raise UsageError(said("query.op_number", field=term.field, op=f"{term.op!r:.10}"), field="filter")
    read, compare = operator.attrgetter(NUMBERS[term.field]), _COMPARE[term.op]
    if not term.values or term.op != "=":
        number = term.number
        return lambda task: compare(read(task), number)
    try:
        numbers = [float(value) for value in term.values]
    except ValueError as exc:
        raise UsageError(
            said("query.number", field=term.field, known=f"{', '.join(term.values)!r:.60}"), field="filter"
        ) from exc
    return lambda task: read(task) in numbers


_SPECIAL: Mapping[str, Callable[[Term], Condition]] = {ANY: _any, WAS: _was, **dict.fromkeys(NUMBERS, _number)}
