"""The runs of one shop as bars along time: a row for each task type, quiet hours shaded, a line at now; or those of one
work as cells of one size, a row for each who asks.

The wheel zooms, a drag pans, a double click shows everything again; Left and Right go from run to run, Up and Down from
type to type, Enter opens the task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from services.i18n import N_, _, ngettext
from services.monitor.shops.day import (
    CANCELLED,
    DEAD,
    HELD,
    MISSED,
    OVERTAKEN,
    PLANNED,
    RETRIED,
    RUNNING,
    SKIPPED,
    SUCCEEDED,
    UNKNOWN,
    WAITS,
    DayAttempt,
    ShopDay,
)
from views.charts import gantt_words as words
from views.charts import ticks
from views.charts.plot import offer_table
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed, say_in_language
from views.support.paint import draw_focus
from views.support.spoken import Role, spoken
from views.support.words import type_names
from views.theme import theme
from views.theme.tokens import status

ROW, BAR, AXIS, TOP, PAD, LEAST_BAR = 30, 18, 24, 8, 10, 3
TICK_ROOM, NAMES_MOST, ROWS_LEAST, NOW_ROOM = 92, 150, 3, 40
#: of the whole, the least that the wheel zooms to
CLOSEST_MS = 5 * 60_000
ZOOM = 1.25
#: fill of a bar, and its width of the row
FILLS: Mapping[str, str] = {
    SUCCEEDED: "succeeded",
    RETRIED: "retryfill",
    DEAD: "deadfill",
    HELD: "heldfill",
    CANCELLED: "text3",
    RUNNING: "running",
    PLANNED: "scheduled",
    OVERTAKEN: "text3",
    WAITS: "waiting",
    MISSED: "retrying",
    SKIPPED: "text3",
    UNKNOWN: "text3",
}
#: what has no ground, only a dashed edge: nothing ran
_OPEN = frozenset({PLANNED, WAITS, MISSED, SKIPPED, UNKNOWN})
#: of runs that stand in one cell, the state that it shows
_WORST = (DEAD, HELD, MISSED, RUNNING, RETRIED, WAITS, UNKNOWN, OVERTAKEN, SUCCEEDED, CANCELLED, SKIPPED, PLANNED)
CELL, CELL_ROW, PIP = 20, 32, 3
_DRAG_PX = 4
#: a bar up to this wide has no round corners
THIN = 6
#: states that a bar tells beside its colour, too
_MARKED = (RETRIED, HELD, DEAD)
#: runs of a cell that its tool tip tells
MOST_TOLD = 6


class _Bar(NamedTuple):
    """A run, and where it stands; in a cell there may be more."""

    run: DayAttempt
    room: QRectF
    runs: tuple[DayAttempt, ...] = ()
    thin: bool = False  #: so narrow that all of its state are drawn in one go
    mark: QRectF | None = None  #: what tells its state beside its colour

    @property
    def number(self) -> int:
        """How many runs the cell is of; attempts of one task are one."""
        return sum({one.task_id or one.key: one.count for one in self.runs}.values())


class Gantt(QWidget):
    """Signals:
    chosen: the run that was clicked or reached by a key.
    reached: the run that a key went to; it shall be seen.
    opened: the task of a run is wanted: its id.
    """

    chosen = Signal(object)
    reached = Signal(object)
    opened = Signal(str)

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        row: Callable[[DayAttempt], str] = lambda run: run.task_type,
        name: Callable[[str], str] = type_names.name,
        cells: bool = False,
    ) -> None:
        """``row``: the row of a run, one of ``ShopDay.types``; ``name``: what a row is called; ``cells``: of one size,
        with a glyph and a pip for each attempt; Left and Right go through all rows then.
        """
        super().__init__(parent)
        self._row, self._name, self._cells = row, name, cells
        self._tall = CELL_ROW if cells else ROW
        self._day = ShopDay(shop="", begins=0, ends=1, now=0)
        self._view: tuple[float, float] | None = None  #: what is zoomed to, UTC ms; None: everything
        self._current, self._hover = "", ""
        self._left, self._dragged = 0, False
        self._placed: tuple[tuple[object, ...], list[_Bar]] = (), []  #: the bars, and what they were placed by
        #: bars that stay as they are while time goes on, and the scale and the first instant that they were placed by
        self._kept: dict[str, _Bar] = {}
        self._scale: tuple[object, ...] = ()
        self._origin = 0.0
        self._grouped: tuple[list[_Bar], list[_Bar], list[tuple[str, list[QRectF]]]] = [], [], []
        self._press: QPointF | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Chart)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._restyle)
        say_in_language(self._restyle)

    # what is shown

    def show_day(self, day: ShopDay) -> None:
        """Show these runs; of the same shop and span the zoom stays, and so does the current run."""
        old, self._day, self._placed = self._day, day, ((), [])
        if old.shop != day.shop or old.ends - old.begins != day.ends - day.begins:
            self._view, self._current, self._hover = None, "", ""
        if self._current and self.current is None:
            self._current = ""
        self._restyle()

    @property
    def current(self) -> DayAttempt | None:
        """The run that was chosen."""
        return self._find(self._current)

    @property
    def bars(self) -> list[tuple[DayAttempt, QRectF]]:
        """Every run that can be seen, and where."""
        bars, moved = self._bars()
        return [(bar.run, bar.room.translated(-moved, 0)) for bar in bars]

    @property
    def span(self) -> tuple[float, float]:
        """First and last instant shown, UTC ms."""
        return self._view or (float(self._day.begins), float(self._day.ends))

    def choose(self, key: str) -> None:
        """Put the ring around a run, without a signal."""
        if key != self._current:
            self._current = key
            self._announce()
            self.update()

    def zoom(self, steps: float, at_ms: float | None = None) -> None:
        """Show less of the time (above 0) or more around an instant, by default now."""
        begins, ends = self.span
        whole = self._day.ends - self._day.begins
        around = min(ends, max(begins, float(self._day.now if at_ms is None else at_ms)))
        length = min(float(whole), max(float(CLOSEST_MS), (ends - begins) / ZOOM**steps))
        share = (around - begins) / max(1.0, ends - begins)
        self._look_at(around - share * length, length)

    def show_all(self) -> None:
        """Show everything again."""
        self._view = None
        self.update()

    def _look_at(self, begins: float, length: float) -> None:
        low, high = float(self._day.begins), float(self._day.ends)
        begins = min(max(begins, low), high - length)
        self._view = None if length >= high - low else (begins, begins + length)
        self.update()

    def _find(self, key: str) -> DayAttempt | None:
        return next((run for run in self._day.runs if run.key == key), None) if key else None

    # where things are

    def sizeHint(self) -> QSize:
        least = 1 if self._cells else ROWS_LEAST
        return QSize(480, TOP + max(least, len(self._day.types)) * self._tall + AXIS)

    def minimumSizeHint(self) -> QSize:
        """Return the same height; any width will do."""
        return QSize(240, self.sizeHint().height())

    def x_of(self, at_ms: float) -> float:
        """Where an instant stands, in pixels from the left edge."""
        return self._left + self._of_ms * (at_ms - self.span[0])

    def at_x(self, x: float) -> float:
        """The instant at a place, UTC ms."""
        return self.span[0] + (x - self._left) / self._of_ms

    def _wide(self) -> float:
        return float(max(1, self.width() - self._left - PAD))

    def _bars(self) -> tuple[list[_Bar], float]:
        """Where the runs were placed, and by how many pixels they have moved to the left since: asked with every paint
        and every move of the mouse, and placed only when that changes.
        """
        now = max(self._day.now, instant.now_ms()) if self.isVisible() else self._day.now
        runs_to = round(self.x_of(min(now, self._day.ends)))
        by = (self.span, self.width(), self._left, self._current if self._cells else "", runs_to)
        if by != self._placed[0]:
            self._placed = by, self._place(now)
        return self._placed[1], self._of_ms * (self.span[0] - self._origin)

    @property
    def _of_ms(self) -> float:
        """Pixels of a millisecond."""
        begins, ends = self.span
        return self._wide() / max(1.0, ends - begins)

    def _place(self, now: float) -> list[_Bar]:
        """There may be thousands: as time goes on only those are placed that are new, or change at an edge."""
        (begins, ends), of_ms = self.span, self._of_ms
        scale = (of_ms, self._left, self._day.types)
        if scale != self._scale or self._cells:
            self._scale, self._origin, self._kept = scale, begins, {}
        tops = {name: TOP + at * self._tall + (self._tall - BAR) / 2 for at, name in enumerate(self._day.types)}
        left, origin, high = self._left, self._origin, min(now, float(self._day.ends))
        before, kept = self._kept, dict[str, _Bar]()
        found: list[_Bar] = []
        for run in self._day.runs:
            bar = before.get(run.key)
            if bar is None or bar.run is not run or run.begins < begins or run.ends > ends:
                last = high if run.state == RUNNING else run.ends
                if last < begins or run.begins > ends:
                    continue
                x = left + of_ms * (max(run.begins, begins) - origin)
                bar = _placed(run, x, left + of_ms * (min(last, ends) - origin) - x, tops[self._row(run)])
            if run.state != RUNNING and run.begins >= begins and run.ends <= ends:
                kept[run.key] = bar
            found.append(bar)
        self._kept = kept
        return self._in_cells(found) if self._cells else found

    def _in_cells(self, bars: Sequence[_Bar]) -> list[_Bar]:
        """Cells of one size where the runs begin; those of a row that would lie over each other are one."""
        found: list[tuple[QRectF, list[DayAttempt]]] = []
        last: dict[str, tuple[QRectF, list[DayAttempt]]] = {}
        most = self.width() - PAD - CELL
        for bar in bars:
            row = self._row(bar.run)
            room = QRectF(min(bar.room.left(), most), bar.room.center().y() - CELL / 2, CELL, CELL)
            cell = last.get(row)
            if cell is None or room.left() >= cell[0].right() + 1:
                cell = last[row] = room, []
                found.append(cell)
            cell[1].extend(bar.runs)
        return [_Bar(self._leading(runs), room, tuple(runs)) for room, runs in found]

    def _leading(self, runs: Sequence[DayAttempt]) -> DayAttempt:
        """The one that a cell of several is about: the current one, else the last of those that are worst."""
        current = next((run for run in runs if run.key == self._current), None)
        if current is not None:
            return current
        if len({run.task_id for run in runs}) == 1:
            return runs[-1]
        return min(reversed(runs), key=lambda run: _WORST.index(run.state))

    @property
    def foot(self) -> float:
        """Where the hours begin, below the rows that can be seen: they stay there when the rows are scrolled."""
        bottom, above = self.height(), self.parentWidget()
        while above is not None:
            bottom = min(bottom, self.mapFrom(above, QPoint(0, above.height())).y())
            above = above.parentWidget() if not above.isWindow() else None
        return float(max(TOP + ROW, bottom - AXIS))

    def _bar_at(self, x: float, y: float) -> DayAttempt | None:
        if y >= self.foot:
            return None
        across, down = (1, 5) if self._cells else (3, 5)
        bars, moved = self._bars()
        x += moved
        near = [
            bar
            for bar in bars  # there may be thousands: the row tells most of them apart
            if bar.room.top() - down <= y <= bar.room.bottom() + down
            and bar.room.left() - across <= x <= bar.room.right() + across
        ]
        best = min(near, key=lambda bar: abs(bar.room.center().x() - x), default=None)
        return best.run if best is not None else None

    # painting

    def _restyle(self) -> None:
        metrics = QFontMetrics(theme().font("label"))
        names = [metrics.horizontalAdvance(self._name(name)) for name in self._day.types]
        self._left = min(NAMES_MOST, max(names, default=60) + 2) + 2 * PAD
        self._announce()
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw shades, rows, axis, bars and the line at now."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bottom = self.foot
        area = QRectF(self._left, TOP, self._wide(), bottom - TOP)
        self._paint_quiet(painter, area)
        painter.save()
        painter.setClipRect(QRectF(0, 0, self.width(), bottom))
        self._paint_rows(painter)
        painter.restore()
        self._paint_axis(painter, area)
        painter.save()
        painter.setClipRect(area.adjusted(-1, -TOP, PAD, 0))
        bars, moved = self._bars()
        painter.translate(-moved, 0)
        if self._cells:
            for bar in bars:
                self._paint_cell(painter, bar)
            self._paint_instead(painter, bars)
        else:
            self._paint_bars(painter, bars)
        painter.restore()
        self._paint_now(painter, area)
        if self.hasFocus():
            draw_focus(painter, self.rect())

    def _paint_quiet(self, painter: QPainter, area: QRectF) -> None:
        for begins, ends in self._day.quiet:
            room = QRectF(self.x_of(begins), area.top(), self.x_of(ends) - self.x_of(begins), area.height())
            room = room.intersected(area)
            if room.width() <= 0:
                continue
            painter.fillRect(room, theme().color("hover"))
            words_ = _("quiet hours")
            if QFontMetrics(theme().font("caption")).horizontalAdvance(words_) + 8 < room.width():
                painter.setFont(theme().font("caption"))
                painter.setPen(theme().color("text3"))
                painter.drawText(room.adjusted(0, 2, 0, 0), int(Qt.AlignmentFlag.AlignHCenter), words_)

    def _paint_rows(self, painter: QPainter) -> None:
        painter.setFont(theme().font("label"))
        metrics = QFontMetrics(theme().font("label"))
        for at, name in enumerate(self._day.types):
            top = TOP + at * self._tall
            painter.setPen(theme().color("text2"))
            said = metrics.elidedText(self._name(name), Qt.TextElideMode.ElideMiddle, self._left - 2 * PAD)
            room = QRectF(0, top, self._left - PAD, self._tall)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), said)
            painter.setPen(theme().color("line"))
            painter.drawLine(QPointF(self._left, top + self._tall), QPointF(self.width() - PAD, top + self._tall))

    def _paint_axis(self, painter: QPainter, area: QRectF) -> None:
        begins, ends = self.span
        many = max(2, int(area.width() // TICK_ROOM))
        font = theme().font("caption")
        painter.setFont(font)
        metrics = QFontMetrics(font)
        for at, label in ticks.times(begins / 1000, ends / 1000, many, shown.zone()):
            x = self.x_of(at * 1000)
            painter.setPen(theme().color("line"))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            middle = min(x, self.width() - metrics.horizontalAdvance(label) / 2 - 1)
            if abs(middle - self.x_of(self._day.now)) < NOW_ROOM:
                continue  # the line at now has its own words there
            painter.setPen(theme().color("text3"))
            room = QRectF(middle - TICK_ROOM / 2, area.bottom() + 4, TICK_ROOM, AXIS - 6)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), label)

    def _paint_bars(self, painter: QPainter, bars: list[_Bar]) -> None:
        """The worst on top. There may be thousands, most of them as narrow as can be: those of one state are drawn in
        one go.
        """
        if self._grouped[0] is not bars:
            self._grouped = bars, *_grouped(bars)
        _bars, wide, thin = self._grouped
        for bar in wide:
            _fill(painter, bar.room, bar.run.state)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(Qt.PenStyle.NoPen)
        for state, rooms in thin:
            painter.setBrush(_ground(state))
            painter.drawRects(rooms)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rings = {self._current, self._hover} - {""}
        for bar in bars if rings else ():
            if bar.run.key in rings:
                self._paint_ring(painter, bar.run, bar.room)

    def _paint_ring(self, painter: QPainter, run: DayAttempt, room: QRectF) -> None:
        if run.key in (self._current, self._hover):
            draw_focus(painter, room.adjusted(-3.5, -3.5, 3.5, 3.5), keys=run.key == self._current)

    def _paint_cell(self, painter: QPainter, bar: _Bar) -> None:
        """Ground, glyph or number, and below it a pip for each attempt of the one task that needed several."""
        state, room = min((run.state for run in bar.runs), key=_WORST.index), bar.room
        if bar.number == 1:
            state = bar.runs[-1].state
        token = status(words.LOOKS[state][0])
        role = FILLS[state] if state in _OPEN or state == OVERTAKEN else token.role
        pen = QPen(theme().color(role), 1)
        if state in _OPEN:
            pen.setDashPattern([3, 2])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush if state in _OPEN else theme().tint(role, 26))
        painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if bar.number > 1:
            painter.setFont(theme().font("captionstrong"))
            painter.setPen(theme().color("text"))
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), text.compact(min(bar.number, 999)))
        elif state != PLANNED:
            glyph = theme().pixmap(words.CELLS.get(state, token.glyph), role, 13)
            painter.drawPixmap(QPointF(room.center().x() - 6.5, room.center().y() - 6.5), glyph)
        if bar.number == 1 and len(bar.runs) > 1:
            painter.setPen(Qt.PenStyle.NoPen)
            left = room.center().x() - (len(bar.runs) * (PIP + 2) - 2) / 2
            for place, run in enumerate(bar.runs):
                painter.setBrush(theme().color(FILLS[run.state]))
                painter.drawRect(QRectF(left + place * (PIP + 2), room.bottom() + 2, PIP, PIP))
        self._paint_ring(painter, bar.run, room)

    def _paint_instead(self, painter: QPainter, bars: Sequence[_Bar]) -> None:
        """An arrow from each letter that was overtaken to the run that did its work."""
        rooms = {run.task_id: bar.room for bar in bars for run in bar.runs if run.task_id}
        for bar in bars:
            for name in {run.instead for run in bar.runs if run.instead in rooms} if self._cells else ():
                to = rooms[name]
                down = to.top() > bar.room.bottom()
                begin = QPointF(bar.room.center().x(), bar.room.bottom() + 6 if down else bar.room.top() - 2)
                end = QPointF(to.center().x(), to.top() - 2 if down else to.bottom() + 2)
                if abs(to.center().y() - bar.room.center().y()) < 1:
                    begin, end = bar.room.center() + QPointF(CELL / 2, 0), to.center() - QPointF(CELL / 2, 0)
                painter.setPen(QPen(theme().color("accent"), 1.5))
                painter.drawLine(begin, end)
                painter.setBrush(theme().color("accent"))
                painter.drawEllipse(end, 2, 2)

    def _paint_now(self, painter: QPainter, area: QRectF) -> None:
        now = max(self._day.now, instant.now_ms())
        begins, ends = self.span
        if not self._day.now or not begins <= now <= ends:
            return
        x = self.x_of(now)
        painter.setPen(QPen(theme().color("text"), 1))
        painter.drawLine(QPointF(x, 2), QPointF(x, area.bottom() + 3))
        label = f"{shown.moment(now).astimezone(shown.zone()):%H:%M}"
        font = theme().font("caption")
        wide = QFontMetrics(font).horizontalAdvance(label) + 12
        chip = QRectF(min(x - wide / 2, self.width() - wide), area.bottom() + 3, wide, AXIS - 5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("text"))
        painter.drawRoundedRect(chip, 4, 4)
        painter.setFont(font)
        painter.setPen(theme().color("surface"))
        painter.drawText(chip, int(Qt.AlignmentFlag.AlignCenter), label)

    # mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._press, self._dragged = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while dragged, else follow the mouse."""
        if self._press is not None and event.buttons() & Qt.MouseButton.LeftButton:
            moved = event.position().x() - self._press.x()
            if self._dragged or abs(moved) >= _DRAG_PX:
                self._dragged = True
                begins, ends = self.span
                self._look_at(begins - moved / self._wide() * (ends - begins), ends - begins)
                self._press = event.position()
            return
        run = self._bar_at(event.position().x(), event.position().y())
        key = run.key if run is not None else ""
        if key != self._hover:
            self._hover = key
            self.setCursor(Qt.CursorShape.PointingHandCursor if key else Qt.CursorShape.ArrowCursor)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the run that was clicked."""
        dragged, self._press, self._dragged = self._dragged, None, False
        if event.button() == Qt.MouseButton.LeftButton and not dragged:
            run = self._bar_at(event.position().x(), event.position().y())
            if run is not None:
                self._choose(run)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the task of a run; beside all runs, show everything again."""
        run = self._bar_at(event.position().x(), event.position().y())
        if run is None:
            self.show_all()
        elif run.task_id:
            self.opened.emit(run.task_id)

    def leaveEvent(self, event: QEvent) -> None:
        """Follow the mouse no more."""
        self._hover = ""
        self.update()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the mouse; sideways pans."""
        turned = event.angleDelta()
        if turned.y():
            self.zoom(turned.y() / 120, self.at_x(event.position().x()))
        elif turned.x():
            begins, ends = self.span
            self._look_at(begins - turned.x() / 1200 * (ends - begins), ends - begins)
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Tell about the run under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            run = self._bar_at(event.pos().x(), event.pos().y())
            if run is not None:
                room = next((bar.runs for bar in self._bars()[0] if run in bar.runs), (run,))
                told = "\n".join(words.told(one) for one in (room[-MOST_TOLD:] if self._cells else (run,)))
                QToolTip.showText(event.globalPos(), safe.tooltip(told), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer all runs as a table, and of the one under the mouse, or the current one, its task and its words."""
        run = self.current
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            run = self._bar_at(event.pos().x(), event.pos().y())
            if run is not None:
                self._choose(run)
        heads = (N_("Since"), N_("Who") if self._cells else N_("Type"), N_("State"), N_("Duration"), N_("Worker"))
        menu = offer_table(self, event, heads, _Told(self._day.runs, lambda one: self._name(self._row(one))))
        menu.addAction(_("Show the whole range"), self.show_all).setEnabled(self._view is not None)
        if run is not None:
            menu.addAction(_("Copy value"), partial(QGuiApplication.clipboard().setText, words.told(run)))
        if run is not None and run.task_id:
            menu.addAction(_("Open the task"), partial(self.opened.emit, run.task_id))

    # keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from run to run, zoom, open."""
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
            self._step(key)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step_row(1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            run = self.current
            self.zoom(-1 if key == Qt.Key.Key_Minus else 1, run.begins if run is not None else None)
        elif key == Qt.Key.Key_0:
            self.show_all()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current is not None and self.current.task_id:
            self.opened.emit(self.current.task_id)
        else:
            super().keyPressEvent(event)

    def _step(self, key: Qt.Key) -> None:
        run = self.current
        runs = [one for one in self._day.runs if run is None or self._cells or self._row(one) == self._row(run)]
        if not runs:
            return
        if run is None:
            at = max((place for place, one in enumerate(runs) if one.begins <= self._day.now), default=0)
        else:
            step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key, 0)
            at = min(len(runs) - 1, max(0, runs.index(run) + step))
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            at = 0 if key == Qt.Key.Key_Home else len(runs) - 1
        self._go(runs[at])

    def _step_row(self, down: int) -> None:
        run = self.current
        if run is None:
            self._step(Qt.Key.Key_Right)
            return
        rows = self._day.types
        here = rows.index(self._row(run))
        there = rows[here + 1 :] if down > 0 else rows[:here][::-1]
        beside = [one for row in there[:1] or rows[here : here + 1] for one in self._day.runs if self._row(one) == row]
        if not beside:
            return
        self._go(min(beside, key=lambda one: abs(one.begins - run.begins)))

    def _go(self, run: DayAttempt) -> None:
        """Choose it and bring it into sight. A click moves nothing: the second of two would meet another run."""
        begins, ends = self.span
        if not begins <= run.begins <= ends:
            self._look_at(run.begins - (ends - begins) / 2, ends - begins)
        self._choose(run)
        self.reached.emit(run)

    def _choose(self, run: DayAttempt) -> None:
        if run.key != self._current:
            self._current = run.key
            self._announce()
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
            self.update()
        self.chosen.emit(run)

    def _announce(self) -> None:
        self.setAccessibleName(_("Runs of the shop along time"))
        run = self.current
        if run is not None:
            self.setAccessibleDescription(words.told(run).replace("\n", "; "))
            return
        number = len(self._day.runs)
        self.setAccessibleDescription(ngettext("{n} run", "{n} runs", number).format(n=text.count(number)))


