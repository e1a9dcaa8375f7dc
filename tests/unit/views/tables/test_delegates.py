"""How much room a cell wants, and that only what is dirty is drawn."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from tests.unit.views.samples import COLUMNS, sample_rows
from views.tables.delegates import CellDelegate
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme


def test_columns_can_be_fitted_to_their_content(qtbot: QtBot) -> None:
    model = RecordModel(COLUMNS, lambda row: row.id, tickable=True)
    model.apply(sample_rows(20))
    table = TableView(model)
    qtbot.addWidget(table)
    delegate = table.itemDelegate()
    assert isinstance(delegate, CellDelegate)
    option = QStyleOptionViewItem()
    shop = delegate.sizeHint(option, model.index(0, model.section_of("shop")))
    status = delegate.sizeHint(option, model.index(0, model.section_of("worker")))
    assert shop.width() > status.width() >= 28
    table.resizeColumnsToContents()


def test_only_dirty_rows_are_drawn(qtbot: QtBot) -> None:
    model = RecordModel(COLUMNS, lambda row: row.id, tickable=True)
    model.apply(sample_rows(20))
    table = TableView(model)
    qtbot.addWidget(table)
    table.resize(900, 400)
    table.show()
    image = QImage(900, 400, QImage.Format.Format_RGB32)
    image.fill(theme().color("dead"))
    painter = QPainter(image)
    delegate = table.itemDelegate()
    assert isinstance(delegate, CellDelegate)
    delegate.paint_rows(painter, table, QRect(0, 28, 900, 28), model)
    painter.end()
    assert image.pixelColor(500, 100) == theme().color("dead")
    assert image.pixelColor(5, 30) == theme().color("table")
