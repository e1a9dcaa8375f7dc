"""The fleet's load as the newest snapshot has it, for forecasts. Pure."""

from __future__ import annotations

from services.domain.insight.forecast import durations
from services.domain.insight.forecast.outlook import Load
from services.domain.task.lane import LANES
from services.domain.task.status import Status
from services.monitor.live import Snapshot

USUAL_S = 10.0  #: one task where nobody said how long it takes


def load_of(snapshot: Snapshot, lane: str, expected_s: float = 0.0, task_type: str = "") -> Load:
    """What a new task of a lane finds before it: that lane and the more urgent ones.

    How long tasks of the type took of late counts, else what the asker knows of them, else how long any took.
    """
    taking = snapshot.fleet().taking(lane)
    slots, busy = sum(len(one.slots) for one in taking), sum(one.busy for one in taking)
    ahead = LANES[: LANES.index(lane) + 1] if lane in LANES else LANES
    waiting = sum(
        snapshot.counts.lanes.get(name, {}).get(status, 0)
        for name in ahead
        for status in (Status.QUEUED, Status.PENDING)
    )
    took = snapshot.took.get(task_type, durations.NOT_MEASURED) if task_type else durations.NOT_MEASURED
    if not took.known and not expected_s:  # what the asker knows of the type says more than tasks of others
        took = snapshot.took.get("", durations.NOT_MEASURED)
    return Load(
        slots=slots,
        busy=busy,
        waiting=waiting,
        mean_s=took.mean_s if took.known else expected_s or USUAL_S,
        inflow=snapshot.rates.flow.steady_in,
        deviation_s=took.deviation_s,
        measured=took.count,
    )
