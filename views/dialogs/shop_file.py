"""Shops from a file: choose it, say which columns count; its lines go into the list that can be corrected."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from services.commands.sheet import table as tables
from services.commands.sheet.shop_index import ShopIndex
from services.commands.sheet.table import Table
from services.i18n import N_, _, ngettext
from services.messages import told
from views.dialogs import shop_columns
from views.support import safe, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.elided import Elided
from views.widgets.fields import ChoiceField

LEAST_COLUMN = 96


class ShopFile(QWidget):
    """Signals:
    lines_read: the list that the chosen columns give, a name a line.
    """

    lines_read = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table: Table | None = None
        self._index = ShopIndex({})
        self._error = ""
        self._reading = Operation(self, latest=True)
        self.choose = Button(N_("Choose a file"), icon="ph.file-text", small=True)
        self._state = Elided("", "label", "text3")
        self._shop_title, self._platform_title = Label("", "label", "text2"), Label("", "label", "text2")
        self.shop_column, self.platform_column = ChoiceField(), ChoiceField()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.choose)
        row.addWidget(self._state, 1)
        for title, field in ((self._shop_title, self.shop_column), (self._platform_title, self.platform_column)):
            field.setMinimumWidth(LEAST_COLUMN)
            field.activated.connect(self._on_column)
            row.addWidget(title)
            row.addWidget(field)
        self.choose.clicked.connect(self._on_choose)
        on_language_changed(self._say)
        self._say()

    def set_index(self, index: ShopIndex) -> None:
        """Take the shops by which the columns are recognised."""
        self._index = index

    def open(self, path: Path) -> None:
        """Read a file off the GUI thread."""
        self._reading.start(partial(tables.read, path), self._show, self._fail)

    def _on_choose(self) -> None:
        kinds = " ".join(f"*{ending}" for ending in tables.ENDINGS)
        named = _("Tables")
        name, _kind = QFileDialog.getOpenFileName(self, _("Shops from a file"), "", f"{named} ({kinds})")
        if name:
            self.open(Path(name))

    def _show(self, table: Table) -> None:
        self._table, self._error = table, ""
        shop, platform = shop_columns.guess(table, self._index)
        self._fill()
        self.shop_column.setCurrentIndex(shop)
        self.platform_column.setCurrentIndex(platform + 1)
        self._say()
        self._on_column()

    def _fail(self, error: BaseException) -> None:
        self._table, self._error = None, told(error)
        self._say()

    def _fill(self) -> None:
        names = [safe.one_line(name, 40) for name in self._table.columns] if self._table is not None else []
        kept = self.shop_column.currentIndex(), self.platform_column.currentIndex()
        for field, titles in ((self.shop_column, names), (self.platform_column, [_("not in the file"), *names])):
            field.clear()
            field.addItems(titles)
        self.shop_column.setCurrentIndex(kept[0])
        self.platform_column.setCurrentIndex(kept[1])

    def _on_column(self) -> None:
        if self._table is not None:
            shop, platform = self.shop_column.currentIndex(), self.platform_column.currentIndex() - 1
            self.lines_read.emit(shop_columns.lines(self._table, shop, platform))

    def _say(self) -> None:
        table = self._table
        self._fill()
        self._shop_title.setText(_("Shop"))
        self._platform_title.setText(_("Platform"))
        self.shop_column.setAccessibleName(_("Column of the shops"))
        self.platform_column.setAccessibleName(_("Column of the platforms"))
        parts: tuple[QWidget, ...] = (
            self._shop_title, self.shop_column, self._platform_title, self.platform_column,
        )  # fmt: skip
        for widget in parts:
            widget.setVisible(table is not None)
        self._state.set_tone("dead" if self._error else "text3")
        self._state.show_text(self._error or self._words())

    def _words(self) -> str:
        if self._table is None:
            return _("CSV, TSV or Excel; the first line names the columns")
        number, faults = len(self._table.rows), len(self._table.bad)
        rows = ngettext("{n} row", "{n} rows", number).format(n=text.count(number))
        said = [self._table.name, rows]
        if faults:
            line = self._table.bad[0].number
            bad = ngettext("{n} not readable, line {line}", "{n} not readable, first line {line}", faults)
            said.append(bad.format(n=text.count(faults), line=line))
        return text.listed(said)
