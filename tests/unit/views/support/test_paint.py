"""Latin and Chinese words stand on one line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, QSize
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QPainterPath
from PySide6.QtWidgets import QApplication

from views.support.paint import cut, draw_box, draw_line, width_of, write
from views.theme import theme

#: by how much a point of a curve may be lighter or darker where it is flattened another way
EDGE = 60


def columns_with_ink(text: str, *, right: bool = False) -> list[int]:
    image = QImage(200, 30, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter = QPainter(image)
    painter.setFont(theme().font("body"))
    painter.setPen(theme().color("white"))
    draw_line(painter, QRect(10, 0, 180, 30), text, right=right)
    painter.end()
    return [x for x in range(200) if any(image.pixelColor(x, y).lightness() > 60 for y in range(30))]


def test_text_begins_or_ends_at_the_edge(qapp: QApplication) -> None:
    assert 10 <= columns_with_ink("Status")[0] <= 12
    assert 187 <= columns_with_ink("Status", right=True)[-1] <= 190


def test_a_word_keeps_its_place_beside_chinese(qapp: QApplication) -> None:
    alone, beside = columns_with_ink("H"), columns_with_ink("H 状态")
    assert beside[: len(alone)] == alone


def picture(paint: Callable[[QPainter], object], ratio: float = 1.0) -> QImage:
    image = QImage(QSize(160, 40) * ratio, QImage.Format.Format_Grayscale8)
    image.setDevicePixelRatio(ratio)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint(painter)
    painter.end()
    return image


@pytest.mark.parametrize("text", ["Open the list", "打开 the list"])
@pytest.mark.parametrize("kind", ["label", "strong", "kpi", "mono"])
def test_words_that_stay_laid_out_look_like_those_drawn_anew(qapp: QApplication, text: str, kind: str) -> None:
    def anew(painter: QPainter) -> None:
        painter.setFont(theme().font(kind))
        painter.setPen(theme().color("accent"))
        draw_line(painter, QRect(4, 3, 150, 31), text)

    kept = picture(lambda painter: write(painter, QRect(4, 3, 150, 31), text, kind, "accent"))
    assert kept == picture(anew)
    assert width_of(text, kind) == QFontMetrics(theme().font(kind)).horizontalAdvance(text)


@pytest.mark.parametrize("ratio", [1.5, 2.0])
@pytest.mark.parametrize("kind", ["label", "kpi"])
def test_what_was_kept_on_one_screen_is_as_sharp_on_another(qapp: QApplication, ratio: float, kind: str) -> None:
    room, box = QRect(12, 6, 140, 28), QRect(3, 4, 150, 32)

    def kept(painter: QPainter) -> None:
        draw_box(painter, box, 6, theme().color("white"), None)
        write(painter, room, "打开 1,284", kind, "accent")

    def anew(painter: QPainter) -> None:
        outer, inner = QPainterPath(), QPainterPath()
        outer.addRoundedRect(QRectF(box), 6.5, 6.5)
        inner.addRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), 5.5, 5.5)
        painter.fillPath(outer.subtracted(inner), theme().color("white"))
        painter.setFont(theme().font(kind))
        painter.setPen(theme().color("accent"))
        draw_line(painter, room, "打开 1,284")

    picture(kept)  # on a screen without a scale first, as where a window is moved to another
    drawn, expected = picture(kept, ratio), picture(anew, ratio)
    inside = QRect(QPoint(0, 0), drawn.size())
    off = [
        abs(drawn.pixelColor(x, y).lightness() - expected.pixelColor(x, y).lightness())
        for x in range(inside.width())
        for y in range(inside.height())
    ]
    assert max(off) <= EDGE, "letters or an edge are drawn from a picture of another scale"
    assert sum(one > 0 for one in off) < len(off) / 100


def test_words_are_cut_where_the_room_ends(qapp: QApplication) -> None:
    whole = width_of("Dead letters", "label")
    assert cut("Dead letters", "label", whole) == "Dead letters"
    short = cut("Dead letters", "label", whole - 1)
    assert short.endswith("…")
    assert width_of(short, "label") < whole


def test_a_box_lies_where_a_pen_would_draw_it(qapp: QApplication) -> None:
    def by_pen(painter: QPainter) -> None:
        painter.setPen(theme().color("white"))
        painter.setBrush(theme().color("hover"))
        painter.drawRoundedRect(QRectF(3.5, 4.5, 119, 27), 6, 6)

    box, edge, fill = QRect(3, 4, 120, 28), theme().color("white"), theme().color("hover")
    drawn, pen = picture(lambda painter: draw_box(painter, box, 6, edge, fill)), picture(by_pen)
    off = [
        (x, y)
        for x in range(160)
        for y in range(40)
        if drawn.pixelColor(x, y).lightness() != pen.pixelColor(x, y).lightness()
    ]
    corners = [min(x - 3, 122 - x) < 7 and min(y - 4, 31 - y) < 7 for x, y in off]
    assert all(corners)  # there a curve is flattened another way
