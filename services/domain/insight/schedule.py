"""What is true of a schedule: when it runs, how late it is and why, and how late its last run was."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from services.domain.insight.publisher import PublisherNow
from services.domain.plans.schedule import GRACE_MS, Planned
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_, NN_

#: a run that begins later than this is late: who fires looks every second, and a dead leader is replaced in 15 s
LATE_MS = GRACE_MS

SENTENCES: dict[str, str] = {
    "schedule.late": N_("{span} late"),
    "schedule.ran_late": N_("{span} late"),
    "schedule.no_leader": N_(
        "Nobody fires schedules: no worker leads. Start a worker; 1 run makes up for all that were missed."
    ),
    "schedule.no_leader_skip": N_(
        "Nobody fires schedules: no worker leads. Start a worker; what was missed is left out, as the schedule says."
    ),
    "schedule.blocked": N_("The broker takes no new messages; see what it needs. The run is caught up then."),
    "schedule.firing": N_("Its run has begun and is not through yet."),
    "schedule.unfired": N_("{leader} leads and has not fired it; look at its log."),
    "schedule.same_work": NN_(
        "{names}: the same work, created twice for {n} shop", "{names}: the same work, created twice for {n} shops"
    ),
    "schedule.in_quiet": N_("Quiet hours {name}: the run at {clock} waits until {end}."),
    "schedule.after_promise": N_("The promise {name} is due at {clock}, before the next run at {at}."),
    "schedule.many_late": NN_("{n} schedule is late", "{n} schedules are late"),
}


class ScheduleNow(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule at one moment; ``due_ms``: the planned time that it is late for or comes next, 0 for none."""

    due_ms: int = 0
    late_ms: int = 0  #: 0 while it is in time
    why: Message | None = None  #: why it is late, and what to do
    ran_late_ms: int = 0  #: how late its last run began, 0 in time

    @property
    def late(self) -> Message | None:
        """How late it is, None while it is in time."""
        return (
            Message("schedule.late", {"seconds": self.late_ms // 1000, "since": self.due_ms}) if self.late_ms else None
        )

    @property
    def ran_late(self) -> Message | None:
        """How late its last run began, None where that was in time."""
        return ran_late(self.ran_late_ms)


def ran_late(late_ms: int) -> Message | None:
    """How late a run began, None where that was in time."""
    return Message("schedule.ran_late", {"seconds": late_ms // 1000}) if late_ms > LATE_MS else None


def look(planned: Planned, next_at: int, now_ms: int, *, leader: str, way: PublisherNow | None = None) -> ScheduleNow:
    """Judge one schedule. ``next_at``: the instant it is looked at next, 0 for never; ``leader``: who fires, "" for
    nobody.
    """
    last = planned.last
    ran = last.base - last.at if last is not None and not last.by else 0
    late = overdue(next_at, now_ms)
    return ScheduleNow(
        due_ms=next_at,
        late_ms=late,
        why=_why(planned, leader, way) if late else None,
        ran_late_ms=ran if ran > LATE_MS else 0,
    )


def leaderless(found: ScheduleNow) -> bool:
    """Whether it is late because nobody fires schedules, which a worker would mend."""
    return found.why is not None and found.why.code in ("schedule.no_leader", "schedule.no_leader_skip")


def overdue(next_at: int, now_ms: int) -> int:
    """By how many ms a planned time has passed without a run, 0 while that is in time."""
    return now_ms - next_at if next_at and now_ms - next_at > LATE_MS else 0


def summary(found: Sequence[ScheduleNow]) -> Message | None:
    """How many are late, None where none is."""
    late = sum(1 for one in found if one.late_ms)
    return Message("schedule.many_late", {"n": late}) if late else None


def _why(planned: Planned, leader: str, way: PublisherNow | None) -> Message:
    if not leader:
        skips = planned.schedule.missed == "skip" and planned.firing is None
        return Message("schedule.no_leader_skip" if skips else "schedule.no_leader")
    if way is not None and way.blocked:
        return Message("schedule.blocked")
    params: dict[str, Param] = {"leader": leader}
    return Message("schedule.firing") if planned.firing is not None else Message("schedule.unfired", params)
