"""The Audit page over a real session: what was done stands there, can be found, checked and taken out."""

from __future__ import annotations

import csv
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis
from msgspec.structs import replace
from PySide6.QtCore import QObject, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QFontMetrics, QWheelEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import act_words, i18n
from services.commands.audit import Audit
from services.commands.outcome import Outcome
from services.domain import audit
from services.domain.errors import OperatorError, StoreUnavailable
from services.domain.fleet.shop import Shop
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import QuietHours, Weekly
from services.domain.task.lane import LANES
from services.domain.task.search.query import Query, equals
from services.engine.spec import TaskSpec
from services.monitor.audit import AuditEntries
from services.settings import Settings
from services.store.redis import keys
from tests.gui.desk import Desk
from tests.support.widgets import in_chinese, words
from tests.unit.views.pages.alert_samples import Alerts
from tests.unit.views.pages.opening import opening
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.name import NameDialog
from views.kit.list_source import ListSource
from views.pages.audit.page import AuditPage
from views.pages.audit.panel import ResultRows
from views.pages.audit.words import Result
from views.pages.tasks.page import TasksPage
from views.shell.health_popover import HealthPopover
from views.support import shown
from views.support.acting import Acting, Reverse
from views.support.look import Label
from views.support.operation import Operation
from views.tables.delegates import PADDING
from views.theme import theme
from views.widgets.toast import ToastSpec, undo_action

pytestmark = [pytest.mark.both_pairs, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]
#: more than a click may act on
LARGE = 510
Open = Callable[[], AuditPage]
MANY = 1_050


@pytest.fixture
def open_page(desk: Desk, qtbot: QtBot) -> Iterator[Open]:
    """Opens the page as the window does, and waits for its first rows."""
    yield from opening(qtbot, lambda: AuditPage(desk.context), size=(1280, 760))


def acts(desk: Desk) -> None:
    """Three acts of two people: one done, one partly, one refused."""
    store = desk.session.engine.store
    ann, bob = Audit(store, "ann@desk-1"), Audit(store, "bob@desk-2")
    with ann.act("task.cancel", ["t1", "t2", "t3"], {"reason": "stock taking"}) as act:
        act.counted(2, 1, "t3 has ended")
    with pytest.raises(OperatorError), bob.act("dead.republish", ["t4"]):
        raise OperatorError("the shop is paused")
    with bob.act("pause", ["shop:pdd:pdd-10021"], {"reason": "stock taking"}):
        pass


def told(page: AuditPage) -> list[tuple[str, ...]]:
    """What the rows say: person, act, object, outcome, why."""
    cells = [
        column for column in page.table.records.columns if column.key in ("who", "action", "target", "state", "why")
    ]
    return [tuple(column.display(row) for column in cells) for row in page.table.records.records()]


def search(qtbot: QtBot, page: AuditPage, expression: str) -> list[str]:
    """The codes of the acts that match."""
    with qtbot.waitSignal(page.refreshed):
        page.show_request(expression)
    return [row.entry.action for row in page.table.records.records()]


def test_each_count_of_a_result_is_a_door_to_its_tasks(desk: Desk, open_page: Open, qtbot: QtBot) -> None:
    ended = [desk.succeed(desk.create(shop)).task_id for shop in (0, 1)]
    waits = desk.create(2).task_id
    desk.session.commands.tasks.cancel([ended[0], waits, "nobody", ended[1]])
    page = open_page()
    page.table.peek_requested.emit(page.table.records.record(0).key)
    results = page.panel.results
    assert results.said() == ["1 Done", "2 Not possible in its status", "1 There is no such task"]
    for door, ids in zip(results.doors, (waits, ",".join((ended[0], ended[1])), "nobody"), strict=True):
        with qtbot.waitSignal(page.navigate) as opened:
            door.click()
        assert opened.args == ["tasks", f"id:{ids}"]
    assert "not done" not in "".join(told(page)[0]), "the places are no words for people"


def test_the_strip_of_the_day_counts_people_and_programs_and_a_click_shows_that_stretch_alone(
    desk: Desk, open_page: Open, qtbot: QtBot
) -> None:
    acts(desk)
    with Audit(desk.session.engine.store, "rule pause-temu").act("pause", ["platform:temu"], {}):
        pass
    page = open_page()
    bars = page.day.bars
    qtbot.waitUntil(lambda: page.day.counts()["programs"] == 1)
    people = len(page.table.records.records()) - 1  # the fleet was set up by one, too
    assert page.day.counts() == {"people": people, "programs": 1, "refused": 1}
    said = [f"People {people}", "Rules and programs 1", "Refused 1"]
    assert bars.accessibleDescription() == ", ".join(said)
    last = bars.width() - 2
    assert bars.words_of(bars.at_x(last)).splitlines()[1:] == said
    page.filter.add_value("who", "bob@desk-2")
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=QPoint(last, 10))
    qtbot.waitUntil(lambda: [row.entry.action for row in page.table.records.records()] == ["pause", "dead.republish"])
    bars.setFocus()
    qtbot.keyClick(bars, Qt.Key.Key_Left)  # ten minutes before
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.empty)
    with qtbot.waitSignal(page.refreshed):
        page.filter.clear()
    assert bars.stretch is None


