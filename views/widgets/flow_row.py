"""Widgets in a row that goes on in the next line where the width ends; a sentence with fields among its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QLineEdit, QWidget

from views.support.look import Label
from views.theme import theme
from views.widgets.fields import Labelled
from views.widgets.layout import in_column

#: px that a row takes at least for its widest widget
LEAST = 200
#: marks that never begin a line, in either language
_CLOSING = ("，", "。", "；", "：", "、", "）", "？", "！", ",", ".", ";", ":", ")", "?", "!")
_FIELD = re.compile(r"\{(\w+)\}")
#: px of a field in a sentence: at least, at most, and around its words
LEAST_FIELD, MOST_FIELD, ROUND_FIELD, ROUND_SPAN = 44, 260, 24, 44


def in_lines(widths: Sequence[int], room: int, across: int, tied: Collection[int] = ()) -> list[list[int]]:
    """Places of widgets in as many lines as they need, in their order; one that is wider than the room has its own.
    One that is ``tied`` begins no line if the one before it can go there with it.
    """
    lines: list[list[int]] = []
    left = 0
    for place, width in enumerate(widths):
        if not lines or left + width > room:
            with_it = [lines[-1].pop()] if place in tied and len(lines[-1]) > 1 else []
            lines.append(with_it)
            left = sum(widths[one] + across for one in with_it)
        lines[-1].append(place)
        left += width + across
    return lines


class FlowRow(QLayout):
    """Keeps the order and the size hints of its widgets; its height follows its width."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        across: int = 12,
        down: int = 2,
        last_right: bool = False,
        shrinks: bool = False,
    ) -> None:
        """``across`` and ``down``: pixels between widgets and between lines; ``last_right``: in one line with others
        the last widget stands at its right end; ``shrinks``: they are less wide than they want to be before another
        line begins.
        """
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._across, self._down, self._last_right, self._shrinks = across, down, last_right, shrinks
        self._heights: dict[int, int] = {}  #: by width; each layout around it asks for them anew
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Add one at the end."""
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        """How many there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """One of them, None beyond the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take one away."""
        self.invalidate()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """None."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """It has."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all lines at this width."""
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def invalidate(self) -> None:
        """One of the widgets may want another size."""
        self._heights.clear()
        super().invalidate()

    def setGeometry(self, rect: QRect) -> None:
        """Put the widgets into their lines."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """As small as possible: it takes the width that there is."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Room for the widest of them, up to ``LEAST``: long words are cut where the whole place is narrow."""
        least = QSize()
        for item in self._items:
            least = least.expandedTo(item.minimumSize())
        return QSize(min(least.width(), LEAST), least.height())

    def _place(self, rect: QRect, *, move: bool) -> int:
        items = [item for item in self._items if not item.isEmpty()]  # a hidden one takes no room
        sizes = [item.sizeHint() for item in items]
        if rect.width() > 0:
            sizes = [QSize(min(size.width(), rect.width()), size.height()) for size in sizes]
        top = rect.top()
        widths = [size.width() for size in sizes]
        if self._shrinks:
            widths = [min(item.minimumSize().width(), wide) for item, wide in zip(items, widths, strict=True)]
        tied = [place for place, item in enumerate(items) if _closes(item.widget())]
        for line in in_lines(widths, rect.width(), self._across, tied):
            spare = rect.width() - sum(widths[place] for place in line) - self._across * (len(line) - 1)
            for place in line:  # the first has it before those behind
                more = max(0, min(spare, sizes[place].width() - widths[place]))
                sizes[place].setWidth(widths[place] + more)
                spare -= more
            left, height = rect.left(), max(sizes[place].height() for place in line)
            if move:
                for place in line:  # a button and a link beside it have their words at one height
                    last = items[place] is self._items[-1] and len(line) == len(items) > 1
                    if self._last_right and last:
                        left = rect.right() + 1 - sizes[place].width()
                    middle = top + (height - sizes[place].height()) // 2
                    items[place].setGeometry(QRect(QPoint(left, middle), sizes[place]))
                    left += sizes[place].width() + self._across
            top += height + self._down
        return max(0, top - self._down - rect.top())


def _closes(widget: QWidget | None) -> bool:
    return isinstance(widget, Label) and widget.text().startswith(_CLOSING)


