"""The store knows which tasks should have begun by now, until somebody has looked at them."""

from __future__ import annotations

from services.domain.change import Claim
from services.domain.task.record import decode, encode
from tests.contract.rig import Rig


def test_only_what_has_a_deadline_is_overdue_and_the_earliest_comes_first(rig: Rig) -> None:
    now = rig.store.now_ms()
    late = rig.create(deadline=now + 200, shop_id="s2")
    later = rig.create(deadline=now + 400, shop_id="s3")
    rig.create()
    rig.create(deadline=now + 3_600_000, shop_id="s4")
    assert rig.store.overdue(10) == []
    rig.pass_time(1)
    assert rig.store.overdue(10) == [late.task_id, later.task_id]
    assert rig.store.overdue(1) == [late.task_id]
    rig.store.forget_deadlines([late.task_id, "unknown"])
    rig.store.forget_deadlines([])
    assert rig.store.overdue(10) == [later.task_id]


def test_the_record_keeps_its_deadline_through_every_transition(rig: Rig) -> None:
    at = rig.store.now_ms() + 60_000
    task = rig.queued(deadline=at, depends_on=())
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w1#1", worker="w1", lease_ms=60_000)
    running = rig.ask(claim).task
    assert running is not None
    rig.finish(running)
    record = rig.record(task)
    assert (record.status, record.deadline) == ("succeeded", at)
    assert decode(encode(record)) == record
