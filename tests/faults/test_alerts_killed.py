"""Who watches is killed: what it told is not told again, and that it is gone is told by the next; real processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.domain.alerts import incident
from services.engine.lead import leader
from tests.contract.waiting import eventually
from tests.faults.conftest import Behind
from tests.integration import hook as hooks
from tests.integration.alert_rig import Watch
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet
from tests.integration.hook import Hook
from tests.support import stopped

pytestmark = pytest.mark.fault


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


def test_kill_9_of_who_leads_and_watches(cli: Cli, fleet: Fleet, hook: Hook, tmp_path: Path) -> None:
    watch = Watch(fleet, hook)
    watch.channel()
    watch.only("no_leader", "silent_worker", "lane_depth")
    watch.limits("no_leader", seconds=1)
    watch.limits("silent_worker", seconds=1)
    watch.limits("lane_depth", tasks=0)
    cli.environment["FLEETDECK_SECRET__OPS"] = hook.url
    words = ("worker", "--slots", "1", "--lanes", "high", "--handlers", HANDLERS)
    task = fleet.create()
    with cli.start(*words) as first:
        hook.wait(1)
        assert hook.titles == ["INC-1 1 task in the lane normal (0 allowed)"]
        eventually(lambda: watch.store.leader(leader.ROLE))
        eventually(lambda: watch.store.documents("alert_state"))
        (info,) = eventually(watch.store.workers)
        eventually(watch.noted)
        first.send_signal(signal.SIGKILL)
        first.wait(30)
    eventually(watch.keeper.tick, 60)
    now = watch.until(lambda _now: len(hook.told) == 3, 90)
    assert sorted(title.partition(" ")[2][:12] for title in hook.titles[1:]) == [
        "Nobody leads",
        f"Worker {info.worker}"[:12],
    ]
    assert all("Cause: " in one["message"] for one in hook.told)
    assert {one.incident.id for one in now.incidents} == {"INC-1", "INC-2", "INC-3"}
    watch.store.resign("watch", "w1")  # and once more another one watches, as after a kill
    watch = Watch(fleet, hook, holder="w2")
    for _ in range(3):
        watch.turn()
    assert len(hook.told) == 3, hook.titles
    _leads, _works = fleet.steward(fleet.open()), fleet.worker(name=info.worker)
    fleet.wait(task, "succeeded")
    watch.resolved()
    assert len(hook.told) == 6, hook.titles
    assert sum(" resolved: " in title for title in hook.titles) == 3
    watch.keeper.stop()


@pytest.mark.rabbitmq
@pytest.mark.redis
@pytest.mark.timeout(400)  # who is silent, and a lease, are waited for: more where much else runs
@pytest.mark.parametrize("pair", ["fleet"], indirect=True)  # frozen, it may hold the file that the others write
def test_a_frozen_worker_is_told_once_although_who_leads_is_killed_in_between(
    cli: Cli, fleet: Fleet, hook: Hook
) -> None:
    watch = Watch(fleet, hook, holder="w2")
    watch.channel()
    watch.only("silent_worker")
    watch.limits("silent_worker", seconds=1)
    cli.environment["FLEETDECK_SECRET__OPS"] = hook.url
    with cli.start("api", "--port", "0") as leads:
        eventually(lambda: watch.store.leader(leader.ROLE) and watch.store.leader(incident.ROLE), 90)
        with cli.start("worker", "--slots", "1", "--handlers", HANDLERS):
            (info,) = eventually(watch.store.workers, 90)
            stopped.stop(info.pid)
            hook.wait(1, 120)
            assert hook.titles[0].startswith(f"INC-1 Worker {info.worker} ")
            eventually(watch.noted, 90)
            leads.send_signal(signal.SIGKILL)
            leads.wait(30)
            eventually(watch.keeper.tick, 90)  # when the lease of who watched has run out
            steward = fleet.steward(fleet.open())
            eventually(lambda: steward.leader.leading, 90)
            for _ in range(3):
                watch.turn()
            assert len(hook.told) == 1, hook.titles
            os.kill(info.pid, signal.SIGCONT)
            watch.resolved()
            for _ in range(3):
                watch.turn()
    assert len(hook.told) == 2, hook.titles
    assert hook.titles[1].startswith("INC-1 resolved: ")
    watch.keeper.stop()


@pytest.mark.rabbitmq
@pytest.mark.redis
def test_a_broker_that_is_gone_is_told_until_it_is_back(behind: Behind, hook: Hook) -> None:
    watch = Watch(behind.fleet, hook, engine=behind.engine)
    watch.channel()
    watch.only("publisher_blocked")
    watch.turn()
    behind.fleet.create()
    with behind.broker.away():
        watch.raised()
        assert hook.titles == ["INC-1 The broker does not answer: 1 task waits"]
        after = Watch(behind.fleet, hook, holder="w2", engine=behind.engine)
        watch.store.resign("watch", "w1")  # as its lease runs out after a kill
        for _ in range(3):
            after.turn()
        assert len(hook.told) == 1, hook.titles
    after.resolved()
    assert len(hook.told) == 2, hook.titles
    assert hook.titles[1].startswith("INC-1 resolved: ")
    after.keeper.stop()