class _Told:
    """Runs as lines of a table, each put into words when it is looked at: there may be thousands."""

    def __init__(self, runs: Sequence[DayAttempt], row: Callable[[DayAttempt], str]) -> None:
        self._runs, self._row = runs, row

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, at: int) -> tuple[str, ...]:
        run = self._runs[at]
        when = shown.clock(run.begins, instant.now_ms())
        return when, self._row(run), words.state(run.state), words.duration(run), safe.one_line(run.worker, 60)


SWATCH, GAP, APART = 9, 6, 14


class GanttLegend(QWidget):
    """What the fills of the bars mean, and how many runs there are of each."""

    def __init__(self) -> None:
        super().__init__()
        self._day: ShopDay | None = None
        self._found: list[tuple[str, str]] = []  #: state and words, counted once: there may be thousands
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(20)
        theme().changed.connect(self.update)
        on_language_changed(self._say)

    def show_day(self, day: ShopDay | None) -> None:
        """Count these runs; None: nothing is known yet."""
        if day is None or day is not self._day:
            self._day = day
            self._say()

    def said(self) -> str:
        """All of it in words."""
        return words.summary(self._day) if self._day is not None else _("Loading…")

    def _say(self) -> None:
        day = self._day
        self._found = [("", words.runs(day)), *words.counts(day)] if day is not None else [("", _("Loading…"))]
        said = self.said()
        self.setAccessibleName(said)
        self.setToolTip(said)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw how many runs there are, and of each state its fill, word and number."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme().font("label"))
        metrics = QFontMetrics(theme().font("label"))
        x, middle = 2.0, self.height() / 2
        for state, said in self._found:
            wide = metrics.horizontalAdvance(said)
            if x + wide + (SWATCH + GAP if state else 0) > self.width():
                break  # the tool tip has all of it
            if state:
                room = QRectF(x, middle - SWATCH / 2, SWATCH, SWATCH)
                _fill(painter, room, state)
                x += SWATCH + GAP
            painter.setPen(theme().color("text2" if state else "text3"))
            painter.drawText(QRectF(x, 0, wide + 2, self.height()), int(Qt.AlignmentFlag.AlignVCenter), said)
            x += wide + APART


