"""The view stops where a person wants to read it: a button whose look follows the window's decision."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_
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
            N_("Freeze view"), kind="ghost", icon="ph.pause", tip=N_("Stops painting, keeps receiving (Ctrl+.)")
        )
        self.button.setCheckable(True)
        self.button.clicked.connect(self._on_clicked)
        self.on = False  #: nothing is to be painted

    def set_on(self, on: bool) -> None:
        """Stand still, or move again."""
        self.on = on
        self.button.setChecked(on)
        self.button.set_source(N_("Resume view") if on else N_("Freeze view"))
        self.button.set_glyph("ph.play" if on else "ph.pause")

    def _on_clicked(self) -> None:
        self.button.setChecked(self.on)
        self.wanted.emit()
