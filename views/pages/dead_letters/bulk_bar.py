"""The bar under the table of dead letters: what is ticked and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from services.domain.task.status import Triage
from services.i18n import N_, _, ngettext
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.support.words.rows import NOTHING_NEW, News
from views.widgets.buttons import Button, IconButton, LinkLabel

HEIGHT, NARROW = 42, 440


class BulkBar(QWidget):
    """Signals:
    verb_wanted: republish, or a triage state.
    all_wanted: tick everything that matches, loaded or not.
    clear_wanted: untick everything.
    new_rows_wanted: show the rows that wait.
    """

    verb_wanted = Signal(str)
    all_wanted = Signal()
    clear_wanted = Signal()
    new_rows_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._news = (0, 0, 0), NOTHING_NEW
        self.setFixedHeight(HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._count = Label("", "strong")
        self._clear = IconButton("ph.x", N_("Clear the selection"))
        self._clear.clicked.connect(self.clear_wanted)
        self._all = LinkLabel()
        self._all.activated.connect(self.all_wanted)
        self.new_button = Button(small=True, icon="ph.arrow-down")
        self.new_button.clicked.connect(self.new_rows_wanted)
        self.reopen = self._verb(Triage.OPEN, N_("Reopen"))
        self.ignore = self._verb(Triage.IGNORED, N_("Ignore"))
        self.archive = self._verb(Triage.ARCHIVED, N_("Archive"))
        self._barred = self._refused = ""
        self.republish = Button(kind="primary", icon="ph.arrow-clockwise")
        self.republish.clicked.connect(self._on_republish)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 0)
        row.setSpacing(6)
        left: tuple[QWidget, ...] = (self._count, self._clear, self._all)
        for widget in left:
            row.addWidget(widget)
        row.addStretch(1)
        for button in (self.new_button, self.reopen, self.ignore, self.archive, self.republish):
            row.addWidget(button)
        on_language_changed(self._say)

    def _verb(self, triage: str, title: str) -> Button:
        button = Button(title, kind="ghost")
        button.clicked.connect(lambda: self.verb_wanted.emit(triage))
        return button

    def show_state(self, *, ticked: int, loaded: int, total: int, news: News, triage: str, refused: str = "") -> None:
        """Show how many are ticked, of how many, and what suits them; ``refused``: why none could be republished."""
        self._state, self._news = (ticked, loaded, total), news
        set_look(self, panel="actionbar" if ticked else "footer")
        self._clear.setVisible(bool(ticked) and self.width() >= NARROW)
        self.republish.setVisible(bool(ticked))
        self.reopen.setVisible(bool(ticked) and triage != Triage.OPEN)
        self.ignore.setVisible(bool(ticked) and triage != Triage.IGNORED)
        self.archive.setVisible(bool(ticked) and triage != Triage.ARCHIVED)
        self._all.setVisible(loaded < total and 0 < ticked < total)
        self.new_button.setVisible(bool(news.number))
        self._refused = refused
        self.republish.disable(self._barred or refused)
        self._say()

    def set_acting(self, reason: str) -> None:
        """Decide nothing, for this reason; "" decides again."""
        self._barred = reason
        for button in (self.reopen, self.ignore, self.archive):
            button.disable(reason)
        self.republish.disable(reason or self._refused)

    def _say(self) -> None:
        ticked, loaded, total = self._state
        if ticked and self.width() < NARROW:
            self._count.setText(text.count(ticked))
        elif ticked:
            self._count.setText(ngettext("{n} selected", "{n} selected", ticked).format(n=text.count(ticked)))
        else:
            shown = _("{shown} of {total} loaded") if loaded < total else ngettext("{n} task", "{n} tasks", total)
            self._count.setText(shown.format(shown=text.count(loaded), total=text.count(total), n=text.count(total)))
        self._count.set_tone("text" if ticked else "text2")
        self._all.set_count_text(_("Select all {n}").format(n=text.count(total)))
        self.new_button.set_count_text(self._news.words())
        self.republish.set_count_text(_("Republish {n}").format(n=text.count(ticked)))

    def _on_republish(self) -> None:
        self.verb_wanted.emit("republish")
