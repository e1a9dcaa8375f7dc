"""The filter of a page: chips for known fields, a text field for the rest, one expression as result.

    bar = FilterBar(
        (
            FilterField("status", N_("Status"), tuple(FilterValue(name, word, glyph) …)),
            FilterField("shop", N_("Shop")),              # no values: any text
        ),
        placeholder=N_("Search"),
    )
    bar.changed.connect(self._query)         # "status:dead,held platform:pdd login"
    bar.set_expression("status:running")     # no signal
    bar.add_value("shop", "pdd:10021")       # "Filter by this value" of a table

``/`` puts the cursor into the text field; Backspace in the empty field removes the last chip. The button at the end
turns the bar into one line of text and back; ``show_problem`` says below it what is wrong with that text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QSizePolicy,
    QWidget,
)

from services.domain.task.search.filter import TASKS, Names
from services.i18n import N_, _
from views.support import text
from views.support.keys import Shortcut
from views.support.language import say_in_language
from views.support.look import Label, set_look
from views.support.memory import Memory
from views.support.throttle import Debounce
from views.theme import theme
from views.theme.tokens import FILTER_BAR, PAGE_MARGIN
from views.widgets.buttons import IconButton
from views.widgets.filter.chip import IS_WORDS, NOT_WORDS, ChipView
from views.widgets.filter.field import FilterField as FilterField
from views.widgets.filter.field import FilterValue as FilterValue
from views.widgets.filter.search_field import SearchField
from views.widgets.filter.text import Chip, as_words, combine, split
from views.widgets.layout import STRETCH, in_column, in_row, tab_through
from views.widgets.segmented import Segmented

#: how a condition from or up to a value is said
BOUND_WORDS = {
    ">=": N_("from {value} on"),
    ">": N_("after {value}"),
    "<": N_("before {value}"),
    "<=": N_("up to {value}"),
}
TYPING_MS = 250
FIELD_WIDTH = 230
PROBLEM_HEIGHT = 22
_VALUE = int(Qt.ItemDataRole.UserRole)
_WORDS = _VALUE + 1
_SEARCH_FROM = 8
WIDTH, ROW = 250, 28


class FilterBar(QWidget):
    """Chips and a field that make one expression.

    Signals:
        changed: the whole expression, after a chip changed or typing paused.
        opened: the popover of this field stands open.
    """

    changed = Signal(str)
    opened = Signal(str)

    def __init__(
        self,
        fields: Sequence[FilterField],
        *,
        placeholder: str = "",
        offers: int = 4,
        names: Names = TASKS,
        example: str = 'status:dead shop:shop01* error~"login expired" age>1h',
    ) -> None:
        """Show offers for the first `offers` fields; ``names``: how they may be typed; ``example``: one as text."""
        super().__init__()
        self._names, self._example = names, example
        self._placeholder = placeholder
        self._silent = False
        self._keep: Callable[[str], object] = lambda _expression: None
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_look(self, panel="header")
        self._typing = Debounce(self._emit, TYPING_MS, self)
        self.field = SearchField()
        self.field.setMinimumWidth(FIELD_WIDTH - 30)
        self.field.setMaximumWidth(FIELD_WIDTH)
        self.field.emptied_again.connect(self.remove_last)
        self.line = QLineEdit()
        for field in (self.field, self.line):
            field.textChanged.connect(self._on_typed)
            field.returnPressed.connect(self._typing.flush)
        self.chips = FilterChips(fields, offers)
        self.chips.changed.connect(self._on_chips)
        self.chips.choosing.connect(self._typing)
        self.chips.opened.connect(self.opened)
        self.text_button = IconButton("ph.code", N_("Edit the filter as text"))
        self.text_button.setCheckable(True)
        self.text_button.toggled.connect(self.set_text_mode)
        self._problem = Label("", "caption", "dead")
        self._put_together()
        Shortcut("window.filter", self.line, self.focus_field)  # the text field has its own
        say_in_language(self.retranslate)

    def _put_together(self) -> None:
        self._row = in_row(
            (self.chips, 1000),
            (self.line, 1000),
            self.field,
            self.text_button,
            margins=(PAGE_MARGIN, 0, PAGE_MARGIN - 6, 0),
            spacing=8,
        )
        column = in_column((self._row, 1), owner=self, spacing=0)
        self._problem.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, 4)
        self._problem.setFixedHeight(PROBLEM_HEIGHT)
        column.addWidget(self._problem)
        self.line.hide()
        self.line.setFont(theme().font("mono"))
        self.clear_problem()

    # expression

    def expression(self) -> str:
        """Return the filter as the grammar writes it, in text mode as it was typed."""
        if self.text_mode:
            return self.line.text().strip()
        return combine(self.chips.chips, as_words(self.field.text(), self._names))

    def without(self, field: str) -> str:
        """Return what else is filtered for than values of this field, chosen or typed."""
        others = [chip for chip in self.chips.chips if chip.field != field]
        return combine(others, split(as_words(self.field.text(), self._names), (field,), names=self._names)[1])

    def said(self) -> str:
        """All that is filtered for, in the words of its chips; "" for nothing."""
        fields = self.chips.fields
        bound = [key for key, field in fields.items() if field.bound]
        chips, words = split(self.expression(), fields, bound, self._names)
        return text.listed([*map(self.chips.said, chips), *([words] if words else [])], ";")

    def set_expression(self, expression: str) -> None:
        """Show `expression` without a signal."""
        self._typing.cancel()
        self._show(expression)

    def _show(self, expression: str) -> None:
        """What was typed or picked a moment ago is told yet."""
        bound = [key for key, field in self.chips.fields.items() if field.bound]
        chips, words = split(expression, self.chips.fields, bound, self._names)
        self._silent = True
        self.field.setText(words)
        self.line.setText(expression)
        self._silent = False
        self.clear_problem()
        self.chips.set_chips(chips)

    def remember(self, memory: Memory, name: str) -> None:
        """Show what a person filtered for last, and keep that from now on; a link shows what it leads to only."""
        self.set_expression(str(memory.get(name, "")))
        self._keep = partial(memory.put, name)

    @property
    def text_mode(self) -> bool:
        """Whether the whole filter is one line of text now."""
        return self.text_button.isChecked()

    def set_text_mode(self, on: bool) -> None:
        """Show the filter as text, or as chips again; the filter itself stays."""
        expression = (
            combine(self.chips.chips, as_words(self.field.text(), self._names)) if on else self.line.text().strip()
        )
        self.text_button.setChecked(on)
        self._show(expression)
        self.line.setVisible(on)
        self.field.setVisible(not on)
        self.chips.setVisible(not on)
        if on and self.isVisible():
            self.line.setFocus()

    def show_problem(self, sentence: str, position: int = -1) -> None:
        """Say below the line what is wrong with the filter, and put the cursor there in text mode."""
        self._problem.setText(sentence)
        self._problem.show()
        self.setFixedHeight(FILTER_BAR + PROBLEM_HEIGHT)
        field = self.line if self.text_mode else self.field
        set_look(field, invalid=True)
        field.setAccessibleDescription(sentence)
        if self.text_mode and 0 <= position <= len(self.line.text()) and self.line.hasFocus():
            self.line.setCursorPosition(position)

    def clear_problem(self) -> None:
        """The filter is fine."""
        self._problem.hide()
        self.setFixedHeight(FILTER_BAR)
        for field in (self.field, self.line):
            set_look(field, invalid=False)
            field.setAccessibleDescription("")

    def problem(self) -> str:
        """Return what is said to be wrong, "" for nothing."""
        return self._problem.text() if not self._problem.isHidden() else ""

    def add_value(self, field: str, value: str, *, include: bool = True) -> None:
        """Add a condition as a person would; an unknown field becomes a typed term."""
        if self.text_mode:
            self.line.setText(f"{self.line.text()} {Chip(field, (value,), not include).text()}".strip())
            return
        if field not in self.chips.fields:
            self.field.setText(f"{self.field.text()} {Chip(field, (value,), not include).text()}".strip())
            return
        now = self.chips.chips
        same = next((one for one in now if (one.field, one.negated, one.op) == (field, not include, "=")), None)
        if same is None:
            self.chips.put_chips((*now, Chip(field, (value,), not include)))
        else:
            self.chips.put_chips([chip.with_value(value) if chip is same else chip for chip in now])

    def narrow(self, values: Mapping[str, str]) -> None:
        """Show one value of each of these fields only, "" for any, whatever stood there of them."""
        wanted = [Chip(field, (value,)) for field, value in values.items() if value]
        if not self.text_mode and values.keys() <= self.chips.fields.keys():
            others = [chip for chip in self.chips.chips if chip.field not in values]
            self.chips.put_chips((*others, *wanted))
            return
        line = self.line if self.text_mode else self.field
        words = split(line.text(), values, names=self._names)[1]
        line.setText(" ".join([word for word in (words, *(chip.text() for chip in wanted)) if word]))

    def clear(self) -> None:
        """Remove every condition, as a person would."""
        self._silent = True
        self.field.clear()
        self.line.clear()
        self._silent = False
        self.chips.put_chips(())

    def remove_last(self) -> None:
        """Remove the last chip."""
        if self.chips.chips:
            self.chips.put_chips(self.chips.chips[:-1])

    def set_counts(self, field: str, counts: Mapping[str, int], at_least: Collection[str] = ()) -> None:
        """Give the counts per value that the popover of `field` shows, one that stands open too; those of `at_least`
        are not all.
        """
        self.chips.set_counts(field, counts, at_least)

    def set_fields(self, fields: Sequence[FilterField]) -> None:
        """Change the fields, for values known only later."""
        self.chips.set_fields(fields)
        if not self.text_mode and not self.field.hasFocus():
            self._show(self.expression())

    def focus_field(self) -> None:
        """Put the cursor into the text field (``/``)."""
        field = self.line if self.text_mode else self.field
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        field.selectAll()

    def lead(self, *widgets: QWidget) -> None:
        """Put widgets before the chips."""
        for place, widget in enumerate(widgets):
            self._row.insertWidget(place, widget)
        tab_through(self, (*widgets, self.chips, self.line, self.field, self.text_button))

    def add_action(self, widget: QWidget) -> None:
        """Put a widget before the text field."""
        self._row.insertWidget(self._row.count() - 2, widget)

    def _emit(self) -> None:
        self._keep(self.expression())
        self.changed.emit(self.expression())

    def _on_typed(self, _text: str) -> None:
        if not self._silent:
            self._typing()

    def _on_chips(self) -> None:
        self._typing.cancel()
        self._emit()

    # look

    def retranslate(self) -> None:
        text = _(self._placeholder) if self._placeholder else _("Filter")
        self.field.setPlaceholderText(text)
        self.field.setAccessibleName(text)
        self.line.setAccessibleName(_("Filter"))
        self.line.setPlaceholderText(self._example)
        self.setAccessibleName(_("Filters"))
        self.chips.retranslate()

    def chip_views(self) -> tuple[ChipView, ...]:
        """Return the chips on screen, offers last."""
        return self.chips.views()


class Choice(msgspec.Struct, frozen=True):
    """A value, the translated words for it, and its glyph (icon and role)."""

    value: str
    words: str
    glyph: tuple[str, str] | None = None
    count: int | None = None
    exact: bool = True  #: else at least so many

    @property
    def text(self) -> str:
        """Its words with its count."""
        count = "" if self.count is None else f"   {'' if self.exact else '≥ '}{self.count:,}"
        return f"{self.words}{count}"


class ValuePopup(QFrame):
    """Choose values of one field.

    Signals:
        changed: the chosen values and whether they are excluded.
    """

    changed = Signal(object, bool)

    def __init__(self, title: str, parent: QWidget | None = None, *, key: str = "") -> None:
        """``key``: of the field."""
        super().__init__(parent, Qt.WindowType.Popup)
        self.key = key
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("panel", "popup")
        self.setFixedWidth(WIDTH)
        self._filling = False
        self._free = False
        self._single = False
        self._find: Callable[[str], Sequence[Choice]] | None = None
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
        in_column(
            Label(title, "strong"), self.mode, self.search, self.list, owner=self, margins=(10, 10, 10, 10), spacing=8
        )

    def fill(
        self,
        choices: Sequence[Choice],
        chosen: Collection[str],
        *,
        negated: bool,
        free: bool,
        single: bool = False,
        find: Callable[[str], Sequence[Choice]] | None = None,
    ) -> None:
        """Show `choices`; `free`: any typed text is a value too; `single`: a value takes the place of the last; `find`:
        what else there is that fits a text.
        """
        self._filling = True
        self._free, self._single, self._find = free, single, find
        self.mode.set_current("exclude" if negated else "include")
        known = {choice.value for choice in choices}
        extra = [Choice(value, value) for value in chosen if value not in known]
        for choice in (*choices, *extra):
            self._add(choice, choice.value in chosen)
        self.search.setVisible(free or len(choices) > _SEARCH_FROM)
        rows = 9 if find is not None else min(9, max(1, self.list.count()))
        self.list.setFixedHeight(rows * ROW + 2)
        self.list.setVisible(self.list.count() > 0 or find is not None)
        self._filling = False

    def open_below(self, widget: QWidget) -> None:
        """Show below `widget` and take the focus."""
        self.adjustSize()
        self.move(widget.mapToGlobal(QPoint(0, widget.height() + 4)))
        self.show()
        (self.search if not self.search.isHidden() else self.list).setFocus()

    def _add(self, choice: Choice, chosen: bool) -> None:
        item = QListWidgetItem(choice.text)
        item.setData(_VALUE, choice.value)
        item.setData(_WORDS, choice.words)
        item.setSizeHint(QSize(0, ROW))
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)
        if choice.glyph is not None:
            item.setIcon(theme().icon(*choice.glyph))
        self.list.addItem(item)

    def show_counts(self, counts: Mapping[str, int], at_least: Collection[str]) -> None:
        """Say how many each value has by now."""
        self._filling = True
        for row in range(self.list.count()):
            item = self.list.item(row)
            value = str(item.data(_VALUE))
            item.setText(Choice(value, item.data(_WORDS), None, counts.get(value), value not in at_least).text)
        self._filling = False

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
        if wanted and self._find is not None:
            self._offer(self._find(wanted))
        for row in range(self.list.count()):
            item = self.list.item(row)
            item.setHidden(wanted not in f"{item.text()} {item.data(_VALUE)}".casefold())

    def _offer(self, found: Sequence[Choice]) -> None:
        known = {self.list.item(row).data(_VALUE) for row in range(self.list.count())}
        self._filling = True
        for choice in found:
            if choice.value not in known:
                self._add(choice, chosen=False)
        self._filling = False

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
        """Close by Esc; Enter on the list takes the row; Down leads from the search to what it found."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close()
            return
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            rows = range(self.list.count())
            self.list.setFocus(Qt.FocusReason.TabFocusReason)
            self.list.setCurrentRow(next((row for row in rows if not self.list.item(row).isHidden()), -1))
            return
        super().keyPressEvent(event)


