"""Latin and Chinese words stand on one line."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from views.support.paint import draw_line
from views.theme import theme


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
