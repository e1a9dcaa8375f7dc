"""Asks from where on a number shall stand out."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSpinBox, QWidget

from services.i18n import N_, _
from views.dialogs.frame import DialogFrame
from views.pages.overview.limits import BOUNDS, Limits
from views.support.look import Label
from views.widgets.buttons import Button

#: limit -> what it means
WORDS = {
    "waiting": N_("Tasks that may wait before the tile warns"),
    "dead": N_("Open dead letters before the tile warns"),
    "success": N_("Share of tasks that should succeed, in per cent"),
    "oldest_s": N_("Seconds that a task may wait before the tile warns"),
}


class LimitDialog(DialogFrame):
    """One number.

    Signals:
        chosen: the limit as ``Limits.having`` takes it.
    """

    chosen = Signal(int)

    def __init__(self, name: str, limits: Limits, parent: QWidget | None = None) -> None:
        super().__init__(N_("Set limit"), icon="ph.gauge", parent=parent)
        self.setFixedWidth(380)
        self.field = QSpinBox()
        self.field.setRange(*BOUNDS[name])
        self.field.setGroupSeparatorShown(True)
        self.field.setValue(limits.shown(name))
        self.field.setAccessibleName(_(WORDS[name]))
        self.body.addWidget(Label(_(WORDS[name]), "body", "text2", wrap=True))
        self.body.addWidget(self.field)
        self._usual = Limits().shown(name)
        self.reset = Button(N_("Back to the usual"), kind="ghost")
        self.reset.clicked.connect(self._on_reset)
        cancel, self.accept_button = (
            Button(N_("Cancel")),
            Button(N_("Set limit"), kind="primary", shortcut="Ctrl+Return"),
        )
        cancel.clicked.connect(self.reject)
        self.accept_button.clicked.connect(self._on_accept)
        self.foot.addWidget(self.reset)
        self.foot.addStretch(1)
        self.foot.addWidget(cancel)
        self.foot.addWidget(self.accept_button)
        self.field.selectAll()
        self.field.setFocus()

    def _on_reset(self) -> None:
        self.field.setValue(self._usual)

    def _on_accept(self) -> None:
        self.chosen.emit(self.field.value())
        self.accept()
