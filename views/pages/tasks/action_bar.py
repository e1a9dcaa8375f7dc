"""The bar under the task table: what is selected, what can be done about it, and the rows that wait."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from services.domain.task import Task
from services.i18n import N_, _, ngettext
from views.pages.tasks.actions import Verb
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.widgets.buttons import Button, IconButton

HEIGHT = 42


class ActionBar(QWidget):
    """Signals:
    verb_wanted: key of a verb.
    new_rows_wanted: show the rows that wait.
    clear_wanted: untick everything.
    """

    verb_wanted = Signal(str)
    new_rows_wanted = Signal()
    clear_wanted = Signal()

    def __init__(self, verbs: Sequence[Verb], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verbs = verbs
        self._ticked = 0
        self._new_rows = 0
        self.setFixedHeight(HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._count = Label("", "strong")
        self._clear = IconButton("ph.x", N_("Clear the selection"))
        self._clear.clicked.connect(self.clear_wanted)
        self._buttons: dict[str, Button] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(6)
        row.addWidget(self._count)
        row.addWidget(self._clear)
        for verb in verbs:
            button = Button(verb.text, icon=verb.icon, kind="ghost", shortcut=verb.shortcut)
            button.clicked.connect(partial(self.verb_wanted.emit, verb.key))
            self._buttons[verb.key] = button
            row.addWidget(button)
        row.addStretch(1)
        self._new = Button(N_("New rows"), kind="primary", icon="ph.arrow-down", small=True)
        self._new.clicked.connect(self.new_rows_wanted)
        row.addWidget(self._new)
        on_language_changed(self._say)
        self.show_state(ticked=0, tasks=[], new_rows=0)

    def show_state(self, *, ticked: int, tasks: Sequence[Task], new_rows: int) -> None:
        """Show how many rows are chosen and which verbs suit them."""
        self._ticked, self._new_rows = ticked, new_rows
        set_look(self, panel="actionbar" if ticked else "footer")
        for verb in self._verbs:
            self._buttons[verb.key].disable(verb.reason(tasks))
        self._clear.setVisible(bool(ticked))
        self._new.setVisible(bool(new_rows))
        self._say()

    def _say(self) -> None:
        if self._ticked:
            self._count.setText(ngettext("{n} selected", "{n} selected", self._ticked).format(n=self._ticked))
        else:
            self._count.setText(_("Row under the cursor"))
        self._new.set_count_text(ngettext("{n} new row", "{n} new rows", self._new_rows).format(n=self._new_rows))
