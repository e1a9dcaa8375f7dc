"""What *Did it run?* says of running a work again, and of a day, is never more than is known."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.task.ledger import Done, Failure
from services.domain.task.record import Attempt, Task
from services.monitor.shops.day import CANCELLED, RUNNING, DayAttempt, ShopDay
from services.monitor.works import WorkStory
from views.dialogs.work import words

NOW = 1_795_000_000_000
MINUTE = 60_000


def story(**known: Any) -> WorkStory:
    usual = {"shop": "pdd:s1", "task_type": "reply", "begins": NOW - 60 * MINUTE, "ends": NOW, "zone": "UTC"}
    return WorkStory(**(usual | {"asks_since": NOW - 2 * MINUTE} | known))


def letter(**known: Any) -> Task:
    usual = {"task_id": "t", "platform": "pdd", "shop_id": "s1", "task_type": "reply", "status": "dead"}
    return Task(**(usual | {"idempotent": False} | known))  # type: ignore[arg-type]


TIMED_OUT = letter(
    attempt=1,
    started_at=NOW - 9 * MINUTE,
    error_kind="timeout",
    attempts=(
        Attempt(
            number=1, worker="w1", started_at=NOW - 9 * MINUTE, ended_at=NOW, outcome="timeout", error_kind="timeout"
        ),
    ),
)


@pytest.mark.parametrize(
    ("known", "value"),
    [
        ({"done": Done("t", NOW - 3 * MINUTE)}, "It is safe"),
        ({"done": Done("t", NOW - MINUTE)}, "Needs a reason"),
        ({"repeatable": False}, "It is safe"),
        ({"repeatable": False, "done": Done("t", NOW - 3 * MINUTE)}, "Check first"),
        ({"repeatable": False, "failed": Failure("t", NOW), "letter": TIMED_OUT}, "Check first"),
        ({"repeatable": False, "failed": Failure("t", NOW)}, "Check first"),
        ({"repeatable": False, "failed": Failure("t", NOW), "letter": letter()}, "It is safe"),
        ({"repeatable": False, "one_work": False}, "Not known"),
        ({"repeatable": False, "complete": False}, "Not known"),
        ({"apart": True, "one_work": False}, "It is safe"),
        ({"apart": True, "one_work": False, "repeatable": False}, "Not known"),
        ({"apart": True, "one_work": False, "done": Done("t", NOW - MINUTE)}, "Not known"),
    ],
)
def test_safe_is_only_what_may_be_repeated_or_has_not_begun(known: dict[str, Any], value: str) -> None:
    assert words.again(story(**known), NOW)[0] == value


def test_a_day_counts_what_runs_and_what_was_stopped() -> None:
    runs = tuple(
        DayAttempt(task_type="reply", state=state, begins=NOW, ends=NOW, task_id=state, count=count)
        for state, count in ((RUNNING, 1), (CANCELLED, 2))
    )
    day = ShopDay(shop="pdd:s1", begins=NOW, ends=NOW, now=NOW, types=("reply",), runs=runs)
    assert words.counted(day) == "1 running, 2 were stopped"
