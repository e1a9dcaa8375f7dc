"""Tasks that must succeed first: found by id, shop or type, each a chip; ids can be pasted as well."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QVBoxLayout, QWidget

from services.domain.task.record import Task
from services.i18n import _
from views.support import safe, shown, text
from views.support.throttle import Debounce
from views.support.words import type_names
from views.widgets.buttons import Button
from views.widgets.flow_row import FlowRow

_BETWEEN = re.compile(r"[\s,;，；、]+")
QUIET_MS, SHORTEST = 200, 2


class AfterField(QWidget):
    """Signals:
    changed: other tasks, or other words.
    search_wanted: words by which a task is looked for.
    """

    changed = Signal()
    search_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = QLineEdit()
        self.chips: dict[str, Button] = {}
        self._offers, self._found = QStringListModel(self), list[Task]()
        self._finder = QCompleter(self._offers, self)
        self._finder.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        # PySide's stubs know no overload of a signal
        self._finder.activated[QModelIndex].connect(lambda at: self.take(at.row()))  # type: ignore[index]
        self._row = FlowRow(across=6, down=4)
        self._search = Debounce(self._on_quiet, QUIET_MS, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.line)
        column.addLayout(self._row)
        self._finder.setWidget(self.line)
        self.line.installEventFilter(self)
        self.line.textEdited.connect(self._search)
        self.line.textChanged.connect(self.changed)

    def ids(self) -> tuple[str, ...]:
        """Those picked, then those typed."""
        typed = [word for word in _BETWEEN.split(self.line.text()) if word]
        return tuple(dict.fromkeys([*self.chips, *typed]))

    def add(self, task_id: str, words: str = "") -> None:
        """Show one as a chip."""
        if task_id in self.chips:
            return
        chip = Button(kind="plain", icon="ph.x", small=True)
        chip.set_count_text(safe.cut(safe.one_line(words or task_id), 60))
        chip.setToolTip(safe.tooltip(_("Take {id} away").format(id=task_id)))
        chip.setAccessibleName(_("Take {id} away").format(id=task_id))
        chip.clicked.connect(partial(self.remove, task_id))
        self.chips[task_id] = chip
        self._row.addWidget(chip)
        self.changed.emit()

    def remove(self, task_id: str) -> None:
        """Take one away."""
        chip = self.chips.pop(task_id, None)
        if chip is not None:
            self._row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
            self.changed.emit()

    def clear(self) -> None:
        """None."""
        for task_id in list(self.chips):
            self.remove(task_id)
        self.line.clear()

    def show_found(self, tasks: Sequence[Task]) -> None:
        """Offer what was found."""
        self._found = list(tasks)
        self._offers.setStringList([_words(task) for task in self._found])
        if self._found and self.line.hasFocus():
            self._finder.complete()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Enter makes chips of what was typed; Backspace in an empty field takes the last one away."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() and self.line.text().strip():
            typed = [word for word in _BETWEEN.split(self.line.text()) if word]
            self.line.clear()
            for word in typed:
                self.add(word)
        elif event.key() == Qt.Key.Key_Backspace and self.chips and not self.line.text():
            self.remove(list(self.chips)[-1])
        else:
            return False
        return True

    def _on_quiet(self, _typed: str = "") -> None:
        words = self.line.text().strip()
        if len(words) >= SHORTEST:
            self.search_wanted.emit(words)

    def offered(self) -> tuple[Task, ...]:
        """What was found last."""
        return tuple(self._found)

    def take(self, place: int) -> None:
        """Take one of those."""
        if 0 <= place < len(self._found):
            task = self._found[place]
            self.line.clear()
            self.add(task.task_id, _words(task))


def _words(task: Task) -> str:
    kind = type_names.name(task.task_type)
    return safe.one_line(text.listed([kind, task.shop, shown.status_word(task.status), task.task_id]))
