"""All that closes gates in one question, and numbers that are true or said to be no more than a beginning."""

from __future__ import annotations

import pytest

from services.clock import SystemClock
from services.domain.change import Create, OpenSession, Republish
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates.limit import Limit
from services.domain.insight.gates import GATES
from services.domain.task.search.query import Query, Term, Total, any_of, equals, excludes
from services.domain.task.status import ACTIVE, Status
from services.domain.types.task_type import TaskType
from services.engine.fates import Fates
from services.engine.registry import Registry
from services.monitor import live
from services.monitor.attention import dependencies
from services.monitor.attention.look import Look
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
    assert found.begun >= {"work of the held one", "work that runs"}
    assert "work that waits" not in found.begun
    assert store.closed().begun == frozenset()


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
def test_a_page_of_a_gate_is_two_questions_and_who_leads(rig: Rig, text: str) -> None:
    for number in range(40):
        rig.queued(shop_id=f"s{number % 8}")
    rig.store.set_pause(Pause(scope="shop:pdd:s3", by="ann"))
    asked, counting = questions(rig.store)
    asked.page(text)  # shops and types are read now and then
    counting.spent()
    page = asked.page(text)
    assert counting.spent() == {"closed": 1, "query": 1, "leader": 1}
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


def test_the_counts_of_the_gates_of_few_are_one_look_at_them(rig: Rig) -> None:
    for number in range(40):
        rig.queued(shop_id=f"s{number % 8}")
    rig.create(due_at=rig.store.now_ms() + 3_600_000, status=Status.SCHEDULED)
    rig.running("w1#1", shop_id="busy")
    rig.blocked(shop_id="busy")
    rig.store.set_pause(Pause(scope="shop:pdd:s3", by="ann"))
    asked, counting = questions(rig.store)
    counts = asked.gate_counts()
    assert counts == {gate: found for gate in GATES if (found := asked.page(f"gate:{gate}").number).number}
    assert counts["paused"] == Total(5)
    assert {"not_due", "shop_busy"} < counts.keys()
    asked.gate_counts()
    counting.spent()
    assert asked.gate_counts() == counts
    assert counting.spent() == {"closed": 1, "query": 2, "leader": 1}


def test_a_group_of_shops_is_asked_for_by_the_shops_that_are_in_it_now(rig: Rig) -> None:
    east, west = ("east one", "East 二"), ("west",)
    groups = {"e1": east[0], "e2": east[1], "w": west[0], "alone": ""}
    rig.store.put_shops([Shop(platform="pdd", shop_id=name, group=group) for name, group in groups.items()])
    rig.store.put_shops([Shop(platform="temu", shop_id="e1", group="west")])
    made = {name: rig.queued(shop_id=name).task_id for name in (*groups, "unknown")}
    made["temu"] = rig.queued(platform="temu", shop_id="e1").task_id
    for found in (
        ('group:"East One"', "e1"), ("group:east*", "e1 e2"), ("group~二", "e2"), ("group:west", "w temu"),
        ("group:west platform:pdd", "w"), ("group:west shop:w", "w"), ("group:west,east*", "e1 e2 w temu"),
        ("-group:east*,west", "alone unknown"), ("group:*", "e1 e2 w temu"), ("-group:*", "alone unknown"),
        ("group:nobody", ""), ("-group:nobody", "e1 e2 w alone unknown temu"), ("group:west gate:paused", ""),
    ):  # fmt: skip
        text, names = found
        asked, _ = questions(rig.store)
        page = asked.page(text)
        assert (text, {task.task_id for task in page.tasks}) == (text, {made[name] for name in names.split()})
        assert page.number.number == len(names.split())


