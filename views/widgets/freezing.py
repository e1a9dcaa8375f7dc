"""The view of a page stops where a person wants to read it: a button whose look follows the window's decision."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.widgets.buttons import Button


class Freezing(QObject):
    """A button for a page's header.

    Signals:
        wanted: the view shall stand still, or move again; the window decides, since a key does the same.
    """

    wanted = Signal()

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self.button = Button(
            N_("Freeze view"),
            kind="ghost",
            icon="ph.pause",
            tip=N_("Stops painting, keeps receiving"),
            keys="window.freeze",
        )
        self.button.setCheckable(True)
        self.button.clicked.connect(self._on_clicked)
        self.on = False  #: nothing is to be painted

    def set_on(self, on: bool, *, lost: bool = False) -> None:
        """Stand still, or move again. ``lost``: because the connection is, which nobody asked for and no click ends."""
        self.on = on
        asked = on and not lost
        self.button.setChecked(asked)
        self.button.set_source(N_("Resume view") if asked else N_("Freeze view"))
        self.button.set_glyph("ph.play" if asked else "ph.pause")
        self.button.disable(_("Not while the connection is lost") if on and lost else "")

    def _on_clicked(self) -> None:
        self.button.setChecked(not self.button.isChecked())  # what it shows is the window's decision
        self.wanted.emit()
