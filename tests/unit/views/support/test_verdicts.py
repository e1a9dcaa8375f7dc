"""Whether a task may run again, said alike by every page."""

from __future__ import annotations

import pytest

from services.domain.insight.verdict import Verdict, safe_to_run_again
from services.domain.status import Status
from services.domain.task import Task
from views.support import verdicts


def dead(**fields: object) -> Task:
    known = {
        "task_id": "t",
        "shop_id": "s",
        "platform": "pdd",
        "task_type": "work",
        "status": Status.DEAD,
        "attempt": 1,
    }
    return Task(**(known | fields))  # type: ignore[arg-type]


def test_what_would_fail_again_is_not_shown_in_green() -> None:
    said = verdicts.say(safe_to_run_again(dead(error_kind="login_expired")))
    assert said == (
        "warning",
        "Check first",
        "It would fail again: put this right first (Seller login expired).",
    )


@pytest.mark.parametrize(
    ("level", "status", "lead"),
    [
        ("safe", "healthy", "Safe to run again"),
        ("would_duplicate", "dead", "Would duplicate"),
        ("odd", "warning", "odd"),
    ],
)
def test_levels_have_their_colours(level: str, status: str, lead: str) -> None:
    said = verdicts.say(Verdict(level=level, code="verdict.idempotent"))
    assert (said.status, said.lead) == (status, lead)
