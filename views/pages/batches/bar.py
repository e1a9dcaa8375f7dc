"""Bars and boxes of a batch, painted: the parts of it from done to dead, and what waits for what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.domain.insight.batch import CANCELLED, DEAD, PARTS, Box, Story
from services.i18n import _
from views.pages.batches import words
from views.support import text
from views.support.look import set_look
from views.support.paint import draw_focus
from views.theme import theme

HEIGHT, BOX_WIDTH, BOX_HEIGHT, GAP, HEAD = 9, 176, 46, 12, 24
LINK = 54
WITHIN = 62  #: most of what a box says of its platform or group
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def paint_bar(painter: QPainter, room: QRectF, parts: Mapping[str, int]) -> None:
    """Draw the parts of a batch; each that there is has a pixel at least."""
    total = sum(parts.values())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().color("line"))
    painter.drawRoundedRect(room, room.height() / 2, room.height() / 2)
    if not total:
        return
    left = room.left()
    for part in PARTS:
        number = parts.get(part, 0)
        if number:
            width = max(1.5, room.width() * number / total)
            width = min(width, room.right() - left)
            painter.fillRect(
                QRectF(left, room.top(), max(0.0, width - 1), room.height()), theme().color(words.PARTS[part][0])
            )
            left += width


def _reached(key: tuple[str, str], ways: Sequence[tuple[tuple[str, str], tuple[str, str]]]) -> Set[tuple[str, str]]:
    """It, and all that is reached from it by these ways."""
    found, left = {key}, [key]
    while left:
        here = left.pop()
        fresh = {there for begin, there in ways if begin == here} - found
        found |= fresh
        left += fresh
    return found


class BatchBar(QWidget):
    """The bar of one batch."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: Mapping[str, int] = {}
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def show_parts(self, parts: Mapping[str, int]) -> None:
        """Show these."""
        self._parts = dict(parts)
        said = (f"{_(words.PARTS[part][1])} {text.count(parts[part])}" for part in PARTS if parts.get(part))
        self.setAccessibleName(text.listed(said))
        self.update()

    def sizeHint(self) -> QSize:
        """Return a strip."""
        return QSize(200, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_bar(painter, QRectF(self.rect()), self._parts)


class Boxes(QWidget):
    """One box for each type and platform, a column for each step; arrows go from one to the next.

    Signals:
        chosen: a box was clicked, None to let go: its type and platform.
        opened: its tasks are wanted: type and platform.
    """

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._story = Story()
        self._called: Callable[[str], str] = words.badge
        self._places: dict[tuple[str, str], QRectF] = {}
        self._cursor: tuple[str, str] | None = None
        self._hover: tuple[str, str] | None = None
        self._picked: tuple[str, str] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_look(self)
        theme().changed.connect(self.update)

    @property
    def picked(self) -> tuple[str, str] | None:
        """The box that is chosen."""
        return self._picked

    def show_story(self, story: Story, called: Callable[[str], str] = words.badge) -> None:
        """Show the boxes of a batch; ``called``: how the platform or group of one is."""
        if story == self._story and called == self._called:
            return
        self._story, self._called = story, called
        keys = {box.key for box in story.boxes}
        self._cursor = self._cursor if self._cursor in keys else next((box.key for box in story.boxes), None)
        self._picked = self._picked if self._picked in keys else None
        self._lay_out()
        self._say()
        self.updateGeometry()
        self.update()

    def boxes(self) -> tuple[Box, ...]:
        """Those shown."""
        return self._story.boxes

    def lit(self) -> tuple[Set[tuple[str, str]], ...]:
        """The box under the mouse, or under the cursor of the keys, with all that it waits for, and with all that waits
        for it; nothing where there is none.
        """
        found = self._hover or (self._cursor if self.hasFocus() else None)
        if found is None:
            return ()
        ways = [(edge.before, edge.after) for edge in self._story.edges]
        return _reached(found, [(after, before) for before, after in ways]), _reached(found, ways)

    def place(self, key: tuple[str, str]) -> QRectF:
        """Where a box is."""
        return self._places[key]

    def _lay_out(self) -> None:
        self._places.clear()
        rows: dict[int, int] = {}
        for box in self._story.boxes:
            row = rows.get(box.depth, 0)
            rows[box.depth] = row + 1
            left, top = box.depth * (BOX_WIDTH + LINK), HEAD + row * (BOX_HEIGHT + GAP)
            self._places[box.key] = QRectF(left + 1, top + 1, BOX_WIDTH, BOX_HEIGHT)
        most = max(rows.values(), default=0)
        self.setMinimumWidth(round(max((place.right() for place in self._places.values()), default=0)) + 4)
        self.setFixedHeight(HEAD + most * (BOX_HEIGHT + GAP) + 2 if most else HEAD)

    def _say(self) -> None:
        box = next((one for one in self._story.boxes if one.key == self._cursor), None)
        self.setAccessibleName(_("What waits for what"))
        self.setAccessibleDescription(words.box_title(box, self._called) if box is not None else "")

    # input

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Light the box under the mouse, and say what it is."""
        found = self._at(event.position())
        if found != self._hover:
            self._hover = found
            box = next((one for one in self._story.boxes if one.key == found), None)
            self.setToolTip(words.box_title(box, self._called) if box is not None else "")
            self.update()

    def event(self, event: QEvent) -> bool:
        """Esc is for the box that is chosen before it is for the window."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self._picked is not None:
            event.accept()  # as a key, not as a shortcut
        return super().event(event)

    def leaveEvent(self, event: QEvent) -> None:
        """No box is under the mouse any more."""
        super().leaveEvent(event)
        self._hover = None
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a box, or let it go."""
        found = self._at(event.position())
        if found is not None:
            self._cursor = found
            self._pick(found)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the tasks of a box."""
        found = self._at(event.position())
        if found is not None:
            self.opened.emit(found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go between boxes, Space chooses one, Esc lets it go, Enter opens its tasks."""
        moves = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        key = Qt.Key(event.key())
        if key in moves and self._cursor is not None:
            self._move(*moves[key])
        elif key == Qt.Key.Key_Space and self._cursor is not None:
            self._pick(self._cursor)
        elif key == Qt.Key.Key_Escape and self._picked is not None:
            self._pick(self._picked)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._cursor is not None:
            self.opened.emit(self._cursor)
        else:
            super().keyPressEvent(event)

    def _move(self, across: int, down: int) -> None:
        here = self._places[self._cursor or ("", "")].center()
        want = QPointF(here.x() + across * (BOX_WIDTH + LINK), here.y() + down * (BOX_HEIGHT + GAP))
        there = [
            (abs(place.center().x() - want.x()) * 3 + abs(place.center().y() - want.y()), key)
            for key, place in self._places.items()
            if key != self._cursor
            and (not across or (place.center().x() - here.x()) * across > 0)
            and (not down or (abs(place.center().x() - here.x()) < 1 and (place.center().y() - here.y()) * down > 0))
        ]
        if there:
            self._cursor = min(there)[1]
            self._say()
            self.update()

    def _pick(self, key: tuple[str, str]) -> None:
        self._picked = None if self._picked == key else key
        self._say()
        self.update()
        self.chosen.emit(self._picked)

    def _at(self, point: QPointF) -> tuple[str, str] | None:
        return next((key for key, place in self._places.items() if place.contains(point)), None)

    # painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw links below boxes, and the type above each column."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lit = self.lit()
        for edge in self._story.edges:
            role = "accent" if any({edge.before, edge.after} <= part for part in lit) else "line2"
            self._paint_link(painter, self._places[edge.before], self._places[edge.after], role, edge.all_to_one)
        self._paint_links_said(painter)
        self._paint_heads(painter)
        for box in self._story.boxes:
            self._paint_box(painter, self._places[box.key], box, lit=any(box.key in part for part in lit))

    def _paint_link(self, painter: QPainter, before: QRectF, after: QRectF, role: str, wedge: bool) -> None:
        start, end = QPointF(before.right(), before.center().y()), QPointF(after.left() - 5, after.center().y())
        painter.setPen(QPen(theme().color(role), 1.2))
        if wedge:
            painter.setBrush(theme().tint(role, 30))
            spread = BOX_HEIGHT / 2 - 6
            painter.drawPolygon(
                QPolygonF([QPointF(start.x(), start.y() - spread), end, QPointF(start.x(), start.y() + spread)])
            )
        else:
            for shift in (-2.5, 2.5):
                painter.drawLine(QPointF(start.x(), start.y() + shift), QPointF(end.x(), end.y() + shift))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(role))
        tip = QPointF(after.left(), after.center().y())
        painter.drawPolygon(QPolygonF([tip, QPointF(tip.x() - 6, tip.y() - 4), QPointF(tip.x() - 6, tip.y() + 4)]))

    def _paint_links_said(self, painter: QPainter) -> None:
        """Above the first link of each gap between two columns, how many of which wait for how many."""
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("text3"))
        said: set[int] = set()
        for edge in self._story.edges:
            before, after = self._places[edge.before], self._places[edge.after]
            if (depth := round(before.left())) not in said and after.left() - before.right() < 2 * LINK:
                said.add(depth)
                room = QRectF(before.right(), min(before.top(), after.top()) - 6, LINK, 16)
                painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), words.link(all_to_one=edge.all_to_one))

    def _paint_heads(self, painter: QPainter) -> None:
        font = theme().font("labelstrong")
        painter.setFont(font)
        columns: dict[int, dict[str, tuple[int, int]]] = {}
        for box in self._story.boxes:
            found = columns.setdefault(box.depth, {})
            done, total = found.get(box.task_type, (0, 0))
            found[box.task_type] = done + box.done, total + box.total
        for depth, types in columns.items():
            left = depth * (BOX_WIDTH + LINK)
            said = text.listed(words.type_done(name, *numbers) for name, numbers in types.items())
            said = QFontMetrics(font).elidedText(said, Qt.TextElideMode.ElideRight, BOX_WIDTH + LINK - 10)
            painter.setPen(theme().color("text2"))
            painter.drawText(QRectF(left, 0, BOX_WIDTH + LINK, HEAD - 4), _LEFT, said)

    def _paint_box(self, painter: QPainter, place: QRectF, box: Box, *, lit: bool) -> None:
        chosen = box.key == self._picked
        painter.setBrush(theme().color("sel" if chosen else "hover" if box.key == self._hover else "raised"))
        painter.setPen(theme().color("selline" if chosen else "accent" if lit else "line2"))
        painter.drawRoundedRect(place, 6, 6)
        if self.hasFocus() and box.key == self._cursor:
            draw_focus(painter, place.adjusted(-1, -1, 1, 1), 6)
        inner = place.adjusted(9, 5, -9, -8)
        left = inner.left()
        if called := self._called(box.within):
            metrics = QFontMetrics(theme().font("badge"))
            badge = metrics.elidedText(called, Qt.TextElideMode.ElideRight, WITHIN)
            painter.setFont(theme().font("badge"))
            painter.setPen(theme().color("text2"))
            painter.drawText(QRectF(left, inner.top(), WITHIN + 8, 20), _LEFT, badge)
            left += metrics.horizontalAdvance(badge) + 7
        painter.setFont(theme().font("labelstrong", tabular=True))
        painter.setPen(theme().color("text"))
        said = _("{n} of {all}").format(n=text.count(box.done), all=text.count(box.total))
        painter.drawText(QRectF(left, inner.top(), inner.right() - left, 20), _LEFT, said)
        used = left + QFontMetrics(theme().font("labelstrong")).horizontalAdvance(said) + 6
        if box.worst and box.worst != CANCELLED:
            role = words.PARTS[box.worst][0] if box.worst == DEAD else "text3"
            painter.setFont(theme().font("label"))
            painter.setPen(theme().color(role))
            word = f"{text.count(box.counts[box.worst])} {_(words.PARTS[box.worst][1]).lower()}"
            word = QFontMetrics(theme().font("label")).elidedText(
                word, Qt.TextElideMode.ElideRight, max(0, round(inner.right() - used))
            )
            painter.drawText(QRectF(used, inner.top(), inner.right() - used, 20), _RIGHT, word)
        paint_bar(painter, QRectF(inner.left(), inner.bottom() - 6, inner.width(), 6), box.counts)
