"""Records that are made of a notice: the message of another program is still in its queue, and its claim finds them."""

from __future__ import annotations

import pytest

from services.domain.change import Cancel, Create, Forget, GiveUp, Move
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig


def noticed(rig: Rig, **fields: object) -> Task:
    """A record as a notice makes it."""
    asked = rig.task(status=Status.QUEUED, origin="foreign", marks=("foreign", "noticed"), created_by="", **fields)
    answer = rig.ask(Create(task=asked, on_duplicate="queue"))
    assert (answer.code, answer.task is not None) == ("created", True)
    return rig.record(asked)


def foreign(task: Task) -> Task:
    """What a worker makes of the message."""
    return task.__class__(
        task_id=task.task_id, shop_id=task.shop_id, platform=task.platform, task_type=task.task_type,
        payload=task.payload, status=Status.QUEUED, origin="foreign", marks=("foreign",),
    )  # fmt: skip


def test_it_is_queued_with_no_message_of_ours(rig: Rig) -> None:
    task = noticed(rig)
    assert (task.status, [step.to for step in task.steps]) == ("queued", ["queued"])
    assert task.queued_at == task.updated_at
    assert rig.outbox() == set()
    assert rig.store.counts().status == {"queued": 1}


def test_its_shop_is_known_from_then_on(rig: Rig) -> None:
    noticed(rig, shop_id="new")
    rig.create(shop_id="created")
    rig.create(shop_id="misspelt", status=Status.DEAD)
    assert {shop.key: shop.unregistered for shop in rig.store.shops()} == {"pdd:new": True, "pdd:created": True}


def test_the_message_runs_it(rig: Rig) -> None:
    task = noticed(rig)
    answer = rig.claim(task, adopt=foreign(task))
    assert answer.code == "run"
    assert rig.record(task).marks == ("foreign",)
    assert rig.claim(task, "w2#1", adopt=foreign(task)).code == "duplicate"
    assert rig.store.delivered() == {}, "nobody knows when it was published"


def test_a_message_after_the_cancel_is_stale_once(rig: Rig) -> None:
    """The first is the one that was cancelled, the next was sent since."""
    task = noticed(rig)
    assert rig.ask(Cancel(task_id=task.task_id, by="ann")).code == "ok"
    assert rig.claim(task, adopt=foreign(task)).code == "stale"
    assert rig.record(task).marks == ("foreign",)
    assert rig.claim(task, adopt=foreign(task)).code == "ended"


def test_our_own_message_says_nothing_about_the_other(rig: Rig) -> None:
    task = noticed(rig)
    assert rig.ask(Move(task_id=task.task_id, by="ann", lane="high", priority=9)).code == "ok"
    moved = rig.record(task)
    assert (moved.gen, moved.status) == (1, "pending")
    assert rig.claim(moved).code == "run"
    assert rig.record(task).marks == ("foreign", "noticed")
    assert rig.claim(task, "w2#1", adopt=foreign(task)).code == "duplicate"
    assert rig.record(task).marks == ("foreign",)


def test_one_that_the_broker_gave_up_has_no_message_any_more(rig: Rig) -> None:
    task = noticed(rig)
    gone = GiveUp(task_id=task.task_id, gen=0, attempt=0, error="it expired", error_kind="unknown")
    assert rig.ask(gone).code == "ok"
    assert rig.record(task).marks == ("foreign",)
    assert rig.claim(task, adopt=foreign(task)).code == "ended"


@pytest.mark.parametrize("status", ["succeeded", "cancelled", "dead"])
def test_a_notice_of_what_has_ended_and_is_removed_makes_nothing(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    if status == "dead":
        rig.confirm(task)
    assert rig.ask(Forget(task_id=task.task_id, updated_at=rig.record(task).updated_at, tomb_ms=60_000)).code == "ok"
    late = rig.task(task_id=task.task_id, status=Status.QUEUED, origin="foreign")
    assert rig.ask(Create(task=late, on_duplicate="queue")).code == "exists"
    assert rig.store.get([task.task_id]) == [None]


def test_a_notice_of_what_is_known_changes_nothing(rig: Rig) -> None:
    task = rig.running()
    late = rig.task(task_id=task.task_id, payload=task.payload, status=Status.QUEUED, origin="foreign")
    assert rig.ask(Create(task=late, on_duplicate="queue")).code == "exists"
    assert rig.record(task) == task


def test_a_twin_of_another_program_waits_behind_the_first(rig: Rig) -> None:
    first = rig.create(uniq="same")
    second = noticed(rig, uniq="same")
    assert (second.status, "twin" in second.marks) == ("queued", True)
    assert rig.claim(second, adopt=foreign(second)).code == "blocked"
    assert rig.record(first).status == "pending"


def test_it_holds_back_a_twin_of_ours(rig: Rig) -> None:
    first = noticed(rig, uniq="same")
    answer = rig.ask(Create(task=rig.task(uniq="same")))
    assert (answer.code, answer.task and answer.task.task_id) == ("duplicate", first.task_id)
