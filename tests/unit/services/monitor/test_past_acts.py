"""What people did around a moment: the newest of it, and whether there was more."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.domain.audit import AuditEntry
from services.monitor.audit import AuditQueries
from services.monitor.past.queries import PastQueries
from tests.unit.services.engine.room import opened

MOST = 4


@pytest.mark.parametrize(
    ("before", "within", "later", "told", "more"),
    [(0, 4, 0, 4, False), (0, 5, 0, 4, True), (0, 4, 1, 4, True), (0, 4, 2, 3, True), (3, 4, 0, 4, False)],
)
def test_acts_of_the_same_second_that_do_not_belong_to_it_hide_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, within: int, later: int, told: int, more: bool
) -> None:
    """``before`` and ``later``: entries of the second in which it begins or ends, but outside of it."""
    monkeypatch.setattr("services.monitor.past.queries.ACTS", MOST)
    with opened(tmp_path) as room:
        end = room.store.now_ms() // 1000 * 1000 - 10_500
        begin = end - 60_000
        for number, at in enumerate([begin] * before + [end] * within + [end + 100] * later):
            room.store.append_audit(AuditEntry(entry_id=f"{at}-w-{number:03}", at=at, who="ann@desk", action="pause"))
        past = PastQueries(tmp_path / "none", AuditQueries(room.store), lambda: [], room.store.now_ms)
        made = past.lanes(begin, end)
    assert (len(made.acts), made.more_acts) == (told, more)
