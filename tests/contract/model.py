"""The meaning of a query in plain Python, to compare drivers with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from services.domain.change import Cancel, Create, Op, Published
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term
from services.ports import Store

KEYS = {"created": "created_at", "updated": "updated_at", "priority": "priority", "due": "due_at"}
TEXTS = {
    "id": "task_id", "status": "status", "platform": "platform", "type": "task_type", "lane": "lane",
    "worker": "worker", "batch": "batch", "fp": "fingerprint", "kind": "error_kind", "triage": "triage",
    "uniq": "uniq", "gate": "gate", "error": "error",
}  # fmt: skip
#: fields of payloads of which the store has an index
PAYLOADS = ("payload.order", "payload.tags", "payload.to.city")
NUMBERS = {"created": "created_at", "updated": "updated_at", "priority": "priority", "attempts": "attempt"}


def matches(task: Task, term: Term) -> bool:
    """Whether one term holds."""
    return _holds(task, term) != term.negated


def _holds(task: Task, term: Term) -> bool:
    if term.field.startswith("payload."):
        found = _in_payload(json.loads(task.payload), term.field.removeprefix("payload."))
        if term.op == "~":
            return any(value.lower() in text.lower() for value in term.values for text in found)
        return any(_equal(text, value) for value in term.values for text in found)
    if term.field in NUMBERS:
        number = getattr(task, NUMBERS[term.field])
        wanted = [float(value) for value in term.values] or [term.number]
        return {
            "=": number in wanted,
            "<": number < term.number,
            "<=": number <= term.number,
            ">": number > term.number,
            ">=": number >= term.number,
        }[term.op]
    if term.field == "text" or term.op == "~":
        return any(value.lower() in text.lower() for value in term.values for text in _texts(task, term.field))
    return any(_equal(text, value) for value in term.values for text in _texts(task, term.field))


def _texts(task: Task, field: str) -> list[str]:
    if field == "shop":
        return [task.shop_id, task.shop]
    if field == "text":
        return [task.task_id, task.shop, task.error]
    return [str(getattr(task, TEXTS[field]))]


def _in_payload(payload: dict[str, Any], name: str) -> list[str]:
    """What the payloads of ``fleet`` say under a name, as people write it."""
    value = payload.get(name, payload.get("to", {}).get(name.removeprefix("to.")))
    values = value if isinstance(value, list) else [value] if value is not None else []
    return [one if isinstance(one, str) else json.dumps(one) for one in values]


def _equal(text: str, value: str) -> bool:
    return text.startswith(value[:-1]) if value.endswith("*") else text == value


def answer(tasks: Iterable[Task], query: Query) -> list[Task]:
    """All rows of a query in their order."""
    found = [task for task in tasks if all(matches(task, term) for term in query.terms)]
    found.sort(key=lambda task: (getattr(task, KEYS[query.sort]), task.task_id), reverse=query.descending)
    return found


def _values(field: str) -> st.SearchStrategy[str]:
    words = {
        "status": ["queued", "pending", "dead", "cancelled", "scheduled", "q*", "*", "none"],
        "platform": ["pdd", "temu", "p*", "nobody"],
        "type": ["t0", "t1", "t2", "t*"],
        "lane": ["high", "normal", "low", "l*"],
        "shop": ["s0", "s1", "s*", "pdd:s1", "temu:s*", "pdd:*", "pd*", "S1"],
        "batch": ["", "B0", "B1", "B*"],
        "worker": ["", "w1", "w*"],
        "fp": ["", "f0", "f*"],
        "kind": ["", "timeout", "t*"],
        "triage": ["open", "", "o*"],
        "gate": ["", "shop_busy"],
        "uniq": ["", "U1", "U*"],
        "id": ["t0001", "t00*", "t001*", "x"],
        "error": ["Boom 1", "boom", "*"],
        "text": ["boom", "T000", "pdd:s"],
        "payload.order": ["0", "3", "3*", "x"],
        "payload.tags": ["a", "b", "d", "true", "1.5"],
        "payload.to.city": ["杭州", "London, UK", "上*"],
        "payload.free": ["0", "1"],
    }
    return st.sampled_from(words[field])


@st.composite
def terms(draw: st.DrawFn) -> Term:
    """A term over the fleet that ``fleet`` makes."""
    negated = draw(st.booleans())
    named = [*TEXTS, "shop", "shop", "text", "priority", "attempts", "created", *PAYLOADS, *PAYLOADS, "payload.free"]
    field = draw(st.sampled_from(named))
    if field in NUMBERS:
        number = draw(st.integers(0, 10)) + (1_700_000_000_000 if field == "created" else 0)
        return Term(field=field, op=draw(st.sampled_from(["=", "<", "<=", ">", ">="])), number=number, negated=negated)
    op = draw(st.sampled_from(["=", "=", "=", "~"]))
    values = draw(st.lists(_values(field), min_size=1, max_size=1 if op == "~" else 3))
    if op == "~":
        values = [value.strip("*") or "o" for value in values]
    return Term(field=field, op=op, values=tuple(values), negated=negated)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """A filter, an order and a page size."""
    return Query(
        terms=tuple(draw(st.lists(terms(), max_size=3))),
        sort=draw(st.sampled_from(list(KEYS))),
        descending=draw(st.booleans()),
        limit=draw(st.sampled_from([2, 10, 100])),
    )


def everything(store: Store, query: Query) -> tuple[list[Task], int | None]:
    """All pages of a query, and the total of the first."""
    first = page = store.query(query)
    found = list(page.tasks)
    while page.next is not None:
        assert len(page.tasks) <= query.limit
        page = store.query(
            Query(terms=query.terms, sort=query.sort, descending=query.descending, limit=query.limit, cursor=page.next)
        )
        found += page.tasks
    return found, first.total


def fill(store: Store, count: int) -> list[Task]:
    """Put a fleet of many statuses into a store, which indexes some of it from the middle on; returns its records."""
    asked = fleet(count)
    half = [Create(task=task) for task in asked]
    assert {answer.code for answer in store.apply(half[: count // 2])} == {"created"}
    store.index_fields([name.removeprefix("payload.") for name in PAYLOADS])
    assert {answer.code for answer in store.apply(half[count // 2 :])} == {"created"}
    while store.index_more():
        pass
    changes: list[Op] = [Cancel(task_id=task.task_id, by="ann") for task in asked[2::5] if task.status != "dead"]
    for task in asked[1::5]:
        changes.append(Published(task_id=task.task_id, status="pending", gen=0, attempt=task.attempt))
    store.apply(changes)
    found = [task for task in store.get([task.task_id for task in asked]) if task is not None]
    assert len({task.status for task in found}) == 5
    return found


def _payload(n: int) -> str:
    """Numbers, texts, lists and objects; some tasks have none of them."""
    if n % 6 == 5:
        return "{}"
    found: dict[str, Any] = {"order": n % 9 if n % 2 else str(n % 9), "free": n % 2}
    if n % 3:
        found |= {"tags": [("a", "b", True, 1.5)[n % 4], "c", "c"], "to": {"city": ("杭州", "London, UK")[n % 2]}}
    return json.dumps(found, ensure_ascii=n % 4 == 0)


def fleet(count: int) -> list[Task]:
    """Tasks that differ in every field, with many ties."""
    made = []
    for n in range(count):
        dead = n % 7 == 3
        status = "dead" if dead else ("scheduled" if n % 5 == 3 else "pending")
        made.append(
            Task(
                task_id=f"t{n:04d}",
                platform=("pdd", "temu")[n % 2],
                shop_id=f"s{n % 3}",
                task_type=f"t{n % 4}",
                lane=("high", "normal", "low")[n % 3],
                priority=1 + (n * 7) % 10,
                status=status,
                created_at=1_700_000_000_000 + (n * 13) % 11,
                due_at=1_900_000_000_000 + n % 3 if status == "scheduled" else 0,
                batch=("", "B0", "B1")[n % 3],
                worker=("", "w1", "w2", "x")[n % 4],
                fingerprint=f"f{n % 2}" if dead else "",
                error_kind=("timeout", "network")[n % 2] if dead else "",
                error=f"Boom {n % 4}" if dead else "",
                uniq=f"U{n}" if n % 2 else "",
                attempt=n % 3,
                payload=_payload(n),
            )
        )
    return made
