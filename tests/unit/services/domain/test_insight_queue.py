"""What is the matter with a queue, and how fast it drains."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.errors import NotFound, UsageError
from services.domain.insight import queue
from services.domain.insight.queue import Facts, Flow
from services.domain.task import queues
from services.domain.task.event import Event
from services.domain.task.record import Task
from services.monitor.queues.board import QueueRates

MOVES = Flow(2.0, 2.0, 300.0)
STILL = Flow(0.0, 0.0, 300.0)
FILLS = Flow(2.0, 1.0, 300.0)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"waiting": None}, (queue.UNKNOWN, ())),
        ({"waiting": 0}, (queue.EMPTY, ())),
        ({"waiting": 0, "blocked": True}, (queue.BLOCKED, (queue.BLOCKED,))),
        ({"waiting": 5, "flow": MOVES, "consumers": 2}, (queue.RUNNING, ())),
        ({"waiting": 50, "flow": FILLS, "consumers": 2}, (queue.FILLING, (queue.FILLING,))),
        ({"waiting": 5, "flow": FILLS, "consumers": 2}, (queue.RUNNING, ())),
        ({"waiting": 50, "flow": Flow(2.0, 1.0, 20.0), "consumers": 2}, (queue.RUNNING, ())),
        ({"waiting": 50, "flow": FILLS, "paused": True}, (queue.PAUSED, (queue.PAUSED,))),
        ({"waiting": 5, "flow": MOVES, "consumers": 0}, (queue.NO_CONSUMER, (queue.NO_CONSUMER,))),
        ({"waiting": 5, "flow": MOVES, "consumers": 0, "occupied": True}, (queue.RUNNING, ())),
        ({"waiting": 5, "ready": 1, "flow": STILL, "oldest_s": 1800, "consumers": 1}, (queue.STUCK, (queue.STUCK,))),
        ({"waiting": 5, "flow": STILL, "oldest_s": 1800, "consumers": 1}, (queue.RUNNING, ())),  # all at gates
        ({"waiting": 5, "flow": STILL, "oldest_s": 1799, "consumers": 1}, (queue.RUNNING, ())),
        ({"waiting": 5, "flow": MOVES, "oldest_s": 9000, "consumers": 1}, (queue.RUNNING, ())),
        (
            {"waiting": 50, "flow": FILLS, "blocked": True, "consumers": 0},
            (queue.BLOCKED, (queue.BLOCKED, queue.FILLING, queue.NO_CONSUMER)),
        ),
    ],
)
def test_the_worst_is_the_state_and_all_is_told(fields: dict[str, Any], expected: tuple[str, tuple[str, ...]]) -> None:
    facts = Facts(**fields)
    assert (queue.state(facts), queue.wrong(facts)) == expected


def test_what_is_ready_drains_at_the_pace_of_late() -> None:
    assert queue.drained_s(120, MOVES) == 60
    assert queue.drained_s(0, STILL) == 0
    assert queue.drained_s(5, STILL) is None
    assert (queue.drains(5, STILL), queue.drains(5, Flow()), queue.drains(0, STILL)) == (False, True, True)


@pytest.mark.parametrize(
    ("idle_s", "out_s", "known_s", "drains"),
    [
        (59, 2.0, 300, True),
        (60, 2.0, 300, False),
        (60, 2.0, 59, True),
        (200, 0.012, 300, True),
        (251, 0.012, 300, False),
    ],
)
def test_what_nothing_has_left_for_a_minute_drains_no_more(
    idle_s: float, out_s: float, known_s: float, drains: bool
) -> None:
    """Unless its tasks go that seldom anyway."""
    flow = Flow(0.0, out_s, known_s, idle_s)
    assert queue.drains(5, flow) is drains
    facts = Facts(waiting=5, flow=flow, oldest_s=9000, consumers=1)
    assert queue.state(facts) == queue.RUNNING, "stuck is what nothing has left for minutes"


def test_a_little_more_or_less_is_steady() -> None:
    assert Flow(2.0, 1.95, 300).trend == 0
    assert Flow(2.1, 1.5, 300).trend == pytest.approx(36)
    assert Flow(0.0, 0.5, 300).trend == pytest.approx(-30)


def test_a_queue_is_found_by_its_name_and_a_lane_by_its_word() -> None:
    shops, delays = ("pdd:s1", "temu:s2"), (30, 120)
    assert queues.queue_of("high", shops, delays) == queues.queue_of("rpa_tasks_high", shops, delays)
    assert queues.queue_of("single_shop_s2", shops, delays).shop == "temu:s2"
    assert queues.queue_of("rpa_delay_120s", shops, delays).delay_s == 120
    for name in ("", "rpa_delay_60s", "rpa_delay_s", "single_shop_s3", "single_shop_", "pdd:s1"):
        with pytest.raises(NotFound):
            queues.queue_of(name, shops, delays)
    with pytest.raises(UsageError):
        queues.queue_of("rpa_dead_queue", shops, delays)


def test_a_task_stands_in_one_queue_alone() -> None:
    shops, delays = ("pdd:s1",), (30, 60)
    names = ("high", "normal", "low", "single_shop_s1", "rpa_delay_30s", "rpa_delay_60s")
    found = {name: queues.queue_of(name, shops, delays) for name in names}
    base = {"task_id": "a", "shop_id": "s1", "platform": "pdd", "task_type": "work"}
    waits = {"status": "retrying", "updated_at": 1_000}
    cases = (
        (Task(**base, status="queued", lane="low"), "low"),
        (Task(**base, status="blocked", lane="low", queue="s1"), "single_shop_s1"),
        (Task(**base, **waits, due_at=31_000), "rpa_delay_30s"),
        (Task(**base, **waits, due_at=40_000), "rpa_delay_60s"),
        (Task(**base, status="running", lane="low"), ""),
        (Task(**base, status="dead"), ""),
    )
    for task, expected in cases:
        assert [name for name, one in found.items() if one.holds(task)] == ([expected] if expected else [])


def event(at: int, from_: str, to: str, shop: str = "s1", lane: str = "normal") -> Event:
    return Event(
        cursor="", task_id="a", shop_id=shop, platform="pdd", task_type="work", from_=from_, to=to, at=at, worker="",
        gen=0, attempt=0, lane=lane,
    )  # fmt: skip


def test_what_comes_and_goes_is_counted_by_queue() -> None:
    rates = QueueRates()
    assert rates.flows(0, ()) == {}
    rates.begin(1_000_000)
    rates.note([event(1_010_000, "", "pending"), event(1_010_000, "pending", "queued")])
    rates.note([event(1_020_000, "queued", "running"), event(1_030_000, "", "queued", shop="own")])
    rates.note([event(1_040_000, "running", "retrying"), event(1_050_000, "retrying", "pending")])
    rates.note([event(1_060_000, "queued", "cancelled", lane="low"), event(1_070_000, "running", "dead")])
    found = rates.flows(1_100_000, ["pdd:own"])
    assert found["normal"] == Flow(2 / 100, 1 / 100, 100, 70)
    assert found["pdd:own"] == Flow(1 / 100, 0, 100)
    assert (found["low"].out_s, found["back_off"], found["dead"].in_s) == (1 / 100, Flow(0.01, 0.01, 100, 40), 1 / 100)
    assert rates.flows(1_100_000, [])["normal"].in_s == 3 / 100
    later = rates.flows(1_500_000, [])["normal"]
    assert (later.known_s, later.out_s) == (300, 0)
