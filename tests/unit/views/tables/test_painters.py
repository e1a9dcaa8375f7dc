"""Cells are drawn; what a kind cannot draw it leaves blank."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from views.tables import painters
from views.tables.column import Attempts, Column, Progress
from views.tables.painters import Cell, Ink
from views.theme import theme

ROOM = QRect(4, 0, 120, 27)


def draw(
    kind: str,
    value: object,
    *,
    dimmed: bool = False,
    ticked: bool = False,
    room: QRect = ROOM,
    ink: Ink | None = None,
    **options: object,
) -> QImage:
    image = QImage(140, 28, QImage.Format.Format_RGB32)
    image.fill(theme().color("table"))
    painter = QPainter(image)
    column = Column[object](key="x", title="X", value=lambda _record: value, kind=kind, **options)  # type: ignore[arg-type]
    painters.painter_of(kind)(painter, room, Cell(None, column, dimmed, ticked), ink or Ink())
    painter.end()
    return image


def test_a_reason_is_whole_before_it_says_when(qapp: QApplication) -> None:
    narrow = QRect(0, 0, Ink().width("same work runs · 20", "table"), 28)
    assert draw("progress", Progress(None, "same work runs · 20 to 70 s"), room=narrow) == draw(
        "progress", Progress(None, "same work runs"), room=narrow
    )


BLANK = "nothing"


def blank() -> QImage:
    image = QImage(140, 28, QImage.Format.Format_RGB32)
    image.fill(theme().color("table"))
    return image


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", "sync_order"),
        ("strong", "sync_order"),
        ("number", 12),
        ("mono", "pdd-10021"),
        ("link", "rpa-03"),
        ("glyph", "retrying"),
        ("status", "dead"),
        ("lane", "high"),
        ("lane", "unknown lane"),
        ("badge", "pdd"),
        ("attempts", Attempts(2, 3, "retrying")),
        ("attempts", Attempts(7, 20, "retrying")),
        ("progress", Progress(0.4, "40 %")),
        ("progress", Progress(None, "needs login", "retrying")),
        ("tick", None),
        ("a kind nobody knows", "text"),
    ],
)
def test_each_kind_draws_and_dims(kind: str, value: object, qapp: QApplication) -> None:
    assert draw(kind, value) != blank()
    if kind != "tick":
        assert draw(kind, value) != draw(kind, value, dimmed=True) or kind in ("badge", "lane", "progress")


@pytest.mark.parametrize(
    ("kind", "value"), [("text", ""), ("text", None), ("badge", ""), ("attempts", "2/3"), ("progress", 0.5)]
)
def test_no_value_is_blank(kind: str, value: object, qapp: QApplication) -> None:
    assert draw(kind, value) == blank()


def test_nothing_is_drawn_without_room(qapp: QApplication) -> None:
    assert draw("text", "sync_order", room=QRect(4, 0, 0, 27)) == blank()


def test_long_text_is_cut_inside_its_room(qapp: QApplication) -> None:
    image = draw("text", "a very long text that does not fit", room=QRect(4, 0, 40, 27))
    right = image.copy(48, 0, 90, 28)
    assert right == blank().copy(48, 0, 90, 28)


def test_tricky_text_is_drawn_as_its_code(qapp: QApplication) -> None:
    assert draw("text", "a\u202eb") == draw("text", "a<U+202E>b")


def test_boxes_show_three_states(qapp: QApplication) -> None:
    images = []
    for state in Qt.CheckState:
        image = blank()
        painter = QPainter(image)
        painters.paint_box(painter, ROOM, state)
        painter.end()
        images.append(image)
    assert images[0] != images[1] != images[2] != images[0]


def test_ink_forgets_with_the_theme(qapp: QApplication) -> None:
    ink = Ink()
    dark = draw("glyph", "retrying", ink=ink)
    theme().set_mode("light")
    ink.forget()
    assert draw("glyph", "retrying", ink=ink) != dark


def test_a_page_may_add_a_kind(qapp: QApplication) -> None:
    def paint(painter: QPainter, room: QRect, _cell: Cell, _ink: Ink) -> None:
        painter.fillRect(room, Qt.GlobalColor.red)

    painters.register("test.block", paint)
    assert draw("test.block", None).pixelColor(10, 10) == Qt.GlobalColor.red
    assert not painters.is_own("test.block")
    assert painters.is_own("lane")


def test_kept_texts_are_bounded(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painters, "_KEPT_TEXTS", 10)
    ink = Ink()
    for number in range(50):
        draw("text", f"row {number}", ink=ink)
    assert len(ink._texts) <= 11
