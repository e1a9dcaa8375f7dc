"""The filter of a page: chips for known fields, a text field for the rest, one expression as result.

    bar = FilterBar(
        (
            FilterField("status", N_("Status"), tuple(FilterValue(name, word, glyph) …)),
            FilterField("shop", N_("Shop")),              # no values: any text
        ),
        placeholder=N_("Error contains"), prefix="error~",
    )
    bar.changed.connect(self._query)         # "status:dead,held platform:pdd error~\"login\""
    bar.set_expression("status:running")     # no signal
    bar.add_value("shop", "pdd:10021")       # "Filter by this value" of a table

``/`` puts the cursor into the text field; Backspace in the empty field removes the last chip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QWidget

from services.i18n import _
from views.support.language import on_language_changed
from views.support.look import set_look
from views.support.throttle import Debounce
from views.theme import theme
from views.theme.tokens import FILTER_BAR, PAGE_MARGIN
from views.widgets.buttons import paint_chip
from views.widgets.chip import ChipView
from views.widgets.filter_text import Chip, combine, quote, split
from views.widgets.value_popup import Choice, ValuePopup

TYPING_MS = 250
FIELD_WIDTH = 210


@dataclass(frozen=True, slots=True)
class FilterValue:
    """A value of a field: source text and glyph (icon and role)."""

    value: str
    word: str
    glyph: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field that can become a chip; without `values` any text is one. `title` is source text."""

    key: str
    title: str
    values: tuple[FilterValue, ...] = ()
    free: bool = False  #: other values than those listed are possible

    @property
    def takes_text(self) -> bool:
        """Whether a value can be typed."""
        return self.free or not self.values


