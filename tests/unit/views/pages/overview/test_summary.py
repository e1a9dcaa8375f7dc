"""The line beside the title."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.monitor.overview import LaneDepth, OverviewNow, ShopCell
from tests.unit.views.pages.overview.sample_source import SampleSource
from views.pages.overview.summary import summary
from views.support.text import THIN

BUSY = replace(SampleSource().now(), shops=())  # none of them waits for a person


def plain(now: OverviewNow) -> str:
    return summary(now).replace(THIN, " ")


def test_the_line_of_the_pictures() -> None:
    assert plain(BUSY) == "1,284 tasks waiting, clear in about 4 m 50 s at the present pace"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ack_rate": 0.0}, "1,284 tasks waiting, none has finished in the last seconds"),
        ({"slots_total": 0}, "1,284 tasks waiting, no worker is connected"),
        ({"ack_rate": 0.001}, "1,284 tasks waiting, more than a week of work at the present pace"),
        ({"lanes": ()}, "Nothing is waiting, 88 tasks running"),
        ({"lanes": (), "running": 0}, "Nothing is waiting and nothing is running"),
        ({"lanes": (LaneDepth(lane="low", ready=1),)}, "1 task waiting, clear in about 1 s at the present pace"),
    ],
)
def test_other_days(changes: dict[str, object], expected: str) -> None:
    assert plain(replace(BUSY, **changes)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        (0, "5 tasks waiting, all of them for a person: a login or a pause"),
        (45, "50 tasks waiting, 5 of them for a person, the others clear in about 9 s"),
    ],
)
def test_what_waits_for_a_person_is_not_cleared_by_any_pace(ready: int, expected: str) -> None:
    shops = (
        ShopCell(platform="pdd", shop_id="1", name="1", state="healthy", waiting=3, session="login_expired"),
        ShopCell(platform="pdd", shop_id="2", name="2", state="paused", waiting=2),
        ShopCell(platform="pdd", shop_id="3", name="3", state="healthy", waiting=ready),
    )
    lanes = (LaneDepth(lane="low", ready=ready, blocked=5),)
    assert plain(replace(BUSY, lanes=lanes, shops=shops, ack_rate=5.0)) == expected
