"""A chart over time: drawn once per second into a picture, with crosshair and card on top of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QDialog, QMenu, QSizePolicy, QWidget
from shiboken6 import isValid

from services.i18n import N_, _
from views.charts import ticks
from views.charts.legend import Marker, Series
from views.charts.line import Line
from views.charts.loading import scene_loader
from views.charts.series import EMPTY, OF_BROKER, Frame, Numbers, Spans, filled, highest, level, looks_same
from views.charts.time_window import Crosshair, TimeWindow
from views.charts.tooltip import Card, Reading, paint_card
from views.support import shown, text
from views.support.language import say_in_language
from views.support.paint import draw_focus
from views.support.throttle import turns
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.widgets.layout import in_column

if TYPE_CHECKING:
    from views.charts.curves import Scene


LABEL_ROOM = 76
_TOP, _RIGHT, _BOTTOM = 8, 14, 22
_GAP = 8
_NOWHERE = QRectF()
#: the least that can be seen of a hole in time, pixels
_LEAST_HOLE = 2.0
_FLAGS_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_FLAGS_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)
Say = Callable[[float], str]


class TableDialog(QDialog):
    """A snapshot of so many points of a chart as it was when it was opened, newest first; Ctrl+C copies a cell, with
    Shift rows.
    """

    def __init__(self, title: str, columns: Sequence[Column[int]], count: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(_(title))
        self.resize(30 + sum(column.width for column in columns), 480)
        self.model: RecordModel[int] = RecordModel(columns, key=int, hold_new=False)
        self.model.apply(list(range(count - 1, -1, -1)))
        self.table = TableView(self.model, title)
        in_column(self.table, owner=self)


class Rows(Protocol):
    """Lines of a table, each asked for when it is looked at."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Sequence[str]: ...


def offer_table(chart: QWidget, event: QContextMenuEvent, heads: Sequence[str], rows: Rows) -> QMenu:
    """Offer the table of a chart that draws itself; ``rows`` say when first, below ``heads``, the newest last. The
    menu, for what else is offered there.
    """
    columns = [
        Column[int](key=str(at), title=head, value=partial(_cell, rows, at), width=110 if at else 150)
        for at, head in enumerate(heads)
    ]
    menu = QMenu(chart)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    show = partial(_show_table, chart, columns, len(rows))
    menu.addAction(_("Show as table"), show).setEnabled(bool(rows))
    menu.popup(event.globalPos())
    return menu


def _cell(rows: Rows, at: int, row: int) -> str:
    return rows[row][at]


def _show_table(chart: QWidget, columns: Sequence[Column[int]], count: int) -> None:
    TableDialog(chart.accessibleName(), columns, count, chart.window()).show()


def _time_column(frame: Frame) -> Column[int]:
    now = round(float(frame.at[-1]) * 1000) if len(frame) else 0

    def said(at: int) -> str:
        return shown.clock(round(float(frame.at[at]) * 1000), now)

    return Column(key="time", title=N_("Time"), value=lambda at: float(frame.at[at]), text=said, width=120)


def _column(frame: Frame, key: str, words: str, say: Callable[[float], str]) -> Column[int]:
    values = frame[key]
    return Column(
        key=key,
        title=words,
        value=lambda at: float(values[at]),
        text=lambda at: say(float(values[at])),
        kind="number",
        width=110,
    )


_DOT = 3.5
#: curves on which nothing happens are drawn anew this often, where a pixel is less than that
_AT_REST_S = 5.0


