"""The slots of one worker, painted: what runs in each, dashed where one is free."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from services.domain.fleet.worker import SlotState
from services.domain.insight.worker import GONE, STOPPED, WorkerNow
from services.i18n import _, ngettext
from views.pages.workers.nodes import NO_NAMES, Names, is_slow, slot_words
from views.support import safe
from views.support.language import on_language_changed
from views.support.paint import draw_focus
from views.support.spoken import Role, spoken
from views.support.words import type_names
from views.theme import theme
from views.theme.tokens import RADIUS_CELL

WIDTH, HEIGHT, GAP = 70, 38, 4
TINY = 14
#: above this many slots a cell is a mark without words
WORDS_UP_TO = 64
_CUT = Qt.TextElideMode.ElideRight


class GridLayout(msgspec.Struct, frozen=True):
    """How the cells are laid out in a width."""

    columns: int
    width: float
    height: int

    def cell(self, number: int) -> QRectF:
        """Where cell `number` is."""
        row, column = divmod(number, self.columns)
        return QRectF(column * (self.width + GAP), row * (self.height + GAP), self.width, self.height)


def plan(slots: int, width: int) -> GridLayout:
    """Lay out `slots` cells: with words while there are few, as marks when there are many."""
    if slots > WORDS_UP_TO:
        return GridLayout(max(1, (width + GAP) // (TINY + GAP)), TINY, TINY)
    columns = max(1, min(slots, (width + GAP) // (WIDTH + GAP)))
    return GridLayout(columns, min(2 * WIDTH, (width - (columns - 1) * GAP) / columns), HEIGHT)


class SlotGrid(QWidget):
    """Signals:
    task_wanted: id of the task in a slot.
    """

    task_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._now: WorkerNow | None = None
        self._names = NO_NAMES
        self._now_ms = 0
        self._hover = self._at = -1
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Graphic)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)
        on_language_changed(self._announce)

    def show_worker(self, now: WorkerNow, names: Names, now_ms: int) -> None:
        """Show the slots of a worker; one that is gone has none."""
        self._now, self._names, self._now_ms = now, names, now_ms
        self._fit()
        self._announce()
        self.update()

    def slots(self) -> tuple[SlotState, ...]:
        """What is shown."""
        return self._now.slots if self._now is not None and self._now.state not in (GONE, STOPPED) else ()

    def slot_rect(self, number: int) -> QRect:
        """Where slot `number` is drawn."""
        return self._plan().cell(number).toAlignedRect()

    def _plan(self) -> GridLayout:
        return plan(len(self.slots()), self.width())

    def _fit(self) -> None:
        laid = self._plan()
        rows = -(-max(1, len(self.slots())) // laid.columns)
        self.setFixedHeight(rows * (laid.height + GAP) - GAP if self.slots() else 0)

    def _announce(self) -> None:
        slots = self.slots()
        busy = [slot for slot in slots if slot.task_id]
        words = _("{busy} of {slots} slots busy").format(busy=len(busy), slots=len(slots))
        if self._now is not None and self._now.missing:
            words = ngettext("{n} task unconfirmed", "{n} tasks unconfirmed", len(busy)).format(n=len(busy))
        tasks = "; ".join(f"{type_names.name(slot.task_type)} {self._names.shop(slot.shop)}" for slot in busy[:16])
        self.setAccessibleName(safe.visible(f"{words}: {tasks}") if tasks else words)

    def sizeHint(self) -> QSize:
        return QSize(4 * (WIDTH + GAP), HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * (WIDTH + GAP), HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self._fit()

    # paint

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells that need it."""
        worker = self._now
        if worker is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        laid, silent = self._plan(), worker.missing
        for number, slot in enumerate(self.slots()):
            cell = laid.cell(number)
            if not cell.toAlignedRect().intersects(event.rect()):
                continue
            if slot.task_id:
                self._paint_busy(painter, cell, slot, number, silent)
            else:
                _paint_free(painter, cell, faint=not worker.takes_work)
            if self.hasFocus() and number == self._at:
                draw_focus(painter, cell, RADIUS_CELL)

    def _paint_busy(self, painter: QPainter, cell: QRectF, slot: SlotState, number: int, silent: bool) -> None:
        slow = is_slow(slot, self._names, self._now_ms)
        role = "retrying" if slow or silent else "running"
        lit = number == self._hover
        painter.setPen(theme().tint("text3" if silent else "running", 45 if lit else 28))
        painter.setBrush(theme().tint("text3" if silent else "running", 20 if lit else 12))
        painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CELL, RADIUS_CELL)
        if cell.height() < HEIGHT:
            return
        glyph = "ph.question" if silent else "ph.clock" if slow else ""
        room = cell.adjusted(6, 3, -6, -4)
        _words(
            painter,
            QRectF(room.x(), room.y(), room.width(), 15),
            type_names.name(slot.task_type),
            "text" if not silent else "text2",
        )
        second = QRectF(room.x(), room.y() + 15, room.width() - (15 if glyph else 0), 15)
        _words(painter, second, self._names.shop(slot.shop), "text2" if not silent else "text3")
        if glyph:
            place = QPointF(room.right() - 11, room.y() + 16)
            painter.drawPixmap(place, theme().pixmap(glyph, role, 12))
        if slot.progress >= 0 and not silent:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color(role))
            width = max(3.0, (cell.width() - 4) * min(100, slot.progress) / 100)
            painter.drawRoundedRect(QRectF(cell.x() + 2, cell.bottom() - 3, width, 2), 1, 1)

    # choosing

    def _slot_at(self, point: QPointF) -> int:
        laid = self._plan()
        return next((n for n in range(len(self.slots())) if laid.cell(n).contains(point)), -1)

    def _open(self, number: int) -> None:
        slots = self.slots()
        if 0 <= number < len(slots) and slots[number].task_id:
            self.task_wanted.emit(slots[number].task_id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Light the cell under the mouse."""
        before, self._hover = self._hover, self._slot_at(event.position())
        if before != self._hover:
            busy = self._hover >= 0 and bool(self.slots()[self._hover].task_id)
            self.setCursor(Qt.CursorShape.PointingHandCursor if busy else Qt.CursorShape.ArrowCursor)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Drop the light."""
        self._hover = -1
        self.update()
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open the task of a cell."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._at = self._slot_at(event.position())
            self._open(self._at)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Begin at the first cell when the keyboard came by a key."""
        keys = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        if event.reason() in keys and self._at < 0 and self.slots():
            self._at = 0
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between cells by arrows, open by Enter."""
        columns = self._plan().columns
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -columns,
            Qt.Key.Key_Down: columns,
        }
        step = steps.get(Qt.Key(event.key()))
        if step is not None:
            self._at = min(len(self.slots()) - 1, max(0, self._at + step))
            self.update()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self._at)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Tell what a cell holds."""
        if isinstance(event, QHelpEvent):
            number = self._slot_at(QPointF(event.pos()))
            if number >= 0:
                missing = self._now is not None and self._now.missing
                words = slot_words(self.slots()[number], self._names, self._now_ms, missing=missing)
                QToolTip.showText(event.globalPos(), safe.tooltip(words), self)
                return True
        return super().event(event)


def _paint_free(painter: QPainter, cell: QRectF, *, faint: bool) -> None:
    pen = QPen(theme().color("line" if faint else "line2"), 1, Qt.PenStyle.DashLine)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CELL, RADIUS_CELL)


def _words(painter: QPainter, room: QRectF, words: str, role: str) -> None:
    font = theme().font("caption", tabular=False)
    painter.setFont(font)
    painter.setPen(theme().color(role))
    cut = QFontMetrics(font).elidedText(safe.one_line(words, 60), _CUT, int(room.width()))
    painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), cut)
