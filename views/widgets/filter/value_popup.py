"""The popover of a filter chip: search, values with counts, include or exclude."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from services.i18n import _
from views.support.look import Label
from views.theme import theme
from views.widgets.segmented import Segmented

_VALUE = int(Qt.ItemDataRole.UserRole)
_SEARCH_FROM = 8
WIDTH, ROW = 250, 28


@dataclass(frozen=True, slots=True)
class Choice:
    """A value, the translated words for it, and its glyph (icon and role)."""

    value: str
    words: str
    glyph: tuple[str, str] | None = None
    count: int | None = None
    exact: bool = True  #: else at least so many


class ValuePopup(QFrame):
    """Choose values of one field.

    Signals:
        changed: the chosen values and whether they are excluded.
    """

    changed = Signal(object, bool)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("panel", "popup")
        self.setFixedWidth(WIDTH)
        self._filling = False
        self._free = False
        self._single = False
        self.mode = Segmented((("include", _("Include")), ("exclude", _("Exclude"))), stretch=True)
        self.mode.chosen.connect(self._on_mode)
        self.search = QLineEdit(placeholderText=_("Search values"))
        self.search.setAccessibleName(self.search.placeholderText())
        self.search.textChanged.connect(self._on_search)
        self.search.returnPressed.connect(self._on_enter)
        self.list = QListWidget()
        self.list.setIconSize(QSize(15, 15))
        self.list.setAccessibleName(title)
        self.list.itemChanged.connect(self._on_item_changed)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 10)
        column.setSpacing(8)
        column.addWidget(Label(title, "strong"))
        for widget in (self.mode, self.search, self.list):
            column.addWidget(widget)

    def fill(
        self, choices: Sequence[Choice], chosen: Collection[str], *, negated: bool, free: bool, single: bool = False
    ) -> None:
        """Show `choices`; `free`: any typed text is a value too; `single`: a value takes the place of the last."""
        self._filling = True
        self._free, self._single = free, single
        self.mode.set_current("exclude" if negated else "include")
        known = {choice.value for choice in choices}
        extra = [Choice(value, value) for value in chosen if value not in known]
        for choice in (*choices, *extra):
            self._add(choice, choice.value in chosen)
        self.search.setVisible(free or len(choices) > _SEARCH_FROM)
        self.list.setFixedHeight(min(9, max(1, self.list.count())) * ROW + 2)
        self.list.setVisible(self.list.count() > 0)
        self._filling = False

    def open_below(self, widget: QWidget) -> None:
        """Show below `widget` and take the focus."""
        self.adjustSize()
        self.move(widget.mapToGlobal(QPoint(0, widget.height() + 4)))
        self.show()
        (self.search if not self.search.isHidden() else self.list).setFocus()

    def _add(self, choice: Choice, chosen: bool) -> None:
        count = "" if choice.count is None else f"   {'' if choice.exact else '≥ '}{choice.count:,}"
        item = QListWidgetItem(f"{choice.words}{count}")
        item.setData(_VALUE, choice.value)
        item.setSizeHint(QSize(0, ROW))
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)
        if choice.glyph is not None:
            item.setIcon(theme().icon(*choice.glyph))
        self.list.addItem(item)

    def chosen(self) -> tuple[str, ...]:
        """Return the chosen values."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return tuple(str(item.data(_VALUE)) for item in items if item.checkState() == Qt.CheckState.Checked)

    def _emit(self) -> None:
        if not self._filling:
            self.changed.emit(self.chosen(), self.mode.current() == "exclude")

    def _on_mode(self, _key: str) -> None:
        self._emit()

    def _on_item_changed(self, item: QListWidgetItem) -> None:
        if self._single and not self._filling and item.checkState() == Qt.CheckState.Checked:
            self._uncheck_others(item)
        self._emit()

    def _uncheck_others(self, kept: QListWidgetItem) -> None:
        self._filling = True
        for row in range(self.list.count()):
            if self.list.item(row) is not kept:
                self.list.item(row).setCheckState(Qt.CheckState.Unchecked)
        self._filling = False

    def _on_search(self, text: str) -> None:
        wanted = text.casefold().strip()
        for row in range(self.list.count()):
            item = self.list.item(row)
            item.setHidden(wanted not in f"{item.text()} {item.data(_VALUE)}".casefold())

    def _on_enter(self) -> None:
        typed = self.search.text().strip()
        shown = [self.list.item(row) for row in range(self.list.count()) if not self.list.item(row).isHidden()]
        if len(shown) == 1:
            shown[0].setCheckState(Qt.CheckState.Checked)
        elif self._free and typed:
            self._add(Choice(typed, typed), chosen=True)
            if self._single:
                self._uncheck_others(self.list.item(self.list.count() - 1))
            self._emit()
        else:
            return
        self.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close by Esc; Enter on the list takes the row."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close()
            return
        super().keyPressEvent(event)