class SearchField(QLineEdit):
    """The text field with its ``/`` chip.

    Signals:
        emptied_again: Backspace in the empty field.
    """

    emptied_again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextMargins(20, 0, 0, 0)
        self._restyle()
        theme().changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.setFont(theme().font("label"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear by Esc; tell of Backspace in the empty field."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Backspace and not self.text():
            self.emptied_again.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the field, its glass, and the key that brings the cursor here."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(10, (self.height() - 14) // 2, theme().pixmap("ph.magnifying-glass", "text2", 14))
        if not self.text() and not self.hasFocus():
            paint_chip(painter, self.width() - 6, self.rect(), "/", on_fill=False, enabled=self.isEnabled())


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
        prefix: str = "",
        offers: int = 4,
        parent: QWidget | None = None,
    ) -> None:
        """Show offers for the first `offers` fields; `prefix` (``error~``) goes before plain typed words."""
        super().__init__(parent)
        self._fields = {field.key: field for field in fields}
        self._placeholder, self._prefix = placeholder, prefix
        self._offers = offers
        self._chips: tuple[Chip, ...] = ()
        self._counts: dict[str, Mapping[str, int]] = {}
        self._views: list[ChipView] = []
        self._keys: dict[ChipView, FilterField] = {}
        self._silent = False
        self.setFixedHeight(FILTER_BAR)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_look(self, panel="header")
        self.field = SearchField()
        self.field.setMinimumWidth(FIELD_WIDTH // 2)
        self.field.setMaximumWidth(FIELD_WIDTH)
        self.more = ChipView(self)
        self.more.opened.connect(self._open_more)
        self._typing = Debounce(self._emit, TYPING_MS, self)
        self.field.textChanged.connect(self._on_typed)
        self.field.returnPressed.connect(self._typing.flush)
        self.field.emptied_again.connect(self.remove_last)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(PAGE_MARGIN, 0, PAGE_MARGIN, 0)
        self._row.setSpacing(8)
        self._place = QHBoxLayout()
        self._place.setSpacing(8)
        self._row.addLayout(self._place)
        self._row.addWidget(self.more)
        self._row.addStretch(1)
        self._row.addWidget(self.field, 100)
        QShortcut(QKeySequence("/"), self, self.focus_field, context=Qt.ShortcutContext.WindowShortcut)
        self.retranslate()
        on_language_changed(self.retranslate)

    # expression

    def expression(self) -> str:
        """Return the filter as the grammar writes it."""
        return combine(self._chips, self._words())

    def set_expression(self, expression: str) -> None:
        """Show `expression` without a signal."""
        chips, words = split(expression, self._fields)
        self._chips = chips
        self._silent = True
        self.field.setText(self._shown_words(words))
        self._silent = False
        self._typing.cancel()
        self._rebuild()

    def add_value(self, field: str, value: str, *, include: bool = True) -> None:
        """Add a condition as a person would; an unknown field becomes a typed term."""
        if field not in self._fields:
            self.field.setText(f"{self.field.text()} {Chip(field, (value,), not include).text()}".strip())
            return
        same = next((chip for chip in self._chips if chip.field == field and chip.negated != include), None)
        if same is None:
            self._set_chips((*self._chips, Chip(field, (value,), not include)))
        else:
            self._set_chips(tuple(c.with_value(value) if c is same else c for c in self._chips))

    def clear(self) -> None:
        """Remove every condition, as a person would."""
        self._silent = True
        self.field.clear()
        self._silent = False
        self._typing.cancel()
        self._set_chips(())

    def remove_last(self) -> None:
        """Remove the last chip."""
        if self._chips:
            self._set_chips(self._chips[:-1])

    def set_counts(self, field: str, counts: Mapping[str, int]) -> None:
        """Give the counts per value that the popover of `field` shows."""
        self._counts[field] = dict(counts)

    def set_fields(self, fields: Sequence[FilterField]) -> None:
        """Change the fields, for values known only later."""
        expression = self.expression()
        self._fields = {field.key: field for field in fields}
        self.set_expression(expression)

    def focus_field(self) -> None:
        """Put the cursor into the text field (``/``)."""
        if self.isVisible():
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()

    def add_action(self, widget: QWidget) -> None:
        """Put a widget before the text field."""
        self._row.insertWidget(self._row.count() - 1, widget)
        self._fit()

    def _words(self) -> str:
        text = self.field.text().strip()
        if not text or not self._prefix or any(mark in text for mark in ':~<>="'):
            return text
        return f"{self._prefix}{quote(text)}"

    def _shown_words(self, words: str) -> str:
        if self._prefix and words.startswith(self._prefix):
            rest = words.removeprefix(self._prefix)
            if rest.startswith('"') and rest.endswith('"') and rest.count('"') == 2:
                rest = rest[1:-1]
            if not any(mark in rest for mark in ':~<>="'):
                return rest
        return words

    def _emit(self) -> None:
        self.changed.emit(self.expression())

    def _on_typed(self, _text: str) -> None:
        if not self._silent:
            self._typing()

    def _set_chips(self, chips: tuple[Chip, ...]) -> None:
        self._chips = tuple(chip for chip in chips if chip.values)
        self._rebuild()
        self._typing.cancel()
        self._emit()

    # look

    def retranslate(self) -> None:
        """Say everything again."""
        text = _(self._placeholder) if self._placeholder else _("Filter")
        self.field.setPlaceholderText(text)
        self.field.setAccessibleName(text)
        self.setAccessibleName(_("Filters"))
        self.more.show_offer(_("More"))
        self._rebuild()

    def chip_views(self) -> tuple[ChipView, ...]:
        """Return the chips on screen, offers last."""
        return tuple(self._views)

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
        for field in [field for field in self._fields if field not in used][: self._offers]:
            self._add_view(field, None)
        self._fit()

    def _fit(self) -> None:
        """Show the offers there is room for, the others behind "More"."""
        gap = self._place.spacing()
        taken = 2 * PAGE_MARGIN + FIELD_WIDTH + self.more.sizeHint().width() + 3 * gap
        taken += sum(view.sizeHint().width() + gap for view in self._views if not view.is_offer)
        for view in self._views:
            if view.is_offer:
                taken += view.sizeHint().width() + gap
                view.setVisible(taken <= self.width())
        self.more.setVisible(bool(self._hidden_fields()))

    def _hidden_fields(self) -> list[FilterField]:
        shown = {field for view, field in self._keys.items() if not view.isHidden()}
        return [field for key, field in self._fields.items() if key not in {f.key for f in shown}]

    def _open_more(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for field in self._hidden_fields():
            menu.addAction(_(field.title)).setData(field.key)
        menu.triggered.connect(self._on_more)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height() + 4)))

    def _on_more(self, action: QAction) -> None:
        self._open_popup(self.more, self._fields[str(action.data())], None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many offers as fit."""
        super().resizeEvent(event)
        self._fit()

    def _add_view(self, key: str, chip: Chip | None) -> None:
        view = ChipView(self)
        field = self._fields[key]
        if chip is None:
            view.show_offer(_(field.title))
        else:
            known = {value.value: value for value in field.values}
            words = ", ".join(_(known[v].word) if v in known else v for v in chip.values)
            glyphs = [glyph for v in chip.values if v in known and (glyph := known[v].glyph) is not None]
            view.show_value(_(field.title), words, glyphs, negated=chip.negated)
            view.removed.connect(lambda: self._set_chips(tuple(c for c in self._chips if c is not chip)))
        view.opened.connect(lambda: self._open_popup(view, field, chip))
        self._place.addWidget(view)
        self._views.append(view)
        self._keys[view] = field
        view.show()

    def _open_popup(self, view: ChipView, field: FilterField, chip: Chip | None) -> None:
        popup = ValuePopup(_(field.title), self)
        counts = self._counts.get(field.key, {})
        choices = [Choice(v.value, _(v.word), v.glyph, counts.get(v.value)) for v in field.values]
        chosen = chip.values if chip is not None else ()
        popup.fill(choices, chosen, negated=bool(chip and chip.negated), free=field.takes_text)
        place = self._chips.index(chip) if chip is not None else len(self._chips)
        popup.changed.connect(lambda values, negated: self._replace(place, Chip(field.key, tuple(values), negated)))
        popup.open_below(view)

    def _replace(self, place: int, chip: Chip) -> None:
        chips = list(self._chips)
        chips[place : place + 1] = [chip]
        self._chips = tuple(chips)
        self._rebuild()
        self._typing()
