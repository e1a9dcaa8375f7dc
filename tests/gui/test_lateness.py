"""A schedule that nobody fires and a worker that is not heard of, as the window says it on either pair of drivers."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import workforce
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Schedule
from services.monitor.live import Snapshot
from services.ports.timetable import ScheduleEntry
from tests.gui.desk import SHOPS, Desk
from tests.support.heartbeats import beat_ago
from views.pages.overview.page import OverviewPage
from views.pages.schedules.page import SchedulesPage
from views.pages.workers.page import WorkersPage

pytestmark = [pytest.mark.both_pairs, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]
LATE_MS, GONE_MS = 15_000, 60_000
HOUR_MS = 3_600_000


def plain(words: str) -> str:
    """With the spaces that a keyboard has."""
    return words.replace("\u202f", " ")


def items(console: Console) -> dict[str, str]:
    """What needs attention: sentence by title."""
    page = console.window.page("overview")
    assert isinstance(page, OverviewPage)
    rows = [item.row for item in page.attention.list.items() if not item.resolved]
    return {plain(row.title): plain(row.sentence) for row in rows}


def test_a_worker_is_amber_from_fifteen_seconds_on_and_is_forgotten_once_it_is_gone(
    qtbot: QtBot, console: Console, desk: Desk
) -> None:
    settings, store = desk.session.settings, desk.session.engine.store
    info = WorkerInfo(worker="desk-7", host="desk-7", pid=1, version="1.0", slots=(SlotState(),))
    seen: list[tuple[bool, str]] = []

    def note(snapshot: Snapshot) -> None:
        for one in snapshot.fleet().workers:
            age = snapshot.at_ms - one.info.seen_at
            if not LATE_MS - 50 < age < LATE_MS + 50:
                seen.append((age >= LATE_MS, one.state))

    desk.session.live.on_snapshot(note)
    beat_ago(settings, info, LATE_MS - 4_000)
    window = console.window
    qtbot.waitUntil(
        lambda: (
            (window.top_bar.pill("workers").health.value, window.top_bar.pill("workers").health.state)
            == ("1", "healthy")
        )
    )
    qtbot.waitUntil(
        lambda: (
            (window.top_bar.pill("workers").health.value, window.top_bar.pill("workers").health.state)
            == ("0 / 1", "warning")
        )
    )
    qtbot.waitUntil(lambda: any(late for late, _state in seen))  # the pill may have known it by the clock
    assert set(seen) == {(False, "fine"), (True, "late")}
    qtbot.waitUntil(lambda: "Worker desk-7 is late" in items(console))
    window.open_page("workers")
    page = window.page("workers")
    assert isinstance(page, WorkersPage)
    qtbot.waitUntil(lambda: page.board.card("desk-7") is not None)
    node = page.board.card("desk-7")
    qtbot.waitUntil(node.buttons["forget"].isVisible)
    assert not node.buttons["forget"].isEnabled(), "it may be back in a moment"
    beat_ago(settings, info, GONE_MS + 5_000)
    qtbot.waitUntil(node.buttons["forget"].isEnabled)
    window.open_page("overview")
    qtbot.waitUntil(lambda: "Worker desk-7 is gone" in items(console))
    window.open_page("workers")
    qtbot.mouseClick(node.buttons["forget"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: store.workers() == [])
    qtbot.waitUntil(lambda: page.board.card("desk-7") is None)
    qtbot.waitUntil(lambda: window.top_bar.pill("workers").health.value == "0")
    assert store.audit(1)[0].action == "worker.forget"
    window.open_page("overview")
    qtbot.waitUntil(lambda: not any("desk-7" in title for title in items(console)))


def test_a_schedule_that_is_hours_late_says_so_and_why_until_somebody_fires_it(
    qtbot: QtBot, console: Console, desk: Desk
) -> None:
    session, store = desk.session, desk.session.engine.store
    session.commands.schedules.add(Schedule(name="nightly", task_type="get_content", every_s=3600, all_shops=True))
    (entry,) = store.schedules()
    planned, late = schedules.load(entry.body), store.now_ms() - 2 * HOUR_MS
    old = replace(planned, schedule=replace(planned.schedule, first_at=late))
    store.put_schedule(ScheduleEntry(name="nightly", next_at=late, body=schedules.dump(old)), entry.version)
    qtbot.waitUntil(lambda: "Schedule nightly is 2 h late" in items(console))
    assert "no worker leads" in items(console)["Schedule nightly is 2 h late"]
    console.window.open_page("schedules")
    page = console.window.page("schedules")
    assert isinstance(page, SchedulesPage)
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 1)

    def row() -> str:
        return " | ".join(str(page.table.records.index(0, at).data()) for at in range(page.table.records.columnCount()))

    qtbot.waitUntil(lambda: "2 h" in plain(row()))
    assert "late" in row()
    assert "now" not in row().split(" | ")
    assert "1 schedule is late" in page.header.summary()
    steward = workforce.steward(session.engine)
    steward.start()
    try:
        qtbot.waitUntil(lambda: "is late" not in page.header.summary())
        assert store.counts().total == len(SHOPS), "what was missed is one run"
        console.window.open_page("overview")
        qtbot.waitUntil(lambda: not any("nightly" in title for title in items(console)))
    finally:
        steward.close()
