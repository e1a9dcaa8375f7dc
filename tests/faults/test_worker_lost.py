"""A worker's process is killed: what is said of it and of its tasks, until somebody strikes it off."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from services import messages
from services.domain.change import Create
from services.domain.errors import UsageError
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.worker import WorkerNow
from services.engine.fates import Fates
from services.engine.spec import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet, lines
from tests.support.heartbeats import beat_ago

pytestmark = pytest.mark.fault
HOUR_MS = 3_600_000


def seen_later(fleet: Fleet, fates: Fates, name: str, seconds: float) -> WorkerNow:
    """What will be true of a worker if nothing is heard of it until then."""
    store = fleet.engine.store
    now, workers = store.now_ms() + round(seconds * 1000), store.workers()
    found = insight.look(workers, now, fates.find(workers, now), leader="w").find(name)
    assert found is not None
    return found


def words(one: WorkerNow) -> list[str]:
    return [messages.english(fact.message) for fact in one.facts]


def test_a_killed_worker_is_late_then_says_what_became_of_each_task(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    seen, gate = tmp_path / "seen.txt", tmp_path / "gate"
    once = fleet.create("s1", "once", seen=str(seen), until=str(gate))
    again = fleet.create("s2", seen=str(seen), until=str(gate))
    fates = Fates(fleet.engine.store)
    with cli.start("worker", "--slots", "2", "--handlers", HANDLERS) as process:
        eventually(lambda: len(lines(seen, "start")) == 2, 90)
        (info,) = fleet.engine.store.workers()
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    late = seen_later(fleet, fates, info.worker, 15)
    assert (late.state, set(late.unconfirmed)) == ("late", {once, again})
    assert insight.unconfirmed(fleet.task(again), fleet.engine.store.now_ms(), {late.name})
    assert late.facts[0].message.code.removesuffix("_now") == "worker.hold"
    assert late.facts[0].tasks == (once,)
    reconciler = fleet.reconciler()
    eventually(lambda: reconciler.take_over_expired() + (fleet.task(once).status == "held") >= 1, 30)
    eventually(lambda: reconciler.take_over_expired() == 0 and fleet.task(again).status != "running", 30)
    assert "1 task waits to be started again" in words(seen_later(fleet, fates, info.worker, 61))
    gate.touch()
    other = fleet.worker(name="other")
    fleet.wait(again, "succeeded")
    gone = seen_later(fleet, fates, info.worker, 61)
    assert (gone.state, gone.busy) == ("gone", 0)
    assert words(gone) == ["1 task is held: a person decides", f"1 task was started again (on {other.name})"]


def test_one_that_is_gone_is_forgotten_and_one_that_lives_is_not(cli: Cli, fleet: Fleet) -> None:
    store, commands = fleet.engine.store, fleet.commands().fleet
    info = WorkerInfo(worker="desk-7", host="h", pid=1)
    store.heartbeat(info)
    with pytest.raises(UsageError, match="alive"):
        commands.forget_worker("desk-7")
    beat_ago(fleet.settings, info, HOUR_MS)
    assert cli.run("worker", "list")["workers"][0]["standing"] == "gone"
    store.tell_worker("desk-7", "drain")
    assert cli.run("worker", "forget", "desk")["worker"] == "desk-7"
    assert store.workers() == []
    assert [entry.action for entry in store.audit(1)] == ["worker.forget"]
    with pytest.raises(UsageError, match="no worker"):
        commands.forget_worker("desk-7")
    assert store.heartbeat(info).orders == ("drain",), "what it was told waits for it"
    assert [one.worker for one in store.workers()] == ["desk-7"], "if it beats again it is back"


def test_what_is_recorded_and_not_sent_is_counted(fleet: Fleet) -> None:
    store = fleet.engine.store
    assert store.counts().unsent == 0
    fleet.create("s1")
    assert store.counts().unsent == 0
    prepared = fleet.engine.producer.prepare(TaskSpec(platform="pdd", shop_id="s2", task_type="work", payload={}))
    fleet.apply(Create(task=prepared))
    assert (store.counts().unsent, store.counts().status["pending"]) == (1, 1)
