"""Every page can be read whole on a small screen, in both languages; and what cannot be read is found."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import i18n
from services.cli.window import pages
from services.domain.plans.schedule import Schedule
from services.sample.demo import promise_some
from tests.gui.desk import Desk
from tests.support.painted import faults
from views.pages.audit.panel import AuditPanel
from views.pages.doctor.panel import FindingPanel
from views.pages.promises.panel import PromisePanel
from views.pages.tasks.groups import GroupStrip
from views.pages.tasks.panel.detail import TaskDetailPanel
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.widgets.filter.search_field import SearchField
from views.widgets.scroll_pane import ScrollPane
from views.widgets.toast import ToastSpec

pytestmark = pytest.mark.deep

SMALL = (1280, 720)
AT_200_PERCENT = (960, 540)  #: of 1920 by 1080
AT_150_PERCENT = (853, 480)  #: of 1280 by 720


@pytest.mark.parametrize(("language", "letters"), [("en", 100), ("zh_CN", 100), ("en", 130), ("zh_CN", 130)])
def test_no_text_of_any_page_is_cut_off_or_covered(
    console: Console, desk: Desk, qtbot: QtBot, language: str, letters: int
) -> None:
    desk.claim(desk.create())
    desk.fail(desk.create(1))
    desk.hold(desk.create(2, task_type="sync_order"))
    window = console.window
    i18n.set_language(language)
    theme().set_text_size(letters)
    try:
        window.resize(*SMALL)
        for page in pages():
            window.open_page(page)
            qtbot.waitUntil(lambda page=page: window.current == page)
            try:
                qtbot.waitUntil(lambda: not faults(window), timeout=8000)
            except qtbot.TimeoutError:
                pytest.fail(f"{page}: " + "; ".join(faults(window)))
    finally:
        i18n.set_language("en")
        theme().set_text_size(100)


@pytest.mark.parametrize("page", ["audit", "doctor", "promises"])
def test_beside_its_panel_no_table_scrolls_sideways_at_200_percent(
    console: Console, desk: Desk, qtbot: QtBot, page: str
) -> None:
    desk.create()
    promise_some(desk.session.commands.promises, {"pdd"})
    window = console.window
    window.resize(*AT_200_PERCENT)
    window.open_page(page)

    def tables() -> list[TableView]:
        return [one for one in window.page(page).findChildren(TableView) if one.isVisible()]

    qtbot.waitUntil(lambda: any(one.records.rowCount() for one in tables()), timeout=8000)
    first = next(one for one in tables() if one.records.rowCount())
    first.setCurrentIndex(first.records.index(0, 1))
    panel = window.page(page).findChild({"audit": AuditPanel, "doctor": FindingPanel, "promises": PromisePanel}[page])
    if not panel.isVisible():
        qtbot.keyClick(first, Qt.Key.Key_Space)
    qtbot.waitUntil(panel.isVisible)
    qtbot.waitUntil(lambda: all(one.horizontalScrollBar().maximum() == 0 for one in tables()), timeout=8000)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("page", ["dead_letters", "schedules", "tasks"])
def test_nothing_is_cut_at_150_percent(console: Console, desk: Desk, qtbot: QtBot, page: str, language: str) -> None:
    for number in range(2):
        desk.fail(desk.create(number), "ElementNotFound: selector '.order-list .row' not found within 20 s", "page")
    desk.hold(desk.create(1, task_type="sync_order"))
    plan = Schedule(name="nightly-orders", task_type="sync_order", every_s=7200, all_shops=True)
    desk.session.commands.schedules.add(plan)
    window = console.window
    window.setMinimumSize(*AT_150_PERCENT)  # as on a screen that is no larger
    window.resize(*AT_150_PERCENT)
    i18n.set_language(language)
    try:
        window.open_page(page)
        shown = window.page(page)
        if page == "tasks":
            shown.findChild(GroupStrip).group_by("shop")

        def tables() -> list[TableView]:
            return [one for one in shown.findChildren(TableView) if one.isVisible()]

        qtbot.waitUntil(lambda: any(one.records.rowCount() for one in tables()), timeout=8000)
        if page == "tasks":
            qtbot.waitUntil(lambda: bool(shown.findChild(GroupStrip).rows()))
        if page == "dead_letters":
            qtbot.waitUntil(lambda: shown.panel.task is not None and not shown.panel.editor.is_reading)
        try:
            qtbot.waitUntil(lambda: not faults(window), timeout=8000)
        except qtbot.TimeoutError:
            pytest.fail("; ".join(faults(window)))
    finally:
        i18n.set_language("en")


@pytest.mark.parametrize("page", ["tasks", "audit"])
def test_the_foot_of_a_panel_can_be_scrolled_out_from_under_a_message_that_stays(
    console: Console, desk: Desk, qtbot: QtBot, page: str
) -> None:
    desk.fail(desk.create(), "\n".join(f"line {number}" for number in range(40)))
    window = console.window
    window.resize(*AT_200_PERCENT)
    window.open_page(page)
    shown = window.page(page)

    def table() -> TableView | None:
        tables = shown.findChildren(TableView)
        return next((one for one in tables if one.isVisible() and one.records.rowCount()), None)

    qtbot.waitUntil(lambda: table() is not None, timeout=8000)
    rows = table()
    assert rows is not None
    rows.setCurrentIndex(rows.records.index(0, 1))
    qtbot.keyClick(rows, Qt.Key.Key_Space)
    panel = shown.findChild({"tasks": TaskDetailPanel, "audit": AuditPanel}[page])
    qtbot.waitUntil(panel.isVisible)
    message = window.toasts.show(ToastSpec(text="5 new incidents", detail="x " * 60, status="dead"))

    def clear() -> bool:
        """Whether what scrolls below it ends above it, once it is scrolled to its end."""
        panes = [
            one for one in panel.findChildren(QScrollArea) if one.isVisible() and one.verticalScrollBar().maximum()
        ]
        for pane in panes:
            pane.verticalScrollBar().setValue(pane.verticalScrollBar().maximum())
        last = [max(_ends(pane), default=0) for pane in panes]
        return bool(panes) and max(last) <= message.mapToGlobal(message.rect().topLeft()).y()

    qtbot.waitUntil(clear, timeout=8000)


def _ends(pane: QScrollArea) -> list[int]:
    """Where what it shows ends, on the screen."""
    inner = [one for one in pane.widget().findChildren(QWidget) if one.isVisible() and not one.children()]
    return [one.mapToGlobal(one.rect().bottomLeft()).y() for one in inner]


def made(qtbot: QtBot) -> QWidget:
    """An empty window of 200 by 100."""
    theme().install(QApplication.instance())
    window = QWidget()
    window.setFont(theme().font("body"))
    qtbot.addWidget(window)
    window.resize(200, 100)
    return window


def test_a_label_that_is_too_narrow_is_told(qtbot: QtBot) -> None:
    window = made(qtbot)
    label = QLabel("a sentence of some length", window)
    label.setGeometry(10, 10, 60, 20)
    window.show()
    (said,) = faults(window)
    assert "a sentence of some length" in said
    assert said.startswith("cut by")
    label.setGeometry(150, 10, 190, 20)
    assert any("cut by" in one for one in faults(window)), "its parent cuts it"
    label.setText("short")
    assert faults(window) == ()


def test_words_that_lie_over_each_other_are_told(qtbot: QtBot) -> None:
    window = made(qtbot)
    page = QWidget(window)
    page.setGeometry(window.rect())
    for place, words in ((10, "first"), (14, "second")):
        QLabel(words, page).setGeometry(10, place, 100, 20)
    window.show()
    (said,) = faults(window)
    assert "'first' and 'second'" in said


def test_words_that_are_selected_are_no_fault(qtbot: QtBot) -> None:
    window = made(qtbot)
    field = QLineEdit("30 7 * * 1-5", window)
    field.setGeometry(10, 10, 150, 28)
    window.show()
    field.selectAll()
    assert faults(window) == ()


def test_the_key_of_a_narrow_search_field_keeps_clear_of_its_words(qtbot: QtBot) -> None:
    window = made(qtbot)
    field = SearchField(window)
    field.setPlaceholderText("an incident or a shop")
    field.setGeometry(0, 10, 130, 28)
    other = QPushButton("elsewhere", window)
    other.setGeometry(0, 50, 150, 28)
    window.show()
    other.setFocus()
    assert faults(window) == ()


def test_what_is_wider_than_a_pane_that_scrolls_only_down_is_told(qtbot: QtBot) -> None:
    window = made(qtbot)
    pane = ScrollPane(window)
    pane.setGeometry(window.rect())
    row = QWidget()
    row.setFixedSize(330, 40)
    button = QPushButton("Take back", row)
    button.setGeometry(170, 4, 120, 24)
    QLabel("what it would change", row).setGeometry(20, 4, 160, 24)
    pane.body.addWidget(row)
    window.show()
    told = faults(window)
    assert any("button 'Take back'" in one for one in told), told
    pane.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    assert not any("button" in one for one in faults(window)), "a person may scroll to it"


def test_what_floats_over_the_window_is_no_fault(qtbot: QtBot) -> None:
    window = made(qtbot)
    below = QWidget(window)
    below.setGeometry(window.rect())
    QLabel("below", below).setGeometry(10, 10, 100, 20)
    above = QPushButton("above", window)
    above.setGeometry(0, 0, 150, 60)
    window.show()
    assert faults(window) == ()


def test_what_is_lower_than_its_letters_is_told(qtbot: QtBot) -> None:
    window = made(qtbot)
    row = QWidget(window)
    row.setGeometry(0, 0, 200, 30)
    label, button = QLabel("half of it", row), QPushButton("Log in", row)
    label.setGeometry(10, 5, 80, 20)
    button.setGeometry(100, 2, 90, 24)
    window.show()
    assert faults(window) == ()
    row.resize(200, 16)
    told = faults(window)
    assert any("of its height are cut: 'half of it'" in one for one in told), told
    assert any("of its height are cut: button 'Log in'" in one for one in told), told


def test_what_a_pane_scrolls_down_to_is_not_cut(qtbot: QtBot) -> None:
    window = made(qtbot)
    pane = ScrollPane(window)
    pane.setGeometry(0, 0, 200, 30)
    for number in range(4):
        label = QLabel(f"line {number}")
        label.setFixedHeight(20)
        pane.body.addWidget(label)
    window.show()
    assert faults(window) == ()
    pane.widget().setMinimumWidth(260)
    qtbot.waitUntil(lambda: any("wider by" in one for one in faults(window)))


def test_a_table_that_hides_words_or_numbers_is_told(qtbot: QtBot) -> None:
    window = made(qtbot)
    columns = (
        Column(key="why", title="Why it waits", value=lambda row: row, width=150),
        Column(key="n", title="N", value=lambda row: 12345, kind="number", width=60),
    )
    model: RecordModel[str] = RecordModel(columns, key=lambda row: row)
    model.apply(["letters nobody saw: 3", "an error of no length at all that goes on and on"])
    table = TableView(model, "Sample", parent=window)
    table.setGeometry(0, 0, 400, 90)
    window.resize(400, 100)
    window.show()
    assert faults(window) == (), "what is only long is told by its tip"
    table.setColumnWidth(0, 90)
    table.setColumnWidth(1, 40)
    told = "; ".join(faults(window))
    assert "a number of 'why' is lost: 'letters nobody saw: 3'" in told
    assert "a number of 'n' is lost: '12345'" in told
    table.setColumnWidth(0, 60)
    table.setColumnWidth(1, 900)
    told = "; ".join(faults(window))
    assert "the title of the column 'Why it waits' is shortened" in told
    assert "scrolls sideways" in told
