"""A queue that grows, as ``stats`` and ``doctor`` tell it to machines and people: by one answer, in one unit."""

from __future__ import annotations

import pytest

from services.domain.change import Claim, Create
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.record import Task
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet

MINUTES, EVERY_S = 4, 5
CAME = MINUTES * 60 // EVERY_S


@pytest.fixture
def grown(fleet: Fleet) -> Fleet:
    """For minutes a task has come every few seconds; the only slot still works on the first."""
    store = fleet.engine.store
    begun = store.now_ms() - MINUTES * 60_000
    for number in range(CAME):
        created = begun + number * EVERY_S * 1000
        task = Task(task_id=f"t{number}", platform="pdd", shop_id=f"s{number}", task_type="work", created_at=created)
        fleet.apply(Create(task=task))
    fleet.apply(Claim(task_id="t0", gen=0, attempt=0, owner="t0", worker="w", lease_ms=600_000))
    busy = SlotState(task_id="t0", shop="pdd:s0", task_type="work")
    store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, version="1.0", slots=(busy,), seen_at=store.now_ms()))
    return fleet


@pytest.mark.usefixtures("grown")
def test_stats_and_doctor_say_that_it_grows_and_how_fast(cli: Cli) -> None:
    stats = cli.run("stats")
    flow = stats["flow"]
    assert (flow["state"], flow["waiting"], flow["slots"], flow["busy"]) == ("growing", CAME - 1, 1, 1)
    assert flow["out_per_s"] == 0
    assert 0.7 * CAME / 300 <= flow["in_per_s"] <= 1.05 / EVERY_S
    assert flow["no_estimate"] == "never"
    assert "more_slots" in flow["would_help"]
    told = f"in {flow['in_per_s']:.1f}/s, out 0/s"
    assert stats["headline"].startswith(f"{CAME - 1} tasks waiting and growing: {told}")
    doctor = cli.run("doctor", code=1)
    for document in (stats, doctor):
        item = next(one for one in document["attention"] if one["key"] == "growing")
        assert item["text"].startswith(f"The queue grows: {CAME - 1} tasks waiting: In {told[3:]}")
        assert item["params"]["tasks"] == CAME - 1
        assert item["params"]["in_per_s"] == pytest.approx(flow["in_per_s"], abs=0.01)
    (finding,) = [one for one in doctor["findings"] if one["check"] == "flow"]
    assert finding["level"] == "warning"
    assert f"{CAME - 1} tasks waiting and growing: {told}" in finding["text"]
    assert f"needs attention: The queue grows: {CAME - 1} tasks waiting: In {told[3:]}" in cli.call("stats").stdout
