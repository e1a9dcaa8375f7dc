"""Who holds which message: workers' reports, records and the broker's count beside each other."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.fleet import holders
from services.domain.fleet.holders import Several
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.order import QueueDepth
from services.messages import english
from tests.unit.services.domain.builders import NOW, task

NORMAL = "rpa_tasks_normal"


def worker(name: str = "w1", *slots: SlotState, **fields: Any) -> WorkerInfo:
    """A worker as it was heard two seconds ago."""
    return WorkerInfo(worker=name, host="h", pid=1, slots=slots, seen_at=NOW - 2_000, **fields)


def slot(task_id: str = "t1", **fields: Any) -> SlotState:
    """A slot with a task that came by a message of the lane."""
    base: dict[str, Any] = {"lane": "normal", "queue": NORMAL, "since": NOW - 60_000, "attempt": 1}
    return SlotState(task_id=task_id, task_type="sync_order", shop="pdd:s1", **(base | fields))


def running(task_id: str = "t1", name: str = "w1", **fields: Any) -> dict[str, Any]:
    """Its record, by its id."""
    base = {"status": "running", "worker": name, "lease_until": NOW + 30_000, "started_at": NOW - 60_000}
    return {task_id: task(task_id=task_id, lane="normal", **(base | fields))}


def counted(unacked: int | None, name: str = NORMAL, **fields: Any) -> list[QueueDepth]:
    """What the broker says."""
    return [QueueDepth(name=name, ready=0, unacked=unacked, **({"consumers": 2} | fields))]


def test_what_the_broker_counts_beyond_all_reports_is_told_as_such() -> None:
    info = worker("w1", SlotState(), slot(), ahead={NORMAL: 2})
    (found,) = holders.look(counted(6), [info], running())
    (one,) = found.holds
    assert (one.worker, one.slot, one.since, one.lease_until, one.state) == (
        "w1", 2, NOW - 60_000, NOW + 30_000, holders.RUNS,
    )  # fmt: skip
    assert found.several == (Several(worker="w1", number=2, seen_at=NOW - 2_000),)
    assert (found.counted, found.explained, found.beyond) == (6, 3, 3)
    assert [english(one) for one in holders.notes(found, NOW)] == [
        "w1 has fetched 2 ahead and not begun them; heard 2 s ago",
        "3 more are held by other programs, or were taken since workers reported last, 2 s ago",
    ]


@pytest.mark.parametrize("unacked", [None, 0, 1])
def test_a_broker_that_tells_less_or_nothing_makes_nobody_a_liar(unacked: int | None) -> None:
    (found,) = holders.look(counted(unacked), [worker("w1", slot(), slot("t2"))], running() | running("t2"))
    assert found.beyond == (None if unacked is None else 0)
    assert len(found.holds) == 2
    assert holders.notes(found, NOW) == ()


def test_a_task_without_a_message_holds_none_and_an_old_worker_is_read_by_its_record() -> None:
    fetched, old = slot("t1", queue=""), slot("t2", queue="?")
    records = running() | running("t2", queue="shop017")
    assert [(one.name, len(one.holds)) for one in holders.look([], [worker("w1", fetched, old)], records)] == [
        ("single_shop_shop017", 1)
    ]


@pytest.mark.parametrize(
    ("slots", "records", "unheard", "state"),
    [
        pytest.param((slot(),), running(), {"w1"}, holders.UNHEARD, id="its worker is silent"),
        pytest.param((slot(),), running(name="w2"), set(), holders.GIVEN_ON, id="another worker has it"),
        pytest.param((slot(),), running(status="cancelled"), set(), holders.GIVEN_ON, id="it runs no more"),
        pytest.param((SlotState(),), running(), set(), holders.TAKEN, id="in no slot yet"),
        pytest.param((), running(), {"w1"}, holders.UNHEARD, id="silent, in no slot"),
        pytest.param((slot(),), {}, set(), holders.RUNS, id="its record was not read"),
    ],
)
def test_each_hold_says_how_it_stands(slots: Any, records: Any, unheard: set[str], state: str) -> None:
    (found,) = holders.look([], [worker("w1", *slots)], records, unheard=unheard)
    (one,) = found.holds
    assert (one.worker, one.state) == ("w1", state)
    assert bool(one.lease_until) == (state != holders.GIVEN_ON and bool(records))


def test_who_is_gone_holds_no_message() -> None:
    assert holders.look(counted(0), [], running()) == ()


def test_the_leader_is_named_where_only_it_can_take() -> None:
    (found,) = holders.look(counted(3, "rpa_dead_queue", kind="dead", consumers=1), [], {}, leader="desk-01")
    assert (found.several, found.beyond) == ((Several(worker="desk-01", number=3, leads=True),), 0)
    (found,) = holders.look(counted(3, "rpa_dead_queue", kind="dead", consumers=2), [], {}, leader="desk-01")
    assert (found.several, found.beyond) == ((), 3)
    assert [english(one) for one in holders.notes(found, NOW)] == [
        "3 more are held by other programs, or not explained by records and what workers report"
    ]


def test_the_longest_held_stands_first() -> None:
    slots = (slot("t1", since=NOW - 5), slot("t2", since=NOW - 500), slot("t3", since=NOW - 50))
    (found,) = holders.look([], [worker("w1", *slots)], {})
    assert [one.task_id for one in found.holds] == ["t2", "t3", "t1"]
