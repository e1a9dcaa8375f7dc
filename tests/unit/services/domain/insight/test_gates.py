"""One answer to "which gate is closed now": for a record in hand, for a filter, and for the explanation of one task."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.breaker import Breaker
from services.domain.gates.home import Home
from services.domain.gates.limit import Limit, LimitNow
from services.domain.insight import gates
from services.domain.insight.gates import GATED, GATES, Gap, GatesNow
from services.domain.task.record import Task
from services.domain.task.search import match
from services.domain.task.search.query import equals, excludes
from services.domain.task.status import Status
from services.domain.types.task_type import TaskType
from tests.unit.services.domain.builders import NOW, task

OPEN = GatesNow(now_ms=NOW)
HERE = frozenset({"pdd:shop017"})
TRYING = Breaker(shop="pdd:shop017", outcomes="11", until=NOW - 1, since=NOW - 9)
SHUT = Breaker(shop="pdd:shop017", outcomes="11", until=NOW + 1, since=NOW - 9)
BLOCKED: dict[str, Any] = {"status": Status.BLOCKED}


def limit(scope: str, running: int, promised: int = 0, waiting: int = 0) -> LimitNow:
    return LimitNow(limit=Limit(scope=scope, concurrency=2), running=running, promised=promised, waiting=waiting)


@pytest.mark.parametrize(
    ("fields", "closed", "gate"),
    [
        ({"status": Status.QUEUED}, {}, "lane_order"),
        ({"status": Status.PENDING}, {}, "message"),
        ({"status": Status.RUNNING}, {"sessions": HERE}, ""),
        ({"status": Status.HELD}, {"sessions": HERE}, ""),
        ({"status": Status.DEAD}, {"sessions": HERE}, ""),
        ({"status": Status.SCHEDULED, "due_at": NOW + 9}, {"sessions": HERE}, "not_due"),
        ({"status": Status.SCHEDULED, "due_at": NOW - 9}, {}, "not_due"),
        ({"status": Status.RETRYING, "due_at": NOW + 9}, {"sessions": HERE}, "not_due"),
        ({"status": Status.RETRYING, "due_at": NOW - 9}, {"sessions": HERE}, "session"),
        (BLOCKED | {"gate": "dependency"}, {"sessions": HERE, "pauses": (Pause(scope="all", by="a"),)}, "dependency"),
        ({"status": Status.QUEUED}, {"pauses": (Pause(scope="platform:pdd", by="a"),), "sessions": HERE}, "paused"),
        ({"status": Status.QUEUED}, {"pauses": (Pause(scope="platform:temu", by="a"),)}, "lane_order"),
        ({"status": Status.QUEUED}, {"pauses": (Pause(scope="shop:pdd:shop017", by="a"),)}, "paused"),
        ({"status": Status.PENDING}, {"pauses": (Pause(scope="type:sync_order", by="a"),)}, "paused"),
        (BLOCKED | {"gate": "shop_busy"}, {"sessions": HERE, "busy": HERE, "breakers": (SHUT,)}, "session"),
        (BLOCKED | {"gate": "shop_busy"}, {"breakers": (SHUT,), "busy": HERE}, "breaker"),
        (BLOCKED | {"gate": "paused"}, {"breakers": (TRYING,)}, "breaker"),
        ({"status": Status.QUEUED}, {"breakers": (TRYING,)}, "lane_order"),
        ({"status": Status.QUEUED}, {"breakers": (TRYING,), "busy": HERE}, "breaker"),
        ({"status": Status.QUEUED}, {"busy": HERE}, "shop_busy"),
        (BLOCKED | {"gate": "shop_busy"}, {}, "shop_busy"),
        (BLOCKED | {"gate": "shop_busy"}, {"idle": HERE}, "lane_order"),
        (BLOCKED | {"gate": "session"}, {}, "shop_busy"),
        (BLOCKED | {"gate": "paused"}, {"idle": HERE}, "lane_order"),
        ({"status": Status.QUEUED}, {"limits": (limit("platform:pdd", 2),)}, "quota"),
        ({"status": Status.QUEUED}, {"limits": (limit("type:sync_order", 1, promised=1),)}, "lane_order"),
        (BLOCKED | {"gate": "quota"}, {"limits": (limit("type:sync_order", 1, promised=1),)}, "quota"),
        (BLOCKED | {"gate": "quota"}, {"limits": (limit("type:sync_order", 1, waiting=1),)}, "quota"),
        (BLOCKED | {"gate": "quota"}, {}, "lane_order"),
        (BLOCKED | {"gate": "twin"}, {}, "twin"),
        ({"status": Status.QUEUED, "uniq": "U"}, {"twins": frozenset({"U"})}, "twin"),
        (BLOCKED | {"gate": "home_node:desk"}, {}, "home_node"),
        ({"status": Status.QUEUED}, {"away": (Gap(types=frozenset({"sync_order"}), shops=HERE),)}, "home_node"),
        ({"status": Status.QUEUED}, {"away": (Gap(types=frozenset({"other"}), shops=HERE),)}, "lane_order"),
        (BLOCKED | {"gate": "no_worker"}, {}, "lane_order"),
        (BLOCKED | {"gate": "no_worker"}, {"unserved": (Gap(types=frozenset({"sync_order"})),)}, "no_worker"),
        ({"status": Status.QUEUED}, {"unserved": (Gap(lane="normal", others=True),)}, "no_worker"),
        ({"status": Status.QUEUED, "lane": "high"}, {"unserved": (Gap(lane="normal", others=True),)}, "lane_order"),
        ({"status": Status.QUEUED}, {"lost": True}, "broker"),
        ({"status": Status.QUEUED}, {"lost": True, "unserved": (Gap(lane="normal", others=True),)}, "broker"),
        ({"status": Status.QUEUED}, {"cut_off": (Gap(lane="normal"),), "unserved": (Gap(lane="normal"),)}, "broker"),
        ({"status": Status.QUEUED}, {"cut_off": (Gap(lane="low"),)}, "lane_order"),
        ({"status": Status.PENDING}, {"lost": True, "stuck": True}, "message"),
        ({"status": Status.QUEUED}, {"lost": True, "sessions": HERE}, "session"),
        ({"status": Status.QUEUED}, {"unserved": (Gap(types=frozenset({"sync_order"}), others=True),)}, "lane_order"),
    ],
)
def test_the_gate_that_is_closed_now(fields: dict[str, Any], closed: dict[str, Any], gate: str) -> None:
    assert replace(OPEN, **closed).gate_of(task(**fields)) == gate


def some(*values: str) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(values))


SHOPS = ("pdd:a", "pdd:b", "temu:a")
MOMENTS = st.builds(
    GatesNow,
    now_ms=st.just(NOW),
    pauses=st.lists(
        st.sampled_from(["all", "platform:pdd", "shop:temu:a", "type:sync"]).map(lambda one: Pause(scope=one, by="x")),
        max_size=2,
    ).map(tuple),
    sessions=some(*SHOPS),
    breakers=st.lists(
        st.builds(Breaker, shop=st.sampled_from(SHOPS), until=st.sampled_from([NOW - 5, NOW + 5])), max_size=2
    ).map(tuple),
    busy=some(*SHOPS),
    idle=some(*SHOPS),
    limits=st.lists(
        st.builds(
            limit,
            st.sampled_from(["platform:temu", "type:crawl"]),
            st.integers(0, 2),
            st.integers(0, 2),
            st.integers(0, 1),
        ),
        max_size=2,
    ).map(tuple),
    twins=some("U", "V"),
    lost=st.booleans(),
    cut_off=st.just(()) | st.just((Gap(lane="high"),)),
    away=st.just(()) | st.just((Gap(lane="low", types=frozenset({"crawl"}), shops=frozenset({"pdd:b"})),)),
    unserved=st.just(()) | st.just((Gap(lane="high", others=True), Gap(lane="low", types=frozenset({"sync"})))),
)
RECORDS = st.builds(
    Task,
    task_id=st.just("t"),
    platform=st.sampled_from(["pdd", "temu"]),
    shop_id=st.sampled_from(["a", "b"]),
    task_type=st.sampled_from(["sync", "crawl", "new"]),
    status=st.sampled_from([*Status]).map(str),
    gate=st.sampled_from(["", *GATES, "home_node:desk"]),
    lane=st.sampled_from(["high", "normal", "low"]),
    due_at=st.sampled_from([0, NOW - 5, NOW + 5]),
    uniq=st.sampled_from(["", "U", "W"]),
)


@given(MOMENTS, RECORDS)
def test_a_filter_finds_a_task_under_the_gate_that_is_told_of_it_and_under_no_other(
    now: GatesNow, record: Task
) -> None:
    gate = now.gate_of(record)
    assert (gate == "") == (record.status not in GATED)
    found = [name for name in GATES if match.all_of(now.terms(equals("gate", name)))(record)]
    assert found == ([gate] if gate else [])
    assert match.all_of(now.terms(equals("gate", *GATES)))(record) == bool(gate)
    assert match.all_of(now.terms(excludes("gate", "session", "breaker")))(record) == (
        gate not in ("session", "breaker")
    )
    assert match.all_of(now.terms(equals("gate", "s*")))(record) == gate.startswith("s")


def test_a_node_can_be_asked_for() -> None:
    there, elsewhere = (task(status=Status.BLOCKED, gate=f"home_node:{node}") for node in ("desk", "lab"))
    for value, hits in (("home_node:desk", [True, False]), ("home_node:*", [True, True]), ("home_node", [True, True])):
        wanted = match.all_of(OPEN.terms(equals("gate", value)))
        assert [wanted(there), wanted(elsewhere)] == hits


def test_shops_are_busy_or_idle_by_what_runs_and_is_on_its_way() -> None:
    counts = {
        "pdd:one": {"running": 1, "blocked": 4},
        "pdd:two": {"running": 1, "blocked": 4},
        "pdd:way": {"queued": 1, "blocked": 4},
        "pdd:left": {"blocked": 4},
        "pdd:calm": {"queued": 4},
    }
    shops = {"pdd:two": Shop(platform="pdd", shop_id="two", concurrency=2)}
    assert gates.occupied(counts, shops) == (frozenset({"pdd:one"}), frozenset({"pdd:two", "pdd:left"}))


def worker(name: str = "w", **fields: Any) -> WorkerInfo:
    usual: dict[str, Any] = {"host": "h", "pid": 1, "seen_at": NOW, "slots": (SlotState(),), "executors": ("rpa",)}
    return WorkerInfo(worker=name, **(usual | fields))


TYPES = {
    "sync": TaskType(name="sync"),
    "page": TaskType(name="page", executor="browser"),
    "mail": TaskType(name="mail", executor="python"),
}
DEFAULT = TaskType.default("default")


def test_what_no_living_worker_of_a_lane_can_run() -> None:
    fleet = [worker("a", lanes=("high",)), worker("b", lanes=("low",), executors=("python",), handlers=("mail",))]
    found = {gap.lane: gap for gap in gates.unserved(TYPES, DEFAULT, fleet, NOW)}
    assert found["high"] == Gap(lane="high", types=frozenset({"page", "mail"}))
    assert found["normal"] == Gap(lane="normal", others=True), "nobody serves it"
    assert found["low"] == Gap(lane="low", types=frozenset({"mail"}), others=True), "all but what it has a handler for"


@pytest.mark.parametrize("fields", [{"state": "draining"}, {"state": "stopped"}, {"seen_at": NOW - 3_600_000}])
def test_a_worker_that_takes_nothing_serves_nobody(fields: dict[str, Any]) -> None:
    found = gates.unserved(TYPES, DEFAULT, [worker(**fields)], NOW)
    assert found == [Gap(lane=lane, others=True) for lane in ("high", "normal", "low")]


def test_shops_whose_home_has_nobody() -> None:
    fleet = [
        worker("a", node="desk", executors=("browser",)),
        worker("b", node="lab", executors=("browser",), seen_at=NOW - 3_600_000),
    ]
    homes = {"pdd:a": Home(shop="pdd:a", node="desk"), "pdd:b": Home(shop="pdd:b", node="lab")}
    found = gates.away(TYPES, homes, fleet, NOW)
    assert {gap.shops for gap in found} == {frozenset({"pdd:b"})}
    assert {gap.types for gap in found} == {frozenset({"page"})}
