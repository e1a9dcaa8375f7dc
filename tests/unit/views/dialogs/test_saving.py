"""A form that stays open until its save is answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from services.domain.errors import StoreUnavailable, UsageError
from services.i18n import N_
from tests.support.cuts import cut
from tests.support.widgets import words
from views.dialogs.saving import SavingDialog
from views.theme import theme
from views.widgets.fields import Labelled

WAIT_MS = 10_000


class Form(SavingDialog):
    """One field; what it saves waits for ``gate`` and then raises ``error``, if there is one."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(N_("Edit"), icon="ph.bell", width=400, parent=parent)
        self.name = QLineEdit("typed")
        self.fields["name"] = Labelled(N_("Name"), self.name)
        self.body.addWidget(self.fields["name"])
        self.end_with_save(self.save)
        self.gate, self.calls = threading.Event(), 0
        self.error: BaseException | None = None
        self.saved: list[str] = []
        self.lost: list[BaseException] = []

    def save(self) -> None:
        self.start(self._call, self.saved.append, self.lost.append)

    def _call(self) -> str:
        self.calls += 1
        self.gate.wait(30)
        if self.error is not None:
            raise self.error
        return "kept"


@pytest.fixture
def form(qtbot: QtBot) -> Iterator[Form]:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    found = Form(window)
    found.open()
    gate = found.gate
    yield found
    gate.set()


@pytest.mark.parametrize("field", ["name", ""])
def test_what_is_refused_stands_at_its_field_or_below_all_and_nothing_typed_is_lost(
    field: str, qtbot: QtBot, form: Form
) -> None:
    form.error = UsageError("no such name", field=field)
    form.gate.set()
    form.save_button.click()
    qtbot.waitUntil(lambda: "no such name" in words(form), timeout=WAIT_MS)
    assert (form.fields["name"].error() == "no such name") == bool(field)
    assert form.problem.isVisible() == (not field)
    assert (form.isVisible(), form.name.text(), form.lost) == (True, "typed", [])
    form.error = None
    form.save_button.click()
    qtbot.waitUntil(lambda: form.saved == ["kept"], timeout=WAIT_MS)


def test_a_connection_that_is_lost_leaves_the_form_for_another_try(qtbot: QtBot, form: Form) -> None:
    form.error = StoreUnavailable("the store went away")
    form.save_button.click()
    assert form.save_button.toolTip() == "It is being saved"
    qtbot.waitUntil(lambda: "It is being saved…" in words(form), timeout=WAIT_MS)
    form.forbid("")
    assert not form.save_button.isEnabled(), "what is typed meanwhile makes no second save"
    form.save()
    form.gate.set()
    qtbot.waitUntil(lambda: "the store went away" in words(form), timeout=WAIT_MS)
    assert (form.save_button.isEnabled(), form.cancel_button.text(), form.calls) == (True, "Cancel", 1)


@pytest.mark.parametrize("refused", [False, True])
def test_what_becomes_of_a_form_that_is_closed_while_it_waits_is_told_elsewhere(
    refused: bool, qtbot: QtBot, form: Form
) -> None:
    form.error = UsageError("no such name", field="name") if refused else None
    form.save_button.click()
    assert form.cancel_button.text() == "Close"
    form.reject()
    assert not form.isVisible()
    saved, lost = form.saved, form.lost
    with qtbot.waitSignal(form.destroyed, timeout=WAIT_MS):
        form.gate.set()
    assert (saved, [str(one) for one in lost]) == (([], ["no such name"]) if refused else (["kept"], []))


@pytest.mark.parametrize("refused", [False, True])
def test_a_form_of_a_page_that_was_left_is_not_taken_for_closed(refused: bool, qtbot: QtBot) -> None:
    window, page = QWidget(), QWidget()
    qtbot.addWidget(window)
    page.setParent(window)
    other = QLineEdit(window)
    form = Form(page)
    form.setWindowFlags(Qt.WindowType.Widget)
    window.show()
    form.show()
    form.name.setFocus()
    form.error = UsageError("no such name", field="name") if refused else None
    form.save_button.click()
    page.hide()
    other.setFocus()
    saved, lost = form.saved, form.lost
    form.gate.set()
    qtbot.waitUntil(lambda: bool(saved or lost), timeout=WAIT_MS)
    assert window.focusWidget() is other, "the keyboard stays where it is"
    if not refused:
        qtbot.waitUntil(lambda: not page.findChildren(Form), timeout=WAIT_MS)
        return
    page.show()
    assert (form.isVisible(), form.name.text(), form.fields["name"].error()) == (True, "typed", "no such name")
    assert [str(one) for one in lost] == ["no such name"], "told where it is read as well"


def test_a_form_that_is_left_without_saving_goes_at_once(qtbot: QtBot, form: Form) -> None:
    with qtbot.waitSignal(form.destroyed, timeout=WAIT_MS):
        form.reject()


def test_nothing_is_typed_into_a_form_that_may_close_with_the_answer(qtbot: QtBot, form: Form) -> None:
    form.name.setFocus()
    form.error = UsageError("no such name", field="name")
    form.save_button.click()
    qtbot.keyClicks(form.name, " more")
    assert (form.name.isEnabled(), form.name.text()) == (False, "typed")
    form.gate.set()
    qtbot.waitUntil(lambda: "no such name" in words(form), timeout=WAIT_MS)
    assert (form.name.isEnabled(), form.focusWidget()) == (True, form.name)


def test_an_open_form_grows_with_the_letters_and_cuts_nothing(qtbot: QtBot, form: Form) -> None:
    behind = form.parentWidget()
    behind.resize(1000, 700)
    form.fields["name"].set_error("Now there: " + "another name of this shop, " * 3)
    before = form.width()
    theme().set_text_size(130)
    qtbot.waitUntil(lambda: form.width() == round(before * theme().growth))
    qtbot.waitUntil(lambda: cut(form) == [])
    theme().set_text_size(100)
    qtbot.waitUntil(lambda: form.width() == before)