@pytest.mark.one_pair
def test_the_wheel_and_keys_show_a_part_of_the_day_and_a_double_click_all_of_it(
    desk: Desk, open_page: Open, qtbot: QtBot
) -> None:
    acts(desk)
    page = open_page()
    bars = page.day.bars
    qtbot.waitUntil(lambda: page.day.counts()["people"] > 0)
    whole, day = bars.accessibleDescription(), bars.words_of(bars.at_x(0))
    middle = QPoint(bars.width() // 2, 30)
    under = bars.at_x(middle.x())
    turn(bars, middle, 60)
    assert bars.part == "", "half a notch of a touchpad"
    turn(bars, middle, 60)
    assert bars.part in words(page.day)
    assert bars.accessibleDescription().startswith(f"{bars.part}, People ")
    assert abs(bars.at_x(middle.x()) - under) <= 1, "what is under the pointer stays there"
    assert bars.words_of(bars.at_x(0)) != day
    for _notch in range(9):
        turn(bars, middle, 120)
    assert bars.at_x(bars.width()) - bars.at_x(0) == 5, "not less than an hour"
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=QPoint(2, 30))
    assert bars.stretch is not None
    qtbot.mouseDClick(bars, Qt.MouseButton.LeftButton, pos=QPoint(2, 30))  # the second half of it
    assert (bars.part, bars.stretch, page.filter.expression()) == ("", None, "")
    assert bars.accessibleDescription() == whole
    bars.setFocus()
    qtbot.keyClicks(bars, "++")
    assert bars.part
    assert bars.words_of(bars.at_x(bars.width())) == bars.words_of(143), "it ends now"
    first = bars.at_x(0)
    for _bar in range(40):
        qtbot.keyClick(bars, Qt.Key.Key_Left)
    assert bars.at_x(0) < first, "what is chosen stays in sight"
    qtbot.keyClicks(bars, "--")
    assert bars.part == ""
    qtbot.keyClicks(bars, "+0")
    assert bars.part == ""


def turn(widget: QWidget, place: QPoint, angle: int) -> None:
    """Turn the wheel over a place."""
    at = QPointF(place)
    event = QWheelEvent(
        at,
        QPointF(widget.mapToGlobal(place)),
        QPoint(),
        QPoint(0, angle),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


@pytest.mark.one_pair
def test_a_stretch_takes_the_place_of_the_one_before_and_goes_by_key_and_by_hand(
    desk: Desk, open_page: Open, qtbot: QtBot
) -> None:
    acts(desk)
    page = open_page()
    bars = page.day.bars
    qtbot.waitUntil(lambda: page.day.counts()["people"] > 0)
    whole = bars.accessibleDescription()
    page.table.peek_requested.emit(page.table.records.record(0).key)
    bars.setFocus()
    page.filter.set_text_mode(True)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Right):
        qtbot.keyClick(bars, key)
    assert [page.filter.expression().count(term) for term in ("since:", "until:")] == [1, 1]
    told_ = bars.accessibleDescription().split(", ")
    assert told_ == bars.words_of(bars.at_x(bars.width())).splitlines()
    qtbot.keyClick(bars, Qt.Key.Key_Escape)
    assert (bars.stretch, page.filter.expression(), bars.accessibleDescription()) == (None, "", whole)
    assert page.panel.isVisible(), "Esc was for the stretch"
    page.filter.set_text_mode(False)
    qtbot.keyClick(bars, Qt.Key.Key_Right)
    assert bars.stretch is not None
    page.filter.narrow({"since": "1h"})
    assert bars.stretch is None, "it is not what is shown"
    qtbot.keyClick(bars, Qt.Key.Key_Right)
    qtbot.keyClick(bars, Qt.Key.Key_Delete)
    assert page.filter.expression() == ""


