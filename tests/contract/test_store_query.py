"""Query: every field, negation, prefixes, sorts, and paging that neither skips nor repeats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from services.domain.change import Create, Move, Op, SetTriage
from services.domain.errors import UsageError
from services.domain.task.record import Task
from services.domain.task.search.match import narrowed
from services.domain.task.search.query import Page, Query, Term, any_of, equals, none_of
from services.domain.task.status import Status
from tests.contract.rig import Rig


def fleet(rig: Rig) -> dict[str, Task]:
    """A dozen tasks that differ in every field, by a short name."""
    now = rig.store.now_ms() - 100_000
    rig.running(shop_id="busy", platform="temu", created_at=now, batch="B9")
    made = {
        "pending": rig.create(shop_id="s1", created_at=now + 1000, batch="B1", priority=8, lane="high"),
        "queued": rig.queued(shop_id="s1", created_at=now + 2000, batch="B1", priority=6, uniq="U"),
        "twin": rig.queued(shop_id="s1", created_at=now + 2000, batch="B2", priority=6),
        "low": rig.queued(shop_id="s10", created_at=now + 3000, priority=1, lane="low", task_type="screenshot"),
        "temu": rig.queued(shop_id="s1", platform="temu", created_at=now + 4000, task_type="batch_reply"),
        "plan": rig.create(shop_id="s2", created_at=now + 5000, status=Status.SCHEDULED, due_at=now + 9_000_000),
        "done": rig.finish(rig.running("w-7#1", shop_id="s3", created_at=now + 6000)).task,
        "dead": rig.dead(shop_id="s4", created_at=now + 7000, owner="w-7#2"),
        "held": rig.held(shop_id="s5", created_at=now + 8000, owner="w-8#1"),
        "retry": rig.retrying(shop_id="s6", created_at=now + 9000, owner="w-8#2"),
        "parked": rig.blocked(shop_id="busy", platform="temu", created_at=now + 10_000),
        "bad": rig.create(
            task_id="bad_77", shop_id="shopX", created_at=now + 11_000, status=Status.DEAD,
            error="Element #Buy NOT found", error_kind="element_not_found", fingerprint="77ee",
        ),
    }  # fmt: skip
    return {name: rig.record(task) for name, task in made.items() if task is not None}


@pytest.fixture
def tasks(rig: Rig) -> dict[str, Task]:
    return fleet(rig)


def ask(rig: Rig, *terms: Term, **fields: Any) -> Page:
    return rig.store.query(Query(terms=terms, **({"limit": 100} | fields)))


def names(tasks: dict[str, Task], page: Page) -> set[str]:
    by_id = {task.task_id: name for name, task in tasks.items()}
    return {by_id[task.task_id] for task in page.tasks if task.task_id in by_id}


def pages(rig: Rig, query: Query) -> Iterator[Page]:
    while True:
        page = rig.store.query(query)
        yield page
        if page.next is None:
            return
        query = Query(
            terms=query.terms, sort=query.sort, descending=query.descending, limit=query.limit, cursor=page.next
        )


def is_(field: str, *values: str, negated: bool = False) -> Term:
    return Term(field=field, op="=", values=values, negated=negated)


def has(field: str, value: str, negated: bool = False) -> Term:
    return Term(field=field, op="~", values=(value,), negated=negated)


def than(field: str, op: str, number: float, negated: bool = False) -> Term:
    return Term(field=field, op=op, number=number, negated=negated)


QUEUED = {"queued", "twin", "low", "temu"}
EVERY = QUEUED | {"pending", "plan", "done", "dead", "held", "retry", "parked", "bad"}
EQUAL = [
    (is_("status", "queued"), QUEUED),
    (is_("status", "dead", "held"), {"dead", "bad", "held"}),
    (is_("status", "nonsense"), set()),
    (is_("status", "queued", negated=True), EVERY - QUEUED),
    (is_("status", "queued", "dead", negated=True), EVERY - QUEUED - {"dead", "bad"}),
    (is_("shop", "s1"), {"pending", "queued", "twin", "temu"}),
    (is_("shop", "pdd:s1"), {"pending", "queued", "twin"}),
    (is_("shop", "s1*"), {"pending", "queued", "twin", "temu", "low"}),
    (is_("shop", "pdd:s1*"), {"pending", "queued", "twin", "low"}),
    (is_("shop", "s1", "temu:busy"), {"pending", "queued", "twin", "temu", "parked"}),
    (is_("shop", "S1"), set()),
    (is_("shop", "s1", negated=True), EVERY - {"pending", "queued", "twin", "temu"}),
    (is_("shop", "pdd:*"), EVERY - {"temu", "parked"}),
    (is_("shop", "*"), EVERY),
    (is_("platform", "temu"), {"temu", "parked"}),
    (is_("platform", "te*"), {"temu", "parked"}),
    (is_("type", "screenshot", "batch_reply"), {"low", "temu"}),
    (is_("type", "s*", negated=True), {"temu"}),
    (is_("lane", "high"), {"pending"}),
    (is_("lane", "normal", negated=True), {"pending", "low"}),
    (is_("worker", "w-7"), {"done", "dead"}),
    (is_("worker", "w-*"), {"done", "dead", "held", "retry"}),
    (is_("batch", "B1"), {"pending", "queued"}),
    (is_("batch", "B*"), {"pending", "queued", "twin"}),
    (is_("batch", ""), EVERY - {"pending", "queued", "twin"}),
    (is_("fp", "9ac1"), {"dead"}),
    (is_("fp", "9a*", "77*"), {"dead", "bad"}),
    (is_("kind", "login_expired"), {"dead"}),
    (is_("kind", "network", "worker_lost"), {"held", "retry"}),
    (is_("triage", "open"), {"dead", "bad"}),
    (is_("triage", "open", negated=True), EVERY - {"dead", "bad"}),
    (is_("gate", "shop_busy"), {"parked"}),
    (is_("uniq", "U"), {"queued"}),
    (is_("id", "bad_77"), {"bad"}),
    (is_("id", "bad*"), {"bad"}),
    (is_("id", "bad*", negated=True), EVERY - {"bad"}),
    (is_("priority", "6"), EVERY - {"pending", "low"}),
    (is_("attempts", "1"), {"done", "dead", "held", "retry"}),
    (is_("status", "*"), EVERY),
]
NUMBERS = [
    (than("priority", ">=", 8), {"pending"}),
    (than("priority", "<", 6), {"low"}),
    (than("priority", ">", 6), {"pending"}),
    (than("priority", "<=", 1), {"low"}),
    (than("priority", "<", 6, negated=True), EVERY - {"low"}),
    (than("attempts", ">=", 1), {"done", "dead", "held", "retry"}),
    (than("attempts", "=", 1), {"done", "dead", "held", "retry"}),
    (than("attempts", ">", 1), set()),
]
CONTAINS = [
    (has("error", "element #buy not"), {"bad"}),
    (has("error", "LOGIN"), {"dead"}),
    (has("error", "login", negated=True), EVERY - {"dead"}),
    (has("error", "%"), set()),
    (has("text", "shopx"), {"bad"}),
    (has("text", "BAD_"), {"bad"}),
    (has("text", "login"), {"dead"}),
    (has("text", "temu:"), {"temu", "parked"}),
    (has("kind", "LOST"), {"held"}),
    (has("shop", "OPX"), {"bad"}),
    (has("id", "AD_7"), {"bad"}),
]


def name(value: object) -> str:
    """The same words in every process: the order of a set is not."""
    return str(sorted(value)) if isinstance(value, set | frozenset) else str(value)


@pytest.mark.parametrize(("term", "expected"), EQUAL + NUMBERS + CONTAINS, ids=name)
def test_terms(rig: Rig, tasks: dict[str, Task], term: Term, expected: set[str]) -> None:
    assert names(tasks, ask(rig, term)) == expected


@pytest.mark.parametrize(
    ("term", "expected"), [pair for pair in EQUAL + NUMBERS if pair[0].field not in ("priority",)], ids=name
)
def test_totals_are_exact_without_a_scan(rig: Rig, tasks: dict[str, Task], term: Term, expected: set[str]) -> None:
    page = ask(rig, term)
    assert page.total in (None, len(page.tasks))
    if term.field in ("status", "shop", "platform", "type", "lane", "worker", "batch", "fp") and not term.negated:
        assert page.total == len(page.tasks)
        assert rig.store.query(Query(terms=(term,), limit=1)).total == len(page.tasks)
        assert rig.store.query(Query(terms=(term,), want_total=False)).total is None


@pytest.mark.parametrize(("term", "expected"), CONTAINS, ids=name)
def test_a_scan_has_no_total(rig: Rig, tasks: dict[str, Task], term: Term, expected: set[str]) -> None:
    assert ask(rig, term).total is None
    found: set[str] = set()
    for page in pages(rig, Query(terms=(term,), limit=2)):
        assert not names(tasks, page) & found
        found |= names(tasks, page)
    assert found == expected


def test_what_stands_in_the_payload(rig: Rig) -> None:
    made = {
        "order": rig.create(payload='{"order_id":8841,"to":{"city":"杭州"},"paid":true,"v1.2":"x"}'),
        "other": rig.create(payload='{"order_id":"8842","items":[{"sku":"A-1"},{"sku":"b-2"}],"amount":12.5}'),
        "quoted": rig.create(payload='{"note":"say \\"8841\\" twice","amount":-3}'),
        "secret": rig.create(payload='{"headers":{"cookie":"order-8841"},"note":"8841"}'),
    }
    asked = [
        (is_("payload.order_id", "8841"), {"order"}),
        (is_("payload.order_id", "88*"), {"order", "other"}),
        (is_("payload.order_id", "8841", negated=True), {"other", "quoted", "secret"}),
        (is_("payload.to.city", "杭州"), {"order"}),
        (is_("payload.to", "杭州"), set()),
        (is_("payload.v1.2", "x"), {"order"}),
        (is_("payload.paid", "true"), {"order"}),
        (is_("payload.items.sku", "b-2"), {"other"}),
        (has("payload.items.sku", "B-"), {"other"}),
        (is_("payload.note", 'say "8841" twice'), {"quoted"}),
        (than("payload.amount", ">", -3.5), {"other", "quoted"}),
        (than("payload.amount", "<", 0), {"quoted"}),
        (is_("payload.headers.cookie", "order-8841"), set()),
    ]
    for term, expected in asked:
        assert names(made, ask(rig, term)) == expected, term


TOGETHER = [
    ((any_of((is_("status", "queued"), is_("lane", "low")), (is_("triage", "open"),)),), {"low", "dead", "bad"}),
    ((none_of((is_("status", "queued"),), (is_("platform", "pdd"),)),), {"parked"}),
    ((any_of(),), set()),
    ((none_of(),), EVERY),
    (
        (
            any_of(
                (),
            ),
            is_("status", "held"),
        ),
        {"held"},
    ),
    (
        (is_("status", "blocked", "queued"), any_of((is_("shop", "temu:s1"),), (is_("gate", "shop_*"),)), none_of(())),
        set(),
    ),
    ((is_("status", "scheduled"), than("due", ">", 1)), {"plan"}),
    ((is_("status", "queued"), than("due", ">", 1)), set()),
    ((is_("shop", "pdd:s10", "temu:busy", *(f"pdd:none{n}" for n in range(3000))),), {"low", "parked"}),
    ((is_("shop", "temu:s1", *(f"pdd:none{n}" for n in range(30)), negated=True), is_("platform", "temu")), {"parked"}),
    ((is_("uniq", "U", *map(str, range(100))),), {"queued"}),
    ((is_("status", "queued"), is_("platform", "pdd")), {"queued", "twin", "low"}),
    ((is_("status", "queued"), is_("shop", "s1*"), is_("lane", "low", negated=True)), {"queued", "twin", "temu"}),
    ((is_("shop", "s1"), is_("batch", "B1"), than("priority", ">=", 7)), {"pending"}),
    ((is_("platform", "pdd"), has("error", "found")), {"bad"}),
    ((is_("status", "dead"), is_("status", "dead", negated=True)), set()),
    ((is_("status", "dead", "held"), is_("kind", "worker_lost")), {"held"}),
    ((is_("lane", "normal"), is_("type", "sync_order"), is_("worker", "w-8")), {"held", "retry"}),
]


@pytest.mark.parametrize(("terms", "expected"), TOGETHER, ids=name)
def test_terms_are_joined_by_and(rig: Rig, tasks: dict[str, Task], terms: tuple[Term, ...], expected: set[str]) -> None:
    page = ask(rig, *terms)
    assert names(tasks, page) == expected
    assert page.total in (None, len(page.tasks))


def test_everything(rig: Rig, tasks: dict[str, Task]) -> None:
    page = ask(rig)
    assert names(tasks, page) == EVERY
    assert (page.total, page.next) == (len(page.tasks), None)


def test_instants(rig: Rig, tasks: dict[str, Task]) -> None:
    at = tasks["low"].created_at
    assert names(tasks, ask(rig, than("created", "<", at))) == {"pending", "queued", "twin"}
    assert names(tasks, ask(rig, than("created", "<=", at))) == {"pending", "queued", "twin", "low"}
    assert names(tasks, ask(rig, than("created", ">", at), is_("status", "queued"))) == {"temu"}
    assert names(tasks, ask(rig, than("created", ">=", at), is_("status", "queued"))) == {"temu", "low"}
    assert names(tasks, ask(rig, than("created", "<", at, negated=True), is_("status", "queued"))) == {"temu", "low"}
    last = max(task.updated_at for task in tasks.values())
    assert names(tasks, ask(rig, than("updated", ">", last))) == set()
    assert len(ask(rig, than("updated", "<=", last)).tasks) == len(tasks) + 1
    window = ask(rig, than("created", ">=", at), than("created", "<", at + 2000))
    assert names(tasks, window) == {"low", "temu"}


def test_a_moved_task_is_found_in_its_new_place_only(rig: Rig, tasks: dict[str, Task]) -> None:
    rig.ask(Move(task_id=tasks["low"].task_id, by="ann", lane="high", priority=9))
    assert names(tasks, ask(rig, is_("lane", "low"))) == set()
    assert names(tasks, ask(rig, is_("lane", "high"))) == {"pending", "low"}
    assert names(tasks, ask(rig, is_("status", "queued"))) == QUEUED - {"low"}
    assert names(tasks, ask(rig, is_("status", "pending"))) == {"pending", "low"}
    assert names(tasks, ask(rig, than("priority", ">=", 9))) == {"low"}


# -------------------------------------------------------------------------- order
KEYS = {"created": "created_at", "updated": "updated_at", "priority": "priority", "due": "due_at"}


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("sort", list(KEYS))
@pytest.mark.parametrize("terms", [(), (is_("status", "queued"),), (is_("platform", "pdd"), is_("lane", "normal"))])
def test_sorts(rig: Rig, tasks: dict[str, Task], sort: str, descending: bool, terms: tuple[Term, ...]) -> None:
    found = ask(rig, *terms, sort=sort, descending=descending).tasks
    expected = sorted(found, key=lambda task: (getattr(task, KEYS[sort]), task.task_id), reverse=descending)
    assert list(found) == expected
    assert found


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("sort", list(KEYS))
@pytest.mark.parametrize("limit", [1, 7, 50])
def test_paging_neither_skips_nor_repeats_under_ties(rig: Rig, sort: str, descending: bool, limit: int) -> None:
    now = rig.store.now_ms()
    ops: list[Op] = [
        Create(
            task=rig.task(
                task_id=f"t{number:03d}", created_at=now - (number % 3), priority=1 + number % 2, batch="B",
                status="scheduled", due_at=now + 1_000_000 + number % 2, shop_id=f"s{number % 4}",
            )
        )
        for number in range(60)
    ]  # fmt: skip
    rig.store.apply(ops)
    for terms, expected in (((), 60), ((is_("shop", "s1", "s2"),), 30), ((is_("batch", "B"), is_("shop", "s*")), 60)):
        query = Query(terms=terms, sort=sort, descending=descending, limit=limit)
        found = [task for page in pages(rig, query) for task in page.tasks]
        assert len(found) == len({task.task_id for task in found}) == expected
        key = [(getattr(task, KEYS[sort]), task.task_id) for task in found]
        assert key == sorted(key, reverse=descending)


def test_a_page_goes_on_where_it_stopped_while_others_write(rig: Rig) -> None:
    now = rig.store.now_ms()
    first = [rig.create(created_at=now - number * 1000).task_id for number in range(1, 7)]
    page = rig.store.query(Query(limit=3))
    assert [task.task_id for task in page.tasks] == first[:3]
    assert page.next is not None
    for _ in range(3):
        rig.create(created_at=now)  # before the place of the cursor
    assert [task.task_id for task in rig.store.query(Query(limit=10, cursor=page.next)).tasks] == first[3:]


def test_a_full_last_page_ends(rig: Rig) -> None:
    for _ in range(4):
        rig.create()
    assert [len(page.tasks) for page in pages(rig, Query(limit=2))] == [2, 2]
    assert rig.store.query(Query(limit=4)).next is None


def test_an_empty_answer(rig: Rig) -> None:
    page = ask(rig, is_("status", "dead"))
    assert (page.tasks, page.next, page.total) == ((), None, 0)


@pytest.mark.parametrize(
    "query",
    [
        Query(terms=(is_("nonsense", "1"),)),
        Query(terms=(Term(field="status", op="<>", values=("dead",)),)),
        Query(terms=(Term(field="status", op=">", number=3),)),
        Query(sort="error"),
        Query(cursor="!!!"),
        Query(cursor="e30="),
        Query(terms=(is_("priority", "high"),)),
    ],
    ids=name,
)
def test_a_question_that_makes_no_sense(rig: Rig, query: Query) -> None:
    with pytest.raises(UsageError):
        rig.store.query(query)


def test_records_come_back_whole(rig: Rig, tasks: dict[str, Task]) -> None:
    for task in ask(rig, is_("status", "retrying", "dead", "held")).tasks:
        assert task == rig.record(task)
        assert msgspec.structs.asdict(task)["steps"]


@pytest.mark.parametrize("sort", ["created", "updated", "priority", "due"])
def test_a_page_that_no_index_answers_is_what_a_bounded_look_met(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    made = [rig.create(error_kind="timeout" if number in (3, 28) else "", status=Status.DEAD) for number in range(30)]
    monkeypatch.setattr("services.store.redis.query.LOOKED", 5)
    monkeypatch.setattr("services.store.redis.query.FEW", 0)
    monkeypatch.setattr("services.store.redis.query.MOST", 5)
    for name, number in {"LOOKED": 5, "WALK_STEPS": 0, "STEPS_PER_LOOK": 1, "FEW_ROWS": 0, "FETCHED": 0}.items():
        monkeypatch.setattr(f"services.store.sqlite.query.{name}", number)
    seen: list[str] = []
    pages, cursor = 0, ""
    while True:
        page = rig.store.query(Query(terms=(equals("kind", "timeout"),), sort=sort, cursor=cursor, limit=10))
        seen += [task.task_id for task in page.tasks]
        pages += 1
        if page.next is None:
            break
        cursor = page.next
    assert sorted(seen) == sorted([made[3].task_id, made[28].task_id])
    assert pages > 3


def test_what_was_at_an_instant(rig: Rig) -> None:
    waits, runs = rig.queued(shop_id="s1"), rig.running(shop_id="s2")
    died, other = rig.dead(shop_id="s3"), rig.dead(shop_id="s4")
    assert rig.ask(SetTriage(task_id=other.task_id, triage="archived", by="ann")).code == "ok"
    rig.pass_time(0.05)
    then = rig.store.now_ms()
    rig.pass_time(0.05)
    assert rig.finish(runs).code == "ok"
    assert rig.ask(SetTriage(task_id=died.task_id, triage="archived", by="ann")).code == "ok"
    assert rig.ask(SetTriage(task_id=other.task_id, triage="open", by="ann")).code == "ok"
    late = rig.queued(shop_id="s5")
    names = {waits.task_id: "waits", runs.task_id: "runs", died.task_id: "died", other.task_id: "other",
             late.task_id: "late"}  # fmt: skip

    def found(*states: str, at: int = then, negated: bool = False) -> set[str]:
        term = Term(field="was", op="=", values=states, number=float(at), negated=negated)
        short, whole = ask(rig, *narrowed((term,))), ask(rig, term)
        assert (short.tasks, short.searched, short.total) == (whole.tasks, ("was",), None)
        return {names[task.task_id] for task in whole.tasks}

    assert found("queued", "running") == {"waits", "runs"}
    assert found("dead") == {"died", "other"}
    assert found("open") == {"died"}, "the other one lay in the archive then"
    assert found("queued", "dead", negated=True) == {"runs", "late"}
    assert found("queued", "dead", at=waits.created_at - 1) == set()
    rig.pass_time(0.05)
    assert found("open", "succeeded", at=rig.store.now_ms()) == {"other", "runs"}
