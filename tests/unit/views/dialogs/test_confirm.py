"""The question before many tasks or an end."""

from __future__ import annotations

import gc
import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.i18n import _, ngettext
from services.settings.values import ConfirmSettings
from views.dialogs.confirm import LIMITS, ConfirmDialog, Finding, Question, set_confirm_limits, typed_count
from views.dialogs.frame import DialogFrame
from views.support.look import Label
from views.widgets.buttons import Button

ASKED = Question(title="Stop a worker", verb="Stop, interrupt 2 tasks", rows=(("sync_order", "8 s"),), danger=True)


def opened(qtbot: QtBot, question: Question) -> ConfirmDialog:
    dialog = ConfirmDialog(lambda: question)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


def cut(dialog: ConfirmDialog) -> list[str]:
    labels = [one for one in dialog.findChildren(QLabel) if one.wordWrap() and one.isVisible()]
    return [one.text() for one in labels if one.height() < one.heightForWidth(one.width())]


def test_no_line_of_a_long_question_is_cut_off(qtbot: QtBot) -> None:
    words = "It gets the time below to finish; then it is interrupted and begins anew on the next free worker. " * 2
    dialog = opened(qtbot, Question(title="Stop a worker", text=f"{words}\n\n{words}", verb="Stop", danger=True))
    assert cut(dialog) == []
    before = dialog.height()
    dialog.body.addWidget(Label(words * 2, "label", "dead", wrap=True))
    qtbot.waitUntil(lambda: dialog.height() > before)
    assert cut(dialog) == []


def test_no_empty_line_stands_above_what_it_says(qtbot: QtBot) -> None:
    words = "It is done in your name, and has an entry of its own."
    dialog = opened(qtbot, Question(title="Take an act back", text=words, rows=ASKED.rows, verb="Give it back"))
    (label,) = [one for one in dialog.findChildren(QLabel) if one.text() == words]
    assert label.height() == label.heightForWidth(label.width())


def test_cancel_has_the_focus_and_changes_nothing(qtbot: QtBot) -> None:
    dialog = opened(qtbot, ASKED)
    assert dialog.focusWidget() is dialog.cancel_button
    with qtbot.assertNotEmitted(dialog.confirmed):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_enter_presses_the_button_with_the_focus_only(qtbot: QtBot) -> None:
    dialog = opened(qtbot, ASKED)
    with qtbot.assertNotEmitted(dialog.confirmed):
        qtbot.keyClick(dialog.cancel_button, Qt.Key.Key_Return)
    assert not dialog.isVisible()


