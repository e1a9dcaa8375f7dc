"""Looking back: the fleet at a moment, what changed around it, and the strip that chooses the moment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import Desk as Console
from services import assembly
from services.domain.past.frame import LEADER, SHOP, WORKER, Frame, Numbers
from services.monitor.past.tape import Tape
from tests.gui.desk import Desk
from tests.support.widgets import words
from views.dialogs.past.dialog import PastDialog

WAIT_MS = 10_000
STEP, MINUTE, HOUR = 5_000, 60_000, 3_600_000
CTRL = Qt.KeyboardModifier.ControlModifier
Ask = Callable[[int], PastDialog]
LED = {(LEADER, "leader"): "desk-02/11"}


class Record:
    """What a leader on this machine recorded: half an hour until now, ten minutes of it missing."""

    def __init__(self, desk: Desk) -> None:
        self.now = desk.session.engine.store.now_ms()
        self.begin = self.now - 30 * MINUTE
        self.failed_at, self.gap = self.now - 25 * MINUTE, (self.now - 20 * MINUTE, self.now - 10 * MINUTE)
        tape = Tape(assembly.recorder_file(desk.session.engine.settings))
        try:
            for at in range(self.begin, self.now, STEP):
                if not self.gap[0] < at < self.gap[1]:
                    tape.add(self._look(at))
        finally:
            tape.close()

    def _look(self, at: int) -> Frame:
        things = LED | {(WORKER, "desk-01/3f2a"): "running 0.4.2 5"}
        failed = at >= self.failed_at
        if failed:
            things |= {(SHOP, f"temu:{n}"): "dead" for n in range(100, 112)}
        numbers = Numbers(
            at_ms=at, since_ms=at, waiting=(at - self.begin) // STEP, dead=12 * failed, workers=1,
            failed=12 * (self.failed_at <= at < self.failed_at + STEP),
        )  # fmt: skip
        return Frame(numbers, things)


@pytest.fixture
def record(desk: Desk) -> Record:
    return Record(desk)


@pytest.fixture
def ask(qtbot: QtBot, desk: Desk) -> Iterator[Ask]:
    """Opens the dialog at a moment and waits for what it shows."""
    window = QWidget()
    qtbot.addWidget(window)
    window.show()

    def answered(at_ms: int) -> PastDialog:
        dialog = PastDialog(desk.context, at_ms, window)
        with qtbot.waitSignals([dialog.answered, dialog.stretched], timeout=WAIT_MS):
            dialog.open()
        return dialog

    yield answered
    for dialog in window.findChildren(PastDialog):
        dialog.reject()


def told(dialog: PastDialog) -> str:
    """All that it says, the time line with it."""
    return "\n".join([words(dialog), dialog.then.accessibleName(), dialog.changes.accessibleName()])


def copied(dialog: PastDialog) -> str:
    dialog.copy_button.click()
    return QApplication.clipboard().text()


def test_it_shows_the_numbers_of_then_beside_those_of_now(ask: Ask, record: Record) -> None:
    dialog = ask(record.failed_at - 2 * MINUTE)
    text = copied(dialog)
    # the window's clock may be a moment behind that of the test
    assert re.search(r"(26 m 5\d|27 m 0\d) s ago", text.replace("\u2009", " ").replace("\u202f", " "))
    assert "desk-02/11 led" in text
    assert "Waiting: 36, now 359" in text
    assert "Dead letters: 0, now 12" in text
    assert "No shop needed anybody." in text
    assert "12 shops have dead letters: temu:100, temu:101, temu:102" in text, "what came after is told, too"


def test_every_shop_is_drawn_as_it_was_and_what_waited_around_that_moment(ask: Ask, desk: Desk) -> None:
    now = desk.session.engine.store.now_ms()
    first, *others = sorted(desk.context.shops())
    tape = Tape(assembly.recorder_file(desk.session.engine.settings))
    try:
        for at in range(now - 4 * MINUTE, now - 2 * MINUTE, STEP):
            numbers = Numbers(at_ms=at, since_ms=at, waiting=7, normal=7, workers=1)
            tape.add(Frame(numbers, LED | {(SHOP, first): "login/dead"}))
    finally:
        tape.close()
    drawn = ask(now - 3 * MINUTE).drawn
    assert {cell.key: (cell.state, cell.under) for cell in drawn.rows.cells} == {
        first: ("login", "dead"),
        **dict.fromkeys(others, ("healthy", "healthy")),
    }
    frame = drawn.chart.frame_shown
    assert len(frame) > 20
    assert frame["normal"].max() == 7
    assert frame.at[-1] <= now / 1000 - 119, "nothing is drawn of what nobody recorded"


def test_in_a_gap_nothing_is_made_up(ask: Ask, record: Record, qtbot: QtBot) -> None:
    dialog = ask(record.now - 15 * MINUTE)
    with qtbot.waitSignal(dialog.stretched, timeout=WAIT_MS):
        dialog.span.choose("6h")
    assert dialog.answer.lead().startswith("No record from ")
    assert "Waiting" not in copied(dialog)
    assert dialog.strip.tip_at(dialog.strip.x_of(record.now - 15 * MINUTE)).endswith("No record")
    assert dialog.strip.tip_at(dialog.strip.x_of(record.gap[0])).endswith("Not all of it was recorded")


def test_where_nobody_ever_recorded_it_says_so(ask: Ask, desk: Desk) -> None:
    dialog = ask(desk.session.engine.store.now_ms() - HOUR)
    assert dialog.answer.lead() == "Nothing was ever recorded on this computer"
    assert dialog.strip.counts[0] == 0


def test_a_click_on_the_strip_and_the_keys_choose_the_moment(ask: Ask, record: Record, qtbot: QtBot) -> None:
    dialog = ask(record.now - MINUTE)
    with qtbot.waitSignal(dialog.stretched, timeout=WAIT_MS):
        dialog.span.choose("6h")
    strip = dialog.strip
    assert strip.counts[0] == 12
    place = QPoint(round(strip.x_of(record.now - 28 * MINUTE)), strip.height() // 2)
    with qtbot.waitSignal(dialog.answered, timeout=WAIT_MS):
        QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=place)
    chosen = dialog.at_ms
    assert abs(chosen - (record.now - 28 * MINUTE)) < MINUTE
    assert "Dead letters: 0, now 12" in copied(dialog)
    with qtbot.waitSignal(dialog.answered, timeout=WAIT_MS):
        QTest.keyClick(strip, Qt.Key.Key_Right)
    assert dialog.at_ms - chosen == 6 * HOUR // 96


def test_the_next_change_is_one_step_away(ask: Ask, record: Record, qtbot: QtBot) -> None:
    dialog = ask(record.begin + MINUTE)
    assert (dialog.earlier_change.isEnabled(), dialog.earlier_change.toolTip()) == (
        False,
        "No earlier change is known here",
    )
    with qtbot.waitSignal(dialog.answered, timeout=WAIT_MS):
        QTest.keyClick(dialog, Qt.Key.Key_Right, CTRL)
    assert abs(dialog.at_ms - record.failed_at) <= STEP
    assert "Dead letters: 12" in copied(dialog)
    assert "temu:100, temu:101" in told(dialog)


def test_a_time_to_come_is_not_asked_about(ask: Ask, record: Record, qtbot: QtBot) -> None:
    dialog = ask(record.now - MINUTE)
    dialog.when.setDateTime(dialog.when.dateTime().addSecs(7200))
    qtbot.waitUntil(lambda: "That has not been yet" in words(dialog), timeout=WAIT_MS)
    assert (dialog.on.isEnabled(), dialog.on.toolTip()) == (False, "That has not been yet")
    assert (dialog.copy_button.isEnabled(), dialog.copy_button.toolTip()) == (False, "Nothing is shown yet")


def test_keys_open_it_and_escape_brings_back_to_now(console: Console, qtbot: QtBot) -> None:
    console.window.activateWindow()
    QTest.keyClick(console.window, Qt.Key.Key_T, CTRL)
    (dialog,) = console.window.findChildren(PastDialog)
    qtbot.waitUntil(lambda: bool(dialog.answer.lead()), timeout=WAIT_MS)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not console.window.findChildren(PastDialog), timeout=WAIT_MS)