@pytest.mark.one_pair
def test_what_nobody_counted_is_no_zero(
    desk: Desk, open_page: Open, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts(desk)
    page = open_page()
    numbers = [label for label in page.day.findChildren(QLabel) if label.text().isdigit() or label.text() == "–"]
    qtbot.waitUntil(lambda: "–" not in [label.text() for label in numbers])

    def lost() -> object:
        raise StoreUnavailable("Redis does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(desk.context.audit, "day", lost)
        page.refresh()
        qtbot.waitUntil(lambda: [label.text() for label in numbers] == ["–"] * 3)
    assert page.day.bars.accessibleDescription() == ""


def hear(qtbot: QtBot, page: AuditPage, check: Callable[[], bool]) -> None:
    """Let the page ask what is new until it shows it."""

    def asked() -> bool:
        page.findChild(ListSource).soon(1)
        return check()

    qtbot.waitUntil(asked)


def verify(qtbot: QtBot, page: AuditPage) -> None:
    """Check the trail, and wait until that can be asked for again."""
    page.verify_button.setFocus()
    page.verify_button.click()
    assert not page.verify_button.isEnabled()
    qtbot.waitUntil(page.verify_button.isEnabled)
    assert page.window().focusWidget() is page.verify_button


def alter(place: Settings, entry: str) -> None:
    """Somebody who can write to the store changes who did it."""
    if place.embedded:
        with closing(sqlite3.connect(place.database)) as db:
            db.execute("DROP TRIGGER audit_is_closed_once")
            db.execute(
                "UPDATE audit SET data = CAST(replace(CAST(data AS TEXT), 'ann@', 'eve@') AS BLOB) WHERE entry_id = ?",
                (entry,),
            )
            db.commit()
        return
    with closing(redis.Redis.from_url(place.store.url)) as server:
        data = server.hget(keys.AUDIT, entry)
        server.hset(keys.AUDIT, entry, data.replace(b"ann@", b"eve@"))


def test_acts_stand_there_with_person_object_and_outcome(desk: Desk, open_page: Open) -> None:
    acts(desk)
    page = open_page()
    assert told(page)[:3] == [
        ("bob@desk-2", "Pause", "微光数码专卖店", "Done", "stock taking"),
        ("bob@desk-2", "Republish dead letters", "t4", "Refused", "the shop is paused"),
        ("ann@desk-1", "Cancel tasks", "t1 and 2 more", "Partly done", "2 done, 1 refused: t3 has ended"),
    ]
    assert told(page)[-1][1] == "Import shops"
    assert page.header.summary() == f"{len(told(page))} entries, 1 did not end well"


def test_each_filter_finds_what_it_names(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    acts(desk)
    page = open_page()
    assert search(qtbot, page, 'who:"bob@desk-2"') == ["pause", "dead.republish"]
    assert search(qtbot, page, "action:task.cancel,pause") == ["pause", "task.cancel"]
    assert search(qtbot, page, 'target:"shop:pdd:pdd-10021"') == ["pause"]
    assert search(qtbot, page, "state:partly,refused") == ["dead.republish", "task.cancel"]
    assert search(qtbot, page, "since:1h stock") == ["pause", "task.cancel"]
    assert search(qtbot, page, "until:yesterday") == []
    assert page.stack.currentWidget() is page.empty
    assert words(page.empty).split("\n")[1:] == ["Nobody acted in this time.", "Until: yesterday"]
    day = f"{shown.moment(desk.session.engine.store.now_ms()).astimezone(shown.zone()):%Y-%m-%d}"
    search(qtbot, page, "since:2020-01-02T03:00 until:2020-01-02T04:00")
    assert words(page.empty).split("\n")[2] == "Since: 2020-01-02T03:00, Until: 2020-01-02T04:00"
    search(qtbot, page, f"since:{day}T00:00 until:{day}T00:00")
    assert words(page.empty).split("\n")[2] == "Since: 00:00, Until: 00:00"
    assert page.empty.button.text() == "Clear time"
    with qtbot.waitSignal(page.refreshed):
        page.empty.button.click()
    assert page.stack.currentWidget() is page.table
    page.show_request("colour:red")
    qtbot.waitUntil(lambda: "no field 'colour'" in page.filter.problem())


def test_each_act_says_through_what_it_was_asked_for(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    store = desk.session.engine.store
    with Audit(store, "ann@desk-1", via="cli").act("task.cancel", ["t1"], {"reason": "twice"}):
        pass
    with Audit(store, "erp@rest").act("pause", ["all"]):
        pass
    page = open_page()
    assert search(qtbot, page, "from:cli,rest") == ["pause", "task.cancel"]
    column = next(one for one in page.table.records.columns if one.key == "from")
    assert column.tooltip is not None
    rest, line = page.table.records.records()
    assert [(column.display(row), column.tooltip(row)) for row in (line, rest)] == [
        ("Command line", "desk-1"),
        ("REST", ""),
    ]
    page.table.set_current_key(line.key)
    page.table.peek_requested.emit(line.key)
    assert page.panel.facts.values()["From"] == "Command line, desk-1"
    assert "via" not in page.panel.details.toPlainText()


def test_a_view_of_the_design_is_a_filter_whose_tab_stays(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    acts(desk)
    page = open_page()
    with qtbot.waitSignal(page.refreshed):
        page.tabs.choose("refused")
    assert [row.entry.action for row in page.table.records.records()] == ["dead.republish"]
    with qtbot.waitSignal(page.refreshed):
        page.spans.choose("7d")
    assert (page.shown_request(), page.tabs.current()) == ("state:refused since:7d", "refused")


def test_a_switch_shows_the_last_days_alone_and_follows_the_filter(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    acts(desk)
    page = open_page()
    assert page.spans.current() == "all"
    with qtbot.waitSignal(page.refreshed):
        page.spans.choose("7d")
    assert page.shown_request() == "since:7d"
    assert told(page)
    search(qtbot, page, "since:90d")
    assert page.spans.current() == "90d"
    search(qtbot, page, "since:2h")
    assert page.spans.current() == ""
    with qtbot.waitSignal(page.refreshed):
        page.spans.choose("all")
    assert page.shown_request() == ""


def test_a_cell_becomes_a_condition_and_the_panel_leads_to_the_same_object(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    acts(desk)
    page = open_page()
    page.table.set_current_key(page.table.records.record(2).key)
    with qtbot.waitSignal(page.refreshed):
        page.table.filter_requested.emit("who", True)
    assert {row.entry.who for row in page.table.records.records()} == {"ann@desk-1"}
    key = page.table.records.record(0).key
    page.table.peek_requested.emit(key)
    panel = page.panel
    assert panel.isVisible()
    assert panel.targets.text().splitlines() == ["t1", "t2", "t3"]
    with qtbot.waitSignal(page.navigate) as door:
        panel.tasks_button.click()
    assert door.args == ["tasks", "id:t1,t2,t3"]
    assert panel.results.said() == ["2 Done", "1 T3 has ended"]
    assert not panel.results.doors, "the entry does not tell which they are"
    assert panel.why.text() == "stock taking"
    assert '"reason": "stock taking"' in panel.details.toPlainText()
    assert len(panel.seals.values()["Seal"]) == 64
    page.filter.clear()
    with qtbot.waitSignal(page.refreshed):
        panel.same_button.click()
    assert [row.entry.action for row in page.table.records.records()] == ["task.cancel"]
    page.table.peek_requested.emit(key)
    assert not panel.isVisible(), "Space closes what it opened"


def chain(page: AuditPage) -> HealthPopover:
    """What the state of the chain tells when it is pressed."""
    page.chain_button.click()
    assert page.popover is not None
    return page.popover


def test_a_check_says_that_all_is_well_and_names_what_is_not(
    qtbot: QtBot, desk: Desk, open_page: Open, place: Settings, tmp_path: Path
) -> None:
    acts(desk)
    page = open_page()
    assert page.chain_button.text() == "Not checked yet"
    verify(qtbot, page)
    assert page.result.accessibleName().startswith("As it was written 4 entries checked at ")
    page.dismiss_button.click()
    assert (page.chain_button.text()[:12], page.result.isVisible()) == ("Verified at ", False)
    popover = chain(page)
    facts = popover.facts.values()
    assert (facts["Entries"], facts["Writers"]) == ("4", "3")
    assert [value for value in facts.values() if "links, the last at " in value] == list(facts.values())[3:]
    popover.buttons[0].click()
    assert page.result.isVisible(), "what the check found can be read again"
    (row,) = (row for row in page.table.records.records() if row.entry.action == "task.cancel")
    alter(place, row.key)
    verify(qtbot, page)
    assert page.result.accessibleName().startswith(
        f"1 entry is not as it was written {row.key} of eve@desk-1 is not as"
    )
    assert (page.chain_button.text(), page.chain_button.kind) == ("1 not as written", "danger")
    marked = [one.key for one in page.table.records.records() if one.faults]
    assert marked == [row.key]
    page.table.open_requested.emit(row.key)
    assert not page.panel.faults.isHidden()
    assert "is not as it was written" in page.panel.faults.accessibleName()
    assert "Export stays possible" in page.result.accessibleName()
    with qtbot.waitSignal(page.sharing.exported, timeout=30_000):
        page.sharing.write(tmp_path / "all.csv", "")
    assert desk.toasts[-1].detail.startswith("1 entry is not as it was written; what stands there now is exported")
    with qtbot.waitSignal(page.sharing.exported, timeout=30_000):
        page.sharing.write(tmp_path / "others.csv", "-action:task.cancel")
    assert (desk.toasts[-1].text, desk.toasts[-1].detail) == ("3 entries exported to others.csv", "")
    assert "3 条" in in_chinese(desk.toasts[-1]).text


@pytest.mark.one_pair
def test_a_check_that_cannot_be_made_says_why(
    qtbot: QtBot, desk: Desk, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()

    def lost() -> object:
        raise StoreUnavailable("Redis does not answer")

    monkeypatch.setattr(desk.context.audit, "verify", lost)
    verify(qtbot, page)
    assert page.result.accessibleName() == "Not checked Redis does not answer"
    assert page.chain_button.text() == "Not checked yet"
    assert page.verify_button.isEnabled()


@pytest.mark.one_pair
def test_what_a_check_found_keeps_its_time_while_another_cannot_be_made(
    qtbot: QtBot, desk: Desk, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()
    verify(qtbot, page)
    found = page.chain_button.text()
    assert found.startswith("Verified at ")

    def lost() -> object:
        raise StoreUnavailable("Redis does not answer")

    monkeypatch.setattr(desk.context.audit, "verify", lost)
    verify(qtbot, page)
    page.retranslate()
    assert page.result.accessibleName() == "Not checked Redis does not answer"
    assert page.chain_button.text() == found


def test_what_is_done_meanwhile_waits_behind_a_button_and_outcomes_follow(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    ann = Audit(desk.session.engine.store, "ann@desk-1")
    with ann.act("task.cancel", ["t1"]):
        page = open_page()
        top = page.table.records.record(0)
        assert top.state == "open"
    hear(qtbot, page, lambda: page.table.records.record(0).state == "done")
    with ann.act("task.retry", ["t1"]):
        pass
    hear(qtbot, page, lambda: page.new_button.text() == "1 new entry")
    assert page.table.records.record(0).key == top.key, "nothing moves under the cursor"
    page.new_button.click()
    assert page.table.records.record(0).entry.action == "task.retry"
    assert page.new_button.isHidden()


def test_the_trail_comes_page_by_page_and_goes_whole_into_a_file(
    qtbot: QtBot, desk: Desk, open_page: Open, tmp_path: Path
) -> None:
    store = desk.session.engine.store
    with Audit(store, "ann@desk-1").act("task.cancel", ["first"]):
        pass
    (entry,) = store.audit(1)
    for number in range(MANY):
        name = audit.entry_id(entry.at, "a" * 12, number + 1)
        store.append_audit(replace(entry, entry_id=name, link=None, target=(f"t{number}",), outcome="done"))
    page = open_page()
    assert page.table.records.rowCount() == 200
    assert "older ones follow" in page.header.summary()
    bar = page.table.verticalScrollBar()

    def loaded(rows: int) -> bool:
        bar.setValue(bar.maximum())
        return page.table.records.rowCount() >= rows

    for rows in (400, 600):
        qtbot.waitUntil(lambda rows=rows: loaded(rows))
    assert [row.target[0] for row in page.table.records.records()[:400]] == [f"t{MANY - 1 - n}" for n in range(400)]
    assert search(qtbot, page, f"target:t7,first,t{MANY - 1}") == ["task.cancel"] * 3
    with qtbot.waitSignal(page.sharing.exported, timeout=30_000):
        page.sharing.write(tmp_path / "all.csv", 'who:"ann@desk-1"')
    with (tmp_path / "all.csv").open(encoding="utf-8-sig", newline="") as file:
        rows_ = list(csv.DictReader(file))
    assert len(rows_) == MANY + 1
    assert {row["objects"] for row in rows_} == {"first", *(f"t{number}" for number in range(MANY))}


@pytest.mark.one_pair
def test_older_ones_come_while_the_page_looks_for_news(
    qtbot: QtBot, desk: Desk, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = desk.session.engine.store
    with Audit(store, "ann@desk-1").act("task.cancel", ["first"]):
        pass
    (entry,) = store.audit(1)
    for number in range(250):
        name = audit.entry_id(entry.at, "a" * 12, number + 1)
        store.append_audit(replace(entry, entry_id=name, link=None, target=(f"t{number}",), outcome="done"))
    page = open_page()
    assert page.table.records.rowCount() == 200
    looks, go_on = threading.Event(), threading.Event()

    entries = desk.context.audit.entries

    def slow(text: str = "", *, limit: int, before: str = "", scan: int = 0) -> AuditEntries:
        if scan:  # what looks for news
            looks.set()
            go_on.wait(60)
        return entries(text, limit=limit, before=before, scan=scan)

    with monkeypatch.context() as patch:
        patch.setattr(desk.context.audit, "entries", slow)
        try:
            hear(qtbot, page, looks.is_set)
            page.table.near_end.emit()
            qtbot.waitUntil(lambda: page.table.records.rowCount() > 200)
        finally:
            go_on.set()


@pytest.mark.one_pair
def test_an_error_goes_with_the_next_answer_even_where_nothing_matches(
    qtbot: QtBot, desk: Desk, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()
    assert search(qtbot, page, "target:nobody") == []

    def lost(*_args: object, **_kwargs: object) -> object:
        raise StoreUnavailable("Redis does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(desk.context.audit, "entries", lost)
        hear(qtbot, page, page.error.isVisible)
    hear(qtbot, page, page.error.isHidden)
    assert page.stack.currentWidget() is page.empty


@pytest.mark.one_pair
def test_a_file_holds_no_secret_and_no_formula(qtbot: QtBot, desk: Desk, open_page: Open, tmp_path: Path) -> None:
    store = desk.session.engine.store
    with Audit(store, "=cmd|'/c calc'!A1").act("task.cancel", ["token=tok-1f3a9c77"], {"password": "hunter2-secret"}):
        pass
    page = open_page()
    with qtbot.waitSignal(page.sharing.exported):
        page.sharing.write(tmp_path / "audit.csv", "")
    text = (tmp_path / "audit.csv").read_text(encoding="utf-8-sig")
    assert "hunter2" not in text
    assert "tok-1f3a" not in text
    assert "'=cmd" in text
    assert "tok-1f3a" not in str(told(page))


@pytest.mark.one_pair
def test_lines_of_json_hold_all_seals_and_no_secret(qtbot: QtBot, desk: Desk, open_page: Open, tmp_path: Path) -> None:
    store = desk.session.engine.store
    for number in range(2):
        with Audit(store, "ann@desk-1").act(
            "task.cancel", [f"t{number}", "token=tok-1f3a9c77"], {"password": "hunter2-secret", "n": number}
        ):
            pass
    page = open_page()
    page.sharing.ask_file("action:task.cancel")
    (dialog,) = page.findChildren(QFileDialog)
    (_table, lines) = dialog.nameFilters()
    dialog.filterSelected.emit(lines)
    assert dialog.defaultSuffix() == "jsonl"
    with qtbot.waitSignal(page.sharing.exported):
        dialog.fileSelected.emit(str(tmp_path / "audit.jsonl"))
    dialog.reject()
    text = (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    assert "hunter2" not in text
    assert "tok-1f3a" not in text
    found = [json.loads(line) for line in text.splitlines()]
    kept = {entry.entry_id: entry for entry in store.audit(10) if entry.action == "task.cancel"}
    assert [one["entry"] for one in found] == sorted(kept, reverse=True)
    for one in found:
        entry = kept[one["entry"]]
        assert entry.link is not None
        assert entry.end is not None
        assert (one["seal"], one["outcome_seal"]) == (entry.link.digest, entry.end.digest)
        assert one["link"] == {
            "number": entry.link.number, "seen": list(entry.link.seen), "unsure": list(entry.link.unsure),
        }  # fmt: skip
        assert (one["objects"][0], one["state"]) == (entry.target[0], "done")
        assert one["details"]["n"] == int(entry.target[0][1:])


@pytest.mark.one_pair
def test_it_is_one_of_the_pages_and_each_object_leads_there(qtbot: QtBot, console: Console, desk: Desk) -> None:
    task = desk.create()
    desk.session.commands.tasks.cancel([task.task_id])
    window = console.window
    window.open_page("tasks")
    tasks = window.page("tasks")
    assert isinstance(tasks, TasksPage)
    tasks.show_request(f'id:"{task.task_id}"')
    qtbot.waitUntil(lambda: tasks.table.records.find(task.task_id) is not None)
    menu = QMenu()
    tasks.table.menu_ending.emit(menu, task.task_id)
    next(action for action in menu.actions() if action.text() == "Who did what to it").trigger()
    assert window.current == "audit"
    page = window.page("audit")
    assert isinstance(page, AuditPage)
    qtbot.waitUntil(lambda: [row.entry.action for row in page.table.records.records()] == ["task.cancel"])


@pytest.mark.one_pair
def test_a_key_asks_where_to_write_the_file(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    page = open_page()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    qtbot.keyClick(page, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    (dialog,) = page.findChildren(QFileDialog)
    assert dialog.isVisible()
    dialog.reject()


@pytest.mark.one_pair
def test_everything_is_said_in_chinese(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    acts(desk)
    page = open_page()
    page.table.peek_requested.emit(page.table.records.record(2).key)
    verify(qtbot, page)
    i18n.set_language("zh_CN")
    try:
        assert page.title == "操作记录"
        assert told(page)[2][1:4] == ("取消任务", "t1 等，另有 2 个", "部分完成")
        assert page.result.accessibleName().startswith("与写入时一致")
        assert "已校验" in page.chain_button.text()
        assert page.panel.facts.values()["结果"] == "部分完成"
        assert page.header.summary().endswith("1 条未顺利完成")
    finally:
        i18n.set_language("en")


def test_an_act_is_taken_back_from_its_entry_by_an_act_of_its_own(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    fleet, store = desk.session.commands.fleet, desk.session.engine.store
    fleet.pause("platform:temu", reason="sale")
    page = open_page()
    row = page.table.records.record(0)
    cells = {one.key: one.display(row) for one in page.table.records.columns}
    assert (cells["target"], cells["back"]) == ("TEMU", "Resume")
    page.table.peek_requested.emit(row.key)
    qtbot.waitUntil(page.panel.back_button.isEnabled)
    page.panel.back_button.click()
    dialog = page.findChild(ConfirmDialog)
    assert dialog is not None
    assert dialog.verb_button.text() == "Resume"
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: store.pauses() == [])
    hear(qtbot, page, lambda: page.table.records.record(0).entry.action == "resume")
    qtbot.waitUntil(lambda: page.panel.back_note.text().startswith("It was taken back at "))
    assert not page.panel.back_button.isEnabled()
    taken = page.table.records.record(1)
    cells = {one.key: one.display(taken) for one in page.table.records.columns}
    assert (cells["state"], cells["back"]) == (f"Undone {shown.clock(taken.undone_at, taken.undone_at)}", "")
    section = page.table.records.section_of("state")
    tip = page.table.records.index(1, section).data(Qt.ItemDataRole.ToolTipRole)
    assert cells["state"] in tip, "the column has no room for the time"
    assert taken.undone_at == page.table.records.record(0).entry.at
    assert audit.undoes(store.audit(1)[0]) == (taken.key,), "its own entry says so"
    page.table.set_current_key(page.table.records.record(0).key)
    page.set_acting("Not now")
    assert page.panel.back_note.text() == "Not now."


def open_newest(qtbot: QtBot, page: AuditPage) -> None:
    with qtbot.waitSignal(page.refreshed):
        page.refresh()
    key = page.table.records.record(0).key
    page.table.set_current_key(key)
    page.table.open_requested.emit(key)


@pytest.mark.one_pair
def test_the_panel_shows_what_an_act_changed_and_what_stood_before_and_after(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    fleet = desk.session.commands.fleet
    fleet.set_limit(Limit(scope="platform:temu", concurrency=2, per_minute=12))
    fleet.set_limit(Limit(scope="platform:temu", concurrency=2, per_minute=20))
    page = open_page()
    open_newest(qtbot, page)
    change = page.panel.change
    assert change.isVisible()
    assert not page.panel.tasks_button.isVisible(), "it acted on no task"
    assert "⋯" not in change.text.toPlainText(), "nothing of it is folded"
    signs = {line.strip(" ,") for line in change.text.toPlainText().splitlines() if line[:1] in "+-"}
    assert signs == {'-  "per_minute": 12', '+  "per_minute": 20'}
    change.mode.choose("before")
    assert json.loads(change.text.toPlainText()) == {"concurrency": 2, "per_minute": 12}
    change.mode.choose("after")
    assert json.loads(change.text.toPlainText()) == {"concurrency": 2, "per_minute": 20}
    fleet.pause("platform:temu", reason="sale")
    open_newest(qtbot, page)
    assert json.loads(change.text.toPlainText())["reason"] == "sale"
    change.mode.choose("before")
    assert not change.text.isVisible()
    assert change.none.text() == "Nothing stood there."
    acts(desk)
    with Audit(desk.session.engine.store, "ann@desk-1").act("task.cancel", ["t9"]):
        pass
    open_newest(qtbot, page)
    assert not change.isVisible(), "the entry keeps nothing of before"


@pytest.mark.one_pair
def test_a_long_change_stands_there_in_a_moment_with_what_is_alike_folded_and_secrets_as_dots(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    before = {"token": "very-secret-1", **{f"field_{n}": "x" * 40 for n in range(200)}}
    detail = {"from": before, "to": before | {"field_100": "y", "token": "very-secret-2"}}
    with Audit(desk.session.engine.store, "ann@desk-1").act("limit", ["platform:temu"], detail):
        pass
    page = open_page()
    open_newest(qtbot, page)
    change = page.panel.change
    qtbot.waitUntil(lambda: "field_100" in change.text.toPlainText())
    assert len(change.text.toPlainText().splitlines()) < 12
    for mode in ("before", "after"):
        change.mode.choose(mode)
        assert "field_199" in change.text.toPlainText()
        assert "very-secret" not in change.text.toPlainText()


@pytest.mark.one_pair
def test_the_key_takes_back_the_act_that_the_panel_shows_while_the_keyboard_is_there(
    qtbot: QtBot, console: Console, desk: Desk
) -> None:
    desk.session.commands.fleet.pause("platform:temu", reason="sale")
    window = console.window
    window.open_page("audit")
    page = window.page("audit")
    assert isinstance(page, AuditPage)
    qtbot.waitUntil(lambda: page.table.records.rowCount() > 0)
    page.table.open_requested.emit(page.table.records.record(0).key)
    qtbot.waitUntil(page.panel.back_button.isEnabled)
    page.panel.focus_first()
    assert window.focusWidget() is page.panel.back_button
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page.findChild(ConfirmDialog) is not None)


def back_cell(page: AuditPage, row: int) -> QRect:
    """Where it is said how a row is taken back."""
    section = [one.key for one in page.table.records.columns].index("back")
    return page.table.visualRect(page.table.records.index(row, section))


def accents(page: AuditPage, room: QRect) -> int:
    """So many pixels there have the colour of what can be clicked."""
    image, wanted = page.table.viewport().grab(room).toImage(), theme().color("accent")
    return sum(image.pixelColor(x, y) == wanted for x in range(image.width()) for y in range(image.height()))


@pytest.mark.one_pair
def test_a_click_on_how_a_row_is_taken_back_asks_as_the_key_does(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    fleet = desk.session.commands.fleet
    for platform in ("temu", "pdd"):
        fleet.pause(f"platform:{platform}", reason="sale")
    page = open_page()
    page.resize(1600, 760)
    view = page.table.viewport()
    first, second = (page.table.visualRect(page.table.records.index(row, 0)).center() for row in range(2))
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=first)
    page.table.clearFocus()
    assert accents(page, back_cell(page, 0))
    assert not accents(page, back_cell(page, 1)), "only where the person is"
    place = back_cell(page, 1).center()
    qtbot.mouseMove(view, place)
    assert view.cursor().shape() == Qt.CursorShape.PointingHandCursor
    qtbot.mouseMove(view, second)
    assert view.cursor().shape() == Qt.CursorShape.ArrowCursor
    assert page.findChild(ConfirmDialog) is None
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
    dialog = page.findChild(ConfirmDialog)
    assert dialog is not None
    assert dict(dialog.question.rows)["Object"] == "TEMU"
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: [one.scope for one in desk.session.engine.store.pauses()] == ["platform:pdd"])
    hear(qtbot, page, lambda: page.table.records.record(2).undone_at > 0)
    place = back_cell(page, 2).center()
    qtbot.mouseMove(view, place)
    assert view.cursor().shape() == Qt.CursorShape.ArrowCursor, "nothing stands there any more"


@pytest.mark.one_pair
def test_what_the_undo_of_a_message_took_back_says_when_and_its_entry_says_of_what(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    fleet, owner, told = desk.session.commands.fleet, QObject(), list[ToastSpec]()

    def pause() -> Outcome:
        fleet.pause("platform:temu", reason="sale")
        return Outcome(done=("temu",))

    def resume(_outcome: object = None) -> Outcome:
        fleet.resume("platform:temu")
        return Outcome(done=("temu",))

    acting, acts = Acting(owner, told.append), Operation(owner)
    acting.at_once(pause, lambda _outcome: "paused", Reverse(call=resume))
    qtbot.waitUntil(lambda: len(told) == 1)
    told[-1].actions[0].call()
    qtbot.waitUntil(lambda: len(told) == 2)
    acts.start(pause, lambda _done: told.append(ToastSpec(text="", actions=(undo_action(lambda: acts.start(resume)),))))
    qtbot.waitUntil(lambda: len(told) == 3)
    told[-1].actions[0].call()
    qtbot.waitUntil(lambda: not acts.busy)
    page = open_page()
    rows = page.table.records.records()[:4]
    assert [row.entry.action for row in rows] == ["resume", "pause", "resume", "pause"]
    assert [row.undone_at for row in rows] == [0, rows[0].entry.at, 0, rows[2].entry.at]
    column = {one.key: one for one in page.table.records.columns}
    assert [column["glyph"].value(row) for row in rows[:2]] == ["succeeded", "undone"]
    when = shown.clock(rows[1].entry.at, rows[1].entry.at)
    assert (column["why"].display(rows[0]), column["state"].display(rows[0])) == (f"undo of {when}", "Done")
    page.table.peek_requested.emit(rows[0].key)
    assert page.panel.facts.values()["Takes back"] == f"{act_words.act('pause')}, {when}"
    page.table.set_current_key(rows[1].key)
    with qtbot.waitSignal(page.refreshed):
        page.table.filter_requested.emit("state", True)
    assert page.filter.expression() == "undo:done"
    assert search(qtbot, page, "action:pause undo:done") == ["pause", "pause"]
    assert page.table.records.record(0).undone_at > 0, "though what took it back is not listed"


@pytest.mark.one_pair
def test_the_views_of_the_design_list_one_s_own_acts_the_last_hour_and_what_can_be_undone(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    acts(desk)
    desk.session.commands.fleet.pause("platform:temu", reason="sale")
    page = open_page()
    everything = page.table.records.rowCount()

    def chosen(key: str) -> list[str]:
        with qtbot.waitSignal(page.refreshed):
            page.tabs.choose(key)
        qtbot.waitUntil(lambda: not page.error.isVisible())
        return [row.entry.who for row in page.table.records.records()]

    mine = desk.session.commands.operator.who
    assert set(chosen("mine")) == {mine}
    assert chosen("undo") == [mine]
    assert [row.about for row in page.table.records.records()] == ["TEMU"]
    assert len(chosen("hour")) == everything
    assert page.filter.expression() == "since:1h"
    assert len(chosen("all")) == everything
    assert page.filter.expression() == ""
    search(qtbot, page, "state:partly")
    page.tabs.save_wanted.emit()
    (dialog,) = page.findChildren(NameDialog)
    dialog.field.setText("In part")
    dialog.done_button.click()
    own = page.tabs.current()
    assert page.tabs.text_of(own) == "In part"
    page.filter.add_value("who", "ann@desk-1")
    assert page.tabs.current() == own, "which can take that"
    page.show_target("platform:temu")
    assert page.tabs.current() == "all", "that is another question"


def ask_back(qtbot: QtBot, page: AuditPage) -> ConfirmDialog:
    """Open the newest entry and ask to take it back."""
    key = page.table.records.record(0).key
    page.table.set_current_key(key)
    page.table.open_requested.emit(key)
    qtbot.waitUntil(page.panel.back_button.isEnabled)
    page.panel.back_button.click()
    return page.findChildren(ConfirmDialog)[-1]


@pytest.mark.one_pair
def test_the_question_names_the_act_that_is_done_and_what_is_removed_must_be_typed(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    quiet = desk.session.commands.quiet
    weekly = (Weekly(days=(0,), start=60, end=120),)
    night = QuietHours(name="night", scope="platform:temu", weekly=weekly, reason="their maintenance")
    quiet.set(night)
    page = open_page()
    dialog = ask_back(qtbot, page)
    row = page.table.records.record(0)
    (column,) = (one for one in page.table.records.columns if one.key == "back")
    removes = act_words.act("quiet.remove")
    assert [dialog.verb_button.text(), column.display(row)] == [removes, removes]
    assert removes in page.panel.back_note.text()
    question = dialog.question
    assert (question.number, question.danger, question.typed) == ("", True, "night"), "the scope is no object"
    dialog.typed_field.setText("night")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: quiet.known() == [])
    quiet.set(night)
    quiet.set(replace(night, scope="platform:pdd"))
    with qtbot.waitSignal(page.refreshed):
        page.refresh()
    dialog = ask_back(qtbot, page)
    assert (dialog.verb_button.text(), dialog.question.typed) == (act_words.act("quiet.set"), "")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: [one.hours.scope for one in quiet.known()] == ["platform:temu"])


@pytest.mark.one_pair
def test_what_is_held_is_not_asked_again_and_counts_the_tasks_alone(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    for shop in range(2):
        desk.create(shop, batch="b-1")
    batches = desk.session.commands.batches
    batches.cancel(batches.plan_cancel("b-1"))
    page = open_page()
    row = page.table.records.record(0)
    dialog = ask_back(qtbot, page)
    assert dialog.question.number == "2 objects"
    assert dict(dialog.question.rows)["Object"] == f"{row.target[1]} and 1 more"
    dialog.verb_button.click()
    assert desk.toasts[-1].status == "scheduled"
    qtbot.waitUntil(lambda: page.findChildren(ConfirmDialog) == [])
    page.panel.back_button.click()
    assert page.findChildren(ConfirmDialog) == []
    assert desk.toasts[-1].text == "That is about to happen already."
    page.taking_back.acting.send_delayed()
    qtbot.waitUntil(lambda: desk.toasts[-1].text == "Taken back: Cancel a batch, 2 objects.")


@pytest.mark.one_pair
def test_where_somebody_was_first_the_entry_says_so_after_the_refusal(
    qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    fleet = desk.session.commands.fleet
    fleet.pause("platform:temu", reason="sale")
    page = open_page()
    dialog = ask_back(qtbot, page)
    fleet.resume("platform:temu")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: "changed it again since" in page.panel.back_note.text())
    assert not page.panel.back_button.isEnabled()


@pytest.mark.one_pair
def test_a_cause_among_the_objects_is_called_by_its_name(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    desk.session.commands.causes.describe("9ac19ac19ac19ac1", name="The login page moved", note="")
    page = open_page()
    assert page.table.records.record(0).objects == ("The login page moved",)
    page.table.peek_requested.emit(page.table.records.record(0).key)
    assert page.panel.targets.text() == "The login page moved"


@pytest.mark.one_pair
def test_shops_are_called_by_their_names_and_their_ids_can_be_read(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    desk.session.commands.fleet.import_shops([Shop(platform="pdd", shop_id="s77", name="柚子家纺旗舰店")])
    desk.session.commands.fleet.pause("shop:pdd:s77", reason="sale")
    page = open_page()
    model = page.table.records
    (place,) = (n for n, column in enumerate(model.columns) if column.key == "target")
    assert model.columns[place].display(model.record(0)) == "柚子家纺旗舰店"
    assert "shop:pdd:s77" in model.index(0, place).data(Qt.ItemDataRole.ToolTipRole)
    page.table.peek_requested.emit(model.record(0).key)
    assert page.panel.targets.text() == "柚子家纺旗舰店 (shop:pdd:s77)"
    assert search(qtbot, page, "target:shop:pdd:s77")


@pytest.mark.one_pair
def test_bells_stand_where_alerts_began_and_open_them(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    alerts = Alerts(desk.session.engine.store)
    alerts.lane(key="wait:1")
    last = alerts.login()
    page = open_page()
    bars = page.day.bars
    qtbot.waitUntil(lambda: bool(bars.bells()))
    assert sum(len(bell.rings) for bell in bars.bells()) == 2
    (bell,) = (one for one in bars.bells() if one.first.incident == last.id)
    assert bell.firing
    place = QPoint(round(bell.x), 6)
    with qtbot.waitSignal(page.navigate) as asked:
        qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=place)
    assert asked.args == ["alerts", last.id]
    assert bars.stretch is None
    assert bars.accessibleDescription().endswith("Alerts 2")


@pytest.mark.one_pair
def test_of_an_act_that_was_done_in_part_only_that_is_taken_back(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    ended, waits, also = desk.succeed(desk.create(0)).task_id, desk.create(1).task_id, desk.create(2).task_id
    desk.session.commands.tasks.cancel([waits, ended, also])
    page = open_page()
    dialog = ask_back(qtbot, page)
    said = "2 of 3: only what was done is taken back"
    assert said in page.panel.back_note.text()
    assert (dialog.question.number, dict(dialog.question.rows)["Done then"]) == ("2 objects", said)
    dialog.verb_button.click()
    page.taking_back.acting.send_delayed()
    store = desk.session.engine.store
    qtbot.waitUntil(lambda: store.audit(1)[0].action == "task.create_again" and bool(store.audit(1)[0].outcome))
    assert (store.audit(1)[0].target, store.audit(1)[0].outcome) == ((waits, also), "done")


@pytest.mark.one_pair
def test_the_usual_acts_are_read_whole_beside_the_panel(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    with Audit(desk.session.engine.store, "ann@desk-1").act("dead.republish", ["t1"], {}):
        pass
    page = open_page()
    page.resize(1366 - 196, 692)
    key = page.table.records.record(0).key
    page.table.open_requested.emit(key)
    qtbot.waitUntil(page.panel.isVisible)
    section = page.table.records.section_of("action")
    said = page.table.records.column(section).display(page.table.records.record(0))
    needed = QFontMetrics(theme().font("strong")).horizontalAdvance(said) + 2 * PADDING

    def whole() -> bool:
        return page.table.columnWidth(section) >= needed

    qtbot.waitUntil(whole)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_number_words_and_link_of_a_result_stand_on_one_line(qapp: QApplication, qtbot: QtBot, language: str) -> None:
    theme().install(qapp)
    i18n.set_language(language)
    rows = ResultRows()
    qtbot.addWidget(rows)
    found = Result(objects=("a",), said=i18n._("Done"), status="succeeded", number=1)
    rows.show_results((found,), doors=True)
    rows.show()
    rows.resize(340, rows.sizeHint().height())
    picture = rows.grab().toImage()

    def lowest(part: QWidget) -> int:
        """The last line with ink of it."""
        box = QRect(part.mapTo(rows, QPoint(0, 0)), part.size())
        ground = picture.pixelColor(rows.width() // 2, 1).lightness()
        inked = (
            y
            for y in range(box.top(), min(box.bottom() + 1, picture.height()))
            for x in range(box.left(), min(box.right() + 1, picture.width()))
            if abs(picture.pixelColor(x, y).lightness() - ground) > 90
        )
        return max(inked)

    number, said = rows.findChildren(Label)
    assert abs(lowest(number) - lowest(said)) <= (0 if language == "en" else 3), "their own ink hangs a little lower"
    assert abs(lowest(rows.doors[0]) - lowest(said)) <= 1


@pytest.mark.parametrize(
    ("action", "door", "words"),
    [
        ("batch.cancel", "batch:B", "Open tasks"),
        ("batch.raise", "batch:B", "Open tasks"),
        ("task.cancel", "id:", "Open the first 50 tasks"),
    ],
)
def test_of_more_tasks_than_a_filter_names_the_door_says_what_it_opens(
    action: str, door: str, words: str, qtbot: QtBot, desk: Desk, open_page: Open
) -> None:
    with Audit(desk.session.engine.store, "ann@desk-1").act(action, ["B", *(f"t{n}" for n in range(90))]):
        pass
    page = open_page()
    page.table.peek_requested.emit(page.table.records.record(0).key)
    assert page.panel.tasks_button.text() == words
    with qtbot.waitSignal(page.navigate) as opened:
        page.panel.tasks_button.click()
    assert str(opened.args[1]).startswith(door)


@pytest.mark.one_pair
def test_a_large_raise_is_taken_back_once_its_number_is_typed(qtbot: QtBot, desk: Desk, open_page: Open) -> None:
    commands, store = desk.session.commands, desk.session.engine.store
    named: dict[str, Any] = {"platform": "pdd", "task_type": "work", "payload": {}, "batch": "night"}
    specs = [TaskSpec(shop_id=f"s{n}", priority="normal" if n < 10 else "low", **named) for n in range(LARGE)]
    assert len(commands.tasks.create(specs, origin="cli").created) == LARGE
    assert len(commands.batches.raise_waiting(commands.batches.plan_raise("night")).outcome.done) == LARGE
    page = open_page()
    row = page.table.records.record(0)
    assert row.entry.action == "batch.raise"
    dialog = ask_back(qtbot, page)
    assert (dialog.question.number, dialog.question.typed) == ("510 objects", "510")
    assert dialog.verb_button.toolTip() == "Type 510 first"
    dialog.typed_field.setText("510")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: bool(desk.toasts), timeout=30_000)
    assert desk.toasts[-1].text == "Taken back: Raise a batch, 510 objects."
    lanes = {lane: store.query(Query(terms=(equals("batch", "night"), equals("lane", lane)))) for lane in LANES}
    assert {lane: page.number.number for lane, page in lanes.items()} == {"high": 0, "normal": 10, "low": 500}
    assert audit.undoes(store.audit(1)[0]) == (row.key,)
