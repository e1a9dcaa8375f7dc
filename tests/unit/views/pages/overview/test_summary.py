"""The line beside the title."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.monitor.overview import LaneDepth, OverviewNow
from tests.unit.views.pages.overview.sample_source import SampleSource
from views.pages.overview.summary import summary
from views.support.text import THIN

BUSY = SampleSource().now()


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
