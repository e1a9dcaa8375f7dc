"""The list of causes: count, name, reach and history of each, painted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from services.domain.insight.cause import LEVELS
from services.i18n import N_, _, is_chinese
from services.monitor.letters.causes import BARS, Cause
from views.pages.dead_letters import words
from views.support import instant, text
from views.support.language import on_language_changed, say_in_language
from views.support.paint import cut, draw_focus, width_of, write
from views.support.words import verdicts
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.theme import theme

HEIGHT, COUNT, PAD = 106, 40, 16
COUNT_GAP = 10
TITLE_LINE = 18
GLYPH, GLYPH_GAP = 14, 6
BAR_GAP, BARS_HEIGHT, BARS_ABOVE, WIDE = 1, 18, 20, 270
PART_GAP, TYPE_GAP = 12, 7
RECENT_MS = 3_600_000
ROOM = 64  #: causes whose heights are kept at least
LATELY = 4  #: of the equal spans of a history

COLUMNS: tuple[Column[Cause], ...] = (
    Column(
        key="cause",
        title=N_("Cause"),
        value=lambda cause: (cause.count, cause.rule, cause.worth.level),
        text=words.heading,
        speech=words.sentence,
        tooltip=words.tip,
    ),
)
#: key, source text, order
SORTS: tuple[tuple[str, str, Callable[[Cause], tuple[int, ...]]], ...] = (
    ("urgent", N_("Most urgent"), lambda cause: cause.rank),
    ("most", N_("Most tasks"), lambda cause: (-cause.count, -cause.last_at)),
    ("newest", N_("Newest"), lambda cause: (-cause.last_at, -cause.count)),
    ("worth", N_("Worth retrying first"), lambda cause: (LEVELS.index(cause.worth.level), -cause.count)),
    ("rising", N_("Rising"), lambda cause: (-_rise(cause), -cause.count)),
)


def _rise(cause: Cause) -> int:
    """How much more often it came lately than before: what always comes often does not rise."""
    lately, before = cause.history[-LATELY:], cause.history[:-LATELY]
    return sum(lately) * len(before) - sum(before) * len(lately)


def ordered(causes: Iterable[Cause], sort: str) -> list[Cause]:
    """The causes in one of the orders of ``SORTS``."""
    key = next((order for name, _title, order in SORTS if name == sort), SORTS[0][2])
    return sorted(causes, key=key)


class CauseList(QListView):
    """Causes; live updates change numbers in place and never move a row.

    Signals:
        chosen: fingerprint of the cause under the cursor.
        menu_wanted: fingerprint, and where on the screen.
    """

    chosen = Signal(str)
    menu_wanted = Signal(str, QPoint)

    def __init__(self) -> None:
        super().__init__()
        self.causes: RecordModel[Cause] = RecordModel(
            COLUMNS, key=lambda cause: cause.fingerprint, hold_new=False, sentence=words.sentence
        )
        self.setModel(self.causes)
        self.setItemDelegate(CauseDelegate(self))
        self.setMouseTracking(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setProperty("panel", "table")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().currentChanged.connect(self._on_current)
        theme().changed.connect(self._restyle)
        say_in_language(self._restyle)

    def current(self) -> str:
        """Fingerprint under the cursor, "" for none."""
        index = self.currentIndex()
        return str(self.causes.key_at(index.row())) if index.isValid() else ""

    def choose(self, fingerprint: str) -> bool:
        """Move the cursor; False when the cause is not there."""
        row = self.causes.row_of(fingerprint)
        if row < 0:
            return False
        self.setCurrentIndex(self.causes.index(row, 0))
        return True

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self.chosen.emit(str(self.causes.key_at(current.row())) if current.isValid() else "")

    def _on_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        index = index if index.isValid() else self.currentIndex()
        if index.isValid():
            self.setCurrentIndex(index)
            self.menu_wanted.emit(str(self.causes.key_at(index.row())), self.viewport().mapToGlobal(place))

    def _restyle(self) -> None:
        self.setAccessibleName(_("Causes"))
        self.viewport().update()


class CauseDelegate(QStyledItemDelegate):
    """Draws one cause in four lines with the history of its deaths; a long title takes a fifth."""

    def __init__(self, parent: QListView) -> None:
        super().__init__(parent)
        #: what was measured, by fingerprint: a list asks for all of its hundreds when one has another number
        self._heights: dict[str, tuple[Cause, int, QSize]] = {}
        theme().changed.connect(self._forget)
        on_language_changed(self._forget)

    def _forget(self) -> None:
        self._heights.clear()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the height at the width of the list."""
        model, view = index.model(), option.widget
        width = view.viewport().width() if isinstance(view, QListView) else 240
        if not isinstance(model, RecordModel):
            return QSize(240, HEIGHT)
        cause: Cause = model.record(index.row())
        known = self._heights.get(cause.fingerprint)
        if known is not None and known[0] is cause and known[1] == width:
            return known[2]
        if len(self._heights) > 2 * max(ROOM, model.rowCount()):  # most of them are gone
            self._forget()
        lines = title_lines(words.title(cause), width - 2 * PAD - _count_room(cause))
        size = QSize(240, HEIGHT + (len(lines) - 1) * TITLE_LINE)
        self._heights[cause.fingerprint] = cause, width, size
        return size

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the cause."""
        model = index.model()
        if not isinstance(model, RecordModel):
            return
        cause: Cause = model.record(index.row())
        room: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint_ground(painter, room, state)
        inner = room.adjusted(PAD, 11, -PAD, -11)
        self._paint_count(painter, inner, cause)
        bars = self._paint_bars(painter, inner, cause)
        self._paint_lines(painter, inner.adjusted(_count_room(cause), 0, 0, 0), bars, cause)
        painter.restore()

    @staticmethod
    def _paint_count(painter: QPainter, inner: QRect, cause: Cause) -> None:
        recent = instant.now_ms() - cause.last_at < RECENT_MS
        room, ink = QRect(inner.left(), inner.top(), _count_room(cause), 20), "dead" if recent else "text"
        write(painter, room, text.compact(cause.count), "panel", ink, tabular=True)

    @staticmethod
    def _paint_bars(painter: QPainter, inner: QRect, cause: Cause) -> int:
        """Draw the history beside the answer, so that title and reach have the whole width; return where it begins.

        The answer is whole: where it needs the room, only the newest bars are drawn.
        """
        bar = 3 if inner.width() >= WIDE else 2
        answer = width_of(verdicts.word(cause.worth, cause.count), "label")
        room = inner.width() - _count_room(cause) - GLYPH - GLYPH_GAP - answer - 2 * PART_GAP
        shown = max(0, min(BARS, room // (bar + BAR_GAP)))
        left = inner.right() - shown * (bar + BAR_GAP) + BAR_GAP
        base = inner.bottom() - BARS_ABOVE
        most = max(cause.history, default=0)
        line = QPen(theme().color("line2"), 1, Qt.PenStyle.DotLine)
        painter.setPen(line)
        painter.drawLine(QPointF(left, base + 0.5), QPointF(inner.right(), base + 0.5))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("deadfill"))
        for number, deaths in enumerate(cause.history[-shown:] if shown else ()):
            if deaths:
                height = max(2.0, BARS_HEIGHT * deaths / most)
                painter.drawRect(QRectF(left + number * (bar + BAR_GAP), base - height, bar, height))
        return left

    @staticmethod
    def _paint_lines(painter: QPainter, room: QRect, bars: int, cause: Cause) -> None:
        lines = title_lines(words.title(cause), room.width())
        for line in lines[:-1]:
            _line(painter, QRect(room.left(), room.top(), room.width(), 20), line, "strong", "text")
            room = room.adjusted(0, TITLE_LINE, 0, 0)
        told = _title_line(painter, QRect(room.left(), room.top(), room.width(), 20), cause, lines[-1])
        second = QRect(room.left(), room.top() + 22, room.width(), 18)
        parts = (words.detail(cause),) if told else (words.types(cause), words.detail(cause))
        _line(painter, second, " · ".join(part for part in parts if part), "label", "text2")
        _worth_line(painter, QRect(room.left(), room.top() + 43, bars - PART_GAP - room.left(), 18), cause)
        now = instant.now_ms()
        first, last = words.span(cause, now)
        ignored = words.rule_words(cause, now)
        scope, goes = words.short(cause), words.trend(cause)
        reach = (scope, goes) if goes else (scope,)
        choices = (
            ((scope, ignored), (ignored,)) if ignored else ((*reach, first, last), (*reach, last), reach, (scope,))
        )
        right = room.right()
        fitting = (parts for parts in choices if _width(parts) <= right - room.left())
        left = room.left()
        for part in next(fitting, choices[-1]):
            fourth = QRect(left, room.top() + 65, right - left, 18)
            left += _line(painter, fourth, part, "label", "text3") + PART_GAP


def _count_room(cause: Cause) -> int:
    """Where the words begin: thousands, and larger letters, need more than the rows beside them."""
    return max(COUNT, width_of(text.compact(cause.count), "panel", tabular=True) + COUNT_GAP)


def _paint_ground(painter: QPainter, room: QRect, state: QStyle.StateFlag) -> None:
    selected = bool(state & QStyle.StateFlag.State_Selected)
    hovered = bool(state & QStyle.StateFlag.State_MouseOver)
    painter.fillRect(room, theme().color("sel" if selected else "hover" if hovered else "table"))
    painter.fillRect(QRect(room.left(), room.bottom(), room.width(), 1), theme().color("line"))
    if selected:
        painter.fillRect(QRect(room.left(), room.top(), 3, room.height() - 1), theme().color("accent"))
    if state & QStyle.StateFlag.State_HasFocus:
        draw_focus(painter, room.adjusted(0, 0, 0, -1), 3)


def title_lines(title: str, width: int) -> list[str]:
    """A title on one line, or on two where it needs them: what an error names stands at the end of it."""
    if width_of(title, "strong") <= width:
        return [title]
    seam = _seam(title, max(40, width), is_chinese(), theme().text_size)
    return [title[:seam].rstrip(), title[seam:]] if seam < len(title) else [title]


@lru_cache(maxsize=512)
def _seam(title: str, width: int, _chinese: bool, _percent: int) -> int:
    """Where the first line of a title ends, in the size of text of the moment."""
    layout = QTextLayout(title, theme().font("strong"))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(width)
    layout.endLayout()
    return line.textLength()


def _title_line(painter: QPainter, room: QRect, cause: Cause, title: str) -> bool:
    """Draw the (last line of the) title, and the task type where both fit whole; tell whether they did. It tells equal
    causes apart."""
    kind = words.types(cause)
    needed = width_of(title, "strong") + TYPE_GAP
    fits = needed + width_of(kind, "label") <= room.width()
    _line(painter, room, title, "strong", "text")
    if fits:
        _line(painter, room.adjusted(needed, 0, 0, 0), kind, "label", "text2")
    return fits


def _worth_line(painter: QPainter, room: QRect, cause: Cause) -> None:
    """Draw whether its letters would pass now: glyph, word and colour."""
    found = verdicts.look(cause.worth)
    painter.drawPixmap(
        QPointF(room.left(), room.top() + (room.height() - GLYPH) / 2), theme().pixmap(found.glyph, found.role, GLYPH)
    )
    rest = room.adjusted(GLYPH + GLYPH_GAP, 0, 0, 0)
    _line(painter, rest, verdicts.word(cause.worth, cause.count), "label", found.role)


def _width(parts: tuple[str, ...]) -> int:
    return sum(width_of(part, "label") + PART_GAP for part in parts) - PART_GAP


def _line(painter: QPainter, room: QRect, words_: str, kind: str, role: str) -> int:
    """Draw one line, cut at the end; return its width."""
    if room.width() < 12:
        return 0
    return write(painter, room, cut(words_, kind, room.width()), kind, role)
