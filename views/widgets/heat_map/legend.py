"""What the colours of the heat map mean, how many shops are in each, and a click that leaves one state lit."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from services.domain.insight.shop import STATES
from services.i18n import _
from views.support.language import on_language_changed
from views.support.paint import draw_box, draw_focus, width_of, write
from views.support.words import shop
from views.theme import theme
from views.widgets.heat_map.paint import paint_cell
from views.widgets.heat_map.shades import Shade
from views.widgets.layout import in_row

_CELL, _GAP, _PAD, _HEIGHT = 14, 6, 4, 24
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class StateItem(QAbstractButton):
    """One state; checked while it alone is lit."""

    def __init__(self, state: str) -> None:
        super().__init__()
        self.state = state
        self._count = 0
        self.compact = False
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme().changed.connect(self.restyle)
        self.restyle()

    def show_count(self, count: int) -> None:
        """Show how many shops are in this state."""
        if count != self._count:
            self._count = count
            self.restyle()

    def restyle(self) -> None:
        """Measure, name and paint again."""
        self.setAccessibleName(f"{shop.word(self.state)} {self._count:,}")
        tip = _("{state}, and nothing that is worse: click leaves these shops lit")
        self.setToolTip(tip.format(state=shop.word(self.state)))
        self.updateGeometry()
        self.update()

    def room(self, *, compact: bool) -> int:
        """Width that is needed."""
        words = 0 if compact else width_of(shop.word(self.state), "label") + 5
        return 2 * _PAD + _CELL + _GAP + words + self._value_width()

    def _value_width(self) -> int:
        return width_of(f"{self._count:,}", "labelstrong", tabular=True)

    def sizeHint(self) -> QSize:
        """Return the room for cell, word and count."""
        return QSize(self.room(compact=self.compact), _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw cell, word and count."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.underMouse():
            draw_box(painter, self.rect(), 4, None, theme().color("sel" if self.isChecked() else "hover"))
        paint_cell(painter, QRectF(_PAD, (self.height() - _CELL) / 2, _CELL, _CELL), self.state)
        room = QRectF(_PAD + _CELL + _GAP, 0, self.width(), self.height())
        if not self.compact:
            room.translate(write(painter, room, shop.word(self.state), "label", "text2") + 5, 0)
        write(painter, room, f"{self._count:,}", "labelstrong", "text", tabular=True)
        if self.hasFocus():
            draw_focus(painter, self.rect())


class HeatLegend(QWidget):
    """All states that a shop is in, worst first.

    Signals:
        filter_changed: the state that alone is lit, "" for all.
    """

    filter_changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._items = {state: StateItem(state) for state in STATES}
        row = in_row(owner=self, spacing=3)
        for item in self._items.values():
            row.addWidget(item)
            item.hide()
            item.clicked.connect(self._on_clicked)
        on_language_changed(self.retranslate)

    def item(self, state: str) -> StateItem:
        """The entry of a state."""
        return self._items[state]

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Show how many shops are in each state."""
        for state, item in self._items.items():
            number = counts.get(state, 0)
            item.show_count(number)
            # a state that no shop is in takes no room, but for the one that alone is lit
            item.setVisible(bool(number) or item.isChecked())

    def light(self, state: str) -> None:
        """Light one state alone without a signal, "" for all."""
        for name, item in self._items.items():
            item.setChecked(name == state)
            item.update()

    def needed(self) -> int:
        """Width with words."""
        return sum(item.room(compact=False) + 3 for item in self._items.values() if not item.isHidden())

    def set_compact(self, compact: bool) -> None:
        """Leave out the words where there is no room; the tool tip keeps them."""
        for item in self._items.values():
            if item.compact != compact:
                item.compact = compact
                item.restyle()

    def retranslate(self) -> None:
        for item in self._items.values():
            item.restyle()

    def _on_clicked(self) -> None:
        chosen = self.sender()
        for item in self._items.values():
            if item is not chosen:
                item.setChecked(False)
        lit = next((state for state, item in self._items.items() if item.isChecked()), "")
        self.filter_changed.emit(lit)


class ShadeLegend(QWidget):
    """What the shades mean, and how many shops are in each; those in which none is are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._shades: tuple[Shade, ...] = ()
        self._counts: Mapping[str, int] = {}
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_HEIGHT)
        theme().changed.connect(self.updateGeometry)
        theme().changed.connect(self.update)
        on_language_changed(self._announce)

    def show_counts(self, shades: tuple[Shade, ...], counts: Mapping[str, int]) -> None:
        """Show these."""
        if (shades, counts) != (self._shades, self._counts):
            self._shades, self._counts = shades, counts
            self._announce()

    def texts(self) -> list[str]:
        """Each shade with its number."""
        return [f"{_(one.word)} {self._counts[one.key]:,}" for one in self._shades if self._counts.get(one.key)]

    def _announce(self) -> None:
        self.setAccessibleName(", ".join(self.texts()))
        self.setToolTip("\n".join(self.texts()))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme().font("label"))
        wide = sum(metrics.horizontalAdvance(words) + _CELL + _GAP + 4 * _PAD for words in self.texts())
        return QSize(wide, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return room for one: the tool tip has all of it."""
        return QSize(80, _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw as many as there is room for."""
        painter = QPainter(self)
        painter.setFont(theme().font("label"))
        metrics, x = QFontMetrics(theme().font("label")), float(_PAD)
        shown = [one for one in self._shades if self._counts.get(one.key)]
        for one, words in zip(shown, self.texts(), strict=True):
            wide = metrics.horizontalAdvance(words)
            if x + _CELL + _GAP + wide > self.width():
                return
            paint_cell(painter, QRectF(x, (self.height() - _CELL) / 2, _CELL, _CELL), one.key)
            x += _CELL + _GAP
            painter.setPen(theme().color("text2"))
            painter.drawText(QRectF(x, 0, wide + 2, self.height()), _LEFT, words)
            x += wide + 3 * _PAD
