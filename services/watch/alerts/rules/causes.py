"""What several rules say as the cause of what they see."""

from __future__ import annotations

from services.domain.text.message import Message
from services.watch.alerts.look import Look

#: the queues of single shops: any worker may serve them
DEDICATED = "dedicated"


def of_waiting(look: Look, lane: str) -> Message:
    """Why tasks of a lane wait: nobody takes them, all slots are busy, or something besides holds them back."""
    takers = [
        one
        for one in look.snapshot.fleet().workers
        if one.takes_work and (lane == DEDICATED or lane in one.info.open_lanes)
    ]
    slots, busy = sum(len(one.slots) for one in takers), sum(one.busy for one in takers)
    if not slots:
        return Message("alert.cause_no_taker")
    return Message("alert.cause_full" if busy >= slots else "alert.cause_free", {"slots": slots, "busy": busy})
