"""Redis refuses, forgets its scripts' place, or lives elsewhere: nothing is acknowledged that is not recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services import assembly
from services.clock import SystemClock
from services.domain.change import Claim, Create, Finish, Published
from services.domain.task.record import Attempt, Task
from services.home_folder import SPOOLED
from services.store.redis.store import RedisStore
from tests.contract.waiting import eventually
from tests.faults.conftest import Behind
from tests.integration.fleet_rig import lines
from tests.support.services import Redis

pytestmark = [pytest.mark.fault, pytest.mark.rabbitmq, pytest.mark.redis]


def test_redis_has_no_memory_left(behind: Behind, redis_server: Redis, tmp_path: Path) -> None:
    """With noeviction writes fail: the outcome waits, its message too; nothing is taken, nothing is forgotten."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    fleet = behind.fleet
    first = fleet.create(seen=str(seen), until=str(gate))
    second = fleet.create("s2", "once", seen=str(seen), until=str(gate))
    worker = fleet.worker(2)
    eventually(lambda: len(lines(seen, "start")) == 2, 30)
    redis_server.command("CONFIG SET maxmemory 1mb")
    try:
        gate.touch()
        eventually(lambda: worker._finisher.unrecorded() == 2, 30)
        eventually(lambda: worker._finisher.away, 30)
        assert [fleet.task(task_id).status for task_id in (first, second)] == ["running", "running"]
        lane = {depth.name: depth for depth in fleet.engine.broker.depths()}["rpa_tasks_normal"]
        assert lane.unacked == 2
        with closing(RedisStore(redis_server.url, SystemClock())) as asked:
            answers, _took, why = asked.health()
        assert answers, "who only asks how Redis is hears of it at once, before any step is refused"
        assert "out of memory" in why
    finally:
        redis_server.command("CONFIG SET maxmemory 0")
    assert {(task.status, task.attempt) for task in fleet.wait_ended([first, second])} == {("succeeded", 1)}
    assert len(lines(seen, "start")) == 2


def test_the_account_at_redis_loses_its_rights(behind: Behind, redis_server: Redis, tmp_path: Path) -> None:
    """Until somebody permits it again: what was done meanwhile is recorded then, and nothing is run again for it."""
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    fleet = behind.fleet
    ids = [
        fleet.create("s1", seen=str(seen), until=str(gate)),
        fleet.create("s2", "once", seen=str(seen), until=str(gate)),
    ]
    fleet.worker(2)
    eventually(lambda: len(lines(seen, "start")) == 2, 30)
    redis_server.command("ACL SETUSER default -eval -evalsha -fcall")
    try:
        gate.touch()
        kept = Path(fleet.settings.home)
        spooled = lambda: b"".join(one.read_bytes() for one in kept.rglob(f"*{SPOOLED}"))  # noqa: E731
        eventually(lambda: all(task_id.encode() in spooled() for task_id in ids), 30)
    finally:
        redis_server.command("ACL SETUSER default +@all")
    assert {(task.status, task.attempt) for task in fleet.wait_ended(ids)} == {("succeeded", 1)}
    assert len(lines(seen, "start")) == 2


class TenMinutesAhead(SystemClock):
    """The clock of a machine that nobody sets."""

    def now_ms(self) -> int:
        return super().now_ms() + 600_000


def test_the_clock_of_a_worker_is_wrong(behind: Behind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leases, instants and order are those of Redis, whoever asks."""
    gate = tmp_path / "gate"
    with monkeypatch.context() as patch:
        patch.setattr(assembly, "SystemClock", TenMinutesAhead)
        ahead = behind.fleet.open()
    behind.fleet.worker(2, engine=ahead, lease_s=10.0)
    ids = [behind.fleet.create(until=str(gate)), behind.fleet.create("s2", fail="network", fail_first=1)]
    behind.fleet.wait(ids[0], "running")
    for engine in (ahead, behind.fleet.engine):
        assert behind.fleet.reconciler(engine).take_over_expired() == 0
    behind.fleet.wait(ids[1], "succeeded")
    gate.touch()
    for task in behind.fleet.wait_ended(ids):
        assert (task.status, task.losses) == ("succeeded", ())
        instants = [step.at for step in task.steps]
        assert instants == sorted(instants)
        assert abs(task.ended_at - behind.fleet.engine.store.now_ms()) < 300_000


def test_what_a_worker_with_a_wrong_clock_tells_is_told_by_the_time_of_the_fleet(
    behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(assembly, "SystemClock", TenMinutesAhead)
        ahead = behind.fleet.open()
    behind.fleet.worker(engine=ahead)
    task_id = behind.fleet.create("s1", "flow")
    behind.fleet.wait(task_id, "succeeded")
    store = behind.fleet.engine.store
    lines, _ = store.read_log(task_id, 1)
    (worker,) = store.workers()
    instants = [worker.started_at, *(line.at for line in lines)]
    assert len(instants) > 1
    assert all(abs(at - store.now_ms()) < 300_000 for at in instants)


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a Redis Cluster of one node, which refuses scripts that touch several slots."""
    with Redis(cluster=True) as node:
        node.command("CLUSTER ADDSLOTSRANGE 0 16383")
        eventually(lambda: b"cluster_state:ok" in node.command("CLUSTER INFO"), 30)
        yield node.url


def test_a_redis_cluster_keeps_everything_in_one_slot(cluster: str) -> None:
    store = RedisStore(cluster, SystemClock())
    try:
        task = Task(task_id="t1", shop_id="s", platform="pdd", task_type="work", uniq="u")
        made = store.apply([Create(task=task)])[0].task
        assert made is not None
        store.apply([Published(task_id="t1", status="pending", gen=0, attempt=0)])
        taken = store.apply([Claim(task_id="t1", gen=0, attempt=0, owner="w#1", worker="w", lease_ms=60_000)])[0]
        assert (taken.code, taken.task is not None) == ("run", True)
        done = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="succeeded")
        assert store.apply([Finish(task_id="t1", owner="w#1", to="succeeded", attempt=done)])[0].code == "ok"
        store.mark_executed(["t1"])
        assert store.executed(["t1"]) == [True]
        assert store.counts().status == {"succeeded": 1}
        assert len(store.events("", 100, 0.0).cursor) > 0
        assert store.lead("engine", "me", 1_000)
    finally:
        store.close()
