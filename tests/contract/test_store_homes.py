"""Where shops are at home: set by the first claim that needs the profile, and what others meet."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.change import Answer, Cancel, Create, Move, Rehome
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig

KIND = ("normal", "sync_order")


def settled(rig: Rig, node: str = "desk", shop: str = "s1") -> None:
    """The shop's first task ran on this node."""
    rig.finish(started(rig, node, shop_id=shop))


def started(rig: Rig, node: str, **fields: Any) -> Task:
    """A task that runs on a node, with the profile of its shop."""
    answer = rig.claim(rig.queued(**fields), home=node)
    assert answer.code == "run"
    assert answer.task is not None
    return answer.task


def away(rig: Rig, node: str = "hall", **fields: Any) -> Task:
    """A task whose message came to another node."""
    answer = rig.claim(rig.queued(**fields), f"{node}#1", home=node)
    assert answer.code == "blocked"
    assert answer.task is not None
    return answer.task


def homes(rig: Rig) -> dict[str, str]:
    """Nodes by shop."""
    return {shop: one.node for shop, one in rig.store.homes().items()}


def heard(rig: Rig, node: str) -> frozenset[tuple[str, str]]:
    """What a worker of a node is told to fetch."""
    answer = rig.store.heartbeat(WorkerInfo(worker=f"{node}-w", host="h", pid=1, node=node))
    assert answer.unserved == frozenset()
    found: frozenset[tuple[str, str]] = answer.homebound
    return found


def test_the_first_claim_that_needs_the_profile_sets_the_home(rig: Rig) -> None:
    before = rig.store.now_ms()
    rig.finish(rig.running(shop_id="plain"))
    settled(rig, "desk", "s1")
    settled(rig, "hall", "s2")
    settled(rig, "desk", "s1")
    assert homes(rig) == {"pdd:s1": "desk", "pdd:s2": "hall"}
    one = rig.store.homes(["pdd:s1", "pdd:plain"])
    assert list(one) == ["pdd:s1"]
    assert before <= one["pdd:s1"].since <= rig.store.now_ms()
    assert rig.store.homes([]) == {}


def test_who_did_not_get_it_is_no_home(rig: Rig) -> None:
    rig.store.set_pause(Pause(scope="all", by="ann"))
    assert rig.claim(rig.queued(), home="desk").code == "blocked"
    rig.store.clear_pause("all")
    assert homes(rig) == {}


def test_elsewhere_it_waits_for_its_home_in_no_lot(rig: Rig) -> None:
    settled(rig)
    start = rig.store.events("", 1, 0).cursor
    task = away(rig)
    record = rig.record(task)
    assert (record.status, record.gate, record.attempt) == (Status.BLOCKED, "home_node:desk", 0)
    assert [(event.from_, event.to) for event in rig.all_events(start)][-1] == ("queued", "blocked")
    assert rig.outbox() == set()
    assert rig.store.parked_shops(10) == []
    assert rig.open() == []
    assert rig.finish(rig.running(owner="w2#1")).released == ()
    assert rig.record(task) == record
    assert rig.store.unserved() == {}
    assert rig.store.homebound() == {(*KIND, "desk"): 1}


def test_workers_of_its_home_hear_of_it_and_claim_it_without_a_message(rig: Rig) -> None:
    settled(rig)
    task = away(rig)
    assert heard(rig, "desk") == {KIND}
    assert heard(rig, "hall") == heard(rig, "") == frozenset()
    assert rig.store.unserved_tasks([KIND], 5) == []
    assert rig.store.unserved_tasks([(*KIND, "hall")], 5) == []
    (found,) = rig.store.unserved_tasks([(*KIND, "desk")], 5)
    assert found == task
    answer = rig.claim(found, "desk#2", home="desk")
    assert answer.code == "run"
    assert rig.store.homebound() == {}
    assert heard(rig, "desk") == frozenset()


def test_what_needs_no_profile_runs_anywhere(rig: Rig) -> None:
    settled(rig)
    assert rig.claim(rig.queued(), "hall#1").code == "run"


def test_the_gates_before_it_are_closed_first_and_a_capable_worker_comes_after_it(rig: Rig) -> None:
    settled(rig)
    busy = started(rig, "desk")
    waits = rig.queued()
    assert rig.claim(waits, "hall#1", home="hall").task.gate == "shop_busy"  # type: ignore[union-attr]
    (freed,) = rig.finish(busy).released
    rig.confirm(freed)
    blocked = rig.claim(freed, "hall#2", home="hall", able=False).task
    assert blocked is not None
    assert blocked.gate == "home_node:desk"
    # at home nobody can run it: it waits for a capable one, who sends it home again
    assert rig.claim(blocked, "desk#3", able=False).task.gate == "no_worker"  # type: ignore[union-attr]
    assert rig.store.unserved() == {KIND: 1}
    assert rig.claim(blocked, "hall#4", home="hall").task.gate == "home_node:desk"  # type: ignore[union-attr]
    assert rig.store.unserved() == {}
    assert rig.store.homebound() == {(*KIND, "desk"): 1}


