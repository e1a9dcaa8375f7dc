"""A chart in its card: title, legend, curves. In a narrow card the legend has a line of its own.

The names of a chart's series with their present values; a click hides one, Alt+click leaves it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from services.i18n import N_, _
from views.charts.legend import Series
from views.charts.line import DASHED, DOTTED, SOLID
from views.charts.plot import Plot
from views.charts.time_window import TimeWindow
from views.support.language import on_language_changed, say_in_language
from views.support.paint import draw_focus, width_of, write
from views.theme import theme
from views.theme.tokens import CARD_PADDING
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.layout import in_row

_SWATCH, _GAP, _PAD, _HEIGHT = 9, 7, 4, 24
_AREA, _GLYPH = 13, 9  #: px of an area with its glyph
#: of a line beside its name: where each begins, and how wide it is
_STROKES = {SOLID: ((0.0, 9.0),), DASHED: ((0.0, 3.5), (5.5, 3.5)), DOTTED: ((0.0, 2.0), (3.5, 2.0), (7.0, 2.0))}


class LegendItem(QAbstractButton):
    """One series.

    Signals:
        toggled_by: a person clicked; True when Alt was held.
    """

    toggled_by = Signal(bool)

    def __init__(self, series: Series) -> None:
        super().__init__()
        self.series = series
        self._value = ""
        self._off = False
        self._room = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme().changed.connect(self.restyle)
        self.restyle()

    def show_value(self, value: str) -> None:
        """Show the present value; the width only grows, so that neighbours stay where they are."""
        if value != self._value:
            self._value = value
            self.restyle(keep=True)

    def set_off(self, off: bool) -> None:
        """Show that the series is hidden."""
        self._off = off
        self.restyle(keep=True)

    def restyle(self, *, keep: bool = False) -> None:
        """Measure, name and paint again."""
        room = self._needed()
        if not keep or room > self._room:
            self._room = room
            self.updateGeometry()
        self.setAccessibleName(f"{self.series.word()} {self._value}".strip())
        self.setAccessibleDescription(_("hidden") if self._off else _("shown"))
        tip = _(self.series.tip) if self.series.tip else ""
        how = _("Click hides or shows it, Alt+click shows it alone")
        self.setToolTip("\n".join(part for part in (tip, how) if part))
        self.update()

    def _needed(self) -> int:
        words = width_of(self.series.word(), "label")
        value = width_of(self._value, "labelstrong", tabular=True)
        return 2 * _PAD + _SWATCH + _GAP + words + (5 + value if self._value else 0)

    def sizeHint(self) -> QSize:
        """Return the room for swatch, name and value."""
        return QSize(self._room, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw swatch, name and value; a hidden series has an empty swatch."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        swatch = QRectF(_PAD, middle - _SWATCH / 2, _SWATCH, _SWATCH)
        colour = theme().color(self.series.role)
        if self.series.line and not self._off:
            for left, wide in _STROKES[self.series.line]:
                painter.fillRect(QRectF(_PAD + left, middle - 1, wide, 2), colour)
        elif self.series.glyph and not self._off:
            box = QRectF(0, 0, _AREA, _AREA).translated(_PAD + (_SWATCH - _AREA) / 2, middle - _AREA / 2)
            painter.setPen(QPen(colour, 1))
            painter.setBrush(theme().tint(self.series.role, self.series.fill))
            painter.drawRoundedRect(box, 3, 3)
            glyph = theme().pixmap(self.series.glyph, "text", _GLYPH)
            painter.drawPixmap(box.center() - QPointF(_GLYPH / 2, _GLYPH / 2), glyph)
        else:
            painter.setPen(QPen(theme().color("ctl"), 1) if self._off else Qt.PenStyle.NoPen)
            painter.setBrush(Qt.BrushStyle.NoBrush if self._off else colour)
            painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5) if self._off else swatch, 2.5, 2.5)
        self._paint_words(painter)
        if self.hasFocus():
            draw_focus(painter, self.rect())

    def _paint_words(self, painter: QPainter) -> None:
        room = QRectF(_PAD + _SWATCH + _GAP, 0, self.width(), self.height())
        ink = "text3" if self._off else "text" if self.underMouse() else "text2"
        room.translate(write(painter, room, self.series.word(), "label", ink) + 5, 0)
        write(painter, room, self._value, "labelstrong", "text3" if self._off else "text", tabular=True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Hide, show or leave alone."""
        inside = self.rect().contains(event.position().toPoint())
        self.setDown(False)
        if inside and event.button() == Qt.MouseButton.LeftButton:
            self.toggled_by.emit(bool(event.modifiers() & Qt.KeyboardModifier.AltModifier))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Space and Enter do what a click does."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.toggled_by.emit(bool(event.modifiers() & Qt.KeyboardModifier.AltModifier))
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Repaint under the mouse."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self.update()
        return super().event(event)


