"""Why a task waits when everything is in its way at once: each gate in its turn, with its values, on both pairs."""

from __future__ import annotations

from services import assembly
from services.domain.change import Answer, Claim, Finish
from services.domain.fleet.shop import Shop
from services.domain.gates import home
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.insight.gates import GATES
from services.domain.insight.wait import GateView
from services.domain.task.record import Attempt
from tests.integration.fleet_rig import Fleet


def claim(fleet: Fleet, task_id: str) -> None:
    task = fleet.task(task_id)
    ask = Claim(task_id=task_id, gen=task.gen, attempt=task.attempt, owner=task_id, worker="w", lease_ms=600_000)
    assert fleet.apply(ask).code == "run"


def finish(fleet: Fleet, task_id: str, to: str = "succeeded", **fields: str) -> Answer:
    task = fleet.task(task_id)
    outcome = "failed" if to == "dead" else to
    attempt = Attempt(number=1, worker="w", started_at=task.started_at, ended_at=task.started_at + 1, outcome=outcome)
    return fleet.apply(Finish(task_id=task_id, owner=task_id, to=to, attempt=attempt, **fields))


def shut(fleet: Fleet, task_id: str, at: str = "") -> list[str]:
    """Names of the gates that are not open; the first, or the one ``at`` which it is, is what it waits for, the others
    would stop it then.
    """
    found = gates(fleet, task_id)
    assert [one.name for one in found] == [name for name in GATES if name != home.GATE], "it needs no profile"
    names = [one.name for one in found if one.state != "ok"]
    assert {one.name: one.state for one in found if one.state != "ok"} == {
        name: "closed" if name == (at or names[0]) else "next" for name in names
    }
    return names


def gates(fleet: Fleet, task_id: str) -> tuple[GateView, ...]:
    detail = assembly.queries(fleet.engine).tasks.detail(task_id)
    assert detail is not None
    return detail.gates


def first(fleet: Fleet, task_id: str) -> GateView:
    return next(one for one in gates(fleet, task_id) if one.state == "closed")


def told(fleet: Fleet, task_id: str, name: str) -> GateView:
    return next(one for one in gates(fleet, task_id) if one.name == name)


def slots(fleet: Fleet, concurrency: int) -> None:
    fleet.commands().fleet.import_shops([Shop(platform="pdd", shop_id="s1", concurrency=concurrency)])


def in_everybodys_way(fleet: Fleet) -> tuple[str, str, str]:
    """A plan behind every gate: it, the task that it depends on, and the one that holds its shop, limit and twin."""
    commands = fleet.commands()
    slots(fleet, 2)
    holder, before = fleet.create("s1", n=1), fleet.create("s9", kind="once")
    claim(fleet, holder)
    commands.breakers.set_rule(Rule(failures=2, of=3, cooldown_s=600, max_cooldown_s=600))
    for n in (2, 3):
        failed = fleet.create("s1", n=n)
        claim(fleet, failed)
        finish(fleet, failed, "dead", error="captcha", error_kind="captcha")
    slots(fleet, 1)
    fleet.engine.store.put_limit(Limit(scope="type:work", concurrency=1))
    commands.sessions.close("pdd:s1", note="no phone")
    commands.fleet.pause("shop:pdd:s1", reason="sale")
    task = fleet.create("s1", n=1, if_duplicate="queue", depends_on=(before,), delay_s=3600)
    return task, before, holder


def test_every_gate_in_its_turn(fleet: Fleet) -> None:
    task, before, holder = in_everybodys_way(fleet)
    rest = ["dependency", "paused", "session", "breaker", "shop_busy", "quota", "twin", "no_worker"]
    assert shut(fleet, task) == ["not_due", *rest]
    assert 3000 < first(fleet, task).params["seconds"] <= 3600
    commands = fleet.commands()
    commands.tasks.run_now([task])
    assert shut(fleet, task) == rest
    assert (first(fleet, task).params["id"], first(fleet, task).params["status"]) == (before, "queued")
    claim(fleet, before)
    fleet.engine.steps.publish(finish(fleet, before).released)
    assert shut(fleet, task) == rest[1:]
    assert (first(fleet, task).params["scope"], first(fleet, task).params["reason"]) == ("shop:pdd:s1", "sale")
    commands.fleet.resume("shop:pdd:s1")
    assert shut(fleet, task) == rest[2:]
    assert (first(fleet, task).code, first(fleet, task).params["reason"]) == ("gate.session_by", "no phone")
    commands.sessions.open("pdd:s1")
    assert shut(fleet, task) == rest[3:]
    assert (first(fleet, task).params["failed"], first(fleet, task).params["kind"]) == (2, "captcha")
    commands.breakers.close("pdd:s1")
    # the same work runs: neither a free place nor a higher limit would let it go
    assert shut(fleet, task, at="twin") == rest[4:]
    busy = told(fleet, task, "shop_busy").params
    assert (busy["holder"], busy["concurrency"]) == (holder, 1)
    slots(fleet, 2)
    assert shut(fleet, task, at="twin") == rest[5:]
    full = told(fleet, task, "quota").params
    assert (full["scope"], full["used"], full["limit"], full["holder"]) == ("type:work", 1, 1, holder)
    fleet.engine.store.put_limit(Limit(scope="type:work"))
    assert shut(fleet, task) == rest[6:]
    assert (first(fleet, task).code, first(fleet, task).params["twin"]) == ("gate.twin_running", holder)
    finish(fleet, holder)
    assert shut(fleet, task) == rest[7:]
    assert first(fleet, task).params["lane"] == "high"
    fleet.worker()
    fleet.wait(task, "succeeded")
    assert gates(fleet, task) == ()
