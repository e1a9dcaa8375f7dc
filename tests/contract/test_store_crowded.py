"""Many tasks of one shop: most of them wait in its lot from the start, without a message that would only be parked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.domain.change import Cancel, Create, Move, Nudge, OpenShop, Republish
from services.domain.step.transitions import BELIEVED_MS, LOOK_AHEAD
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig


def flood(rig: Rig, count: int, **fields: object) -> list[Task]:
    """So many tasks of one shop, created in one call; the messages of those that need one are confirmed."""
    now = rig.store.now_ms() - count
    tasks = [rig.task(created_at=now + number, **fields) for number in range(count)]
    answers = rig.store.apply([Create(task=task) for task in tasks])
    assert {answer.code for answer in answers} == {"created"}
    for answer in answers:
        if answer.task is not None and answer.task.status == Status.PENDING:
            assert rig.confirm(answer.task).code == "ok"
    return [rig.record(task) for task in tasks]


#: shops by the priority of what floods them: one of their own, and the usual one
SHOPS = {"s1": 6, "s2": 5}


@pytest.fixture(params=list(SHOPS.values()))
def crowd(rig: Rig, request: pytest.FixtureRequest) -> list[Task]:
    """One more than go ahead of time, and two that are parked; of a priority of their own, and of the usual one."""
    return flood(rig, LOOK_AHEAD + 3, priority=request.param)


def under_way(crowd: list[Task]) -> list[Task]:
    return crowd[: LOOK_AHEAD + 1]


def test_the_first_have_messages_the_others_wait_in_the_lot(rig: Rig, crowd: list[Task]) -> None:
    assert [(task.status, task.gate) for task in crowd] == [("queued", "")] * (LOOK_AHEAD + 1) + [
        ("blocked", "shop_busy")
    ] * 2
    assert rig.outbox() == set()
    assert rig.store.parked_shops(10) == ["pdd:s1"]
    counts = rig.store.counts()
    assert (counts.status["queued"], counts.status["blocked"]) == (LOOK_AHEAD + 1, 2)
    assert [(step.from_, step.to) for step in crowd[-1].steps] == [("", "blocked")]


def test_another_shop_does_not_notice(rig: Rig, crowd: list[Task]) -> None:
    assert rig.create(shop_id="s2").status == Status.PENDING
    assert rig.create(platform="temu").status == Status.PENDING


def test_more_slots_more_messages(rig: Rig) -> None:
    rig.shop("s1", concurrency=3)
    assert [task.status for task in flood(rig, LOOK_AHEAD + 4)] == ["queued"] * (LOOK_AHEAD + 3) + ["blocked"]


def test_who_is_parked_goes_when_nobody_goes_first_any_more(rig: Rig, crowd: list[Task]) -> None:
    done = []
    for task in under_way(crowd):
        answer = rig.claim(task)
        assert answer.code == "run"
        assert answer.task is not None
        done.append(rig.finish(answer.task).released)
    assert [len(released) for released in done] == [0] * LOOK_AHEAD + [1]
    (next_,) = done[-1]
    assert (next_.task_id, next_.status) == (crowd[-2].task_id, Status.PENDING)
    answer = rig.claim(next_)
    assert answer.task is not None
    assert [task.task_id for task in rig.finish(answer.task).released] == [crowd[-1].task_id]


def test_messages_that_come_while_one_runs_join_the_lot_in_their_place(rig: Rig, crowd: list[Task]) -> None:
    first, *others = under_way(crowd)
    running = rig.claim(first).task
    assert running is not None
    assert {rig.claim(task, f"w{place}#1").code for place, task in enumerate(others)} == {"blocked"}
    assert [task.task_id for task in rig.finish(running).released] == [crowd[1].task_id]


def test_the_next_ones_line_up_behind_the_parked(rig: Rig, crowd: list[Task]) -> None:
    first, *others = under_way(crowd)
    assert rig.claim(first).code == "run"
    for task in others:
        rig.ask(Cancel(task_id=task.task_id, by="ann"))
    assert rig.create().status == Status.BLOCKED, "although nothing is on its way"


def test_an_urgent_one_overtakes(rig: Rig, crowd: list[Task]) -> None:
    urgent = rig.create(priority=9, lane="high")
    assert urgent.status == Status.PENDING, "nobody so urgent goes first"
    running = rig.claim(urgent).task
    assert running is not None
    assert running.status == Status.RUNNING
    second = rig.create(priority=9, lane="high")
    assert second.status == Status.BLOCKED
    assert [task.task_id for task in rig.finish(running).released] == [second.task_id]


def test_a_parked_one_that_becomes_urgent_goes_at_once(rig: Rig, crowd: list[Task]) -> None:
    answer = rig.ask(Move(task_id=crowd[-1].task_id, lane="high", priority=9, by="ann"))
    assert [(task.task_id, task.priority) for task in answer.released] == [(crowd[-1].task_id, 9)]
    assert rig.claim(crowd[0]).code == "blocked", "the slot is promised"


def _cancelled(rig: Rig, task: Task) -> list[Task]:
    return list(rig.ask(Cancel(task_id=task.task_id, by="ann")).released)


def _run(rig: Rig, task: Task) -> list[Task]:
    running = rig.claim(task).task
    assert running is not None
    return list(rig.finish(running).released)


@pytest.mark.parametrize("leave", [_cancelled, _run])
def test_whoever_leaves_last_lets_the_parked_go(
    rig: Rig, crowd: list[Task], leave: Callable[[Rig, Task], list[Task]]
) -> None:
    *others, last = under_way(crowd)
    assert [leave(rig, task) for task in others] == [[]] * LOOK_AHEAD
    assert [task.task_id for task in leave(rig, last)] == [crowd[-2].task_id]


def test_a_parked_one_can_be_cancelled(rig: Rig, crowd: list[Task]) -> None:
    assert rig.ask(Cancel(task_id=crowd[-2].task_id, by="ann")).code == "ok"
    for task in under_way(crowd):
        released = _run(rig, task)
    assert [task.task_id for task in released] == [crowd[-1].task_id]


def test_a_plan_that_falls_due_waits_too(rig: Rig, crowd: list[Task]) -> None:
    plan = {"status": Status.SCHEDULED, "priority": crowd[0].priority}
    planned = rig.create(**plan, due_at=rig.store.now_ms() + 1)
    rig.pass_time(0.05)
    assert rig.ask(Nudge(task_id=planned.task_id, gen=0, attempt=0)).code == "ok"
    record = rig.record(planned)
    assert (record.status, record.gate, record.due_at) == (Status.BLOCKED, "shop_busy", 0)
    later = rig.create(**plan, due_at=rig.store.now_ms() + 90_000)
    moved = rig.ask(Move(task_id=later.task_id, lane="normal", priority=5, by="ann", run_now=True)).task
    assert moved is not None
    assert (moved.status, moved.gate) == (Status.BLOCKED, "shop_busy")


def test_a_republished_letter_waits_too(rig: Rig) -> None:
    letter = rig.dead()
    flood(rig, LOOK_AHEAD + 1)
    answer = rig.ask(Republish(task_id=letter.task_id, task=rig.task(parent=letter.task_id), by="ann"))
    assert answer.code == "ok"
    assert answer.task is not None
    assert (answer.task.status, answer.task.gate) == (Status.BLOCKED, "shop_busy")


def test_a_sweep_waits_for_those_on_their_way_but_not_for_ever(rig: Rig) -> None:
    """A priority of their own, and the usual one; at once, because half a minute passes in real time on a server."""
    crowds = {shop: flood(rig, LOOK_AHEAD + 3, shop_id=shop, priority=priority) for shop, priority in SHOPS.items()}
    for shop in SHOPS:
        assert rig.ask(OpenShop(shop=f"pdd:{shop}", most=5)).released == ()
    rig.pass_time(BELIEVED_MS / 1000 + 1)
    for shop, crowd in crowds.items():
        released = rig.ask(OpenShop(shop=f"pdd:{shop}", most=5)).released
        assert [task.task_id for task in released] == [crowd[-2].task_id]


def test_once_all_are_done_the_next_flood_begins_anew(rig: Rig) -> None:
    for task in flood(rig, LOOK_AHEAD + 1):
        _run(rig, task)
    assert [task.status for task in flood(rig, LOOK_AHEAD + 2)] == ["queued"] * (LOOK_AHEAD + 1) + ["blocked"]