class Plot(Crosshair):
    """Base of the charts: subclasses say which lines there are and how a value reads."""

    def __init__(self, name: str, series: Sequence[Series], window: TimeWindow, *, lines: int = 3) -> None:
        super().__init__(window)
        self._name, self._lines = name, lines
        self.series = tuple(series)
        self._frame, self._answered = EMPTY, False
        self._hidden: frozenset[str] = frozenset()
        self._limit: float | None = None
        self._markers: tuple[Marker, ...] = ()
        self._top = 1.0
        self._picture: QPixmap | None = None
        self._wanted = False  #: whether the next picture is on its way
        self._pictured = (EMPTY, window.bounds())  #: the points and the bounds that the picture is of
        self.smallest = 4.0
        self._drawn: Scene | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(180, 96)
        window.changed.connect(self._redraw)
        window.advanced.connect(self._on_advanced)
        window.cursor_changed.connect(self._on_cursor)
        theme().changed.connect(self._redraw)
        scene_loader().ready.connect(self._redraw)
        say_in_language(self.retranslate)
        if scene_loader().loaded:  # while a page is made ahead nobody waits for it, when it is painted somebody does
            self._scene()

    # what is shown

    @property
    def frame_shown(self) -> Frame:
        """The points drawn."""
        return self._frame

    @property
    def hidden(self) -> frozenset[str]:
        """Keys of the series left out."""
        return self._hidden

    def visible_series(self) -> tuple[Series, ...]:
        """The series drawn, from the baseline up."""
        return tuple(one for one in self.series if one.key not in self._hidden)

    def set_frame(self, frame: Frame) -> None:
        """Draw these points; a second in which nothing would move by a pixel leaves the picture as it is."""
        names, same = self._names(), self._picture is not None and not self._is_behind(frame)
        same = same and looks_same(self._pictured[0], frame, names, self._slack_s(frame))
        self._frame, self._answered = frame, True
        if not same:
            self._redraw()

    def set_hidden(self, keys: frozenset[str]) -> None:
        """Leave out these series."""
        self._hidden = keys
        self._redraw()

    @property
    def limit(self) -> float | None:
        """The limit that is drawn."""
        return self._limit

    def set_limit(self, limit: float | None) -> None:
        """Draw a limit, or none."""
        if limit != self._limit:
            self._limit = limit
            self._redraw()

    def set_markers(self, markers: Sequence[Marker]) -> None:
        """Mark these instants."""
        if tuple(markers) != self._markers:
            self._markers = tuple(markers)
            self._redraw()

    def retranslate(self) -> None:
        self.setAccessibleName(_(self._name))
        self._redraw()

    # what a subclass says

    def lines(self, frame: Frame) -> list[Line]:
        """Curves to draw, the first one lowest in the stack of paint."""
        raise NotImplementedError

    def heights(self, frame: Frame, at: int) -> list[tuple[str, float]]:
        """Role and height of each dot on the crosshair."""
        return [
            (one.role, float(frame[one.key][at])) for one in self.visible_series() if np.isfinite(frame[one.key][at])
        ]

    def highest(self, frame: Frame) -> float:
        """The highest value in sight."""
        return max((highest(frame[one.key]) for one in self.visible_series()), default=0.0)

    def readings(self, frame: Frame, at: int) -> tuple[Reading, ...]:
        """Lines of the tooltip."""
        return tuple(
            Reading(one.word(), self.read(float(frame[one.key][at])), one.role)
            for one in reversed(self.visible_series())
        )

    def total(self, frame: Frame, at: int) -> Reading | None:
        """The last line of the tooltip, set apart."""
        del frame, at
        return None

    def grid(self, top: float, lines: int) -> list[float]:
        """Heights of at most so many lines up to ``top``."""
        return ticks.values(top, lines)

    def limit_text(self, limit: float) -> str:
        """Words on the limit line."""
        return _("limit {n}").format(n=self.say(limit))

    def say(self, value: float) -> str:
        """A value in words."""
        return text.count(round(value))

    def read(self, value: float) -> str:
        """A value in words, also one that nobody knows."""
        return self.say(value) if np.isfinite(value) else _("not known")

    def holes(self, frame: Frame) -> tuple[Spans, Spans]:
        """Spans without samples, and those in which none of the curves is known."""
        of_broker = all(one.key in OF_BROKER for one in self.series)
        return frame.gaps, frame.untold if of_broker else ()

    # painting

    def plot_rect(self) -> QRectF:
        """Where the curves are."""
        return plot_rect(self.size(), self._top, self.say)

    def card(self) -> Card | None:
        """What the crosshair says now."""
        at = self.cursor_index()
        if at < 0:
            return None
        instant = float(self._frame.at[at])
        gone = shown.span((self._window.now - instant) * 1000)
        note = _("now") if gone.total_seconds() < 1.5 else _("{span} ago").format(span=text.coarse(gone))
        title = shown.clock(round(instant * 1000), round(self._window.now * 1000))
        return Card(title, note, self.readings(self._frame, at), self.total(self._frame, at))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Put the picture of the last second on screen and draw what follows the mouse."""
        ratio = self.devicePixelRatioF()
        if self._picture is None or self._picture.devicePixelRatio() != ratio:
            self._picture = self._draw(ratio)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        self.paint_span(painter)
        if len(self._frame) > 1:
            self._paint_cursor(painter)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_focus(painter, self.rect(), 5)

    def _draw(self, ratio: float) -> QPixmap:
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme().color("surface"))
        self._pictured = (self._frame, self._window.bounds())
        painter = QPainter(picture)
        if len(self._frame) > 1:
            self._draw_content(painter)
        elif self._answered:
            paint_words(painter, QRectF(self.rect()), _("No figures yet"))
        painter.end()
        return picture

    def _scene(self) -> Scene | None:
        """The scene of the curves, made for the first picture; None until the library is loaded."""
        if self._drawn is None and (made := scene_loader().make()) is not None:
            made.setParent(self)
            made.hide()
            made.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
            self._drawn = made
        return self._drawn

    def _draw_content(self, painter: QPainter) -> None:
        start, end = self._window.bounds()
        self._top = ticks.keep_top(self._top, ticks.top_of(self.highest(self._frame), self._limit, self.smallest))
        rect = self.plot_rect()
        heights = self.grid(self._top, self._lines)
        self._draw_curves(painter, rect, heights)
        absent, untold = self.holes(self._frame)
        for spans, words in ((untold, _("not known")), (absent, _("no samples"))):
            paint_gaps(painter, rect, [(self.x_of(a), self.x_of(b)) for a, b in spans], words)
        paint_heights(painter, rect, heights, self._top, self.say)
        room = max(1, int(rect.width() // LABEL_ROOM))
        paint_times(
            painter, rect, [(self.x_of(at), label) for at, label in ticks.times(start, end, room, shown.zone())]
        )
        marks = [(self.x_of(m.at_ms / 1000), m.text, m.role) for m in self._markers if start <= m.at_ms / 1000 <= end]
        if self._limit is None:
            paint_markers(painter, rect, marks)
            return
        share = self._limit / self._top
        words = self.limit_text(self._limit) if share <= 1 else f"{self.limit_text(self._limit)} ↑"
        taken = limit_room(rect, share, words)
        paint_markers(painter, rect, marks, taken)
        paint_limit(painter, taken, words, "retrying" if share <= 1 else "text3")

    def _draw_curves(self, painter: QPainter, rect: QRectF, heights: Sequence[float]) -> None:
        scene = self._scene()
        if scene is None:
            return
        start, end = self._window.bounds()
        scene.resize(self.size())
        scene.set_margins(*margins(rect, self.size()))
        scene.set_range(start, end, self._top)
        scene.set_grid(heights)
        scene.set_limit(self._limit if self._limit is not None and self._limit <= self._top else None)
        # across a hole the line goes on somehow, and is covered
        lines = [replace(line, values=_drawable(line.values)) for line in self.lines(self._frame)]
        scene.set_lines(self._frame.at, lines)
        scene.draw(painter)

    def _paint_cursor(self, painter: QPainter) -> None:
        at = self.cursor_index()
        if at < 0:
            return
        rect = self.plot_rect()
        x = self.x_of(float(self._frame.at[at]))
        painter.setPen(theme().color("text3"))
        painter.drawLine(QPointF(round(x) + 0.5, rect.top()), QPointF(round(x) + 0.5, rect.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme().color("surface"), 1.5))
        for role, height in self.heights(self._frame, at):
            painter.setBrush(theme().color(role))
            painter.drawEllipse(QPointF(x, rect.bottom() - height / self._top * rect.height()), _DOT, _DOT)
        card = self.card()
        if card is not None and self.hovered:
            paint_card(painter, card, QRectF(self.rect()).adjusted(0, 2, 0, 0), x)

    def _pixel_s(self) -> float:
        """The seconds in one pixel."""
        start, end = self._window.bounds()
        return (end - start) / max(1.0, self.plot_rect().width())

    def _slack_s(self, newest: Frame) -> float:
        """How far behind the present the picture may be: a pixel, but longer where nothing would move except the times
        below, and nobody points at an instant.
        """
        at_rest = self._window.cursor is None and all(level(one, self._names()) for one in (self._pictured[0], newest))
        return max(self._pixel_s(), _AT_REST_S if at_rest else 0.0)

    def _names(self) -> list[str]:
        return [one.key for one in self.visible_series()]

    def _is_behind(self, newest: Frame) -> bool:
        """Whether the picture is too far behind the present."""
        bounds, pictured = self._window.bounds(), self._pictured[1]
        return max(abs(now - then) for now, then in zip(bounds, pictured, strict=True)) >= self._slack_s(newest)

    def _on_advanced(self) -> None:
        """The points of it come in a moment, and are painted then; whoever paints before that paints anew."""
        self._forget_old()

    def _forget_old(self) -> None:
        if self._is_behind(self._frame):
            self._picture = None

    def _redraw(self) -> None:
        self._picture = None
        self.update()
        if not self._wanted and self.isVisible():
            self._wanted = True
            turns().soon(self._draw_ahead)

    def _draw_ahead(self) -> None:
        """Draw what will be painted: a page with several charts is held up by each of them alone."""
        if isValid(self):
            self._wanted = False
            if self._picture is None and not self.visibleRegion().isEmpty():
                self._picture = self._draw(self.devicePixelRatioF())

    def _on_cursor(self) -> None:
        self._forget_old()  # to the pixel, where an instant is pointed at
        card = self.card() if self.hasFocus() else None
        self.setAccessibleDescription(card.sentence() if card is not None else self.summary())
        self.update()

    def summary(self) -> str:
        """The chart in one sentence."""
        if len(self._frame) < 2:
            return _("No figures yet")
        values = self._summed(self._frame)
        known = values[np.isfinite(values)]
        if not len(known):
            return _("not known")
        return _("now {now}, lowest {low}, highest {high}").format(
            now=self.read(float(values[-1])), low=self.say(float(known.min())), high=self.say(float(known.max()))
        )

    def _summed(self, frame: Frame) -> Numbers:
        names = self._names()
        return frame[names[0]] if len(names) == 1 else np.asarray(frame.total(names))

    def show_table(self) -> TableDialog:
        """Open the points as a table."""
        frame = self._frame
        lines = (_column(frame, one.key, one.word(), self.read) for one in self.visible_series())
        dialog = TableDialog(self._name, (_time_column(frame), *lines), len(frame), self.window())
        dialog.show()
        return dialog

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the numbers, and the way back to the whole range."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(_("Show as table"), self.show_table).setEnabled(len(self._frame) > 0)
        menu.addAction(_("Show the whole range"), self._window.reset)
        menu.popup(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw anew."""
        self._redraw()
        super().resizeEvent(event)


