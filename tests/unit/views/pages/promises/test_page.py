"""The Promises page over a real engine: how each stands, what holds it, and every act as its audited command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QMenu, QScrollBar
from pytestqt.qtbot import QtBot

from services import assembly, i18n
from services.domain.errors import UsageError
from services.domain.promises import promise as promises
from services.domain.promises import standing
from services.domain.promises.judge import AT_RISK, BROKEN, CHECKS, KEPT, Due, Forecast, Hold, Judged
from services.domain.promises.promise import Promise
from services.monitor.promises import STALE_MS, MatrixRow, PromiseQueries
from tests.support.held import held, settled
from tests.support.painted import painted
from tests.support.widgets import words as read
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import SMALL, WAIT_MS, opening
from views.dialogs.confirm import ConfirmDialog
from views.kit.list_source import ListSource
from views.pages.promises import words
from views.pages.promises.editor import PromiseDialog
from views.pages.promises.page import PromisesPage
from views.pages.promises.record import AHEAD, DAY, MONTH
from views.support import shown
from views.tables.delegates import PADDING
from views.tables.table_view import TableView
from views.theme import theme
from views.widgets.unknown import Bones

pytestmark = pytest.mark.one_pair

Open = Callable[[], PromisesPage]
MINUTE = 60_000
PAUSED = Hold(
    "gates", "promise.paused", {"scope": "platform:pdd", "by": "ann", "reason": ""}, "ann", "promise.an_operator",
    "resume", "platform:pdd",
)  # fmt: skip
PAGE = Hold("page", "promise.failing", {"kind": "page_changed", "n": 2}, "", "promise.of_flow", "triage", "9ac1")
SOURCE = Hold("created", "promise.unplanned", {}, "", "promise.of_source", "copy_creator", "")


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: PromisesPage(fleet.context), size=(1400, 800))


def promise(fleet: Fleet, name: str, *shops: Judged, ago_ms: int = 0, **fields: Any) -> Promise:
    """One that was promised, and that the leader judged so."""
    words = {"task_type": "sync_order", "limit_s": 3600, "all_shops": True, **fields}
    fleet.context.commands.promises.set(Promise(name=name, **words))
    made = promises.DOCUMENT.load(fleet.store.documents(promises.KIND)[name])
    if shops:
        now = fleet.store.now_ms() - ago_ms
        found = standing.after(made, Due(), shops, None, now=now, by="desk")
        fleet.store.put_document(promises.STATE, name, standing.DOCUMENT.dump(found))
    return made


def shop(fleet: Fleet, name: str, state: str, minutes: float, **fields: Any) -> Judged:
    """How it stands in a shop, and in how many minutes it breaks."""
    return Judged(shop=name, state=state, break_at=fleet.store.now_ms() + round(minutes * MINUTE), **fields)


@pytest.fixture
def four(fleet: Fleet) -> Fleet:
    """One broken, one at risk, one kept, one switched off."""
    now = fleet.store.now_ms()
    soon = Forecast(low=now + 20 * MINUTE, mid=now + 31 * MINUTE + 30_000, high=now + 40 * MINUTE)
    names = sorted(fleet.context.shops())
    first, second, third = names[:3]
    promise(fleet, "a-kept", shop(fleet, first, KEPT, 50, forecast=soon, done_at=now - 10 * MINUTE))
    promise(
        fleet, "b-risky", shop(fleet, first, AT_RISK, 25, forecast=soon, hold=PAUSED),
        shop(fleet, second, AT_RISK, 25, hold=PAUSED), shop(fleet, third, AT_RISK, 40, hold=PAGE),
        platforms=("pdd",), all_shops=False,
    )  # fmt: skip
    promise(fleet, "c-broken", shop(fleet, second, BROKEN, -12, hold=SOURCE, done_at=now - 72 * MINUTE))
    promise(fleet, "d-off", enabled=False)
    return fleet


def cells(page: PromisesPage, name: str) -> dict[str, str]:
    """What the row of a promise says."""
    row = page.table.records.find(name)
    assert row is not None
    return {column.key: column.display(row) for column in page.table.records.columns}


def click(qtbot: QtBot, table: TableView, row: int, column: str, share: float = 0.5) -> None:
    """Click a cell, so far from its left end to its right one."""
    section = next(at for at, one in enumerate(table.records.columns) if one.key == column)
    cell = table.visualRect(table.records.index(row, section)).adjusted(PADDING, 0, -PADDING, 0)
    place = QPoint(cell.x() + int(share * cell.width()), cell.center().y())
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def to_column(qtbot: QtBot, table: TableView, column: str) -> None:
    """Go along the row by keys."""
    columns = table.records.columns
    wanted = next(at for at, one in enumerate(columns) if one.key == column)
    for _step in columns:
        if (at := table.currentIndex().column()) == wanted:
            return
        qtbot.keyClick(table, Qt.Key.Key_Right if at < wanted else Qt.Key.Key_Left)
    assert table.currentIndex().column() == wanted


def order(page: PromisesPage) -> list[str]:
    """Names of the rows from top to bottom."""
    return [str(page.table.records.key_at(at)) for at in range(page.table.records.rowCount())]


def after(qtbot: QtBot, page: PromisesPage, act: Callable[[], object]) -> None:
    """Act, and wait until the page has asked again."""
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        act()
    again(qtbot, page)


def again(qtbot: QtBot, page: PromisesPage) -> None:
    """Ask again; an answer that was under way may be one of before."""
    asking = page.findChild(ListSource)
    qtbot.waitUntil(lambda: not asking.busy, timeout=WAIT_MS)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()


def choose(qtbot: QtBot, page: PromisesPage, name: str) -> None:
    """Put the cursor on a promise and wait until the panel shows it."""
    page.table.set_current_key(name)
    qtbot.waitUntil(lambda: page.panel.shown is not None and page.panel.shown.name == name, timeout=WAIT_MS)


def test_shops_that_break_together_stand_under_one_heading(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "b-risky")
    matrix = page.panel.matrix
    first, second, third = (matrix.records.key_at(row) for row in range(3))
    found = matrix.records.headings
    assert list(found) == [first, third]
    assert found[first].note.startswith("2 shops, all held by: ")
    assert found[third].note == "1 shop"
    assert found[first].title.startswith("Breaks at ")
    usual = matrix.rowHeight(1)
    assert [matrix.rowHeight(row) > usual for row in range(3)] == [True, False, True]
    said = [one.text for one in painted(page)]
    assert found[first].title in said
    column = matrix.records.section_of("shop")
    matrix.records.request_sort(column)
    assert not matrix.records.headings, "by name nothing stands together"
    assert {matrix.rowHeight(row) for row in range(3)} == {usual}
    assert second in {matrix.records.key_at(row) for row in range(3)}


def test_a_heading_is_no_cell_of_the_row_below_it(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "b-risky")
    matrix = page.panel.matrix
    cell = matrix.visualRect(matrix.records.index(2, matrix.records.section_of("shop")))
    assert not matrix.indexAt(cell.topLeft() + QPoint(4, 4)).isValid()
    assert matrix.indexAt(cell.bottomLeft() - QPoint(-4, 4)).row() == 2


def test_groups_stay_while_their_times_move(fleet: Fleet) -> None:
    now = fleet.store.now_ms()

    def rows(*minutes: int) -> list[MatrixRow]:
        return [
            MatrixRow(row=standing.Row(shop=f"pdd:{n}", state=AT_RISK, break_at=now + one * MINUTE), name=str(n),
                      cells=())
            for n, one in enumerate(minutes)
        ]  # fmt: skip

    together = words.groups(rows(5, 30, 40))
    assert list(together.values()) == [0, 1, 1]
    found = words.headings(rows(25, 50, 20), together, now)
    assert list(found) == ["pdd:0", "pdd:1"], "no row moves"
    early, late = (words.near(now + one * MINUTE, now) for one in (20, 50))
    assert found["pdd:1"].title == f"Break from {early} to {late}"
    found = words.headings(rows(25, 50, 20, 7), together, now)
    assert found["pdd:1"].note == "3 shops", "one that came is of the group before it"


def test_shops_that_all_break_together_need_no_heading(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "c-broken")
    assert page.panel.matrix.records.rowCount() == 1
    assert not page.panel.matrix.records.headings


def menu_of(page: PromisesPage, name: str) -> dict[str, bool]:
    """What its menu offers, and whether it can be done."""
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, name)
    return {action.text(): action.isEnabled() for action in menu.actions() if action.text()}


def test_an_empty_page_offers_a_promise_to_begin_with(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    assert page.stack.currentWidget() is page.empty
    assert page.header.summary() == "Nothing is promised."
    page.empty.button.click()
    (dialog,) = page.findChildren(PromiseDialog)
    assert (dialog.name.text(), dialog.limit.text(), dialog.choice.current()) == ("orders", "60m", "all")
    with qtbot.waitSignal(dialog.saved, timeout=WAIT_MS):
        dialog.save_button.click()
    qtbot.waitUntil(lambda: page.table.current_key() == "orders", timeout=WAIT_MS)
    assert page.stack.currentWidget() is page.split
    assert page.header.summary() == "1 not judged yet"


def test_a_small_window_says_whole_what_holds_a_shop(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    page.resize(*SMALL)
    choose(qtbot, page, "c-broken")
    matrix = page.panel.matrix
    header = [column.key for column in matrix.records.columns]
    (row,) = matrix.records.records()
    said, room = words.held_by(row), matrix.columnWidth(header.index("held")) - 2 * PADDING
    assert said == "no run waits and none is planned"
    assert QFontMetrics(theme().font("table")).horizontalAdvance(said) <= room
    assert matrix.horizontalScrollBar().maximum() == 0
    for check in CHECKS:
        title = QFontMetrics(theme().font("label")).horizontalAdvance(words.CHECKS[check])
        assert title <= matrix.columnWidth(header.index(check)) - 2 * PADDING, check
    page.resize(1170, 660)  # beside the rail of a window of 1366
    for language in ("en", "zh_CN"):
        i18n.set_language(language)
        for column in ("promise", "holds"):
            section = page.table.records.section_of(column)
            qtbot.waitUntil(lambda at=section: page.table.columnWidth(at) >= page.table.sizeHintForColumn(at))
    i18n.set_language("en")


def test_the_worst_stands_first_and_says_when_it_breaks_and_what_holds_it(
    qtbot: QtBot, four: Fleet, open_page: Open
) -> None:
    page = open_page()
    assert order(page) == ["c-broken", "b-risky", "a-kept", "d-off"]
    assert page.header.summary().startswith("1 broken in 1 shop, 1 at risk, 1 kept, 1 disabled; the first to break at ")
    assert page.header.summary().endswith(": 2 shops of b-risky")
    assert page.tabs.labels() == ["All 4", "Broken 1", "At risk 1", "Kept 1", "Not due 0"]
    broken, risky, kept, off = (cells(page, name) for name in ("c-broken", "b-risky", "a-kept", "d-off"))
    assert broken["promise"] == "sync_order never older than 60\u202fmin, every shop, c-broken, 1 shop"
    assert (broken["kept"], broken["at_risk"], broken["broken"]) == ("0", "", "1")
    assert broken["when"].startswith("broken ")
    assert broken["holds"] == "1 × no run waits and none is planned, who creates these tasks"
    assert risky["promise"].startswith("sync_order never older than 60\u202fmin, every shop of Pinduoduo")
    assert risky["when"].startswith("breaks ")
    assert risky["when"].endswith("2 shops")
    assert risky["holds"] == "2 × paused; 1 × fails (page_changed), ann"
    assert kept["when"].startswith("41\u202fmin, ± ")
    assert off["when"] == "Disabled"
    qtbot.waitUntil(lambda: page.panel.shown is not None and page.panel.shown.name == "c-broken", timeout=WAIT_MS)
    (line,) = page.panel.causes.lines()
    assert line.button.text() == "Copy report"
    side = page.panel.side

    def whole() -> bool:
        return line.button.mapTo(side, line.button.rect().topRight()).x() < side.width()

    qtbot.waitUntil(whole, timeout=WAIT_MS)


def test_tabs_show_those_of_one_state(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    page.tabs.choose("at_risk")
    assert order(page) == ["b-risky"]
    page.tabs.choose("not_due")
    assert page.none.isVisible()
    assert not page.panel.isVisible()
    page.none.button.click()
    assert order(page) == ["c-broken", "b-risky", "a-kept", "d-off"]
    page.show_request("a-kept")
    assert page.table.current_key() == "a-kept"


def test_the_panel_names_each_cause_and_how_far_each_run_comes(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "b-risky")
    panel = page.panel
    assert panel.causes.headline().startswith("Breaks at ")
    assert panel.causes.headline().endswith("held by")
    assert [(one.what.text(), one.who.text(), one.button.text()) for one in panel.causes.lines()] == [
        ("Pinduoduo paused by ann", "ann", "Resume Pinduoduo"),
        ("its last 2 runs failed (page_changed)", "who looks after the flow", "See the cause"),
    ]
    model = panel.matrix.records
    assert model.rowCount() == 3
    told = {column.key: column.speech(model.record(2)) for column in model.columns if column.kind == "promise check"}
    assert told == {
        "created": "Created: passed",
        "gates": "Gates: passed",
        "login": "Login: passed",
        "worker": "Worker: passed",
        "page": "Page: its last 2 runs failed (page_changed)",
    }
    waits = {column.key: column.speech(model.record(0)) for column in model.columns if column.kind == "promise check"}
    assert (waits["gates"], waits["page"]) == ("Gates: Pinduoduo paused by ann", "Page: not reached")
    panel.which.choose("broken")
    assert panel.none.isVisible()


def test_what_helps_is_a_click_away(
    qtbot: QtBot, four: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[tuple[str, str]] = []
    structs.force_setattr(four.context, "way_out", lambda verb, target: ways.append((verb, target)))
    page = open_page()
    choose(qtbot, page, "b-risky")
    for line in page.panel.causes.lines():
        line.button.click()
    assert ways == [("resume", "platform:pdd"), ("triage", "9ac1")]
    ways.clear()
    assert list(menu_of(page, "b-risky")) == [
        "Resume Pinduoduo (2 shops)", "See the cause (1 shop)", "Show tasks", "Edit promise", "Disable",
        "Who did what to it", "Remove",
    ]  # fmt: skip
    model, table = page.panel.matrix.records, page.panel.matrix
    section = next(at for at, column in enumerate(model.columns) if column.key == "next")
    place = table.visualRect(model.index(2, section)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert ways == [("triage", "9ac1")]
    choose(qtbot, page, "c-broken")
    page.panel.causes.lines()[0].button.click()
    (verb, said) = ways[-1]
    assert verb == "copy_creator"
    assert said.startswith("sync_order never older than")
    assert "no run waits and none is planned" in said
    with qtbot.waitSignal(page.navigate) as heard:
        page.panel.matrix.open_requested.emit(page.panel.matrix.current_key())
    assert heard.args[0] == "shops"
    choose(qtbot, page, "b-risky")
    with qtbot.waitSignal(page.navigate) as heard:
        page.panel.buttons["tasks"].click()
    assert heard.args == ["tasks", "type:sync_order platform:pdd"]


def test_a_check_opens_the_runs_that_it_is_about_and_the_rest_of_its_row_the_shop(
    qtbot: QtBot, four: Fleet, open_page: Open
) -> None:
    page = open_page()
    choose(qtbot, page, "b-risky")
    table = page.panel.matrix
    key = str(table.records.key_at(1))
    runs = ["tasks", f"type:sync_order shop:{key}"]
    with qtbot.waitSignal(page.navigate) as heard:
        click(qtbot, table, 1, "gates")
    assert heard.args == runs
    table.set_current_key(table.records.key_at(0))
    table.setFocus()
    to_column(qtbot, table, "shop")
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert heard.args == ["shops", table.records.key_at(0)]
    qtbot.keyClick(table, Qt.Key.Key_Down)
    to_column(qtbot, table, "page")
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert heard.args == runs


def test_a_half_hour_of_the_strip_opens_what_ran_in_it(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    row = page.table.records.find("b-risky")
    assert row is not None
    assert row.standing is not None
    ((last, _state),) = row.standing.strip

    def between(begins: int, ends: int) -> str:
        first, second = (
            datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:00.000+00:00") for at in (begins, ends)
        )
        return f"type:sync_order platform:pdd updated>={first} updated<{second}"

    at, half = page.table.records.row_of("b-risky"), standing.HALF_HOUR_MS
    for share, behind in ((0.999, 0), (0.501, 23), (0.0, 47)):
        with qtbot.waitSignal(page.navigate) as heard:
            click(qtbot, page.table, at, "strip", share)
        begins = last - behind * half
        assert heard.args == ["tasks", between(begins, begins + half)]
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert heard.args == ["tasks", between(last - 47 * half, last + half)]
    to_column(qtbot, page.table, "promise")
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert page.panel.matrix.hasFocus()


def test_a_column_of_long_ago_opens_its_tasks_and_says_what_they_are_of(
    qtbot: QtBot, four: Fleet, open_page: Open
) -> None:
    page = open_page()
    choose(qtbot, page, "b-risky")
    kept = page.panel.kept
    kept.span.choose(MONTH)
    kept.chart.setFocus()
    qtbot.keyClick(kept.chart, Qt.Key.Key_Home)
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.keyClick(kept.chart, Qt.Key.Key_Return)
    where, asked = heard.args
    first = kept.chart.columns[0]
    begins = datetime.fromtimestamp(first.at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:00.000+00:00")
    assert (where, asked.at_ms, asked.now) == ("tasks", first.at, "type:sync_order platform:pdd")
    assert asked.show.startswith(f"{asked.now} updated>={begins} updated<")
    assert asked.said().startswith("These tasks changed last from ")
    kept.span.choose(DAY)
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.keyClick(kept.chart, Qt.Key.Key_Return)
    assert str(heard.args[1]).startswith("type:sync_order platform:pdd updated>="), "of today, to be worked with"


def test_on_a_low_window_nothing_lies_over_the_chart(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "b-risky")
    page.resize(1200, 560)
    kept, side = page.panel.kept, page.panel.side
    side.which.choose("chart")
    for span in (DAY, AHEAD):
        kept.span.choose(span)
        chart = kept.ahead if span == AHEAD else kept.chart
        qtbot.waitUntil(chart.isVisible)
        below, end = (one.mapTo(kept, one.rect().topLeft()).y() for one in (kept.said, chart))
        assert below >= end + chart.height()


def test_a_promise_is_switched_removed_and_each_is_taken_back(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "a-kept")
    after(qtbot, page, page.panel.buttons["switch"].click)
    assert cells(page, "a-kept")["when"] == "Disabled"
    assert page.panel.buttons["switch"].text() == "Enable"
    after(qtbot, page, four.toasts[-1].actions[0].call)
    assert cells(page, "a-kept")["when"] == "Not judged yet"
    page.activateWindow()
    page.table.setFocus()
    qtbot.waitUntil(page.table.hasFocus, timeout=WAIT_MS)
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    (dialog,) = page.findChildren(ConfirmDialog)
    after(qtbot, page, dialog.verb_button.click)
    assert order(page) == ["c-broken", "b-risky", "d-off"]
    after(qtbot, page, four.toasts[-1].actions[0].call)
    assert "a-kept" in order(page)
    acts = [entry.action for entry in four.context.audit.page("").entries][:4]
    assert acts == ["promise.set", "promise.remove", "promise.enable", "promise.enable"]


def test_what_a_colleague_decided_since_is_not_taken_back(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "a-kept")
    after(qtbot, page, page.panel.buttons["switch"].click)
    undo = four.toasts[-1].actions[0].call
    ben = assembly.commands(four.engine, name="ben@desk-02").promises
    ben.remove("a-kept", note="not ours any more")
    after(qtbot, page, undo)
    assert "ben@desk-02 changed it again since" in four.toasts[-1].text + four.toasts[-1].detail
    assert "a-kept" not in four.store.documents(promises.KIND)


def test_what_nobody_judges_any_more_offers_nothing(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    name = min(fleet.context.shops())
    promise(fleet, "old", shop(fleet, name, BROKEN, -3, hold=PAUSED), ago_ms=STALE_MS + MINUTE)
    page = open_page()
    found = cells(page, "old")
    assert found["when"].startswith("judged at ")
    assert (found["broken"], found["holds"]) == ("", "")
    qtbot.waitUntil(lambda: page.panel.shown is not None, timeout=WAIT_MS)
    assert page.panel.causes.headline().startswith("Nobody has judged it since ")
    assert page.panel.causes.lines() == []
    assert page.panel.none.isVisible()
    assert "Which shops keep it is not known any more." in read(page.panel.none)


def test_of_a_new_promise_it_is_not_said_that_no_shop_breaks_it(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "a-kept")
    assert "No shop is broken or at risk." in read(page.panel.none)
    after(qtbot, page, page.panel.buttons["switch"].click)
    after(qtbot, page, four.toasts[-1].actions[0].call)
    qtbot.waitUntil(lambda: "Which shops keep it is not known yet." in read(page.panel.none), timeout=WAIT_MS)
    choose(qtbot, page, "b-risky")
    page.panel.which.choose(BROKEN)
    assert read(page.panel.none).count("No shop is broken.") == 1
    assert "Resume Pinduoduo (1 shop)" not in menu_of(page, "old")


def test_what_is_at_risk_besides_is_counted_above_what_holds_both(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    first, second, third = sorted(fleet.context.shops())[:3]
    promise(
        fleet, "both", shop(fleet, first, BROKEN, -12, hold=PAUSED), shop(fleet, second, AT_RISK, 5, hold=PAUSED),
        shop(fleet, third, AT_RISK, 5, hold=PAUSED),
    )  # fmt: skip
    page = open_page()
    choose(qtbot, page, "both")
    assert page.panel.causes.headline().endswith(" in 1 shop, at risk in 2 more, held by")


def test_of_a_promise_whose_shops_are_gone_it_is_not_said_that_none_breaks_it(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    made = promise(fleet, "gone")
    nobody = standing.after(made, Due(), (), None, now=fleet.store.now_ms(), by="desk")
    fleet.store.put_document(promises.STATE, "gone", standing.DOCUMENT.dump(nobody))
    page = open_page()
    assert cells(page, "gone")["when"].startswith("for no shop")
    choose(qtbot, page, "gone")
    assert "No shop that is enabled fits it." in read(page.panel.none)


def test_the_panel_is_closed_and_opened_by_keys(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "c-broken")
    assert page.panel.isVisible()
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert not page.panel.isVisible()
    again(qtbot, page)
    assert not page.panel.isVisible()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert page.panel.isVisible()
    page.panel.close_button.click()
    assert not page.panel.isVisible()
    page.table.open_requested.emit("c-broken")
    assert page.panel.isVisible()


def test_nothing_is_changed_where_that_is_not_allowed(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    choose(qtbot, page, "b-risky")
    page.set_acting("Not while the connection is lost")
    assert not page.new_button.isEnabled()
    assert not page.panel.buttons["edit"].isEnabled()
    assert page.panel.buttons["tasks"].isEnabled()
    assert [one.button.isEnabled() for one in page.panel.causes.lines()] == [False, True]
    assert menu_of(page, "b-risky") == {
        "Resume Pinduoduo (2 shops)": False,
        "See the cause (1 shop)": True,
        "Show tasks": True,
        "Edit promise": False,
        "Disable": False,
        "Who did what to it": True,
        "Remove": False,
    }
    assert {one.key: bool(one.reason) for one in page.commands()}["promises.new"]
    page.set_acting("")
    assert page.panel.buttons["edit"].isEnabled()


def test_the_list_is_copied_in_words(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    page.table.set_current_key("c-broken")
    page.table.copy_rows()
    copied = QGuiApplication.clipboard().text()
    assert "What holds it" in copied
    assert "no run waits and none is planned" in copied


def test_a_break_of_the_next_hours_has_no_day_beside_it_also_at_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "zone", lambda: UTC)
    evening = round(datetime(2026, 11, 25, 23, 45, tzinfo=UTC).timestamp() * 1000)
    assert words.near(evening + 25 * MINUTE, evening) == "00:10"
    assert words.near(evening + 13 * 60 * MINUTE, evening) == words.minute(evening + 13 * 60 * MINUTE, evening)
    assert words.near(evening + 13 * 60 * MINUTE, evening) != "12:45"
    assert words.near(0, evening) == ""


@pytest.mark.parametrize(("height", "both"), [(720, False), (1000, True)])
def test_a_low_window_shows_the_chart_whole_in_place_of_what_holds_it(
    qtbot: QtBot, four: Fleet, open_page: Open, height: int, both: bool
) -> None:
    page = open_page()
    page.resize(1084, height - 76)
    which = page.panel.side.which
    qtbot.waitUntil(lambda: page.panel.causes.isVisible(), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: page.panel.kept.isVisible() is both and which.isVisible() is not both, timeout=WAIT_MS)
    if not both:
        which.set_current("chart")
        which.chosen.emit("chart")
    qtbot.waitUntil(lambda: page.panel.kept.isVisible(), timeout=WAIT_MS)
    assert page.panel.causes.isVisible() is both
    kept = page.panel.kept
    assert kept.height() >= kept.heightForWidth(kept.width()) > 0  # its words wrap
    assert kept.geometry().bottom() <= page.panel.side.height()


def test_the_chart_takes_the_room_that_the_cards_beside_the_shops_leave(
    qtbot: QtBot, four: Fleet, open_page: Open
) -> None:
    page = open_page()
    kept, side = page.panel.kept, page.panel.side
    bars = side.findChildren(QScrollBar)
    assert bars

    def whole() -> bool:
        scrolled = any(one.isVisible() or one.maximum() for one in bars)  # a wheel would move also what has no bar
        return kept.isVisible() and page.panel.causes.isVisible() and not scrolled

    for width in (1100, 1400):
        page.resize(width, 960)
        qtbot.waitUntil(whole, timeout=WAIT_MS)
    low = kept.height()
    page.resize(1400, 1020)
    qtbot.waitUntil(lambda: whole() and kept.height() >= low + 30, timeout=WAIT_MS)
    assert kept.geometry().bottom() <= side.height()


def test_nothing_of_the_promise_before_stands_there_while_the_chosen_one_is_late(
    qtbot: QtBot, four: Fleet, open_page: Open
) -> None:
    page = open_page()
    qtbot.waitUntil(lambda: page.panel.shown is not None)
    first, second, third = (page.table.records.key_at(row) for row in range(3))
    assert page.table.set_current_key(first)
    qtbot.waitUntil(lambda: page.panel.shown is not None and page.panel.shown.name == first)
    with held(PromiseQueries, "told", all_of_them=True) as call:
        page.table.set_current_key(second)
        call.wait(qtbot)
        qtbot.waitUntil(lambda: covered(page))
        buttons = (*page.panel.buttons.values(), page.panel.close_button)
        assert not any(one.isVisible() for one in buttons), "its verbs would be about the one before"
        page.panel.closed.emit()
        assert not covered(page)
        page.table.open_requested.emit(second)
        qtbot.waitUntil(lambda: covered(page))
        call.let_go()
        settled(qtbot, page)
    assert page.panel.shown is not None
    assert page.panel.shown.name == second
    assert not covered(page)
    assert page.panel.close_button.isVisible()
    with held(PromiseQueries, "told", all_of_them=True) as call:
        page.table.set_current_key(third)
        call.wait(qtbot)
        call.let_go(UsageError("the store is away"))
        settled(qtbot, page)
    assert not page.panel.isVisible()
    page.refresh()
    qtbot.waitUntil(lambda: page.panel.isVisible() and page.panel.shown.name == third)


def test_who_goes_back_before_the_answer_sees_where_they_are(qtbot: QtBot, four: Fleet, open_page: Open) -> None:
    page = open_page()
    first, second = (page.table.records.key_at(row) for row in range(2))
    assert page.table.set_current_key(first)
    qtbot.waitUntil(lambda: page.panel.shown is not None and page.panel.shown.name == first)
    with held(PromiseQueries, "told") as call:
        page.table.set_current_key(second)
        call.wait(qtbot)
        qtbot.waitUntil(lambda: covered(page))
        page.table.set_current_key(first)
        assert not covered(page)
        assert page.panel.close_button.isVisible()
        call.let_go()
        settled(qtbot, page)
    assert page.panel.shown is not None
    assert page.panel.shown.name == first


def covered(page: PromisesPage) -> bool:
    """Whether grey rows stand in the place of something."""
    return any(one.isVisible() and one.accessibleName() == "Loading…" for one in page.findChildren(Bones))


def test_what_is_likely_to_pass_its_limit_looks_so_before_it_is_said_to_be_at_risk(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    now = fleet.store.now_ms()
    late = Forecast(low=now + 70 * MINUTE, mid=now + 80 * MINUTE, high=now + 90 * MINUTE)
    first = min(fleet.context.shops())
    promise(fleet, "a-late", shop(fleet, first, KEPT, 50, forecast=late, done_at=now - 10 * MINUTE))
    page = open_page()
    row = page.table.records.find("a-late")
    assert row is not None
    assert words.when(row, now).tone == "retrying"
