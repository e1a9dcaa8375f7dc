"""The conditions of a filter as chips, then offers for fields not used yet, and the rest behind "More".

The popover of a filter chip: search, values with counts, include or exclude.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from services.i18n import _
from views.support.look import Label
from views.theme import theme
from views.widgets.filter.chip import ChipView
from views.widgets.filter.field import FilterField
from views.widgets.filter.text import Chip
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


GAP = 8


class FilterChips(QWidget):
    """Signals:
    changed: a chip was removed or added at once.
    choosing: values are being chosen; more may follow.
    """

    changed = Signal()
    choosing = Signal()

    def __init__(self, fields: Sequence[FilterField], offers: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields = {field.key: field for field in fields}
        self._offers = offers
        self._chips: tuple[Chip, ...] = ()
        self._counts: dict[str, Mapping[str, int]] = {}
        self._least: dict[str, frozenset[str]] = {}
        self._views: list[ChipView] = []
        self._keys: dict[ChipView, FilterField] = {}
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.more = ChipView(self)
        self.more.opened.connect(self._open_more)
        self._place = QHBoxLayout()
        self._place.setSpacing(GAP)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addLayout(self._place)
        row.addWidget(self.more)
        row.addStretch(1)
        self.retranslate()

    @property
    def chips(self) -> tuple[Chip, ...]:
        """The conditions."""
        return self._chips

    def set_chips(self, chips: Sequence[Chip]) -> None:
        """Show these conditions, without a signal."""
        self._chips = tuple(chip for chip in chips if chip.values)
        self._rebuild()

    def put_chips(self, chips: Sequence[Chip]) -> None:
        """Show these conditions as if a person had made them."""
        self.set_chips(chips)
        self.changed.emit()

    def set_counts(self, field: str, counts: Mapping[str, int], at_least: Collection[str] = ()) -> None:
        """Give the counts per value that the popover of `field` shows; those of `at_least` are not all."""
        self._counts[field] = dict(counts)
        self._least[field] = frozenset(at_least)

    def set_fields(self, fields: Sequence[FilterField]) -> None:
        """Change the fields, for values known only later."""
        self.fields = {field.key: field for field in fields}
        self._rebuild()

    def views(self) -> tuple[ChipView, ...]:
        """Return the chips on screen, offers last."""
        return tuple(self._views)

    def retranslate(self) -> None:
        """Say everything again."""
        self.more.show_offer(_("More"))
        self._rebuild()

    # look

    def _rebuild(self) -> None:
        for view in self._views:
            self._place.removeWidget(view)
            view.hide()
            view.deleteLater()
        self._views = []
        self._keys = {}
        for chip in self._chips:
            self._add_view(chip.field, chip)
        used = {chip.field for chip in self._chips}
        for field in [field for field in self.fields if field not in used][: self._offers]:
            self._add_view(field, None)
        self.fit()

    def fit(self) -> None:
        """Show the offers there is room for."""
        taken = self.more.sizeHint().width()
        taken += sum(view.sizeHint().width() + GAP for view in self._views if not view.is_offer)
        for view in self._views:
            if view.is_offer:
                taken += view.sizeHint().width() + GAP
                view.setVisible(taken <= self.width())
        self.more.setVisible(bool(self._hidden_fields()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many offers as fit."""
        super().resizeEvent(event)
        self.fit()

    def _hidden_fields(self) -> list[FilterField]:
        shown = {field.key for view, field in self._keys.items() if not view.isHidden()}
        return [field for key, field in self.fields.items() if key not in shown]

    def _add_view(self, key: str, chip: Chip | None) -> None:
        view = ChipView(self)
        field = self.fields[key]
        if chip is None:
            view.show_offer(_(field.title))
        else:
            known = {value.value: value for value in field.values}
            words = ", ".join(_(known[v].word) if v in known else v for v in chip.values)
            glyphs = [glyph for v in chip.values if v in known and (glyph := known[v].glyph) is not None]
            view.show_value(_(field.title), words, glyphs, negated=chip.negated)
            view.removed.connect(lambda: self.put_chips([c for c in self._chips if c is not chip]))
        view.opened.connect(lambda: self._open_popup(view, field, chip))
        self._place.addWidget(view)
        self._views.append(view)
        self._keys[view] = field
        view.show()

    # choosing

    def _open_more(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for field in self._hidden_fields():
            menu.addAction(_(field.title)).setData(field.key)
        menu.triggered.connect(self._on_more)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height() + 4)))

    def _on_more(self, action: QAction) -> None:
        self._open_popup(self.more, self.fields[str(action.data())], None)

    def _open_popup(self, view: ChipView, field: FilterField, chip: Chip | None) -> None:
        popup = ValuePopup(_(field.title), self)
        counts = self._counts.get(field.key, {})
        least = self._least.get(field.key, frozenset())
        choices = [Choice(v.value, _(v.word), v.glyph, counts.get(v.value), v.value not in least) for v in field.values]
        chosen = chip.values if chip is not None else ()
        popup.fill(choices, chosen, negated=bool(chip and chip.negated), free=field.takes_text, single=field.single)
        place = self._chips.index(chip) if chip is not None else len(self._chips)
        popup.changed.connect(lambda values, negated: self._replace(place, Chip(field.key, tuple(values), negated)))
        popup.open_below(view)

    def _replace(self, place: int, chip: Chip) -> None:
        chips = list(self._chips)
        chips[place : place + 1] = [chip]
        self._chips = tuple(chips)
        self._rebuild()
        self.choosing.emit()
