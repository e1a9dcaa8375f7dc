"""A form that stays open until its save is answered: what is refused is said in it, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QTimer
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
from views.support.look import Label
from views.support.operation import Operation, report
from views.widgets.buttons import Button
from views.widgets.fields import Labelled

T = TypeVar("T")
#: an answer that comes sooner is not announced
SOON_MS = 300
_INPUTS = (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit)


class SavingDialog(DialogFrame):
    """``fields`` have the names that errors of the command carry. A form that is closed while it waits lives on unseen
    until the answer is there, which is then told by whoever asked for it.
    """

    def __init__(self, title: str, *, icon: str, width: int, parent: QWidget | None = None) -> None:
        """`title` is source text."""
        super().__init__(title, icon=icon, parent=parent)
        self.setFixedWidth(width)
        self.fields: dict[str, Labelled] = {}
        self.problem, self.meanwhile = Label("", "label", "dead", wrap=True), Label("", "label", "text3")
        self.problem.hide()
        self._saving = Operation(self)
        self._reason = ""
        self._still: list[QWidget] = []  #: what takes nothing while an answer is due: it would be lost with the form
        self._typed_in: QWidget | None = None
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(lambda: self.meanwhile.setText(_("It is being saved…")))

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
        self.save_button.disable(_("It is being saved") if self.waiting else reason)

    def start(
        self,
        call: Callable[[], T],
        success: Callable[[T], None] | None = None,
        failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        """As ``Operation.start``, for one save at a time: the form closes before ``success`` is told, and shows what is
        refused itself, unless somebody has closed it meanwhile.
        """
        if self.waiting:
            return

        def succeed(result: T) -> None:
            self._end()
            if self.isVisible():
                self.accept()
            else:
                self.deleteLater()
            if success is not None:
                success(result)

        def fail(error: BaseException) -> None:
            self._end()
            if self.isVisible():
                self.refused(error)
                return
            self.deleteLater()
            (failure or report)(error)

        for field in self.fields.values():
            field.set_error("")
        self.problem.hide()
        self._hold_still()
        self._saving.start(call, succeed, fail)
        self.forbid(self._reason)
        self.cancel_button.set_source(N_("Close"))  # it takes back nothing any more
        self._soon.start()

    def refused(self, error: BaseException) -> None:
        """Say why at the field that the error names, else below all of them."""
        field = self.fields.get(str(getattr(error, "field", "")))
        if field is not None:
            field.set_error(told(error))
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
        if self._typed_in is not None and isValid(self._typed_in):
            self._typed_in.setFocus()
        self._soon.stop()
        self.meanwhile.setText("")
        self.cancel_button.set_source(N_("Cancel"))
        self.forbid(self._reason)
