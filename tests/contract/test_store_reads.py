"""What the reconciler and the screens read without asking for a page: due, oldest, ahead, and the clock."""

from __future__ import annotations

import pytest

from services.domain.change import Create
from services.domain.task.status import Status
from services.store.redis import reads
from tests.contract.rig import Rig


def test_the_clock_does_not_run_backwards(rig: Rig) -> None:
    seen = [rig.store.now_ms() for _ in range(50)]
    assert seen == sorted(seen)
    assert seen[0] > 1_600_000_000_000


def test_due_names_plans_and_overdue_retries(rig: Rig) -> None:
    now = rig.store.now_ms()
    plan = rig.create(status=Status.SCHEDULED, due_at=now + 200)
    later = rig.create(status=Status.SCHEDULED, due_at=now + 3_600_000)
    retry = rig.retrying(delay_ms=100, shop_id="s2")
    rig.pass_time(0.5)
    assert [task.task_id for task in rig.store.due(10)] == [task.task_id for task in sorted((plan, retry), key=due)]
    assert [task.task_id for task in rig.store.due(10, grace_ms=60_000)] == [plan.task_id]
    assert len(rig.store.due(1)) == 1
    assert later.task_id not in {task.task_id for task in rig.store.due(10)}


def due(task: object) -> int:
    return task.due_at  # type: ignore[attr-defined,no-any-return]


def test_a_retry_is_due_after_its_grace(rig: Rig) -> None:
    task = rig.retrying(delay_ms=50)
    rig.pass_time(0.2)
    assert rig.store.due(10, grace_ms=500) == []
    rig.pass_time(0.6)
    assert [found.task_id for found in rig.store.due(10, grace_ms=500)] == [task.task_id]


def test_oldest_queued(rig: Rig) -> None:
    first = rig.create()
    second = rig.create()
    rig.create()  # not confirmed
    rig.queued(lane="high", priority=9)
    rig.confirm(second)
    rig.pass_time(0.05)
    rig.confirm(first)
    assert [task.task_id for task in rig.store.oldest_queued("normal", 10)] == [second.task_id, first.task_id]
    assert len(rig.store.oldest_queued("normal", 1)) == 1
    assert len(rig.store.oldest_queued("high", 10)) == 1
    assert rig.store.oldest_queued("low", 10) == []


def test_waiting_ahead(rig: Rig) -> None:
    now = rig.store.now_ms()
    old = rig.queued(priority=6, created_at=now - 2000)
    young = rig.queued(priority=6, created_at=now - 1000)
    urgent = rig.queued(priority=7, created_at=now)
    rig.queued(priority=10, lane="high", created_at=now - 9000)
    rig.create(priority=7, created_at=now - 9000)  # pending
    assert rig.store.waiting_ahead([rig.record(task) for task in (urgent, old, young)]) == [0, 1, 2]


def test_holders(rig: Rig) -> None:
    now = rig.store.now_ms()
    sole = rig.running(uniq="sole")
    rig.queued(uniq="many", shop_id="s2", created_at=now - 5000)
    rig.ask(Create(task=rig.task(uniq="many", shop_id="s2", created_at=now - 4000), on_duplicate="queue"))
    held = rig.held(uniq="held", shop_id="s3")
    rig.dead(uniq="over", shop_id="s4")
    plan = rig.create(uniq="plan", shop_id="s5", status="scheduled", due_at=now + 600_000)
    found = rig.store.holders(["over", "sole", "", "many", "nobody", "held", "plan", "sole"])
    assert [task and (task.task_id, task.status) for task in found if task is None or task.uniq != "many"] == [
        None, (sole.task_id, "running"), None, None, (held.task_id, "held"), (plan.task_id, "scheduled"),
        (sole.task_id, "running"),
    ]  # fmt: skip
    assert found[3] is not None
    assert found[3].created_at == now - 5000, "the one that waits longest goes first"
    assert rig.store.holders([]) == []


def test_holders_of_more_keys_than_one_slice_stand_at_the_places_of_their_keys(rig: Rig) -> None:
    made = {f"k{n}": rig.create(uniq=f"k{n}", shop_id=f"s{n}").task_id for n in range(0, 1300, 100)}
    asked = [f"k{n}" for n in range(1300)]
    found = rig.store.holders([*asked, "k100"])
    assert [task and task.task_id for task in found] == [*(made.get(key) for key in asked), made["k100"]]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_get_keeps_the_places(rig: Rig, count: int) -> None:
    ids = [rig.create().task_id for _ in range(count)]
    asked = ["nobody", *ids, *ids]
    assert [task and task.task_id for task in rig.store.get(asked)] == [None, *ids, *ids]


def test_an_empty_batch(rig: Rig) -> None:
    assert rig.store.apply([]) == []
    assert rig.store.get([]) == []


def test_counts_of_an_empty_store(rig: Rig) -> None:
    counts = rig.store.counts()
    assert counts.total == 0
    assert not any(counts.status.values())


def test_health(rig: Rig) -> None:
    answers, latency, error = rig.store.health()
    assert (answers, error) == (True, "")
    assert 0 <= latency < 5_000


def test_counts_at_rest_are_not_made_again_and_follow_what_happens_next(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "REST_AFTER_S", 0.0)
    rig.queued(shop_id="s1")
    rig.store.counts()
    at_rest = rig.store.counts()
    assert rig.store.counts() is at_rest
    rig.queued(shop_id="s2")
    assert rig.store.counts().shops.keys() == {"pdd:s1", "pdd:s2"}
    assert at_rest.shops.keys() == {"pdd:s1"}
