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

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.support.keys import Shortcut
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.support.throttle import Debounce
from views.theme import theme
from views.theme.tokens import FILTER_BAR, PAGE_MARGIN
from views.widgets.buttons import IconButton
from views.widgets.filter.chip import ChipView
from views.widgets.filter.chips import FilterChips
from views.widgets.filter.field import FilterField as FilterField
from views.widgets.filter.field import FilterValue as FilterValue
from views.widgets.filter.search_field import SearchField
from views.widgets.filter.text import Chip, as_words, combine, split

TYPING_MS = 250
FIELD_WIDTH = 230
PROBLEM_HEIGHT = 22


class FilterBar(QWidget):
    """Chips and a field that make one expression.

    Signals:
        changed: the whole expression, after a chip changed or typing paused.
    """

    changed = Signal(str)

    def __init__(
        self,
        fields: Sequence[FilterField],
        *,
        placeholder: str = "",
        offers: int = 4,
        parent: QWidget | None = None,
    ) -> None:
        """Show offers for the first `offers` fields."""
        super().__init__(parent)
        self._placeholder = placeholder
        self._silent = False
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
        self.text_button = IconButton("ph.code", N_("Edit the filter as text"))
        self.text_button.setCheckable(True)
        self.text_button.toggled.connect(self.set_text_mode)
        self._problem = Label("", "caption", "dead")
        self._put_together()
        Shortcut("window.filter", self, self.focus_field)
        self.retranslate()
        on_language_changed(self.retranslate)

    def _put_together(self) -> None:
        self._row = QHBoxLayout()
        self._row.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN - 6, 0)
        self._row.setSpacing(8)
        self._row.addWidget(self.chips, 1000)
        self._row.addWidget(self.line, 1000)
        self._row.addWidget(self.field)
        self._row.addWidget(self.text_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row, 1)
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
        return combine(self.chips.chips, as_words(self.field.text()))

    def set_expression(self, expression: str) -> None:
        """Show `expression` without a signal."""
        chips, words = split(expression, self.chips.fields)
        self._silent = True
        self.field.setText(words)
        self.line.setText(expression)
        self._silent = False
        self.clear_problem()
        self._typing.cancel()
        self.chips.set_chips(chips)

    @property
    def text_mode(self) -> bool:
        """Whether the whole filter is one line of text now."""
        return self.text_button.isChecked()

    def set_text_mode(self, on: bool) -> None:
        """Show the filter as text, or as chips again; the filter itself stays."""
        expression = combine(self.chips.chips, as_words(self.field.text())) if on else self.line.text().strip()
        self.text_button.setChecked(on)
        self.set_expression(expression)
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
        same = next((chip for chip in now if chip.field == field and chip.negated != include), None)
        if same is None:
            self.chips.put_chips((*now, Chip(field, (value,), not include)))
        else:
            self.chips.put_chips([chip.with_value(value) if chip is same else chip for chip in now])

    def narrow(self, field: str, value: str) -> None:
        """Show one value of a field only, whatever stood there of it."""
        if not self.text_mode and field in self.chips.fields:
            others = [chip for chip in self.chips.chips if chip.field != field]
            self.chips.put_chips((*others, Chip(field, (value,), False)))
        else:
            self.add_value(field, value)

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
        """Give the counts per value that the popover of `field` shows; those of `at_least` are not all."""
        self.chips.set_counts(field, counts, at_least)

    def set_fields(self, fields: Sequence[FilterField]) -> None:
        """Change the fields, for values known only later."""
        self.chips.set_fields(fields)
        if not self.text_mode and not self.field.hasFocus():
            self.set_expression(self.expression())

    def focus_field(self) -> None:
        """Put the cursor into the text field (``/``)."""
        if self.isVisible():
            field = self.line if self.text_mode else self.field
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            field.selectAll()

    def add_action(self, widget: QWidget) -> None:
        """Put a widget before the text field."""
        self._row.insertWidget(self._row.count() - 2, widget)

    def _emit(self) -> None:
        self.changed.emit(self.expression())

    def _on_typed(self, _text: str) -> None:
        if not self._silent:
            self._typing()

    def _on_chips(self) -> None:
        self._typing.cancel()
        self._emit()

    # look

    def retranslate(self) -> None:
        """Say everything again."""
        text = _(self._placeholder) if self._placeholder else _("Filter")
        self.field.setPlaceholderText(text)
        self.field.setAccessibleName(text)
        self.line.setAccessibleName(_("Filter"))
        self.line.setPlaceholderText('status:dead shop:shop01* error~"login expired" age>1h')
        self.setAccessibleName(_("Filters"))
        self.chips.retranslate()

    def chip_views(self) -> tuple[ChipView, ...]:
        """Return the chips on screen, offers last."""
        return self.chips.views()
