"""The gate that is closed now, in made situations: list, explanation, filter, counts and command line say the same, on
both pairs.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from services import assembly
from services.domain.change import Claim, Create, Finish, Progress
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.insight.forecast.flow import headline
from services.domain.insight.gates import GATES
from services.domain.insight.wait import closed
from services.domain.task.record import Attempt
from services.domain.task.search.filter import FilterError
from services.domain.task.search.query import Total
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.messages import english, english_headline
from services.monitor.forecast.flow import look_once
from services.monitor.tasks import TaskQueries
from services.monitor.waits.waiting import Wait
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet


@pytest.fixture
def hall(fleet: Fleet) -> Fleet:
    """A fleet with a worker of two slots that is heard of and does nothing by itself."""
    beat(fleet)
    return fleet


def beat(fleet: Fleet, **fields: object) -> None:
    usual: dict[str, object] = {"slots": (SlotState(), SlotState()), "executors": ("rpa",), "node": "desk"}
    fleet.engine.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, **(usual | fields)))  # type: ignore[arg-type]


def claim(fleet: Fleet, task_id: str) -> str:
    """What a claim answers: run, or the gate at which it parked."""
    task = fleet.task(task_id)
    ask = Claim(task_id=task_id, gen=task.gen, attempt=task.attempt, owner=task_id, worker="w", lease_ms=600_000)
    answer = fleet.apply(ask)
    return answer.code if answer.code == "run" else fleet.task(task_id).gate


def finish(fleet: Fleet, task_id: str, to: str = "succeeded", **fields: str) -> None:
    started = fleet.task(task_id).started_at
    outcome = "succeeded" if to == "succeeded" else "failed"
    attempt = Attempt(number=1, worker="w", started_at=started, ended_at=started + 1, outcome=outcome)
    answer = fleet.apply(Finish(task_id=task_id, owner=task_id, to=to, attempt=attempt, **fields))
    fleet.engine.steps.publish(answer.released)


def go_on(fleet: Fleet) -> None:
    """Let the workers be heard of as they were: who asks slowly must not find them silent."""
    for info in fleet.engine.store.workers():
        fleet.engine.store.heartbeat(info)


def questions(fleet: Fleet) -> TaskQueries:
    go_on(fleet)
    return assembly.queries(fleet.engine).tasks


def ids(fleet: Fleet, text: str) -> set[str]:
    return set(questions(fleet).ids(text))


def say(fleet: Fleet, gate: str, *task_ids: str) -> Wait:
    """Check that everybody who is asked names this gate of these tasks, and of no others; the wait of the last one."""
    asked = questions(fleet)
    tasks = asked.get(list(task_ids))
    assert set(asked.gates(tasks).values()) == {gate}
    waits = asked.waits(tasks)
    assert {wait.gate.name for wait in waits.values()} == {gate}
    for task_id in task_ids:
        detail = asked.detail(task_id)
        assert detail is not None
        told = closed(detail.gates)
        assert told is not None
        assert (told.name, told.code) == (waits[task_id].gate.name, waits[task_id].gate.code)
    assert ids(fleet, f"gate:{gate}") == set(task_ids)
    page = asked.page(f"gate:{gate}", limit=1)
    assert page.total == len(task_ids)
    assert asked.gate_counts()[gate] == Total(len(task_ids))
    assert ids(fleet, f"-gate:{gate} status:waiting").isdisjoint(task_ids)
    others = ",".join(one for one in GATES if one != gate)
    assert ids(fleet, f"gate:{others}").isdisjoint(task_ids)
    return waits[task_ids[-1]]


def shown(fleet: Fleet, gate: str, *task_ids: str) -> set[str]:
    """Check that the command line names this gate too, in its list, by its filter and of each task; its sentences."""
    listed = call(fleet, "task", "list", "--filter", f"gate:{gate}")
    rows = {row["task_id"]: row["gate"] for row in listed["tasks"]}  # type: ignore[attr-defined]
    assert rows == dict.fromkeys(task_ids, gate)
    said = set()
    for task_id in task_ids:
        found = call(fleet, "task", "show", task_id)
        assert (found["gate"], found["task"]["gate"]) == (gate, gate)  # type: ignore[index]
        said.add(timeless(str(found["sentence"])))
    return said


def timeless(sentence: str) -> str:
    """A sentence without how long something has been so, which goes on between two questions."""
    return re.sub(r"\d[\d ]*(m \d+ )?s\b", "…", sentence)


def record_only(fleet: Fleet, shop: str, *, uniq: str = "") -> str:
    """A task whose message was never sent, as after the broker took none."""
    like = fleet.task(fleet.create("somewhere", n=uniq or shop))
    made = msgspec.structs.replace(
        like, task_id=f"unsent-{shop}", shop_id=shop, status=Status.PENDING, uniq=uniq, steps=(),
    )  # fmt: skip
    fleet.apply(Create(task=made))
    assert fleet.task(made.task_id).status == Status.PENDING
    return made.task_id


def call(fleet: Fleet, *words: object) -> dict[str, object]:
    go_on(fleet)
    drivers = ("--broker", fleet.settings.broker.url, "--redis", fleet.settings.store.url)
    return Cli(Path(fleet.settings.home), drivers if fleet.kind == "fleet" else ()).run(*words)


def many(fleet: Fleet, number: int, **fields: object) -> list[str]:
    """Tasks of the shop s1: the first runs, all others were looked at and parked."""
    made = [fleet.create("s1", n=n, **fields) for n in range(number)]
    assert claim(fleet, made[0]) == "run"
    for other in made[1:]:
        claim(fleet, other)
    return made


def test_all_tasks_of_a_logged_out_shop_need_a_login(hall: Fleet) -> None:
    first, *rest = many(hall, 14)
    assert {hall.task(one).gate for one in rest} == {"shop_busy"}
    finish(hall, first, "blocked", error="login", error_kind="login_expired")
    assert [one.shop for one in hall.engine.store.sessions()] == ["pdd:s1"]
    late, other = hall.create("s1", n=99), hall.create("s2")
    wait = say(hall, "session", first, *rest, late)
    assert wait.gate.code == "gate.session_login"
    assert wait.starts is None, "nobody can tell when somebody logs in"
    say(hall, "lane_order", other)
    document = call(hall, "task", "list", "--filter", "gate:session", "--limit", 50)
    assert {one["gate"] for one in document["tasks"]} == {"session"}  # type: ignore[attr-defined]
    assert document["total"] == document["at_least"] == 15
    numbers = call(hall, "stats")
    assert (numbers["gates"], numbers["gates_at_least"]) == ({"session": 15, "lane_order": 1}, [])
    shown = call(hall, "task", "show", rest[0])
    assert (shown["gate"], shown["estimate"]) == ("session", None)
    assert "must be logged in again" in str(shown["sentence"])
    task = shown["task"]
    assert (task["gate"], task["parked_at"]) == ("session", hall.task(rest[0]).gate)  # type: ignore[index]
    assert hall.task(hall.create("s1", depends_on=(other,))).gate == "dependency"
    (item,) = (one for one in assembly.standing(hall.engine).attention if one.key == "session:pdd:s1")
    assert item.params["waiting"] == 15
    assert ids(hall, dict(item.verbs)["open_tasks"]) == {first, *rest, late}


def test_after_the_login_the_others_wait_for_the_one_that_goes(hall: Fleet) -> None:
    first, *rest = many(hall, 4)
    finish(hall, first, "blocked", error="login", error_kind="login_expired")
    hall.commands().sessions.open("pdd:s1")
    (goes,) = ids(hall, "status:queued,pending")
    parked = {first, *rest} - {goes}
    say(hall, "shop_busy", *parked)
    say(hall, "lane_order", goes)
    assert claim(hall, goes) == "run"
    wait = say(hall, "shop_busy", *parked)
    assert wait.gate.params["holder"] == goes


def test_tasks_behind_an_open_breaker(hall: Fleet) -> None:
    hall.commands().breakers.set_rule(Rule(failures=2, of=3, cooldown_s=600, max_cooldown_s=600))
    first, *rest = many(hall, 5)
    finish(hall, first, "dead", error="no", error_kind="network")
    second = next(one for one in rest if hall.task(one).status != "blocked")
    assert claim(hall, second) == "run"
    finish(hall, second, "dead", error="no", error_kind="network")
    late = hall.create("s1", n=77)
    wait = say(hall, "breaker", *(one for one in rest if one != second), late)
    assert wait.gate.code == "gate.breaker"
    assert wait.starts is None or wait.starts.low_s > 500


def test_a_paused_platform(hall: Fleet) -> None:
    _, *rest = many(hall, 3)
    other = hall.create("s2")
    commands = hall.commands().fleet
    commands.pause("platform:pdd", reason="sale")
    wait = say(hall, "paused", *rest, other)
    assert wait.gate.params["reason"] == "sale"
    commands.resume("platform:pdd")
    say(hall, "shop_busy", *rest)
    say(hall, "lane_order", other)
    commands.pause("type:work", reason="broken")
    say(hall, "paused", *rest, other)


def test_a_high_task_behind_a_running_one_says_which_how_far_and_when(hall: Fleet) -> None:
    slow = task_type.dump(TaskType(name="slow", expected_s=600))
    hall.engine.store.put_document("type", "slow", slow)
    hall.engine.registry.forget()
    holder = hall.create("s1", kind="slow", n=1)
    assert claim(hall, holder) == "run"
    hall.apply(Progress(task_id=holder, owner=holder, progress=1))
    high = hall.create("s1", kind="slow", n=2, priority="high")
    assert hall.task(high).status == "queued"
    wait = say(hall, "shop_busy", high)
    assert wait.gate.params["holder"] == holder
    assert wait.gate.params["ahead"] == 0
    assert wait.gate.params["progress"] == 1
    assert wait.starts is not None
    assert 200 < wait.starts.low_s < 500 < wait.starts.mid_s < 700 < wait.starts.high_s < 1600
    # nothing was measured: what the type says of itself is not what is usual
    assert ("slow is at 1.0 %" in english(wait.gate.message), "usually" in english(wait.gate.message)) == (True, False)
    shown = call(hall, "task", "show", high)
    assert shown["estimate"]["basis"] == "declared"  # type: ignore[index]
    assert "slow is at 1.0 %" in str(shown["sentence"])


def test_it_starts_at_any_moment_only_where_a_living_slot_is_free(hall: Fleet) -> None:
    task = hall.create("s2")
    wait = say(hall, "lane_order", task)
    assert wait.gate.code == "gate.front"
    assert wait.starts is not None
    assert wait.starts.at_once
    beat(hall, slots=(SlotState(task_id="another", shop="pdd:s9", task_type="work", since=1),))
    wait = say(hall, "lane_order", task)
    assert wait.gate.code == "gate.front_full"
    assert wait.starts is None or not wait.starts.at_once
    beat(hall, state="draining")
    assert say(hall, "no_worker", task).starts is None
    engine = hall.engine
    told = english_headline(headline(look_once(engine.store, engine.broker, engine.registry, engine.clock)))
    assert told == "1 task waiting; 1 worker drains and takes no more: resume it"


def test_no_worker_and_none_that_can_run_it(hall: Fleet) -> None:
    page = hall.create("s1", kind="flow")
    beat(hall, executors=("python",))
    assert say(hall, "no_worker", page).gate.code == "gate.needs_executor"
    assert claim(hall, page) == "run", "whoever claims says itself whether it can"


def test_a_full_type(hall: Fleet) -> None:
    hall.engine.store.put_limit(Limit(scope="type:work", concurrency=1))
    holder, waiting, late = hall.create("s1"), hall.create("s2"), hall.create("s3")
    assert claim(hall, holder) == "run"
    assert claim(hall, waiting) == "quota"
    wait = say(hall, "quota", waiting, late)
    assert wait.gate.params["holder"] == holder
    assert wait.gate.params["scope"] == "type:work"


def test_a_dead_dependency(hall: Fleet) -> None:
    before = hall.create("s1", n=1)
    after = hall.create("s2", depends_on=(before,))
    assert say(hall, "dependency", after).gate.code == "gate.dependency"
    assert claim(hall, before) == "run"
    finish(hall, before, "dead", error="no", error_kind="captcha")
    hall.commands().fleet.pause("platform:pdd", reason="sale")
    wait = say(hall, "dependency", after)
    assert (wait.gate.code, wait.starts) == ("gate.dependency_dead", None)


def test_a_twin_of_one_that_runs(hall: Fleet) -> None:
    hall.shop("s1", concurrency=2)
    hall.engine.registry.forget()
    first = hall.create("s1", n=1)
    assert claim(hall, first) == "run"
    second, third = (hall.create("s1", n=1, if_duplicate="queue") for _ in range(2))
    assert claim(hall, second) == "twin"
    wait = say(hall, "twin", second, third)
    assert wait.gate.params["twin"] == first


def test_the_same_work_twice_in_a_shop_that_runs_one_at_a_time_has_one_reason(hall: Fleet) -> None:
    first = hall.create("s1", n=1)
    assert claim(hall, first) == "run"
    second = hall.create("s1", n=1, if_duplicate="queue")
    assert claim(hall, second) == "shop_busy", "that is what it met"
    other = hall.create("s1", n=2)
    assert claim(hall, other) == "shop_busy"
    wait = say(hall, "twin", second)
    assert (wait.gate.code, wait.gate.params["holder"]) == ("gate.twin_running", first)
    assert say(hall, "shop_busy", other).gate.params["holder"] == first
    assert shown(hall, "twin", second) == {timeless(english(Message(wait.gate.code, wait.gate.params)))}
    assert flow_says(hall) == {"later": 1}, "the other one just waits for its shop"


@pytest.mark.parametrize("why", ["disk alarm", ""])
def test_what_the_broker_does_not_take_waits_for_nothing_else(hall: Fleet, why: str) -> None:
    holder = hall.create("s1", n=1)
    assert claim(hall, holder) == "run"
    unsent = [record_only(hall, "s1"), record_only(hall, "s2"), record_only(hall, "s3")]
    hall.commands().fleet.pause("shop:pdd:s3", reason="sale")
    now = hall.engine.store.now_ms()
    link = LinkState(blocked_at=now, why=why) if why else LinkState(unanswered=9, unanswered_at=now - 60_000)
    beat(hall, link=link)
    wait = say(hall, "message", *unsent)
    assert wait.gate.code == ("gate.unsent_disk" if why else "gate.unconfirmed")
    engine = hall.engine
    facts = look_once(engine.store, engine.broker, engine.registry, engine.clock).facts
    assert not why or (facts.blocked, facts.unsent) == (True, len(unsent)), "the headline counts the same ones"
    beat(hall)
    say(hall, "shop_busy", unsent[0])
    say(hall, "message", unsent[1])
    say(hall, "paused", unsent[2])


def test_what_is_not_due(hall: Fleet) -> None:
    plan = hall.create("s1", delay_s=3600)
    wait = say(hall, "not_due", plan)
    assert wait.starts is not None
    assert 3500 < wait.starts.low_s == wait.starts.high_s <= 3600


def test_a_plan_that_nobody_sends_is_late_and_not_at_any_moment(hall: Fleet) -> None:
    plan = hall.create("s1", delay_s=1)
    now = hall.engine.store.now_ms
    eventually(lambda: now() > hall.task(plan).due_at + 1000, 10)
    wait = say(hall, "not_due", plan)
    assert (wait.gate.code, wait.starts) == ("gate.overdue", None)
    assert english(Message(wait.gate.code, wait.gate.params)).startswith("Was to start")


def test_words_that_are_no_gate_are_refused_and_prefixes_find_their_gates(hall: Fleet) -> None:
    task = hall.create("s2")
    with pytest.raises(FilterError, match="nowhere is no gate"):
        ids(hall, "gate:nowhere")
    assert ids(hall, "gate:lane*") == {task}
    assert ids(hall, "gate:session,lane_order shop:pdd:s2") == {task}
    assert ids(hall, "-gate:lane_order") == set()


def flow_says(fleet: Fleet) -> dict[str, int]:
    """What the headline says of the tasks that do not just start, by reason."""
    engine = fleet.engine
    facts = look_once(engine.store, engine.broker, engine.registry, engine.clock).facts
    return {**dict(facts.persons), **({"later": facts.later} if facts.later else {})}


def test_the_headline_counts_at_the_gates_that_the_list_names(hall: Fleet) -> None:
    before = hall.create("s1", n=1)
    after = hall.create("s2", depends_on=(before,))
    parked = hall.create("s3")
    assert claim(hall, before) == "run"
    finish(hall, before, "dead", error="no", error_kind="captcha")
    hall.commands().fleet.pause("platform:pdd", reason="sale")
    say(hall, "dependency", after)
    say(hall, "paused", parked)
    assert flow_says(hall) == {"dependency": 1, "paused": 1}


def test_several_pauses_are_counted_one_by_one(hall: Fleet) -> None:
    commands, engine = hall.commands(), hall.engine
    commands.fleet.pause("type:work", reason="sale")
    commands.fleet.pause("shop:pdd:s2", reason="holiday")
    for name in ("s1", "s3", "s4"):
        assert claim(hall, hall.create(name)) == "paused"
    assert claim(hall, hall.create("s2", kind="other")) == "paused"
    assert claim(hall, hall.create("s2")) == "paused"
    facts = look_once(engine.store, engine.broker, engine.registry, engine.clock).facts
    told = [(pause.scope, number) for pause, number in facts.pauses]
    assert told == [("type:work", 3), ("shop:pdd:s2", 2)], "the widest one is told of a task"
    commands.fleet.resume("type:work")
    facts = look_once(engine.store, engine.broker, engine.registry, engine.clock).facts
    assert (facts.pauses, facts.pause.scope if facts.pause else "") == ((), "shop:pdd:s2")


def test_the_headline_knows_a_lane_that_no_worker_serves(hall: Fleet) -> None:
    task, other = hall.create("s1"), hall.create("s2", priority=9)
    assert flow_says(hall) == {}
    beat(hall, lanes=(hall.task(other).lane,))
    say(hall, "no_worker", task)
    assert flow_says(hall) == {"need": 1}


def test_the_headline_asks_for_a_worker_where_the_one_that_could_run_nothing_has_left(hall: Fleet) -> None:
    engine, task = hall.engine, hall.create("s1", kind="flow")
    beat(hall, executors=("python",))
    ask = Claim(task_id=task, gen=0, attempt=0, owner=task, worker="w", lease_ms=600_000, able=False)
    assert hall.apply(ask).code == "blocked"
    assert flow_says(hall) == {"need": 1}
    beat(hall, state="stopped")
    assert flow_says(hall) == {}
    told = english_headline(headline(look_once(engine.store, engine.broker, engine.registry, engine.clock)))
    assert told == "1 task waiting; no worker takes tasks: start one"