GAP = 8


class FilterChips(QWidget):
    """Signals:
    changed: a chip was removed or added at once.
    choosing: values are being chosen; more may follow.
    opened: the values of this field can be chosen now.
    """

    changed = Signal()
    choosing = Signal()
    opened = Signal(str)

    def __init__(self, fields: Sequence[FilterField], offers: int) -> None:
        super().__init__()
        self.fields = {field.key: field for field in fields}
        self._offers = offers
        self._chips: tuple[Chip, ...] = ()
        self._counts: dict[str, Mapping[str, int]] = {}
        self._least: dict[str, frozenset[str]] = {}
        self._views: list[ChipView] = []
        self._keys: dict[ChipView, str] = {}
        self._faces: Sequence[tuple[object, ...]] = ()  #: what the chips on screen look like
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.more = ChipView(self)
        self.more.opened.connect(self._open_more)
        self._place = in_row(spacing=GAP)
        in_row(self._place, self.more, STRETCH, owner=self, spacing=GAP)
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
        """Give the counts per value that the popover of `field` shows, one that stands open too; those of `at_least`
        are not all.
        """
        self._counts[field] = dict(counts)
        self._least[field] = frozenset(at_least)
        for popup in self.findChildren(ValuePopup):
            if popup.key == field:
                popup.show_counts(self._counts[field], self._least[field])

    def set_fields(self, fields: Sequence[FilterField]) -> None:
        """Change the fields, for values known only later."""
        self.fields = {field.key: field for field in fields}
        self._rebuild()

    def views(self) -> tuple[ChipView, ...]:
        """Return the chips on screen, offers last."""
        return tuple(self._views)

    def retranslate(self) -> None:
        self.more.show_offer(_("More"))
        self._rebuild()

    # look

    def _rebuild(self) -> None:
        used = {chip.field for chip in self._chips}
        offers = [key for key, field in self.fields.items() if key not in used and field.offered][: self._offers]
        faces: Sequence[tuple[object, ...]] = [
            *(self._face(chip) for chip in self._chips),
            *((_(self.fields[key].title), key) for key in offers),
        ]
        if faces != self._faces:
            self._faces = faces
            self._drop_views()
            for place, chip in enumerate(self._chips):
                self._add_chip(place, chip)
            for key in offers:
                self._add_offer(key)
            tab_through(self, (*self._views, self.more))
        self.fit()

    def _drop_views(self) -> None:
        for view in self._views:
            self._place.removeWidget(view)
            view.hide()
            view.deleteLater()
        self._views = []
        self._keys = {}

    def fit(self) -> None:
        """Show the offers there is room for."""
        taken = self.more.sizeHint().width()
        taken += sum(view.sizeHint().width() + GAP for view in self._views if not view.is_offer)
        for view in self._views:
            if view.is_offer:
                taken += view.sizeHint().width() + GAP
                view.setVisible(taken <= self.width())
        hidden = bool(self._hidden_fields())
        self.more.setVisible(hidden)
        self.setMinimumWidth(self.more.sizeHint().width() if hidden else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many offers as fit."""
        super().resizeEvent(event)
        self.fit()

    def _hidden_fields(self) -> list[FilterField]:
        shown = {key for view, key in self._keys.items() if not view.isHidden()}
        return [field for key, field in self.fields.items() if key not in shown and field.offered]

    def _face(self, chip: Chip) -> tuple[str, str, tuple[tuple[str, str], ...], Chip]:
        """All that a chip looks like, and what it stands for."""
        field = self.fields[chip.field]
        known = {value.value: value for value in field.values if value.value in chip.values}
        say = field.say or str
        words = text.listed(known[v].said if v in known else say(v) for v in chip.values)
        if chip.op in BOUND_WORDS:  # what has no words of its own stands there as it is written
            bound = _(BOUND_WORDS[chip.op]) if words not in chip.values else f"{chip.op} {{value}}"
            words = bound.format(value=words)
        glyphs = tuple(glyph for v in chip.values if v in known and (glyph := known[v].glyph) is not None)
        return _(field.title), words, glyphs, chip

    def said(self, chip: Chip) -> str:
        """A condition in words."""
        title, words, _glyphs, _chip = self._face(chip)
        return _(NOT_WORDS if chip.negated else IS_WORDS).format(field=title, value=words)

    def _add_chip(self, place: int, chip: Chip) -> None:
        view = ChipView(self)
        title, words, glyphs, _chip = self._face(chip)
        view.show_value(title, words, glyphs, negated=chip.negated)
        view.removed.connect(lambda: self.put_chips([c for n, c in enumerate(self._chips) if n != place]))
        view.opened.connect(lambda: self._open_popup(view, chip.field, chip))
        self._add_view(chip.field, view)

    def _add_offer(self, key: str) -> None:
        view = ChipView(self)
        view.show_offer(_(self.fields[key].title))
        view.opened.connect(lambda: self._open_popup(view, key, None))
        self._add_view(key, view)

    def _add_view(self, key: str, view: ChipView) -> None:
        self._place.addWidget(view)
        self._views.append(view)
        self._keys[view] = key
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
        self._open_popup(self.more, str(action.data()), None)

    def _open_popup(self, view: ChipView, key: str, chip: Chip | None) -> None:
        field = self.fields[key]
        popup = ValuePopup(_(field.title), self, key=field.key)

        def choices_of(values: Sequence[FilterValue]) -> list[Choice]:
            counts, least = self._counts.get(field.key, {}), self._least.get(field.key, frozenset())
            return [Choice(v.value, v.said, v.glyph, counts.get(v.value), v.value not in least) for v in values]

        look = field.find
        find = (lambda typed: choices_of(look(typed))) if look is not None else None
        chosen, op = (chip.values, chip.op) if chip is not None else ((), "=")
        known = {one.value for one in field.values}
        others = [Choice(value, (field.say or str)(value)) for value in chosen if value not in known]
        popup.fill(
            [*choices_of(field.values), *others],
            chosen,
            negated=bool(chip and chip.negated),
            free=field.takes_text,
            single=field.single or op != "=",
            find=find,
        )
        place = self._chips.index(chip) if chip is not None else len(self._chips)
        popup.changed.connect(lambda values, negated: self._replace(place, Chip(field.key, tuple(values), negated, op)))
        popup.open_below(view)
        self.opened.emit(field.key)

    def _replace(self, place: int, chip: Chip) -> None:
        chips = list(self._chips)
        chips[place : place + 1] = [chip]
        self._chips = tuple(chips)
        self._rebuild()
        self.choosing.emit()
