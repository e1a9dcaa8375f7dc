"""Three numbers that are never one: what the broker holds or is parked, what is not sent, what consumers hold."""

from __future__ import annotations

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import depth
from services.domain.task.order import QueueDepth
from services.domain.task.search.query import Counts

WORKER = WorkerInfo(worker="w", host="h", pid=1, prefetched=3)


def queue(name: str, ready: int, unacked: int | None, kind: str = "lane") -> QueueDepth:
    return QueueDepth(name=name, ready=ready, unacked=unacked, consumers=1, kind=kind)


def test_what_is_recorded_and_not_sent_is_no_depth() -> None:
    counts = Counts(lanes={"normal": {"pending": 42}})
    row = next(one for one in depth.lanes(counts, [queue("rpa_tasks_normal", 0, 0)]) if one.lane == "normal")
    assert (row.depth, row.unsent, row.unacked) == (0, 42, 0)


def test_depth_is_what_the_broker_holds_and_what_is_parked() -> None:
    counts = Counts(lanes={"high": {"queued": 9, "blocked": 4, "running": 2}})
    row = depth.lanes(counts, [queue("rpa_tasks_high", 6, 5)])[0]
    assert (row.ready, row.blocked, row.depth, row.unacked) == (6, 4, 10, 5)


def test_queues_of_single_shops_are_a_lane_of_their_own() -> None:
    rows = depth.lanes(Counts(), [queue("rpa_tasks_s1", 3, 1, "shop"), queue("rpa_tasks_s2", 4, 2, "shop")])
    row = next(one for one in rows if one.lane == "dedicated")
    assert (row.depth, row.unacked) == (7, 3)


def test_fetched_ahead_is_held_beyond_what_runs() -> None:
    counts = Counts(lanes={"low": {"running": 4}})
    told = [queue("rpa_tasks_low", 0, 6)]
    assert depth.ahead(depth.lanes(counts, told), [WORKER], told=depth.unacked_told(told)) == 2


def test_where_the_broker_does_not_tell_the_workers_do() -> None:
    counts = Counts(lanes={"low": {"running": 4}})
    silent = [queue("rpa_tasks_low", 0, None)]
    rows = depth.lanes(counts, silent)
    assert not depth.unacked_told(silent)
    assert depth.ahead(rows, [WORKER], told=False) == 3
    assert sum(row.unacked for row in rows) == 4


def test_what_other_programs_sent_and_nobody_recorded() -> None:
    counts = Counts(status={"queued": 4})
    lane = QueueDepth(name="rpa_tasks_high", ready=10, unacked=0, consumers=0)
    notices = QueueDepth(name="rpa_notice_queue", ready=5, unacked=0, consumers=0, kind="notice")
    assert depth.unrecorded(counts, [lane, notices]) == 5, "one of them is the old message of a moved task"
    assert depth.unrecorded(counts, [lane]) == 0
    assert depth.unrecorded(Counts(status={"queued": 8}), [lane, notices]) == 2, "some notices are read a second time"


def test_what_neither_records_nor_notices_tell_of() -> None:
    lane = QueueDepth(name="rpa_tasks_high", ready=10, unacked=0, consumers=0)
    notices = QueueDepth(name="rpa_notice_queue", ready=5, unacked=1, consumers=1, kind="notice")
    assert depth.beyond(Counts(status={"queued": 1, "pending": 2}), [lane, notices]) == 1
    assert depth.beyond(Counts(status={"queued": 12, "blocked": 3}), [lane]) == 0, "those of a worker are in its hands"


def test_messages_without_a_task_that_waits_are_told_while_nobody_takes_any() -> None:
    """A queue that was purged keeps its messages until a worker takes and skips them."""
    counts = Counts(status={"queued": 2, "cancelled": 21, "running": 1, "retrying": 3})

    def lane(ready: int, consumers: int = 0) -> QueueDepth:
        return QueueDepth(name="rpa_tasks_high", ready=ready, unacked=0, consumers=consumers)

    assert depth.skipped(counts, [lane(27)]) == 21
    assert depth.skipped(counts, [lane(6)]) == 0, "what retries or has lost its worker may have its message there again"
    assert depth.skipped(counts, [lane(27, 1)]) == 0, "there they are gone soon"


def test_who_has_begun_a_task_since_the_broker_was_asked_holds_its_message() -> None:
    told = (queue("rpa_tasks_normal", 4, 1), queue("rpa_tasks_low", 0, 2), queue("rpa_tasks_high", 0, None))
    before = Counts(lanes={"normal": {"running": 1}, "low": {"running": 2}})
    now = Counts(lanes={"normal": {"running": 3, "queued": 2}, "high": {"running": 1}})
    assert [one.unacked for one in depth.moved_on(told, before, now)] == [3, 0, None]
    assert depth.moved_on(told, now, now) == told
