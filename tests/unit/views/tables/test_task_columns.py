"""What every table of tasks says alike."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from services import i18n
from services.domain.gates import listed
from services.domain.insight.forecast.estimate import Estimate
from services.domain.insight.wait import CLOSED, GateView
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.monitor.waits.waiting import Wait
from views.pages.dead_letters.table import COLUMNS as LETTERS
from views.pages.dead_letters.table import LetterRow
from views.pages.tasks.rows import COLUMNS as TASKS
from views.pages.tasks.rows import TaskRow
from views.support import instant
from views.tables import roles
from views.tables.record_model import RecordModel

NOW = 1_700_000_000_000
TASK = Task(task_id="t1", shop_id="s1", platform="temu", task_type="sync_order", lane="high")
TRACEBACK = """Traceback (most recent call last):
  File "/srv/flows/orders.py", line 27, in sync
    raise HandlerError("MissingSecret: no key for 7")
MissingSecret: no key for 7"""
SHARED = ("type", "shop", "platform", "lane")


def test_a_task_reads_the_same_alive_and_dead() -> None:
    for name in ("", "Yuzu Home"):
        alive, dead = TaskRow(task=TASK, shop_name=name), LetterRow(task=TASK, shop_name=name)
        said = {one.key: (one.display(alive), one.tooltip and one.tooltip(alive)) for one in TASKS}
        also = {one.key: (one.display(dead), one.tooltip and one.tooltip(dead)) for one in LETTERS}
        assert [said[key] for key in SHARED] == [also[key] for key in SHARED]
        assert said["shop"] == (name or "s1", f"{name}\ntemu:s1" if name else "temu:s1")


def test_a_lane_and_a_platform_are_read_aloud_by_their_names() -> None:
    model: RecordModel[TaskRow] = RecordModel(TASKS, lambda row: row.key)
    model.apply([TaskRow(task=TASK)])
    cells = {one.key: model.index(0, place) for place, one in enumerate(TASKS)}
    assert cells["lane"].data(roles.ACCESSIBLE) == "Lane: High"
    assert cells["platform"].data(roles.ACCESSIBLE) == "Plat.: TEMU"
    i18n.set_language("zh_CN")
    assert cells["lane"].data(roles.ACCESSIBLE) == "通道：高"
    assert cells["lane"].data(roles.VALUE) == "high", "filters go by the code"


def test_the_code_of_the_type_and_the_id_stay_in_the_tool_tip() -> None:
    column = next(one for one in TASKS if one.key == "type")
    assert column.tooltip is not None
    assert column.tooltip(TaskRow(task=TASK)) == "sync_order\nt1"


def test_an_error_is_told_by_the_line_that_says_what_went_wrong() -> None:
    column = next(one for one in TASKS if one.key == "error")
    assert column.display(TaskRow(task=msgspec.structs.replace(TASK, error=TRACEBACK))) == "MissingSecret: no key for 7"
    assert column.display(TaskRow(task=TASK)) == ""


class Watch:
    """A clock that is moved by hand."""

    at = NOW

    def now_ms(self) -> int:
        return self.at


@pytest.fixture
def watch(qapp: object) -> Iterator[Watch]:
    made = Watch()
    instant.ticks().follow(made)
    yield made
    instant.ticks().leave(made)


def test_what_the_clock_does_not_move_says_the_same_an_hour_later(watch: Watch) -> None:
    """Cells that do not move are not looked at when a second has passed."""
    gate = GateView(name="lane_order", state=CLOSED, code="gate.lane_order", params={"ahead": 3})
    soon = Estimate(low_s=60.0, mid_s=90.0, high_s=120.0, basis="measured", at_ms=NOW)
    ended = Attempt(1, "w", NOW - 9_000, NOW - 1_000, "failed")
    record = msgspec.structs.replace(TASK, lease_until=NOW + 5_000, due_at=NOW + 30_000, attempts=(ended,))
    rows = [
        TaskRow(task=msgspec.structs.replace(record, status=status, started_at=at), gate=name, wait=wait)
        for status in Status
        for at in (0, NOW - 9_000)
        for name in ("", *(one.name for one in listed.ORDER))
        for wait in (None, Wait(gate=gate), Wait(gate=gate, starts=soon))
    ]
    live = [column for column in TASKS if column.live]
    said = [[column.fingerprint(row) for row in rows] for column in live]
    watch.at += 3_600_000
    for column, before in zip(live, said, strict=True):
        moved = [row for row, old in zip(rows, before, strict=True) if column.fingerprint(row) != old]
        assert moved, column.key
        assert all(column.moves is None or column.moves(row) for row in moved), column.key