def _drawable(values: Numbers) -> Numbers:
    known = filled(values)
    return known if len(known) else np.zeros(len(values))


def plot_rect(size: QSize, top: float, say: Say) -> QRectF:
    """Room for curves beside labels as wide as the highest value."""
    widest = QFontMetrics(theme().font("caption")).horizontalAdvance(say(top))
    left = max(30, widest + _GAP + 6)
    return QRectF(left, _TOP, max(10, size.width() - left - _RIGHT), max(10, size.height() - _TOP - _BOTTOM))


def margins(rect: QRectF, size: QSize) -> tuple[int, int, int, int]:
    """The same room as margins."""
    return (
        round(rect.left()),
        round(rect.top()),
        round(size.width() - rect.right()),
        round(size.height() - rect.bottom()),
    )


def paint_words(painter: QPainter, rect: QRectF, words: str) -> None:
    """Say in the middle why there is nothing."""
    painter.setFont(theme().font("label"))
    painter.setPen(theme().color("text3"))
    painter.drawText(rect, _CENTRE | int(Qt.TextFlag.TextWordWrap), words)


def paint_heights(painter: QPainter, rect: QRectF, heights: Sequence[float], top: float, say: Say) -> None:
    """Label the grid lines."""
    painter.setFont(theme().font("caption"))
    painter.setPen(theme().color("text3"))
    for height in heights:
        y = rect.bottom() - height / top * rect.height()
        painter.drawText(QRectF(0, y - 9, rect.left() - _GAP, 18), _FLAGS_RIGHT, say(height))


