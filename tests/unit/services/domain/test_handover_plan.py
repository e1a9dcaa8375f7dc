"""When the page for who takes over is due."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from services.domain.plans import handover
from services.domain.plans.handover import HandoverPlan

ZONE = "Europe/Berlin"
PLAN = HandoverPlan(times=("02:30", "20:00"))


def ms(words: str, zone: str = ZONE) -> int:
    """An instant on the clocks of a zone."""
    return round(datetime.fromisoformat(words).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


def test_the_newest_time_that_has_come_is_due_and_tells_of_the_time_since_the_one_before() -> None:
    assert handover.due(PLAN, ZONE, ms("2026-05-04T20:00:00")) == (ms("2026-05-04T20:00"), ms("2026-05-04T02:30"))
    assert handover.due(PLAN, ZONE, ms("2026-05-04T02:31:00")) == (ms("2026-05-04T02:30"), ms("2026-05-03T20:00"))
    assert handover.due(PLAN, ZONE, ms("2026-05-04T19:59:59")) is None  # that of the night is too late
    assert handover.following(PLAN, ZONE, ms("2026-05-04T20:00:00")) == ms("2026-05-05T02:30")


def test_one_time_a_day_tells_of_a_day() -> None:
    plan = HandoverPlan(times=("08:00",))
    assert handover.due(plan, "UTC", ms("2026-05-04T08:00:05", "UTC")) == (
        ms("2026-05-04T08:00", "UTC"),
        ms("2026-05-03T08:00", "UTC"),
    )


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25)])
def test_a_day_of_another_length_has_each_time_once(day: str, hours: int) -> None:
    found = handover.times(PLAN, ZONE, ms(f"{day}T12:00"))
    assert len(found) == len(set(found)) == 10
    plan = HandoverPlan(times=("12:00",))
    at, before = handover.due(plan, ZONE, ms(f"{day}T12:00")) or (0, 0)
    assert (at - before) // 3_600_000 == hours


def test_what_was_due_before_it_was_set_is_not_due() -> None:
    plan = HandoverPlan(times=("08:00",), at=ms("2026-05-04T08:00:30", "UTC"))
    assert handover.due(plan, "UTC", ms("2026-05-04T08:01", "UTC")) is None
    assert handover.due(plan, "UTC", ms("2026-05-05T08:01", "UTC")) is not None
