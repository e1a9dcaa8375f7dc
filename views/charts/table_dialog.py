"""The points of a chart as a table: for screen readers, and for those who want the numbers."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.charts.series import Frame
from views.support import shown
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView

#: What a chart tells the table: key, words, and how a value reads.
Shown = tuple[str, str, Callable[[float], str]]


class TableDialog(QDialog):
    """A snapshot of what the chart showed when it was opened, newest first; Ctrl+C copies a cell, with Shift rows."""

    def __init__(self, title: str, frame: Frame, columns: tuple[Shown, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(_(title))
        self.resize(140 + 110 * len(columns), 480)
        made = (_time_column(frame), *(_column(frame, *one) for one in columns))
        self.model: RecordModel[int] = RecordModel(made, key=int, hold_new=False)
        self.model.apply(list(range(len(frame) - 1, -1, -1)))
        self.table = TableView(self.model, title)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.table)


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