def paint_times(painter: QPainter, rect: QRectF, times: Sequence[tuple[float, str]]) -> None:
    """Label instants below."""
    font = theme().font("caption")
    metrics = QFontMetrics(font)
    painter.setFont(font)
    painter.setPen(theme().color("text3"))
    for x, label in times:
        width = metrics.horizontalAdvance(label)
        left = min(max(2.0, x - width / 2), rect.right() + _RIGHT - width - 2)
        painter.drawText(QRectF(left, rect.bottom() + 4, width + 2, 16), _FLAGS_LEFT, label)


def limit_room(rect: QRectF, share: float, words: str) -> QRectF:
    """Where a limit is named: just above its line, below it where there is no room; one out of sight at the top."""
    y = rect.bottom() - min(1.0, share) * rect.height()
    above = share > 1 or y - 18 >= rect.top()
    wide = QFontMetrics(theme().font("caption")).horizontalAdvance(words)
    return QRectF(rect.left() + 2, max(rect.top(), y - 18) if above else y + 2, min(wide + 4, rect.width() - 4), 16)


def paint_limit(painter: QPainter, room: QRectF, words: str, role: str) -> None:
    """Name the limit in its room."""
    painter.fillRect(room, theme().color("surface"))  # a line of the grid would strike the words out
    painter.setFont(theme().font("caption"))
    painter.setPen(theme().color(role))
    painter.drawText(room.adjusted(2, 0, 2, 0), _FLAGS_LEFT, words)


