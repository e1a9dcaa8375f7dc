"""One of many, found by typing any part of its name or its id."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QWidget

from views.support import safe
from views.widgets.fields import ChoiceField


class FindField(ChoiceField):
    """Type a part of it; Enter takes what is meant and goes on to the next field. ``editTextChanged`` tells of both."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setEditable(True)
        self.setInsertPolicy(ChoiceField.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._choices: tuple[tuple[str, str], ...] = ()
        finder = QCompleter(self.model(), self)
        finder.setFilterMode(Qt.MatchFlag.MatchContains)
        finder.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        finder.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.setCompleter(finder)

    def show_choices(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer ``(key, words)``; what was typed stays."""
        offered = tuple((key, safe.one_line(words)) for key, words in choices)
        if offered == self._choices:
            return
        chosen, typed, self._choices = self.chosen(), self.currentText(), offered
        self.blockSignals(True)
        self.clear()
        for key, words in offered:
            self.addItem(words, key)
        self.setCurrentIndex(self.findData(chosen) if chosen else -1)
        if not chosen:
            self.setEditText(typed)
        self.blockSignals(False)

    def choose(self, key: str) -> None:
        """Take one by its key; one that is not offered is added."""
        if self.findData(key) < 0:
            self.show_choices([*self._choices, (key, key)])
        self.setCurrentIndex(self.findData(key))

    def chosen(self) -> str:
        """The key of what is meant: the one of this name or key, else the only one in which it occurs; "" for none."""
        found = self.matches()
        return found[0] if len(found) == 1 else ""

    def matches(self) -> list[str]:
        """The keys of all that what was typed may mean; none while nothing is typed."""
        typed = self.currentText().strip().casefold()
        if not typed:
            return []
        exact = [key for key, words in self._choices if typed in (key.casefold(), words.casefold())]
        return exact or [key for key, words in self._choices if typed in key.casefold() or typed in words.casefold()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter take what is meant."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if key := self.chosen():
                self.setCurrentIndex(self.findData(key))
                self.focusNextChild()
            event.accept()
            return
        super().keyPressEvent(event)
