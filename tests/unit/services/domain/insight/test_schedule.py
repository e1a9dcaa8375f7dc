"""How late a schedule is, why, and how late its last run was."""

from __future__ import annotations

import pytest

from services import messages
from services.domain.insight import schedule as insight
from services.domain.insight.publisher import PublisherNow
from services.domain.plans.schedule import Planned, Run, Schedule, Tally

NOW = 100_000_000
SCHEDULE = Schedule(name="nightly", task_type="work", cron="0 2 * * *", all_shops=True)
PLANNED = Planned(schedule=SCHEDULE)


@pytest.mark.parametrize(("behind_s", "late_s"), [(-5, 0), (0, 0), (60, 0), (61, 61), (7200, 7200)])
def test_more_than_a_minute_past_its_time_it_is_late(behind_s: int, late_s: int) -> None:
    found = insight.look(PLANNED, NOW - behind_s * 1000, NOW, leader="w1")
    assert (found.late_ms, found.due_ms) == (late_s * 1000, NOW - behind_s * 1000)
    assert (found.late is None) == (late_s == 0)


def test_a_disabled_one_is_never_late() -> None:
    assert insight.look(PLANNED, 0, NOW, leader="").late is None


@pytest.mark.parametrize(
    ("leader", "kind", "firing", "why"),
    [
        ("", "", False, "no_leader"),
        ("w1", "disk", False, "blocked"),
        ("w1", "", True, "firing"),
        ("w1", "", False, "unfired"),
    ],
)
def test_why_it_is_late(leader: str, kind: str, firing: bool, why: str) -> None:
    planned = Planned(schedule=SCHEDULE, firing=Run(at=1, base=1) if firing else None)
    found = insight.look(planned, NOW - 7_200_000, NOW, leader=leader, way=PublisherNow(kind=kind))
    assert found.why is not None
    assert found.why.code == f"schedule.{why}"
    assert found.late is not None
    assert messages.english(found.late) == "2 h late"


def test_a_run_that_began_late_says_so_afterwards() -> None:
    ran = Planned(schedule=SCHEDULE, last=Tally(at=NOW - 7_200_000, base=NOW))
    found = insight.look(ran, NOW + 5, NOW, leader="w1")
    assert found.ran_late is not None
    assert (found.ran_late_ms, messages.english(found.ran_late)) == (7_200_000, "2 h late")
    by_hand = Planned(schedule=SCHEDULE, last=Tally(at=NOW - 7_200_000, base=NOW, by="ann"))
    assert insight.look(by_hand, NOW + 5, NOW, leader="w1").ran_late is None


def test_how_many_are_late() -> None:
    late, well = (insight.look(PLANNED, NOW - behind, NOW, leader="w1") for behind in (90_000, 0))
    assert insight.summary([well]) is None
    found = insight.summary([late, well])
    assert found is not None
    assert messages.english(found) == "1 schedule is late"
