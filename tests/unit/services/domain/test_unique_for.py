"""For how long after a success the same work asks for a reason."""

from __future__ import annotations

import pytest

from services.domain.errors import UsageError
from services.domain.types.task_type import TaskType, check, done_since

NOON = 1_774_843_200_000  #: 2026-03-30 04:00 UTC, noon in Shanghai
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("window", "zone", "since"),
    [
        ("", "", 0),
        ("1h", "", NOON - HOUR),
        ("2d", "", NOON - 48 * HOUR),
        ("today", "UTC", NOON - 4 * HOUR),
        ("today", "Asia/Shanghai", NOON - 12 * HOUR),
    ],
)
def test_the_window_begins(window: str, zone: str, since: int) -> None:
    kind = TaskType(name="sync_order", unique_for=window)
    check(kind)
    assert done_since(kind, NOON, zone) == since


@pytest.mark.parametrize("window", ["tomorrow", "0s", "31d", "1 h", "-1h", "60"])
def test_what_is_no_window_is_refused(window: str) -> None:
    with pytest.raises(UsageError) as refused:
        check(TaskType(name="sync_order", unique_for=window))
    assert refused.value.field == "unique_for"


def test_a_type_whose_tasks_may_stand_side_by_side_has_none() -> None:
    with pytest.raises(UsageError):
        check(TaskType(name="ping", uniqueness="none", unique_for="1h"))