class Legend(QWidget):
    """All series of a chart.

    Signals:
        hidden_changed: the keys now hidden.
    """

    hidden_changed = Signal(object)

    def __init__(self, series: Sequence[Series]) -> None:
        super().__init__()
        self._hidden: frozenset[str] = frozenset()
        self._items = {one.key: LegendItem(one) for one in series}
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        row = in_row(owner=self, spacing=3)
        for key, item in self._items.items():
            row.addWidget(item)
            item.toggled_by.connect(self._slot(key))
        on_language_changed(self.retranslate)

    def item(self, key: str) -> LegendItem:
        """The entry of a series."""
        return self._items[key]

    def show_values(self, values: dict[str, str]) -> None:
        """Show the present values."""
        before = self.sizeHint().width()
        for key, value in values.items():
            self._items[key].show_value(value)
        if self.sizeHint().width() != before:
            self.updateGeometry()

    def toggle(self, key: str, *, alone: bool = False) -> None:
        """Hide or show a series; ``alone`` hides all others, or shows all when they are hidden already."""
        everything = frozenset(self._items)
        if alone:
            others = everything - {key}
            self._hidden = frozenset() if self._hidden == others else others
        else:
            self._hidden ^= {key}
            if self._hidden == everything:
                self._hidden = frozenset()
        for name, item in self._items.items():
            item.set_off(name in self._hidden)
        self.hidden_changed.emit(self._hidden)

    def retranslate(self) -> None:
        for item in self._items.values():
            item.restyle()

    def _slot(self, key: str) -> _Toggle:
        return _Toggle(self, key)


class _Toggle:
    """The click of one entry; a lambda would keep the legend alive."""

    def __init__(self, legend: Legend, key: str) -> None:
        self._legend, self._key = legend, key

    def __call__(self, alone: bool) -> None:
        self._legend.toggle(self._key, alone=alone)


class WholeRange(Button):
    """Beside the title of a chart while less than its whole range is in sight: else that would look like now."""

    def __init__(self, window: TimeWindow) -> None:
        super().__init__(N_("Show the whole range"), kind="ghost", small=True)
        self._window = window
        self.hide()
        self.clicked.connect(window.reset)
        window.changed.connect(self._follow)

    def _follow(self) -> None:
        self.setVisible(not self._window.whole)


class ChartCard(Card):
    """Title and legend above a plot."""

    def __init__(self, title: str, plot: Plot, *, tip: str = "") -> None:
        super().__init__(title, padding=0)
        self._beside = ""
        self.set_tip(tip)
        self._below = False
        self.plot, self.legend = plot, Legend(plot.series)
        self.body.setContentsMargins(0, 0, 0, 3)
        self.body.setSpacing(0)
        self.add_action(self.legend)
        self.body.addWidget(plot, 1)
        self.legend.hidden_changed.connect(plot.set_hidden)
        say_in_language(self._say)

    def show_values(self, values: dict[str, str]) -> None:
        """Show the present values in the legend."""
        self.legend.show_values(values)
        self._arrange()
        # Qt lays out one level with each turn of the loop; cut numbers would be seen in between.
        for layout in (self.layout(), self._head.layout(), self.legend.layout()):
            if layout is not None:
                layout.activate()

    def show_beside(self, words: str) -> None:
        """Say beside the title what the curves do not count, "" for nothing; ``words`` are already translated."""
        if words != self._beside:
            self._beside = words
            self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the legend where there is room for it."""
        super().resizeEvent(event)
        self._arrange()

    def _say(self) -> None:
        self.set_note(self._beside)
        self._arrange()

    def _arrange(self) -> None:
        words = self._title.sizeHint().width() + self._head_note.sizeHint().width() + 16
        below = words + self.legend.sizeHint().width() + 2 * CARD_PADDING > self.width() > 0
        if below == self._below:
            return
        self._below = below
        if below:
            self.body.insertWidget(0, self.legend, 0, Qt.AlignmentFlag.AlignLeft)
            self.legend.setContentsMargins(CARD_PADDING - 4, 0, 0, 4)
        else:
            self.add_action(self.legend)
            self.legend.setContentsMargins(0, 0, 0, 0)