class Sentence(QWidget):
    """Words with fields among them, which go on in the next line as words do; below them what is wrong with a value."""

    def __init__(self) -> None:
        super().__init__()
        said = QWidget()
        self._flow = FlowRow(said, across=4, down=4)
        self._problem = Label("", "label", "dead", wrap=True)
        self._problem.hide()
        in_column(said, self._problem, owner=self, spacing=2)
        self._words: list[Label] = []
        self._fields: list[Labelled] = []

    def show_words(self, said: str, fields: Mapping[str, Labelled]) -> list[QWidget]:
        """Show this, translated, with a field in place of its name in braces; those, in their order. A field that
        stood in it and does no longer is hidden.
        """
        while self._flow.count():
            self._flow.takeAt(0)
        for label in self._words:
            label.hide()
            label.deleteLater()
        self._words, before = [], self._fields
        self._fields = [fields[name] for name in _FIELD.findall(said)]
        for place, part in enumerate(_FIELD.split(said)):
            if place % 2:
                self._flow.addWidget(fields[part])
            else:
                self._add_words(part)
        for one in before:
            one.error_changed.disconnect(self._show_problem)
            if one.parentWidget() is self._flow.parentWidget():  # else another sentence has it by now
                one.setVisible(one in self._fields)
        for one in self._fields:
            one.error_changed.connect(self._show_problem)
            one.show()
        self._show_problem()
        return [one.field for one in self._fields]

    def _add_words(self, said: str) -> None:
        for word in said.split():
            label = Label(word, "body")
            self._words.append(label)
            self._flow.addWidget(label)

    def _show_problem(self) -> None:
        problems = "\n".join(dict.fromkeys(one.error() for one in self._fields if one.error()))
        self._problem.setText(problems)
        self._problem.setVisible(bool(problems))


class Sentences(QWidget):
    """Sentences below each other. Tab goes through their fields as they are read in the language of the moment."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._sentences = [Sentence() for _number in range(number)]
        self._shown: tuple[tuple[str, ...], dict[str, Labelled]] = ((), {})
        in_column(*self._sentences, owner=self, spacing=6)

    def show_words(
        self, said: tuple[str, ...], fields: Mapping[str, Labelled], *, before: QWidget | None = None
    ) -> None:
        """Show as many as there were to be, see ``Sentence``; nothing moves where they are the same. ``before``: what
        Tab comes from.
        """
        if (said, fields) == self._shown:
            return
        self._shown, order = (said, dict(fields)), [before] if before is not None else []
        for sentence, one in zip(self._sentences, said, strict=True):
            for field in sentence.show_words(one, fields):
                order += _tab_stops(field)
        for left, right in pairwise(order):
            QWidget.setTabOrder(left, right)


def _tab_stops(field: QWidget) -> list[QWidget]:
    """A field that is made of several, such as the days of a week, is gone through one by one."""
    if field.focusPolicy() != Qt.FocusPolicy.NoFocus:
        return [field]
    inside = field.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [one for one in inside if one.focusPolicy() & Qt.FocusPolicy.TabFocus] or [field]


class WordWidths(QObject):
    """Keeps fields as wide as what stands in them: a sentence has no columns."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._lines: dict[QWidget, QLineEdit] = {}
        theme().changed.connect(self.fit)

    def add(self, field: QWidget, line: QLineEdit) -> None:
        """From now on also this one; ``line``: where its words stand, often the field itself."""
        self._lines[field] = line
        line.textChanged.connect(partial(self._fit, field, line))

    def remove(self, field: QWidget) -> None:
        """It goes."""
        del self._lines[field]

    def fit(self) -> None:
        """The letters, or what stands in empty fields, are others."""
        for field, line in self._lines.items():
            self._fit(field, line)

    def _fit(self, field: QWidget, line: QLineEdit, _text: str = "") -> None:
        wide = field.fontMetrics().horizontalAdvance(line.text() or line.placeholderText())
        around = ROUND_FIELD if field is line else ROUND_SPAN
        least, most, around = (round(one * theme().growth) for one in (LEAST_FIELD, MOST_FIELD, around))
        field.setFixedWidth(min(most, max(least, wide + around)))