def test_a_large_group_is_listed_without_a_look_at_all_tasks(rig: Rig) -> None:
    rig.store.put_shops([Shop(platform="pdd", shop_id=f"s{at}", group="many") for at in range(400)])
    wanted = [rig.queued(shop_id=f"s{at}").task_id for at in range(0, 400, 40)]
    make(rig, MANY // 4, shop_id="other")
    asked, counting = questions(rig.store)
    page = asked.page("group:many status:waiting", limit=50)
    assert {task.task_id for task in page.tasks} == set(wanted)
    assert (page.next, page.total) == (None, len(wanted))
    assert counting.spent()["query"] == 1


def _looked_at(rig: Rig, rows: int) -> int:
    """Questions that the waits of so many rows cost, each in a shop of its own."""
    found = rig.store.query(Query(terms=(equals("status", Status.QUEUED, Status.BLOCKED),), limit=rows)).tasks
    assert len({task.shop for task in found}) == rows
    asked, counting = questions(rig.store)
    asked.waits(found)
    return sum(counting.spent().values())


def test_the_waits_of_a_page_cost_as_many_questions_as_those_of_half_of_it(rig: Rig) -> None:
    rig.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, executors=("rpa",)))
    for number in range(60):
        rig.queued(shop_id=f"queued{number}")
        rig.running(f"w{number}#1", shop_id=f"busy{number}")
        rig.blocked(shop_id=f"busy{number}")
    few, many = _looked_at(rig, 60), _looked_at(rig, 120)
    assert many <= few + 6 < 60


def test_what_tasks_depend_on_is_one_question_and_so_is_what_goes_first(rig: Rig) -> None:
    first = [rig.running(f"w{number}#1", shop_id=f"s{number}") for number in range(3)]
    waiting = [rig.create(shop_id="s9", depends_on=(one.task_id, first[0].task_id)) for one in first]
    ids = [task.task_id for task in waiting]
    assert rig.store.needs([*ids, "nobody", ids[0]]) == [
        [first[0].task_id], *(sorted((one.task_id, first[0].task_id)) for one in first[1:]), [], [first[0].task_id],
    ]  # fmt: skip
    assert rig.store.needs([]) == []
    queued = [rig.queued(shop_id=f"q{number}", priority=5, lane="normal") for number in range(4)]
    urgent = rig.queued(shop_id="q9", priority=6, lane="normal")
    assert rig.store.waiting_ahead([*queued, urgent, queued[0]]) == [1, 2, 3, 4, 0, 1]
    assert rig.store.waiting_ahead([]) == []


def test_what_became_of_the_tasks_of_late_workers_is_two_questions(rig: Rig) -> None:
    now = rig.store.now_ms()
    names = [f"late{number}" for number in range(150)]
    late = [WorkerInfo(worker=name, host="h", pid=1, seen_at=now - 20_000 - n) for n, name in enumerate(names)]
    for name in names[:3]:
        rig.running(f"{name}#1", shop_id=name)
    counting = CountingStore(rig.store)
    followed = Fates(counting.port)
    found = followed.find(late, now)
    assert counting.spent() == {"query": 1, "get": 1}
    assert {name: [fate.what for fate in fates] for name, fates in found.items() if fates} == {
        name: ["unconfirmed"] for name in names[:3]
    }
    assert set(found) == set(names[:100])
    assert followed.find([], now) == {}
    assert not counting.spent()


def test_what_waits_in_vain_is_found_with_a_few_questions(rig: Rig) -> None:
    dead = [rig.dead(shop_id=f"s{number}") for number in range(20)]
    for one in dead[:5]:
        assert rig.ask(Republish(task_id=one.task_id, task=rig.task(shop_id=one.shop_id), by="ann")).code == "ok"
    waiting = [rig.create(shop_id=f"w{number}", depends_on=(one.task_id,)) for number, one in enumerate(dead)]
    counting = CountingStore(rig.store)
    look = Look(snapshot=live.look(rig.store), store=counting.port)
    (item,) = dependencies.items(look)
    assert (item.params["tasks"], item.params["count"]) == (15, 15), "they died of one cause"
    assert sum(counting.spent().values()) <= 4
    assert len(waiting) == 20
