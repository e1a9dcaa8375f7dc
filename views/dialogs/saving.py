"""A form that stays open until its save is answered: what is refused is said in it, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from services.i18n import N_, _
from services.messages import told
from views.dialogs.frame import DialogFrame
from views.support import safe
from views.support.look import Label
from views.support.operation import Operation, report
from views.widgets.buttons import Button
from views.widgets.fields import Labelled
from views.widgets.strip import Strip

T = TypeVar("T")
#: an answer that comes sooner is not announced
SOON_MS = 300
_INPUTS = (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit)


class SavingDialog(DialogFrame):
    """``fields`` have the names that errors of the command carry. A form that is closed while it waits lives on unseen
    until the answer is there, which is then told by whoever asked for it.
    """

    #: source texts: the way out while no answer is due, and what is told while one is
    leave, going_on, going_on_still = N_("Cancel"), N_("It is being saved"), N_("It is being saved…")

    def __init__(self, title: str, *, icon: str, width: int, parent: QWidget | None = None) -> None:
        """`title` is source text."""
        super().__init__(title, icon=icon, parent=parent)
        self.set_width(width)
        self.fields: dict[str, Labelled] = {}
        self.problem, self.meanwhile = Label("", "label", "dead", wrap=True), Label("", "label", "text3")
        self.problem.hide()
        self._saving = Operation(self)
        self._reason = ""
        self._still: list[QWidget] = []  #: what takes nothing while an answer is due: it would be lost with the form
        self._typed_in: QWidget | None = None
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(lambda: self.meanwhile.setText(_(self.going_on_still)))

    def end_with_save(self, on_save: Callable[[], None]) -> tuple[Button, Button]:
        """Put what is wrong with no field below all fields, and the buttons of the frame at the end of the foot."""
        self.body.addWidget(self.problem)
        self.foot.addWidget(self.meanwhile)
        self.cancel_button, self.save_button = super().end_with_save(on_save)
        return self.cancel_button, self.save_button

    @property
    def waiting(self) -> bool:
        """Whether an answer is due."""
        return self._saving.busy

    def forbid(self, reason: str) -> None:
        """Say why nothing can be saved, already translated; "" where it can."""
        self._reason = reason
        self.save_button.disable(_(self.going_on) if self.waiting else reason)

    def start(
        self,
        call: Callable[[], T],
        success: Callable[[T], None] | None = None,
        failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        """As ``Operation.start``, for one save at a time: the form closes before ``success`` is told, and shows what is
        refused itself, unless somebody has closed it meanwhile. One that is part of a page that was left is not closed.
        """
        if self.waiting:
            return

        def succeed(result: T) -> None:
            self._end()
            if not self.isHidden():
                self.accept()
            else:
                self.deleteLater()
            if success is not None:
                success(result)

        for field in self.fields.values():
            field.set_error("")
        self.problem.hide()
        self._hold_still()
        self._saving.start(call, succeed, partial(self._fail, failure or report))
        self.forbid(self._reason)
        self.cancel_button.set_source(N_("Close"))  # it takes back nothing any more
        self._soon.start()

    def _fail(self, tell: Callable[[BaseException], None], error: BaseException) -> None:
        self._end()
        if self.isHidden():
            self.deleteLater()
        else:
            self.refused(error)
        if not self.isVisible():  # nobody reads it there now
            tell(error)

    def refused(self, error: BaseException) -> None:
        """Say why at the field that the error names, else below all of them."""
        field = self.fields.get(str(getattr(error, "field", "")))
        if field is not None:
            field.set_error(told(error))
            if isinstance(field.field, QLineEdit):  # what is typed now is another value
                field.field.textEdited.connect(
                    lambda _text: field.set_error(""), Qt.ConnectionType.SingleShotConnection
                )
            return
        self.problem.setText(told(error))
        self.problem.show()

    def done(self, result: int) -> None:
        """Go away, once there is nothing to wait for."""
        super().done(result)
        if not self.waiting:
            self.deleteLater()

    def _hold_still(self) -> None:
        self._typed_in = self.focusWidget()
        buttons = (self.cancel_button, self.save_button)
        self._still = [
            one
            for one in self.findChildren(QWidget)
            if isinstance(one, _INPUTS) and one.isEnabled() and one not in buttons and not self._head.isAncestorOf(one)
        ]
        for one in self._still:
            one.setEnabled(False)

    def _end(self) -> None:
        for one in filter(isValid, self._still):
            one.setEnabled(True)
        self._still = []
        if self.isVisible() and self._typed_in is not None and isValid(self._typed_in):
            self._typed_in.setFocus()
        self._soon.stop()
        self.meanwhile.setText("")
        self.cancel_button.set_source(self.leave)
        self.forbid(self._reason)


class SharedForm(SavingDialog):
    """A form of what others may change meanwhile. What they did to a field that was changed here, too, stands below
    that, to be taken over or written over; nothing typed is lost.
    """

    def __init__(self, title: str, *, icon: str, width: int, parent: QWidget | None = None) -> None:
        """`title` is source text."""
        super().__init__(title, icon=icon, width=width, parent=parent)
        self.changed = Strip("warning", stacked=True)
        self.changed.hide()
        self.body.addWidget(self.changed)
        self.take_over: dict[str, Button] = {}

    def offer_to_take_over(self, names: Collection[str], put: Callable[[str], None]) -> None:
        """Let each of these fields take what stands there now; ``put`` puts it there."""
        for name in names:
            self.take_over[name] = button = Button(N_("Take it over"), kind="link")
            button.clicked.connect(partial(self._take_over, name, put))
            self.fields[name].add_below(button)
        self.show_over(())

    def tell_changed(self, what: str, first: str = "") -> None:
        """Say what somebody else changed, translated; the keyboard goes to the ``first`` field that it is about."""
        words = _("What you typed is kept here. Take over what stands there now, or overwrite it.")
        self.changed.show_text(words, what)
        if first:
            self.fields[first].field.setFocus()

    def show_over(self, names: Collection[str]) -> None:
        """Offer it for these fields only, which would be written over."""
        for name, button in self.take_over.items():
            button.setVisible(name in names)
        self.save_button.set_source(N_("Overwrite") if names else N_("Save"))

    def _take_over(self, name: str, put: Callable[[str], None]) -> None:
        put(name)
        self.fields[name].field.setFocus()


def stands_there(words: str) -> str:
    """What somebody else left in a field."""
    return _("Now there: {value}").format(value=safe.one_line(words, 80)) if words else _("Emptied by now")
