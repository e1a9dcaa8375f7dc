"""All that closes gates in one question, and numbers that are true or said to be no more than a beginning."""

from __future__ import annotations

import pytest

from services.clock import SystemClock
from services.domain.change import Create, OpenSession
from services.domain.insight.gates import GATES
from services.domain.limit import Limit
from services.domain.query import Query, Term, Total, any_of, equals, excludes
from services.domain.shop import Pause, Shop
from services.domain.status import ACTIVE
from services.domain.task_type import TaskType
from services.domain.worker import WorkerInfo
from services.engine.registry import Registry
from services.monitor.tasks import TaskQueries
from services.ports import Store
from tests.contract.rig import Rig
from tests.support.counting import CountingStore

#: more than either driver looks at to count them
MANY, BATCH = 12_000, 1_000


def questions(store: Store) -> tuple[TaskQueries, CountingStore]:
    counting = CountingStore(store)
    return TaskQueries(counting.port, Registry(counting.port, SystemClock(), TaskType.default("default"))), counting


def make(rig: Rig, number: int, **fields: object) -> None:
    for start in range(0, number, BATCH):
        rig.store.apply([Create(task=rig.task(**fields)) for _ in range(min(BATCH, number - start))])


def test_one_question_answers_what_the_single_ones_do(rig: Rig) -> None:
    store = rig.store
    store.put_shops([Shop(platform="pdd", shop_id="two", concurrency=2)])
    store.set_pause(Pause(scope="platform:temu", by="ann"))
    store.set_pause(Pause(scope="type:slow", by="ann"))
    store.put_limit(Limit(scope="type:sync_order", concurrency=3))
    store.put_limit(Limit(scope="platform:temu", per_minute=60))
    store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1))
    store.heartbeat(WorkerInfo(worker="w2", host="h", pid=2))
    rig.queued(shop_id="waits only")
    rig.held(shop_id="held", uniq="work of the held one")
    rig.running("a#1", shop_id="one", uniq="work that runs")
    rig.blocked(shop_id="one", uniq="work that waits")
    rig.running("b#1", shop_id="two")
    rig.running("c#1", shop_id="login", task_type="other")
    rig.blocked(shop_id="login", task_type="other")
    found = store.closed(100)
    assert list(found.pauses) == store.pauses()
    assert list(found.sessions) == store.sessions()
    assert list(found.breakers) == store.breakers()
    assert list(found.limits) == store.limits()
    assert list(found.workers) == store.workers()
    assert found.shops == {
        "pdd:one": {"running": 1, "blocked": 1}, "pdd:two": {"running": 1}, "pdd:login": {"running": 1, "blocked": 1},
    }  # fmt: skip
    assert found.in_hand >= {"work of the held one", "work that runs"}
    assert "work that waits" not in found.in_hand
    assert store.closed().in_hand == frozenset()


def test_a_closed_login_and_an_open_breaker_are_among_them(rig: Rig) -> None:
    task = rig.running(shop_id="s1")
    assert rig.finish(task, "blocked", error="login", error_kind="login_expired").code == "ok"
    for number in range(5):
        rig.dead(shop_id="s2", payload=f'{{"n": {number}}}', uniq=f"u{number}") if number < 1 else _fail(rig, number)
    found = rig.store.closed()
    assert [one.shop for one in found.sessions] == ["pdd:s1"]
    assert list(found.breakers) == rig.store.breakers()
    assert found.breakers
    rig.ask(OpenSession(shop="pdd:s1", by="ann"))
    assert rig.store.closed().sessions == ()


def _fail(rig: Rig, number: int) -> None:
    task = rig.running(shop_id="s2", owner=f"w{number}#1")
    rig.finish(task, "dead", error="no", error_kind="network")


@pytest.mark.parametrize("text", ["gate:paused", "gate:twin", "gate:lane_order shop:pdd:s1", "-gate:session", "gate:*"])
def test_a_page_of_a_gate_is_two_questions(rig: Rig, text: str) -> None:
    for number in range(40):
        rig.queued(shop_id=f"s{number % 8}")
    rig.store.set_pause(Pause(scope="shop:pdd:s3", by="ann"))
    asked, counting = questions(rig.store)
    asked.page(text)  # shops and types are read now and then
    counting.spent()
    page = asked.page(text)
    assert counting.spent() == {"closed": 1, "query": 1}
    asked.gates(page.tasks)
    assert sum(counting.spent().values()) <= 2


def test_a_number_is_all_or_says_that_it_is_a_beginning(rig: Rig) -> None:
    make(rig, MANY // 2)
    make(rig, MANY // 2, task_type="other", shop_id="s2")
    odd = (any_of((equals("type", "other"), excludes("shop", "pdd:s1")), (equals("gate", "none"),)),)
    for terms, true in (
        ((equals("type", "other"),), MANY // 2),
        ((equals("status", *ACTIVE), *odd), MANY // 2),
        ((equals("status", *ACTIVE), Term(field="attempts", op=">=", number=0)), MANY),
        ((equals("status", *ACTIVE), Term(field="attempts", op=">=", number=1)), 0),
    ):
        for sort in ("created", "priority"):
            page = rig.store.query(Query(terms=terms, sort=sort, limit=10))
            if page.total is not None:
                assert page.number == Total(true) == Total(page.at_least)
            else:
                assert page.number == Total(page.at_least, exact=False)
                assert len(page.tasks) <= page.at_least <= true
                assert page.at_least > 1_000 or not true


def test_where_nobody_can_wait_nothing_is_looked_for(rig: Rig) -> None:
    make(rig, MANY // 2)
    asked, _ = questions(rig.store)
    for text in ("gate:breaker", "gate:session type:sync_order", "gate:quota status:waiting"):
        page = asked.page(text, sort="updated")
        assert (page.tasks, page.next, page.total) == ((), None, 0)
    assert asked.page("-gate:breaker status:active", limit=5).number.number > 1_000


def test_list_and_counts_of_the_gates_say_the_same_of_very_many(rig: Rig) -> None:
    make(rig, MANY // 2)
    make(rig, MANY // 2, shop_id="s2")
    rig.store.set_pause(Pause(scope="shop:pdd:s2", by="ann"))
    asked, _ = questions(rig.store)
    counts = asked.gate_counts()
    assert counts == {gate: found for gate in GATES if (found := asked.page(f"gate:{gate}").number).number}
    assert "paused" in counts
    assert all(0 < found.number <= MANY // 2 for found in counts.values())
