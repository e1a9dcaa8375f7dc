"""More about one part of the fleet, below its pill: state, latency, last error, and a verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from services.i18n import N_, _
from views.charts.sparkline import Sparkline
from views.support.look import Label
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import Button
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row

WIDTH = 320


class HealthDetail(msgspec.Struct, frozen=True, kw_only=True):
    """What is said; texts are already translated."""

    title: str
    state: str  #: name of a status
    words: str  #: the state in a few words
    rows: tuple[tuple[str, str], ...] = ()
    latencies: Sequence[float] = ()  #: ms, oldest first; a curve where there are any
    verbs: tuple[tuple[str, Callable[[], object]], ...] = ()


class HealthPopover(QFrame):
    """Closes at a click elsewhere, at Esc and after a verb."""

    def __init__(self, part: HealthDetail, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("panel", "popup")
        self.setFixedWidth(WIDTH)
        self.part = part
        column = in_column(self._head(), owner=self, margins=(14, 12, 14, 12), spacing=10)
        if part.latencies:
            column.addWidget(self._curve())
        self.facts = KeyValues(spread=True)
        self.facts.set_rows(part.rows)
        column.addWidget(self.facts)
        self.buttons = [self._button(words, call) for words, call in part.verbs]
        for button in self.buttons:
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignRight)
        self.setAccessibleName(f"{part.title}: {part.words}")

    def show_below(self, corner: QPoint) -> None:
        """Show it at a global position."""
        self.adjustSize()
        self.move(corner)
        self.show()

    def add_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Show these below the others, which came sooner."""
        if rows:
            self.facts.set_rows((*self.part.rows, *rows))
            self.adjustSize()

    def _head(self) -> QHBoxLayout:
        token = status(self.part.state)
        glyph = QLabel()
        glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))
        title, told = Label(self.part.title, "card"), Label(self.part.words, "label", "text2")
        return in_row(glyph, title, STRETCH, told, spacing=8)

    def _curve(self) -> QWidget:
        box = QWidget()
        column = in_column(Label(_("Latency over the last 10 minutes"), "caption", "text3"), owner=box, spacing=4)
        line = Sparkline(N_("Latency"))
        line.setFixedHeight(34)
        line.show_values(self.part.latencies)
        column.addWidget(line)
        return box

    def _button(self, words: str, call: Callable[[], object]) -> Button:
        button = Button()
        button.set_count_text(words)
        button.clicked.connect(lambda: (self.close(), call()))
        return button
