"""The leader dies: another process leads within the lease, and each run comes once for each shop."""

from __future__ import annotations

import datetime as dt
import signal
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.domain.task.search.query import Query
from services.engine.lead.leader import RENEW_S, ROLE, TTL_MS
from services.ports import ScheduleEntry
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, Fleet

SHOPS = 5
#: patience of a machine that has more to do; by the lease and the others' looks at it 13 s are enough
TAKEN_OVER_S = 30.0


@pytest.mark.slow
@pytest.mark.fault
def test_a_killed_leader_is_replaced_and_no_run_is_lost_or_doubled(cli: Cli, fleet: Fleet, tmp_path: Path) -> None:
    seen, store = tmp_path / "seen.txt", fleet.engine.store
    store.put_shops([Shop(platform="pdd", shop_id=f"s{number}", concurrency=4) for number in range(SHOPS)])
    assert TTL_MS / 1000 + RENEW_S < 15
    now = store.now_ms()
    # a task that the dead worker held stays active until its lease is missed: the next run must not leave its shop out
    plan = Schedule(
        name="often",
        uid="u1",
        task_type="work",
        payload={"seen": str(seen)},
        every_s=10,
        first_at=now,
        all_shops=True,
        overlap="queue",
    )
    schedules.check(plan, "UTC", now)
    entry = ScheduleEntry(name=plan.name, body=schedules.dump(Planned(schedule=plan)), next_at=now)
    words = ("worker", "--slots", 2, "--handlers", HANDLERS)
    with cli.start(*words) as first, cli.start(*words) as second:
        assert store.put_schedule(entry, 0)
        eventually(lambda: store.leader(ROLE) and runs(fleet), 60)
        dead = store.leader(ROLE)
        leader, other = (first, second) if f"-{first.pid}-" in dead else (second, first)
        assert f"-{leader.pid}-" in dead
        killed_at = store.now_ms()
        leader.send_signal(signal.SIGKILL)
        leader.wait(30)
        eventually(lambda: store.leader(ROLE) not in ("", dead), TAKEN_OVER_S)
        taken_at = store.now_ms()
        eventually(lambda: max(task_runs(fleet), default=0) > taken_at, 60)
        eventually(lambda: all(count == SHOPS for count in runs(fleet).values()), 60)
        assert f"-{other.pid}-" in store.leader(ROLE)
    found = sorted(task_runs(fleet))
    assert set(runs(fleet).values()) == {SHOPS}, "every run for every shop, none twice"
    assert {(later - earlier) % (plan.every_s * 1000) for earlier, later in pairwise(found)} == {0}, "none off its time"
    assert any(instant > killed_at for instant in found), "what came due without a leader is made up for"


def runs(fleet: Fleet) -> Counter[str]:
    """Tasks by run."""
    tasks = fleet.engine.store.query(Query(limit=1000)).tasks
    assert len({(task.batch, task.shop) for task in tasks}) == len(tasks)
    return Counter(task.batch for task in tasks)


def task_runs(fleet: Fleet) -> set[int]:
    """Instants of the runs."""
    return {
        round(dt.datetime.strptime(label.partition("@")[2], "%Y%m%dT%H%M%S%z").timestamp() * 1000)
        for label in runs(fleet)
    }
