"""One of many, found by typing any part of its name or its id."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView, QWidget

from views.support import safe
from views.widgets.fields import ChoiceField

#: what is offered while a person types: nobody reads on, and each of them is laid out
OFFERED = 50
NOWHERE = QModelIndex()


class FindField(ChoiceField):
    """Type a part of it; Enter takes what is meant and goes on to the next field. ``editTextChanged`` tells of both.

    It may be one of 10,000: they are shown where they are looked at and folded once, not with every letter.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows = _Rows(self)
        self.setModel(self._rows)
        view = QListView(self)
        view.setUniformItemSizes(True)
        self.setView(view)
        self.setEditable(True)
        self.setInsertPolicy(ChoiceField.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._folded: list[tuple[str, str]] = []
        self._found: tuple[str, int, list[int]] = ("", -1, [])
        self._offers, self._offered = QStringListModel(self), list[int]()
        self._finder = QCompleter(self._offers, self)
        self._finder.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._finder.setMaxVisibleItems(self.maxVisibleItems())
        # PySide's stubs know no overload of a signal
        self._finder.activated[QModelIndex].connect(lambda at: self._take(at.row()))  # type: ignore[index]
        typed = QLineEdit()
        self.setLineEdit(typed)
        typed.setCompleter(self._finder)
        typed.textEdited.connect(self._offer)

    def show_choices(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer ``(key, words)``; what was typed stays."""
        offered = tuple(choices)
        if offered == self._rows.choices:
            return
        chosen, typed = self.chosen(), self.currentText()
        self.blockSignals(True)
        self._rows.show(offered)
        self._folded = [(key.casefold(), words.casefold()) for key, words in offered]
        self._found = ("", -1, [])
        self._offered = []
        self._offers.setStringList([])
        self.setCurrentIndex(self._rows.place(chosen))
        if self.currentIndex() < 0:
            self.setEditText(typed)
        self.blockSignals(False)

    def choose(self, key: str) -> None:
        """Take one by its key; one that is not offered is added."""
        if self._rows.place(key) < 0:
            self.show_choices([*self._rows.choices, (key, key)])
        self.setCurrentIndex(self._rows.place(key))

    def chosen(self) -> str:
        """The key of what is meant: the one of this name, key or id, else the only one in which it occurs; "" for none.

        An id is what stands behind the last colon of a key: ``temu`` is all of TEMU, though ids of shops have it, too.
        """
        found = self._meant()
        return self._rows.choices[found[0]][0] if len(found) == 1 else ""

    def matches(self) -> list[str]:
        """The keys of all that what was typed may mean; none while nothing is typed."""
        return [self._rows.choices[at][0] for at in self._meant()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter take what is meant."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            popup = self._finder.popup()
            if popup is not None and popup.isVisible():
                if popup.currentIndex().isValid():
                    self._take(popup.currentIndex().row())
                popup.hide()
            if key := self.chosen():
                self.setCurrentIndex(self._rows.place(key))
                self.focusNextChild()
            event.accept()
            return
        super().keyPressEvent(event)

    def _meant(self) -> list[int]:
        """The places of what was typed."""
        typed = safe.one_line(self.currentText()).strip().casefold()
        at = self.currentIndex()
        if (typed, at) != self._found[:2]:
            self._found = (typed, at, self._look_for(typed, at))
        return self._found[2]

    def _look_for(self, typed: str, at: int) -> list[int]:
        if not typed:
            return []
        if at >= 0 and typed == safe.one_line(self._rows.choices[at][1]).strip().casefold():
            return [at]  # chosen from the list, of several of this name
        named = [at for at, of in enumerate(self._folded) if typed in of]
        return (
            named
            or [at for at, (key, _words) in enumerate(self._folded) if typed == key.rpartition(":")[2]]
            or self._with(typed)
        )

    def _with(self, typed: str) -> list[int]:
        return [at for at, (key, words) in enumerate(self._folded) if typed in key or typed in words]

    def _offer(self) -> None:
        meant = self._meant()  # more may be typed: those that go on like it are offered behind it
        typed = safe.one_line(self.currentText()).strip().casefold()
        self._offered = list(dict.fromkeys([*meant, *(self._with(typed) if typed else ())]))[:OFFERED]
        self._offers.setStringList([self._rows.words(at) for at in self._offered])

    def _take(self, row: int) -> None:
        if 0 <= row < len(self._offered):
            self.setCurrentIndex(self._offered[row])


class _Rows(QAbstractListModel):
    """All choices; their words are made fit for a line where they are shown."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.choices: tuple[tuple[str, str], ...] = ()
        self._places: dict[str, int] = {}

    def show(self, choices: tuple[tuple[str, str], ...]) -> None:
        """Have these instead."""
        self.beginResetModel()
        self.choices = choices
        self._places = {key: at for at, (key, _words) in enumerate(choices)}
        self.endResetModel()

    def place(self, key: str) -> int:
        """The row of a key, -1 for none."""
        return self._places.get(key, -1)

    def words(self, at: int) -> str:
        """What is read in a row."""
        return safe.one_line(self.choices[at][1])

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.choices)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """The words or the key of a row."""
        if not 0 <= index.row() < len(self.choices):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self.words(index.row())
        return self.choices[index.row()][0] if role == Qt.ItemDataRole.UserRole else None