def paint_markers(
    painter: QPainter, rect: QRectF, marks: Sequence[tuple[float, str, str]], taken: QRectF = _NOWHERE
) -> None:
    """Draw dotted lines with words at the top; words that would meet others, a dot or what is ``taken`` go lower."""
    font = theme().font("caption")
    metrics = QFontMetrics(font)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ends = [-1e9, -1e9, -1e9]
    dots = [x for x, _words, _role in marks]
    said: list[tuple[QRectF, str]] = []
    for x, words, role in sorted(marks):
        painter.setPen(_dots(role))
        painter.drawLine(QPointF(round(x) + 0.5, rect.top() + 8), QPointF(round(x) + 0.5, rect.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(role))
        painter.drawEllipse(QPointF(x, rect.top() + 5), 2.5, 2.5)
        width = metrics.horizontalAdvance(words)
        left = x + 7 if x + 7 + width < rect.right() else x - 7 - width
        covers = any(left - 4 < dot < left + width + 4 for dot in dots if dot != x)
        rooms = [QRectF(left, rect.top() - 4 + row * 14, width + 2, 18) for row in range(len(ends))]
        free = (
            row
            for row, end in enumerate(ends)
            if left >= end and not (covers and row == 0) and not rooms[row].adjusted(-2, 2, 2, -2).intersects(taken)
        )
        row = next(free, -1)
        if row < 0:
            continue
        ends[row] = left + width + 8
        said.append((rooms[row], words))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setFont(font)
    painter.setPen(theme().color("text2"))
    for room, words in said:  # after all lines: another one would strike the words out
        if words:
            painter.fillRect(room.adjusted(-2, 2, 2, -2), theme().color("surface"))
            painter.drawText(room, _FLAGS_LEFT, words)


def paint_gaps(painter: QPainter, rect: QRectF, spans: Sequence[tuple[float, float]], words: str) -> None:
    """Cover the line that was drawn across a time nobody measured, however narrow that is."""
    font = theme().font("caption")
    for first, last in spans:
        wide = max(0.0, _LEAST_HOLE - (last - first)) / 2
        left, right = max(rect.left(), first - wide), min(rect.right(), last + wide)
        if right <= left:
            continue
        room = QRectF(left, rect.top(), right - left, rect.height())
        painter.fillRect(room.adjusted(0, -1, 0, 1), theme().color("surface"))  # a line at 0 is half below the plot
        painter.fillRect(room, theme().tint("text3", 7))
        if QFontMetrics(font).horizontalAdvance(words) + 8 < room.width():
            painter.setFont(font)
            painter.setPen(theme().color("text3"))
            painter.drawText(room, _CENTRE, words)


def _dots(role: str) -> QPen:
    pen = QPen(theme().color(role), 1)
    pen.setDashPattern([2, 3])
    return pen
