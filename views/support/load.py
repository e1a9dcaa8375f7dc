"""The fleet's load as the newest snapshot has it, for forecasts. Pure."""

from __future__ import annotations

from services.domain.lane import LANES
from services.domain.outlook import Load
from services.domain.status import Status
from services.monitor.live import Snapshot

USUAL_S = 10.0  #: one task where nobody said how long it takes


def load_of(snapshot: Snapshot, lane: str, expected_s: float = 0.0) -> Load:
    """What a new task of a lane finds before it: that lane and the more urgent ones.

    With every slot at work the fleet's own pace counts, else how long the task type usually takes.
    """
    taking = snapshot.fleet().taking(lane)
    slots, busy = sum(len(one.slots) for one in taking), sum(one.busy for one in taking)
    ahead = LANES[: LANES.index(lane) + 1] if lane in LANES else LANES
    waiting = sum(
        snapshot.counts.lanes.get(name, {}).get(status, 0)
        for name in ahead
        for status in (Status.QUEUED, Status.PENDING)
    )
    measured = slots / snapshot.rates.ack if busy and busy == slots and snapshot.rates.ack > 0 else 0.0
    return Load(slots=slots, busy=busy, waiting=waiting, mean_s=measured or expected_s or USUAL_S)
