"""Operations for whose answers nobody waits: whoever asks the same store finds them applied, others a little later."""

from __future__ import annotations

import itertools
import threading

import pytest

from services.domain.change import Cancel, Create, Op, Published
from services.domain.errors import TaskError
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.ports import Store
from tests.contract.conftest import open_store
from tests.contract.rig import Rig
from tests.contract.waiting import eventually


def confirmed(task: Task) -> Published:
    """The broker has its message."""
    return Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt)


def test_who_asks_the_same_store_finds_them_applied(rig: Rig) -> None:
    for number in range(20):
        task = rig.create(shop_id=f"s{number}")
        rig.store.apply_soon([confirmed(task)])
        assert rig.record(task).status == Status.QUEUED
        assert rig.outbox() == set()
    assert rig.store.counts().status == {Status.QUEUED: 20}


def test_others_find_them_although_nobody_asks(rig: Rig, second_store: Store) -> None:
    task = rig.create()
    rig.store.apply_soon([confirmed(task)])
    eventually(lambda: second_store.counts().status == {Status.QUEUED: 1})


def test_they_come_before_what_is_applied_later(rig: Rig) -> None:
    tasks = [rig.create(shop_id=f"s{number}") for number in range(3)]
    rig.store.apply_soon([confirmed(task) for task in tasks])
    rig.store.apply([Cancel(task_id=task.task_id, by="ann") for task in tasks])
    for task in tasks:
        assert [step.to for step in rig.record(task).steps] == [Status.PENDING, Status.QUEUED, Status.CANCELLED]


def test_the_answers_are_those_of_the_batch_they_went_with(rig: Rig) -> None:
    earlier = [rig.create(shop_id=f"s{number}") for number in range(5)]
    rig.store.apply_soon([confirmed(task) for task in earlier])
    later = [rig.task() for _ in range(3)]
    answers = rig.store.apply([Create(task=task) for task in later])
    assert [(answer.code, answer.task and answer.task.task_id) for answer in answers] == [
        ("created", task.task_id) for task in later
    ]


@pytest.mark.parametrize("count", [49, 200, 450])
def test_more_than_go_with_one_batch(rig: Rig, count: int) -> None:
    tasks = [rig.task(shop_id=f"s{number}") for number in range(count)]
    rig.store.apply([Create(task=task) for task in tasks])
    for task in tasks:
        rig.store.apply_soon([Published(task_id=task.task_id, status="pending", gen=0, attempt=0)])
    answers = rig.store.apply([Cancel(task_id=task.task_id, by="ann") for task in tasks])
    assert {answer.code for answer in answers} == {"ok"}
    assert {tuple(step.to for step in task.steps) for task in rig.store.get([t.task_id for t in tasks]) if task} == {
        ("pending", "queued", "cancelled")
    }


def test_what_is_not_so_any_more_disturbs_nobody(rig: Rig) -> None:
    task = rig.create()
    rig.store.apply_soon([Published(task_id="nobody", status="pending", gen=0, attempt=0), confirmed(task)])
    other = rig.create()
    assert [rig.record(one).status for one in (task, other)] == [Status.QUEUED, Status.PENDING]


def test_what_is_no_operation_is_refused(rig: Rig) -> None:
    with pytest.raises(TaskError, match="Op"):
        rig.store.apply_soon([Op()])


def test_who_closes_the_store_has_them_applied(rig: Rig, store_kind: str, store_place: object) -> None:
    task = rig.create()
    mine = open_store(store_kind, store_place, rig.clock)
    mine.apply_soon([confirmed(task)])
    mine.close()
    assert rig.record(task).status == Status.QUEUED


def test_every_thread_finds_its_own(rig: Rig) -> None:
    wrong: list[Task] = []
    numbers = itertools.count()

    def submit() -> None:
        for _ in range(25):
            task = rig.create(shop_id=f"s{next(numbers)}")
            rig.store.apply_soon([confirmed(task)])
            if rig.record(task).status != Status.QUEUED:
                wrong.append(task)

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert rig.store.counts().status == {Status.QUEUED: 100}
