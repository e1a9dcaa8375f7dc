"""A moment to come, typed in words or picked: ``in 2 h``, ``today 18:00``; what it means stands below it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QVBoxLayout, QWidget

from services.clock import SystemClock
from services.domain.task.search.filter_time import Times
from services.i18n import N_, _
from views.support import shown
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.widgets.buttons import IconButton

#: what is offered, as it is typed
OFFERS = (N_("in 30 min"), N_("in 2 h"), N_("in 8 h"), N_("today 18:00"), N_("tomorrow 9:00"))
MOST_AHEAD_MS = 366 * 86_400_000
_CLOCK = SystemClock()


class MomentField(QWidget):
    """Empty means none.

    Signals:
        changed: another moment, or none.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = QLineEdit()
        self.pick = IconButton("ph.clock", N_("Pick a time"))
        self._means = Label("", "caption", "text3")
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.line, 1)
        row.addWidget(self.pick)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(row)
        column.addWidget(self._means)
        self.line.textChanged.connect(self._on_text)
        self.pick.clicked.connect(self._on_pick)
        on_language_changed(self._say)
        self._say()

    def at_ms(self) -> int:
        """The instant meant now (UTC milliseconds), 0 for none and for what is none."""
        return Times(_CLOCK.now_ms(), shown.zone_key()).coming(self.line.text()) or 0

    def problem(self) -> str:
        """What is wrong with it, "" for nothing."""
        if not self.line.text().strip():
            return ""
        at, now = self.at_ms(), _CLOCK.now_ms()
        if not at:
            return _("Write a time such as 18:00, tomorrow 9:00 or in 2 h")
        if at <= now:
            return _("The time is past")
        return _("The time is more than a year ahead") if at > now + MOST_AHEAD_MS else ""

    def menu(self) -> QMenu:
        """Times to pick, each with what it means now."""
        menu = QMenu(self)
        times = Times(_CLOCK.now_ms(), shown.zone_key())
        for words in map(_, OFFERS):
            at = times.coming(words) or 0
            offer = menu.addAction(_("{name}: {value}").format(name=words, value=shown.clock(at, times.now_ms)))
            offer.setEnabled(at > times.now_ms)
            offer.triggered.connect(lambda _on=False, words=words: self.line.setText(words))
        menu.addSeparator()
        menu.addAction(_("None")).triggered.connect(self.line.clear)
        return menu

    def _on_pick(self) -> None:
        menu = self.menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.pick.mapToGlobal(self.pick.rect().bottomLeft()))

    def _on_text(self) -> None:
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        why, at = self.problem(), self.at_ms()
        self.line.setPlaceholderText(_("none; or in 2 h, today 18:00"))
        self.line.setAccessibleName(_("Deadline"))
        self.line.setAccessibleDescription(why)
        set_look(self.line, invalid="true" if why else "false")
        self._means.setText(why or (shown.clock(at, _CLOCK.now_ms()) if at else ""))
        self._means.set_tone("dead" if why else "text3")
