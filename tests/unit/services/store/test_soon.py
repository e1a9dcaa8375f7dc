"""What goes with a batch is not overtaken by what is done to the same task later, on another connection."""

from __future__ import annotations

import threading

from services.domain.change import Cancel, Published
from services.store.redis.soon import Soon

SOON_S = 20


def test_who_goes_on_with_a_task_waits_for_what_is_on_its_way() -> None:
    order: list[str] = []
    left, may_arrive = threading.Event(), threading.Event()
    soon = Soon(lambda: None)

    def send() -> None:
        with soon.riding(10, []) as taken:
            order.extend(f"{type(op).__name__} leaves" for op in taken)
            left.set()
            may_arrive.wait(SOON_S)
            order.append("arrives")

    def cancel(task_id: str) -> None:
        with soon.riding(10, [Cancel(task_id=task_id, by="ann")]):
            order.append(f"cancel {task_id}")

    sender = threading.Thread(target=send)
    soon.put([Published(task_id="a", status="pending", gen=0, attempt=0)])
    sender.start()
    assert left.wait(SOON_S)
    same = threading.Thread(target=cancel, args=["a"])
    same.start()
    cancel("b")  # of another task: it waits for nobody
    may_arrive.set()
    for thread in (sender, same):
        thread.join(SOON_S)
    assert order == ["Published leaves", "cancel b", "arrives", "cancel a"]
    soon.close()


def test_who_sends_does_not_wait_for_itself() -> None:
    soon = Soon(lambda: None)
    soon.put([Published(task_id="a", status="pending", gen=0, attempt=0)])
    with soon.riding(10, []) as taken:
        assert [op.task_id for op in taken if isinstance(op, Published)] == ["a"]
        with soon.riding(10, [Cancel(task_id="a", by="ann")]) as more:
            assert more == []
        soon.settle()
    soon.close()


def test_what_rides_along_waits_for_what_is_on_its_way_of_its_own_task() -> None:
    order: list[str] = []
    left, may_arrive = threading.Event(), threading.Event()
    soon = Soon(lambda: None)

    def send() -> None:
        with soon.riding(1, []):
            left.set()
            may_arrive.wait(SOON_S)
            order.append("first arrives")

    def other() -> None:
        with soon.riding(10, [Cancel(task_id="b", by="ann")]) as taken:
            order.append(f"{len(taken)} more")

    for gen in (0, 1):
        soon.put([Published(task_id="a", status="pending", gen=gen, attempt=0)])
    sender, rider = threading.Thread(target=send), threading.Thread(target=other)
    sender.start()
    assert left.wait(SOON_S)
    rider.start()
    with soon.riding(0, [Cancel(task_id="c", by="ann")]) as none:
        order.append(f"{len(none)} with c")
    may_arrive.set()
    for thread in (sender, rider):
        thread.join(SOON_S)
    assert order == ["0 with c", "first arrives", "1 more"]
    soon.close()
