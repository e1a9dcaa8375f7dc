"""Why a task waits: every gate in its order, with the values of the moment."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import SlotState
from services.domain.gates import home
from services.domain.gates.ability import Supply
from services.domain.gates.home import HomeNow
from services.domain.gates.quiet_hours import Quiet
from services.domain.gates.session import ClosedSession
from services.domain.insight import wait
from services.domain.insight.forecast import durations, estimate
from services.domain.insight.gates import BROKER, GATES, LANE_ORDER
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.wait import CLOSED, NEXT, OK, Facts, Need, why_waiting
from services.domain.task.status import Status
from services.messages import TEMPLATES, english
from tests.unit.services.domain.builders import NOW, task

AFTER = {"status": Status.BLOCKED, "gate": "dependency", "depends_on": ("a", "b")}
RUNNING = task(task_id="other", status=Status.RUNNING, worker="w3", started_at=NOW - 5000)


def facts(**fields: Any) -> Facts:
    workers = fields.pop("workers", 2)
    supply = Supply(serving=workers, able=workers, seen=tuple(f"w{number}" for number in range(workers)))
    return Facts(**({"now_ms": NOW, "supply": supply, "slots": (SlotState(),)} | fields))


def gates(record: Any, known: Facts) -> dict[str, wait.GateView]:
    return {view.name: view for view in why_waiting(record, known)}


def test_a_queued_task_with_all_gates_open_waits_for_its_turn() -> None:
    views = why_waiting(task(status=Status.QUEUED), facts(homed=True))
    assert [view.name for view in views] == list(GATES)
    assert {view.name: view.code for view in views if view.state != OK} == {LANE_ORDER: "gate.front"}
    busy = why_waiting(task(status=Status.QUEUED), facts(slots=(SlotState(task_id="t9"),)))
    assert {view.name: view.code for view in busy if view.state != OK} == {LANE_ORDER: "gate.front_full"}


AWAY = {"status": Status.BLOCKED, "gate": "home_node:desk"}


def at_home(**known: int) -> dict[str, Any]:
    """A shop whose profile lives on the desk."""
    return {"homed": True, "home": HomeNow(node="desk", **known)}


@pytest.mark.parametrize("status", [Status.RUNNING, Status.HELD, Status.SUCCEEDED, Status.DEAD, Status.CANCELLED])
def test_others_do_not_wait(status: Status) -> None:
    assert why_waiting(task(status=status), facts()) == ()


@pytest.mark.parametrize(
    ("fields", "known", "name", "code", "params"),
    [
        ({"status": Status.SCHEDULED, "due_at": NOW + 61_500}, {}, "not_due", "gate.scheduled", {"seconds": 62}),
        (
            {"status": Status.RETRYING, "due_at": NOW + 30_000, "attempt": 2},
            {},
            "not_due",
            "gate.retry_delay",
            {"seconds": 30, "attempt": 2},
        ),
        (
            {"status": Status.BLOCKED, "gate": "paused"},
            {"pauses": (Pause(scope="platform:pdd", by="ann", reason="sale"),)},
            "paused",
            "gate.paused",
            {"scope": "platform:pdd", "by": "ann", "reason": "sale"},
        ),
        (
            {"status": Status.BLOCKED, "gate": "paused"},
            {
                "pauses": (Pause(scope="shop:pdd:shop017", by="known issue 0123456789abcdef", reason="captcha"),),
                "parked": {"pdd:shop017": NOW + 90_000},
            },
            "paused",
            "gate.paused_rule",
            {"by": "known issue 0123456789abcdef", "reason": "captcha", "until": NOW + 90_000, "seconds": 90},
        ),
        (
            {"status": Status.BLOCKED, "gate": "paused"},
            {
                "pauses": (Pause(scope="shop:pdd:shop017", by="ann", reason="sale"),),
                "parked": {"pdd:shop017": NOW + 90_000},
            },
            "paused",
            "gate.paused",
            {"by": "ann"},
        ),
        (
            {"status": Status.BLOCKED, "gate": "paused"},
            {"pauses": (Pause(scope="all", by="ann"),)},
            "paused",
            "gate.paused_unsaid",
            {"scope": "all", "by": "ann"},
        ),
        (
            {"status": Status.BLOCKED, "gate": "shop_busy"},
            {"holders": (RUNNING,)},
            "shop_busy",
            "gate.shop_busy",
            {"running": 1, "concurrency": 1, "holder": "other", "worker": "w3", "since": NOW - 5000},
        ),
        (
            {"status": Status.BLOCKED, "gate": "shop_busy"},
            {
                "first_on_the_way": task(task_id="a", created_at=NOW - 7000),
                "on_the_way": 4,
                "under_way": 4,
                "shop_ahead": 2,
            },
            "shop_busy",
            "gate.shop_queue",
            {"first": "a", "seconds": 7, "count": 4, "ahead": 2},
        ),
        ({"status": Status.BLOCKED, "gate": "twin"}, {}, "twin", "gate.twin", {}),
        (
            {"status": Status.QUEUED, "uniq": "U"},
            {"twin": RUNNING},
            "twin",
            "gate.twin_running",
            {"twin": "other", "holder": "other", "worker": "w3", "since": NOW - 5000, "seconds": 5},
        ),
        ({"status": Status.QUEUED, "uniq": "U"}, {"twin": task(status="held")}, "twin", "gate.twin_held", {}),
        (
            {"status": Status.BLOCKED, "gate": "twin", "uniq": "U"},
            {"twin": task(status="queued")},
            "twin",
            "gate.twin_first",
            {"status": "queued"},
        ),
        (
            AFTER,
            {"needs": (Need("a", task(task_id="a", status=Status.RUNNING)),)},
            "dependency",
            "gate.dependency",
            {"id": "a", "status": "running"},
        ),
        (
            AFTER,
            {"needs": (Need("a", task(task_id="a")), Need("b", task(task_id="b")))},
            "dependency",
            "gate.dependencies",
            {"id": "a", "open": 2, "count": 2},
        ),
        (
            AFTER,
            {"needs": (Need("a", task(task_id="a")), Need("b", task(task_id="b2", status=Status.DEAD)))},
            "dependency",
            "gate.dependency_dead",
            {"id": "b2", "status": "dead"},
        ),
        (
            AFTER,
            {"needs": (Need("b", task(task_id="b", status=Status.CANCELLED)),)},
            "dependency",
            "gate.dependency_cancelled",
            {"id": "b"},
        ),
        (AFTER, {"needs": (Need("b", None),)}, "dependency", "gate.dependency_gone", {"id": "b"}),
        (AFTER, {}, "dependency", "gate.parked", {}),
        ({"status": Status.BLOCKED, "gate": "shop_busy"}, {}, "lane_order", "gate.opened", {}),
        ({"status": Status.BLOCKED, "gate": "paused"}, {}, "lane_order", "gate.opened", {}),
        ({"status": Status.BLOCKED, "gate": "session"}, {"under_way": 1}, "shop_busy", "gate.parked", {}),
        ({"status": Status.SCHEDULED, "due_at": NOW - 7_200_000}, {}, "not_due", "gate.overdue", {"seconds": 7200}),
        ({"status": Status.QUEUED}, {"holders": (RUNNING,)}, "shop_busy", "gate.shop_busy", {"holder": "other"}),
        ({"status": Status.PENDING, "updated_at": NOW - 9}, {}, "message", "gate.unconfirmed", {"since": NOW - 9}),
        (
            {"status": Status.QUEUED, "lane": "low"},
            {"workers": 0},
            "no_worker",
            "gate.no_worker_at_all",
            {"lane": "low"},
        ),
        (
            {"status": Status.QUEUED, "lane": "low"},
            {"supply": Supply(cut_off=2, lost_at=NOW - 60_000)},
            "broker",
            "gate.workers_cut_off",
            {"workers": 2, "lane": "low", "since": NOW - 60_000, "seconds": 60},
        ),
        (
            {"status": Status.QUEUED, "lane": "low"},
            {"supply": Supply(cut_off=2, lost_at=NOW - 60_000), "cut_off": True, "lost_at": NOW - 55_000},
            "broker",
            "gate.cut_off_for",
            {"since": NOW - 55_000, "seconds": 55},
        ),
        (
            {"status": Status.BLOCKED, "gate": "no_worker", "task_type": "mail"},
            {"supply": Supply(serving=1, seen=("w1", "w2"), needs="handler", need="mail")},
            "no_worker",
            "gate.needs_handler",
            {"type": "mail", "need": "mail", "workers": "w1, w2"},
        ),
        (
            {"status": Status.QUEUED, "task_type": "flow"},
            {"supply": Supply(serving=7, seen=tuple("abcdefg"), needs="program", need="flowrun")},
            "no_worker",
            "gate.needs_program",
            {"type": "flow", "need": "flowrun", "workers": "a, b, c, d, e …"},
        ),
        (
            {"status": Status.QUEUED, "task_type": "push"},
            {"supply": Supply(serving=1, seen=("w1",), needs="setting", need="executors.http.requests.push")},
            "no_worker",
            "gate.needs_setting",
            {"type": "push", "need": "executors.http.requests.push", "workers": "w1"},
        ),
        ({"status": Status.BLOCKED, "gate": "no_worker"}, {}, "lane_order", "gate.fetched", {"workers": 2}),
        (AWAY, at_home(alive=1, able=1), "home_node", "gate.home_fetched", {"node": "desk"}),
        (AWAY, at_home(), "home_node", "gate.home_gone", {"node": "desk"}),
        (
            {"status": Status.QUEUED},
            at_home(seen_at=NOW - 90_000),
            "home_node",
            "gate.home_silent",
            {"node": "desk", "since": NOW - 90_000, "seconds": 90},
        ),
        (AWAY, at_home(alive=1, seen_at=NOW), "home_node", "gate.home_rests", {"type": "sync_order", "lane": "normal"}),
        ({"status": Status.QUEUED}, {"ahead": 7}, "lane_order", "gate.behind", {"ahead": 7}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_closed_gate(
    fields: dict[str, Any], known: dict[str, Any], name: str, code: str, params: dict[str, Any]
) -> None:
    views = gates(task(**fields), facts(**known))
    assert [view.name for view in views.values() if view.state == CLOSED] == [name]
    assert views[name].code == code
    assert params.items() <= views[name].params.items()


def test_the_widest_pause_is_named_first_and_those_of_others_are_passed_over() -> None:
    shop, everything = Pause(scope="shop:pdd:shop017", by="a"), Pause(scope="all", by="b")
    others = tuple(Pause(scope=scope, by="x") for scope in ("platform:temu", "shop:pdd:shop01", "type:x"))
    views = gates(task(status=Status.QUEUED), facts(pauses=(shop, *others, everything)))
    assert views["paused"].params["scope"] == "all"
    assert gates(task(status=Status.QUEUED), facts(pauses=others))["paused"].state == OK


def test_only_the_first_closed_gate_is_what_it_waits_for() -> None:
    known = facts(pauses=(Pause(scope="all", by="a"),), holders=(RUNNING,), workers=0, ahead=3)
    states = [view.state for view in why_waiting(task(status=Status.QUEUED), known)]
    assert states == [OK, OK, CLOSED, OK, OK, OK, NEXT, OK, OK, OK, OK, NEXT, NEXT]
    parked = why_waiting(task(status=Status.BLOCKED, gate="shop_busy"), known)
    assert [view.state for view in parked] == [OK, OK, CLOSED, OK, OK, OK, NEXT, OK, OK, OK, OK, NEXT, OK]


def test_a_shop_with_a_free_slot_is_open() -> None:
    views = gates(task(status=Status.QUEUED), facts(holders=(RUNNING,), concurrency=2))
    assert views["shop_busy"].state == OK
    assert views["shop_busy"].params == {"running": 1, "concurrency": 2}


@given(
    st.sampled_from(Status),
    st.sampled_from(["", "paused", "shop_busy", "twin", "no_worker", "quota", "home_node:desk"]),
    st.integers(-(10**6), 10**6),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 2),
)
def test_every_answer_is_ordered_complete_and_can_be_said(
    status: Status, gate: str, due: int, ahead: int, workers: int, concurrency: int
) -> None:
    record = task(status=status, gate=gate, due_at=NOW + due)
    known = facts(ahead=ahead, workers=workers, concurrency=concurrency, holders=(RUNNING,), homed=True)
    views = why_waiting(record, known)
    names = [view.name for view in views]
    assert names in ([], list(GATES))
    states = [view.state for view in views]
    assert states.count(CLOSED) == bool(views)
    assert NEXT not in states or states.index(CLOSED) < states.index(NEXT)
    for view in views:
        assert TEMPLATES[view.code].format(**view.params, span="1 s", usual="2 s")
        assert view.message.code == view.code


def test_what_it_depended_on_has_succeeded() -> None:
    view = gates(task(status=Status.QUEUED, depends_on=("a", "b")), facts())["dependency"]
    assert (view.state, view.code, view.params) == (OK, "gate.dependencies_met", {"count": 2})


def test_a_plan_shows_what_it_will_wait_for() -> None:
    plan = task(status=Status.SCHEDULED, due_at=NOW + 1000, depends_on=("a",))
    views = gates(plan, facts(needs=(Need("a", task(task_id="a")),)))
    assert (views["not_due"].state, views["dependency"].state) == (CLOSED, NEXT)


@pytest.mark.parametrize("gate", ["paused", "breaker", "shop_busy", "quota"])
def test_the_facts_know_better_than_the_gate_that_was_met_first(gate: str) -> None:
    """A task in the lot keeps the name of that gate, also when it opens and another one holds the task."""
    twin = task(task_id="other", status=Status.HELD, uniq="U")
    found = gates(task(status=Status.BLOCKED, gate=gate, uniq="U"), facts(twin=twin))
    assert (found["twin"].state, found["twin"].code) == (CLOSED, "gate.twin_held")
    assert found[gate].state == OK
    alone = gates(task(status=Status.BLOCKED, gate=gate), facts())
    assert (alone[LANE_ORDER].state, alone[LANE_ORDER].code) == (CLOSED, "gate.opened")


def test_who_needs_no_profile_is_told_of_no_home() -> None:
    assert home.GATE not in gates(task(status=Status.QUEUED), facts())
    views = gates(task(status=Status.QUEUED), facts(homed=True))
    assert (views[home.GATE].state, views[home.GATE].code) == (OK, "gate.home_none")
    views = gates(task(status=Status.QUEUED), facts(**at_home(alive=2, able=1)))
    assert (views[home.GATE].state, views[home.GATE].code) == (OK, "gate.home")


def test_when_its_home_fetches_it() -> None:
    usual = durations.measured([30.0, 40.0, 50.0])
    free = estimate.starts(task(**AWAY), facts(**at_home(alive=1, able=1, free=1)))
    assert free is not None
    assert free.high_s <= 3, "with the next heartbeat"
    full = estimate.starts(task(**AWAY), facts(**at_home(alive=1, able=1), usual=usual))
    assert full is not None
    assert 20 < full.low_s <= full.mid_s <= full.high_s < 90
    assert estimate.starts(task(**AWAY), facts(**at_home(alive=1, able=1))) is None, "nothing is known of such tasks"
    assert estimate.starts(task(**AWAY), facts(**at_home(seen_at=NOW - 90_000), usual=usual)) is None


HELD_UP = {"status": Status.BLOCKED, "gate": "shop_busy"}
SEEN = durations.measured([1.0, 2.0, 2.0, 3.0])


def told(known: Facts, **fields: Any) -> tuple[str, str]:
    """The closed gate of a task behind a busy shop, as code and as sentence."""
    found = wait.closed(why_waiting(task(**(HELD_UP | fields)), known))
    assert found is not None
    return found.code, english(found.message)


def test_behind_the_same_work_that_runs_a_task_says_so_and_not_only_that_its_shop_is_busy() -> None:
    twin = task(task_id="first", status=Status.RUNNING, worker="w3", started_at=NOW - 17_000, progress=11, uniq="u")
    code, words = told(facts(holders=(twin,), twin=twin), uniq="u")
    assert code == "gate.twin_running_done"
    assert words.startswith("The same work runs already and is at 11.0 %, for 17 s now")
    assert told(facts(holders=(twin,)))[0] == "gate.shop_busy_done"


def test_nobody_is_asked_to_stop_the_same_work_unless_it_hangs() -> None:
    twin = task(task_id="first", status=Status.RUNNING, worker="w3", started_at=NOW - 17_000, progress=11, uniq="u")
    waits = task(**(HELD_UP | {"uniq": "u"}))
    views = why_waiting(waits, facts(holders=(twin,), twin=twin))
    assert wait.stoppable(wait.closed(views)) == ""
    assert wait.ways(waits, wait.closed(views)) == (("open_task", "id:first"),)
    then = next(view for view in views if view.name == "shop_busy")
    assert (then.state, then.code) == (NEXT, "gate.shop_twin"), "the shop is free after it"
    assert wait.stoppable(wait.closed(why_waiting(waits, facts(holders=(twin,))))) == "first", (
        "other work holds the shop"
    )
    hangs = task(task_id="first", status=Status.RUNNING, worker="w3", started_at=NOW - 10**7, uniq="u")
    runs = {(hangs.task_type, hangs.shop): SEEN}
    view = wait.closed(why_waiting(waits, facts(holders=(hangs,), twin=hangs, runs=runs)))
    assert (view.code if view else "", wait.stoppable(view)) == ("gate.twin_hung", "first")


def test_what_a_type_says_of_itself_is_not_called_usual() -> None:
    known = facts(holders=(RUNNING,), runs={(RUNNING.task_type, RUNNING.shop): durations.declared(20)})
    code, words = told(known)
    assert (code, "usually" in words) == ("gate.shop_busy", False)
    known = facts(holders=(RUNNING,), runs={(RUNNING.task_type, RUNNING.shop): SEEN})
    assert "usually" in told(known)[1]


def test_behind_a_task_that_hangs_nobody_is_promised_a_time_and_told_what_helps() -> None:
    long = task(task_id="long", status=Status.RUNNING, worker="w3", started_at=NOW - 43_000, task_type="crawl")
    known = facts(holders=(long,), runs={("crawl", long.shop): SEEN})
    code, words = told(known)
    assert (code, "stop it" in words) == ("gate.shop_hung", True)
    assert estimate.starts(task(**HELD_UP), known) is None
    gets_on = task(task_id="long", status=Status.RUNNING, worker="w3", started_at=NOW - 43_000, task_type="crawl",
                   progress=50)  # fmt: skip
    moving = facts(holders=(gets_on,), runs={("crawl", long.shop): SEEN})
    found = estimate.starts(task(**HELD_UP), moving)
    assert found is not None
    assert (found.basis, english(estimate.sentence(found)).endswith("by how far the running one is.")) == (
        durations.PROGRESS,
        True,
    )


def test_before_the_last_attempt_that_is_said() -> None:
    waits = {"status": Status.RETRYING, "gate": "", "due_at": NOW + 30_000, "attempt": 2, "max_retries": 2}
    assert told(facts(), **waits, retries=1)[0] == "gate.retry_delay"
    assert told(facts(), **waits, retries=2)[1] == (
        "Attempt 2 failed; the last one starts in 30 s. If that fails too, the task is a dead letter."
    )


def test_while_the_broker_does_not_answer_nothing_is_said_to_start() -> None:
    queued = task(status=Status.QUEUED)
    assert estimate.starts(queued, facts()) is not None
    assert estimate.starts(queued, facts(cut_off=True)) is None
    assert gates(queued, facts(cut_off=True))[BROKER].code == "gate.cut_off"
    assert told(facts(cut_off=True, lost_at=NOW - 9_000), status=Status.QUEUED, gate="")[1].startswith(
        "The broker has not answered for 9 s: nothing is handed to a worker until it is back"
    )
    assert told(facts(cut_off=True), status=Status.PENDING, gate="")[0] == "gate.unsent_lost"
    assert told(facts(way=PublisherNow(kind="disk")), status=Status.PENDING, gate="")[0] == "gate.unsent_disk"
    full = PublisherNow(kind="rejects", why="rpa_tasks_low")
    assert "rpa_tasks_low" in told(facts(way=full), status=Status.PENDING, gate="", lane="low")[1]
    for elsewhere in ({"lane": "high"}, {"lane": "low", "queue": "s1"}):
        assert told(facts(way=full), status=Status.PENDING, gate="", **elsewhere)[0] == "gate.unconfirmed"
    assert told(facts(way=PublisherNow(kind="silent")), status=Status.PENDING, gate="")[0] == "gate.unconfirmed"


def test_where_other_lanes_are_served_a_lane_is_named_and_else_any_worker_helps() -> None:
    queued = {"status": Status.QUEUED, "gate": "", "lane": "low"}
    assert told(facts(workers=0), **queued)[1] == "No worker is running; start one."
    others = facts(supply=Supply(serving=0, able=0, seen=("w1",)))
    assert told(others, **queued)[1] == "No running worker serves the lane low; start one."


@pytest.mark.parametrize(
    ("fields", "known", "offered"),
    [
        ({"gate": "session"}, {"session": ClosedSession(shop="pdd:shop017", kind="login_expired", since=NOW)},
         (("login_shop", "pdd:shop017"), ("open_session", "pdd:shop017"))),
        ({"gate": "paused"}, {"pauses": (Pause(scope="platform:pdd", by="ann"),)},
         (("resume", "platform:pdd"), ("try_anyway", "pdd_sync_order_shop017_1f3a9c20"))),
        ({"status": Status.QUEUED, "gate": ""}, {"workers": 0}, (("start_worker", ""),)),
        (AFTER, {"needs": (Need("a", task(task_id="a2", status=Status.DEAD)),)}, (("open_task", "id:a2"),)),
        (AFTER, {"needs": (Need("a", None),)}, ()),
        ({"status": Status.QUEUED, "gate": ""}, {"cut_off": True}, (("copy_server", ""),)),
        ({"status": Status.PENDING, "gate": ""}, {"cut_off": True}, (("copy_server", ""),)),
        ({"status": Status.PENDING, "gate": ""}, {}, ()),
        ({}, {"holders": (RUNNING,)}, ()),
    ],
)  # fmt: skip
def test_what_opens_the_gate_is_offered_there(fields: Any, known: Any, offered: Any) -> None:
    record = task(**(HELD_UP | fields))
    assert wait.ways(record, wait.closed(why_waiting(record, facts(**known)))) == offered


@pytest.mark.parametrize(
    ("fields", "message", "lane"),
    [
        (
            {"status": Status.BLOCKED, "gate": "paused"},
            "It is sent as soon as nothing else holds it.",
            "It takes its place in the lane once nothing else holds it.",
        ),
        (
            {"status": Status.RETRYING, "gate": "", "due_at": NOW + 106_000},
            "Its message enters the queue when it is due.",
            "It takes its place in the lane when it is due.",
        ),
        (
            {"status": Status.QUEUED, "gate": ""},
            "Its message is in the queue.",
            "It is next in its lane, and a slot is free.",
        ),
    ],
)
def test_the_last_steps_agree_with_whether_its_time_has_come(fields: dict[str, Any], message: str, lane: str) -> None:
    stopped = (Pause(scope="all", by="ann"),) if fields["gate"] else ()
    views = gates(task(**fields), facts(pauses=stopped))
    assert [english(views[name].message) for name in ("message", "lane_order")] == [message, lane]


def test_quiet_hours_say_until_when_and_that_is_when_it_starts() -> None:
    ends = NOW + 3_600_000
    night = Quiet(scope="platform:pdd", by="ann", at=NOW - 1, reason="sale", name="night", ends=ends, clock="06:00")
    late = Quiet(scope="all", by="bob", at=NOW - 1, reason="lunch", name="lunch", ends=ends + 60_000, clock="06:01")
    other = Quiet(scope="platform:temu", by="cyd", at=NOW - 1, reason="x", name="x", ends=ends * 2, clock="12:00")
    parked = task(status=Status.BLOCKED, gate="quiet_hours")
    known = facts(pauses=(other, night, late))
    view = wait.closed(why_waiting(parked, known))
    assert view is not None
    assert (view.name, view.state) == ("quiet_hours", CLOSED)
    told = english(view.message)
    assert told == "Quiet hours until 06:01, set by bob: lunch. It goes on by itself.", "the last to end is decisive"
    found = estimate.starts(parked, known)
    assert found is not None
    assert (found.basis, found.low_s) == (estimate.INSTANT, 3660.0)
    assert wait.ways(parked, view) == (("try_anyway", parked.task_id),)
    both = facts(pauses=(Pause(scope="all", by="a"), night))
    assert [one.name for one in why_waiting(parked, both) if one.state != OK][:2] == ["paused", "quiet_hours"]
    assert estimate.starts(parked, both) is None, "nobody knows when a pause ends"
