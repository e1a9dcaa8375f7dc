"""Running tasks of a worker that is not heard of are unconfirmed wherever they are shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.monitor.live import Snapshot
from views.pages.tasks.rows import COLUMNS, TaskRow, sentence
from views.support import heard

NOW = 4_000_000_000_000  # later than any clock


def snapshot(silence_ms: int) -> Snapshot:
    slots = (SlotState(task_id="t"),)
    return Snapshot(
        at_ms=NOW,
        taken=0.0,
        workers=(WorkerInfo(worker="w3", host="h", pid=1, seen_at=NOW - silence_ms, slots=slots),),
    )


@pytest.fixture(autouse=True)
def nobody_late() -> Iterator[None]:
    yield
    heard.forget()


def row(**fields: object) -> TaskRow:
    usual = {"task_id": "t", "shop_id": "s", "platform": "pdd", "task_type": "work", "status": Status.RUNNING}
    return TaskRow(task=Task(**(usual | {"worker": "w3", "lease_until": NOW} | fields)))  # type: ignore[arg-type]


def shown(one: TaskRow) -> tuple[object, str]:
    by_key = {column.key: column for column in COLUMNS}
    return by_key["status"].value(one), by_key["progress"].value(one).text


def test_from_15_s_on_its_tasks_have_no_signal() -> None:
    heard.know(snapshot(14_999))
    assert shown(row()) == ("running", "running")
    heard.know(snapshot(15_000))
    assert shown(row()) == ("unconfirmed", "no signal")
    assert sentence(row()).startswith("Unconfirmed, work")
    assert shown(row(worker="w4")) == ("running", "running"), "others are heard of"
    assert shown(row(cancel="requested")) == ("unconfirmed", "no signal"), "who would stop it is not known either"
    assert shown(row(status=Status.HELD))[0] == "held"
    heard.know(snapshot(0))
    assert shown(row()) == ("running", "running"), "it is back"


def test_a_connection_that_is_left_says_nothing_of_the_next_one() -> None:
    heard.know(snapshot(15_000))
    heard.forget()
    assert shown(row()) == ("running", "running")


def test_a_claim_that_nobody_renewed_is_unconfirmed_too() -> None:
    heard.know(Snapshot(at_ms=NOW, taken=0.0))
    assert shown(row(lease_until=1)) == ("unconfirmed", "no signal")


def test_a_status_that_only_a_newer_program_knows_is_told_apart_from_one_that_nobody_confirms() -> None:
    heard.know(snapshot(15_000))
    assert shown(row(status="asleep"))[0] == "unknown"
    assert sentence(row(status="asleep")).startswith("asleep, work"), "as it stands"
