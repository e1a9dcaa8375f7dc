"""The question behind the table."""

from __future__ import annotations

import pytest

from services.domain.task.search import filter
from services.domain.task.status import Triage
from views.pages.dead_letters.table import Wanted


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        ("0f3a9c0d11aa22bb", "status:dead triage:open fp:0f3a9c0d11aa22bb"),
        ("bad_message", "status:dead triage:open kind:bad_message"),
        ("", "status:dead triage:open"),
    ],
)
def test_a_cause_is_asked_for_by_its_fingerprint_or_its_kind(cause: str, text: str) -> None:
    assert Wanted(cause=cause).text == text
    filter.parse(text, now_ms=0)


def test_each_state_has_its_own_letters() -> None:
    assert "triage:archived" in Wanted(triage=Triage.ARCHIVED, cause="ab").text