def _fill(painter: QPainter, room: QRectF, state: str) -> None:
    role = FILLS[state]
    if state == PLANNED:
        pen = QPen(theme().color(role), 1)
        pen.setDashPattern([2, 2])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_ground(state))
    painter.drawRoundedRect(room, 2, 2)


def _placed(run: DayAttempt, left: float, wide: float, top: float) -> _Bar:
    state = run.state
    wide = max(LEAST_BAR if state != PLANNED else 5, wide)
    room = QRectF(left, top, wide, BAR)
    return _Bar(run, room, (run,), state != PLANNED and wide <= THIN, _mark(room, state) if state in _MARKED else None)


def _grouped(bars: Sequence[_Bar]) -> tuple[list[_Bar], list[tuple[str, list[QRectF]]]]:
    """Those that are drawn one by one, and by state, the worst last, what is drawn in one go: narrow ones and marks."""
    wide: list[_Bar] = []
    thin: dict[str, list[QRectF]] = {state: [] for state in reversed(_WORST)}
    marks: dict[str, list[QRectF]] = {state: [] for state in _MARKED}
    for bar in bars:
        if bar.thin:
            thin[bar.run.state].append(bar.room)
        else:
            wide.append(bar)
        if bar.mark is not None:
            marks[bar.run.state].append(bar.mark)
    return wide, [one for one in (*thin.items(), *marks.items()) if one[1]]


def _ground(state: str) -> QColor:
    return theme().tint(FILLS[state], 62) if state == SUCCEEDED else theme().color(FILLS[state])


def _mark(room: QRectF, state: str) -> QRectF:
    """What tells a state beside its colour: a cap above, or a dot below."""
    if state == RETRIED:
        return QRectF(room.center().x() - 1, room.bottom() + 2, 2, 2)
    return QRectF(room.center().x() - max(4.0, room.width() / 2), room.top() - 4, max(8.0, room.width()), 2)
