"""What becomes of what a missing worker held, as lines that lead to their tasks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from views.support.look import Label
from views.theme import theme
from views.widgets.buttons import Button

Line = tuple[str, str, str]  #: words, tone, filter of the tasks behind it ("" for none)

_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


class _Door(Button):
    """A link whose words go on in a second line where they have no room in one."""

    def __init__(self, words: str) -> None:
        super().__init__(kind="link")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_count_text(words)

    def minimumSizeHint(self) -> QSize:
        """Return room for a word or two."""
        return QSize(80, 20)

    def heightForWidth(self, width: int) -> int:
        """Return the room for all lines."""
        return max(20, self._room(width).height() + 3)

    def _room(self, width: int) -> QRect:
        return QFontMetrics(theme().font("body")).boundingRect(QRect(0, 0, width, 1000), _WRAP, self.text())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the words from the left."""
        painter = QPainter(self)
        painter.setFont(theme().font("body"))
        painter.setPen(theme().color("accent" if self.isEnabled() else "dis"))
        painter.drawText(self.rect(), _WRAP, self.text())
        if self.hasFocus():
            painter.setPen(QPen(theme().color("focus"), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))


class FactList(QWidget):
    """Takes no room where there are none.

    Signals:
    tasks_wanted: filter of the tasks behind a line.
    """

    tasks_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[Line, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 5)
        self._column.setSpacing(2)
        self.hide()

    def lines(self) -> tuple[str, ...]:
        """The words that are shown."""
        return tuple(words for words, _tone, _door in self._shown)

    def door(self, number: int) -> Button | None:
        """The link of a line, None where nothing lies behind it."""
        found = self._column.itemAt(number)
        widget = found.widget() if found is not None else None
        return widget if isinstance(widget, Button) else None

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show these; the words of a line change in place while it leads to the same tasks."""
        fresh = tuple(lines)
        if fresh == self._shown:
            return
        same = [door for *_, door in fresh] == [door for *_, door in self._shown]
        self._shown = fresh
        if same:
            for number, (words, _tone, _door) in enumerate(fresh):
                self._say(number, words)
        else:
            self._build()
        self.setVisible(bool(fresh))

    def _build(self) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for words, tone, door in self._shown:
            if door:
                link = _Door(words)
                link.clicked.connect(partial(self.tasks_wanted.emit, door))
                self._column.addWidget(link)
            else:
                self._column.addWidget(Label(words, "label", tone, wrap=True))

    def _say(self, number: int, words: str) -> None:
        found = self._column.itemAt(number)
        widget = found.widget() if found is not None else None
        if isinstance(widget, Button):
            widget.set_count_text(words)
        elif isinstance(widget, Label):
            widget.setText(words)
