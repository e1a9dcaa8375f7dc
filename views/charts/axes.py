"""What stands around the curves: labels, markers, words on the limit, holes in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen

from views.theme import theme

LABEL_ROOM = 76
_TOP, _RIGHT, _BOTTOM = 8, 14, 22
_GAP = 8
#: the least that can be seen of a hole in time, pixels
_LEAST_HOLE = 2.0
_FLAGS_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_FLAGS_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)
Say = Callable[[float], str]


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


def paint_limit(painter: QPainter, rect: QRectF, share: float, words: str) -> None:
    """Name the limit just above its line, below it where there is no room; one out of sight is named at the top."""
    y = rect.bottom() - min(1.0, share) * rect.height()
    painter.setFont(theme().font("caption"))
    painter.setPen(theme().color("retrying" if share <= 1 else "text3"))
    above = share > 1 or y - 18 >= rect.top()
    words = words if share <= 1 else f"{words} ↑"
    box = QRectF(rect.left() + 4, max(rect.top(), y - 18) if above else y + 2, rect.width() - 8, 16)
    # a line of the grid would strike the words out
    wide = QFontMetrics(theme().font("caption")).horizontalAdvance(words)
    painter.fillRect(
        QRectF(box.left() - 2, box.top(), min(wide + 4, box.width() + 4), box.height()), theme().color("surface")
    )
    painter.drawText(box, _FLAGS_LEFT, words)


def paint_markers(painter: QPainter, rect: QRectF, marks: Sequence[tuple[float, str, str]]) -> None:
    """Draw dotted lines with words at the top; words that would meet others, or a dot, go lower."""
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
        row = next((row for row, end in enumerate(ends) if left >= end and not (covers and row == 0)), -1)
        if row < 0:
            continue
        ends[row] = left + width + 8
        said.append((QRectF(left, rect.top() - 4 + row * 14, width + 2, 18), words))
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
        painter.fillRect(room, theme().color("surface"))
        painter.fillRect(room, theme().tint("text3", 7))
        if QFontMetrics(font).horizontalAdvance(words) + 8 < room.width():
            painter.setFont(font)
            painter.setPen(theme().color("text3"))
            painter.drawText(room, _CENTRE, words)


def _dots(role: str) -> QPen:
    pen = QPen(theme().color(role), 1)
    pen.setDashPattern([2, 3])
    return pen