def test_a_promised_slot_is_kept_on_the_way_home_and_not_for_ever(rig: Rig) -> None:
    settled(rig)
    busy, first, second = started(rig, "desk"), rig.queued(), rig.queued()
    for task in (first, second):
        assert rig.claim(task, "desk#9", home="desk").code == "blocked"
    (freed,) = rig.finish(busy).released
    rig.confirm(freed)
    assert rig.claim(freed, "hall#1", home="hall").code == "blocked"
    assert rig.open() == [], "nobody overtakes it"
    assert rig.claim(freed, "desk#2", home="desk").code == "run"
    assert freed.task_id == first.task_id


def test_the_best_of_a_node_come_first_and_those_of_others_stay(rig: Rig) -> None:
    for shop, node in (("s1", "desk"), ("s2", "desk"), ("s3", "hall")):
        settled(rig, node, shop)
    now = rig.store.now_ms()
    young, old = (away(rig, "x", shop_id=shop, created_at=now - age) for shop, age in (("s1", 100), ("s2", 5_000)))
    urgent = away(rig, "x", shop_id="s1", priority=9, lane="high", task_type="mail")
    other = away(rig, "x", shop_id="s3")
    kinds = [(*KIND, "desk"), ("high", "mail", "desk")]
    found = [task.task_id for task in rig.store.unserved_tasks(kinds, 5)]
    assert found == [urgent.task_id, old.task_id, young.task_id]
    assert [task.task_id for task in rig.store.unserved_tasks([(*KIND, "hall")], 5)] == [other.task_id]
    assert rig.store.homebound() == {(*KIND, "desk"): 2, ("high", "mail", "desk"): 1, (*KIND, "hall"): 1}


def test_a_moved_shop_lets_its_tasks_go_to_the_new_home(rig: Rig) -> None:
    settled(rig)
    task, other = away(rig), away(rig)
    rig.store.put_home("pdd:s1", "hall")
    assert homes(rig) == {"pdd:s1": "hall"}
    answer = rig.ask(Rehome(task_id=task.task_id, by="ann"))
    assert answer.code == "ok"
    assert answer.task is not None
    assert (answer.task.status, answer.task.gen, answer.task.gate) == (Status.PENDING, task.gen + 1, "")
    assert task.task_id in rig.outbox()
    assert rig.store.homebound() == {(*KIND, "desk"): 1}
    rig.confirm(answer.task)
    assert rig.claim(task, "hall#1", home="hall").code == "stale", "the message from before the move"
    assert rig.claim(answer.task, "desk#1", home="desk").code == "blocked"
    assert rig.record(task).gate == "home_node:hall"
    assert rig.ask(Rehome(task_id=task.task_id, by="ann")).code == "stale", "it waits for the right one"
    # who fetched the other one meets the new home too
    assert rig.claim(other, "desk#2", home="desk").code == "blocked"
    assert rig.store.homebound() == {(*KIND, "hall"): 2}


@pytest.mark.parametrize("status", ["pending", "queued", "running", "retrying", "succeeded", "dead"])
def test_only_what_waits_for_a_home_is_let_go(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    assert rig.ask(Rehome(task_id=task.task_id, by="ann")).code == "stale"
    assert rig.ask(Rehome(task_id="nobody", by="ann")) == Answer("missing")
    assert rig.record(task) == task


def test_it_may_be_cancelled_moved_and_counted_while_it_waits(rig: Rig) -> None:
    settled(rig)
    task, other = away(rig), away(rig)
    assert rig.ask(Cancel(task_id=task.task_id, by="ann")).code == "ok"
    moved = rig.ask(Move(task_id=other.task_id, by="ann", lane="high", priority=9)).task
    assert moved is not None
    assert (moved.status, moved.gate) == (Status.BLOCKED, "home_node:desk")
    assert rig.store.homebound() == {("high", "sync_order", "desk"): 1}
    assert [one.count for one in rig.store.recount(mend=False)] == []
    assert rig.claim(moved, "desk#1", home="desk").code == "run"


def test_a_twin_behind_it_waits_on(rig: Rig) -> None:
    settled(rig)
    first = away(rig, uniq="U")
    second = rig.task(uniq="U")
    assert rig.ask(Create(task=second, on_duplicate="queue")).code == "created"
    rig.confirm(second)
    assert rig.claim(second, "desk#5", home="desk").task.gate == "twin"  # type: ignore[union-attr]
    assert rig.claim(first, "desk#6", home="desk").code == "run"
