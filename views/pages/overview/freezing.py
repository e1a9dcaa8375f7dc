"""The view stops where a person wants to read it: a button, and since when."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.support.look import Label
from views.widgets.buttons import Button


class Freezing(QObject):
    """Label and button for a page's header.

    Signals:
        changed: whether the view is frozen now.
    """

    changed = Signal(bool)

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self.label = Label("", "labelstrong", "retrying")
        self.label.hide()
        self.button = Button(
            N_("Freeze view"), kind="ghost", icon="ph.pause", tip=N_("Stops painting, keeps receiving (Ctrl+.)")
        )
        self.button.setCheckable(True)
        # Not of the button: a button forgets its shortcut with each new text.
        QShortcut(QKeySequence("Ctrl+."), page, self.button.click, context=Qt.ShortcutContext.WindowShortcut)
        self.button.toggled.connect(self.changed)
        self._time = ""

    @property
    def on(self) -> bool:
        """Whether nothing is to be painted."""
        return bool(self.button.isChecked())

    def show_since(self, time: str) -> None:
        """Say since when; called when it changed and when the language did."""
        self._time = time
        self.retranslate()

    def retranslate(self) -> None:
        """Say everything again."""
        self.label.setText(_("frozen {time}").format(time=self._time))
        self.label.setVisible(self.on)
        self.button.set_source(N_("Resume view") if self.on else N_("Freeze view"))
        self.button.set_glyph("ph.play" if self.on else "ph.pause")