def test_ctrl_enter_presses_the_verb_as_in_every_dialog(qtbot: QtBot) -> None:
    dialog = opened(qtbot, Question(title="Cancel a batch", verb="Cancel 3,000 tasks", typed="3000", danger=True))
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    with qtbot.assertNotEmitted(dialog.confirmed):
        qtbot.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(dialog.typed_field, "3000")
    with qtbot.waitSignal(dialog.confirmed):
        qtbot.keyClick(dialog.typed_field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_the_verb_confirms_once(qtbot: QtBot) -> None:
    dialog = opened(qtbot, ASKED)
    with qtbot.waitSignal(dialog.confirmed):
        dialog.verb_button.click()
    assert not dialog.isVisible()


def test_the_milder_way(qtbot: QtBot) -> None:
    dialog = opened(qtbot, Question(title="Stop a worker", verb="Stop", other="Drain instead"))
    with qtbot.waitSignal(dialog.other_chosen), qtbot.assertNotEmitted(dialog.confirmed):
        dialog.other_button.click()


def test_a_number_must_be_typed_where_many_are_touched(qtbot: QtBot) -> None:
    dialog = opened(qtbot, Question(title="Republish", verb="Republish 1,200 tasks", typed="1200"))
    assert not dialog.verb_button.isEnabled()
    qtbot.keyClicks(dialog.typed_field, "1,200")
    assert dialog.verb_button.isEnabled()


def test_a_name_with_a_comma_can_be_typed(qtbot: QtBot) -> None:
    dialog = opened(qtbot, Question(title="Remove", verb="Remove", typed="late, and mine"))
    qtbot.keyClicks(dialog.typed_field, "late and mine")
    assert not dialog.verb_button.isEnabled()
    dialog.typed_field.setText("late, and mine")
    assert dialog.verb_button.isEnabled()


def test_production_asks_earlier() -> None:
    assert typed_count(51, "PROD") == "51"
    assert typed_count(51, "") == ""
    assert typed_count(501, "") == "501"


def test_a_machine_may_be_set_to_ask_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    for production, usual in tuple(LIMITS.items()):
        monkeypatch.setitem(LIMITS, production, usual)  # put back afterwards
    set_confirm_limits(ConfirmSettings(production=20, other=100))
    assert (typed_count(20, "PROD"), typed_count(21, "PROD")) == ("", "21")
    assert (typed_count(100, ""), typed_count(101, "")) == ("", "101")


def test_the_keyboard_begins_in_the_first_field_not_on_the_cross(qtbot: QtBot) -> None:
    dialog = DialogFrame("Save view")
    qtbot.addWidget(dialog)
    dead, field = QLineEdit(), QLineEdit()
    dead.setEnabled(False)
    for part in (dead, field):
        dialog.body.addWidget(part)
    dialog.end_with_save(lambda: None)
    dialog.show()
    assert dialog.focusWidget() is field


def test_a_dialog_that_only_its_window_holds_stays_when_tab_goes_round_in_it(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()

    def ask() -> None:  # as a page does: nothing in Python keeps the dialog
        dialog = DialogFrame("Suppressed duplicates", parent=window)
        dialog.foot.addWidget(button := Button("Close"))
        button.clicked.connect(dialog.reject)
        dialog.open()
        qtbot.keyClick(dialog, Qt.Key.Key_Tab)

    ask()
    gc.collect()
    dialog = window.findChild(DialogFrame)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.reject()
    assert not dialog.isVisible()
    assert not any(one.isVisible() for one in window.findChildren(QWidget)), "the window has its light back"


def test_what_has_to_be_written_down_can_be_written_at_once(qtbot: QtBot) -> None:
    question = Question(title="Try one task anyway", verb="Try once", note="Why?", note_needed="Say why first")
    dialog = ConfirmDialog(lambda: question)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    qtbot.keyClicks(dialog.focusWidget(), "one more try")
    assert (dialog.isVisible(), dialog.note) == (True, "one more try")


def test_it_asks_in_the_language_of_the_moment_and_keeps_what_was_typed(
    qtbot: QtBot, request: pytest.FixtureRequest
) -> None:
    def asked() -> Question:
        return Question(
            title="Cancel a batch",
            number=ngettext("{n} task", "{n} tasks", 12).format(n=12),
            rows=((_("batch"), "b1"),),
            text=_("They were not saved."),
            findings=(Finding("warning", _("Yes"), _("Nothing was changed.")),),
            verb=_("Discard"),
            other=_("Copy the command"),
            note=_("Why"),
            note_needed=_("Say why first"),
            typed="12",
        )

    dialog = ConfirmDialog(asked)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.typed_field.setText("12")
    assert dialog.verb_button.toolTip() == "Say why first"
    i18n.set_language("zh_CN")
    request.addfinalizer(lambda: i18n.set_language("en"))
    shown = [one.text() for one in dialog.findChildren(QLabel) if one.isVisible() and one.text()]
    assert "12 个任务" in shown
    assert not [words for words in shown if re.search("[A-Za-z]{3,}", words)], "nothing of it stays as it was"
    buttons = (dialog.verb_button, dialog.other_button, dialog.cancel_button)
    assert [one.text() for one in buttons] == ["放弃", "复制命令", "取消"]
    assert (dialog.verb_button.toolTip(), dialog.note_field.accessibleName()) == ("请先写明原因", "原因")
    assert dialog.typed_field.text() == "12"
