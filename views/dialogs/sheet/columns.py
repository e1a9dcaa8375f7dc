"""The columns of a file and what each says: a drop-down beside some of its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from services.commands.sheet import columns
from services.commands.sheet.columns import Column
from services.commands.sheet.type_index import titles_of
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.messages import render
from views.support import safe, text
from views.support.look import Label
from views.widgets.elided import Elided
from views.widgets.fields import ChoiceField
from views.widgets.scroll_pane import ScrollPane

FIELD_WIDTH, TITLE_WIDTH = 190, 150
#: what people call the fields
WORDS: Mapping[str, str] = {
    columns.IGNORED: N_("not used"),
    columns.PLATFORM: N_("Platform"),
    columns.SHOP: N_("Shop (id or name)"),
    columns.SHOP_NAME: N_("Shop name"),
    columns.TYPE: N_("Task type"),
    columns.PRIORITY: N_("Priority"),
    columns.LANE: N_("Lane"),
    columns.PAYLOAD: N_("Parameters"),
    columns.NOT_BEFORE: N_("Start time"),
    columns.DELAY: N_("Delay"),
    columns.DEADLINE: N_("Deadline"),
    columns.RETRIES: N_("Retries"),
    columns.KEY: N_("Name of the row"),
    columns.DEPENDS_ON: N_("After these tasks"),
    columns.POLICY: N_("If one of them fails"),
}


class SheetColumns(ScrollPane):
    """Signals:
    chosen: place of a column, and what it says from now on.
    """

    chosen = Signal(int, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: list[ChoiceField] = []
        self._rows: list[tuple[Elided, Elided]] = []
        self._shown: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        holder = QWidget()
        self._grid = QGridLayout(holder)
        self._grid.setContentsMargins(0, 0, 10, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnMinimumWidth(0, TITLE_WIDTH)
        self._grid.setColumnStretch(2, 1)
        self.body.addWidget(holder)
        self.body.addStretch(1)

    def show_columns(self, mapped: Iterable[Column], types: Iterable[TaskType]) -> None:
        """Show what each column says, and offer what it could say."""
        every = tuple(mapped)
        targets = self._targets(every, types)
        # the words are those of one language
        words = (tuple(one.title for one in every), tuple(map(field_word, targets)))
        if words != self._shown:
            self._rebuild(every, targets)
        self._shown = words
        for one, field, (title, samples) in zip(every, self.fields, self._rows, strict=True):
            field.setCurrentIndex(targets.index(one.target))
            why = render(one.why) if one.why is not None and one.filled else ""
            values = text.listed([safe.one_line(value, 40) for value in one.samples])
            title.show_text(safe.one_line(one.title, 60))
            title.set_tone("text" if one.target else "text3")
            samples.show_text(f"{_('not used')}: {why}" if why else values)
            samples.set_tone("retrying" if why else "text3")
            field.setAccessibleName(_("Field of column {column}").format(column=safe.one_line(one.title, 60)))

    @staticmethod
    def _targets(every: tuple[Column, ...], types: Iterable[TaskType]) -> tuple[str, ...]:
        names = dict.fromkeys(name for kind in types for name in titles_of(kind))
        wanted = dict.fromkeys((columns.IGNORED, *columns.TARGETS, *(f"{columns.PARAMETER}{name}" for name in names)))
        return tuple(wanted | dict.fromkeys(one.target for one in every))

    def _rebuild(self, every: tuple[Column, ...], targets: tuple[str, ...]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.fields, self._rows = [], []
        for place, heading in enumerate((_("Column in the file"), _("Says"), _("Values"))):
            self._grid.addWidget(Label(heading, "caption", "text3"), 0, place)
        for place, one in enumerate(every, start=1):
            title, samples, field = Elided("", "strong"), Elided("", "label", "text3"), ChoiceField()
            field.setFixedWidth(FIELD_WIDTH)
            for target in targets:
                field.addItem(field_word(target), target)
            field.activated.connect(partial(self._on_chosen, one.at, field))
            for at, widget in enumerate((title, field, samples)):
                self._grid.addWidget(widget, place, at)
            self.fields.append(field)
            self._rows.append((title, samples))

    def _on_chosen(self, at: int, field: ChoiceField, _index: int) -> None:
        self.chosen.emit(at, str(field.currentData() or ""))


def field_word(target: str) -> str:
    """What people read for what a column says."""
    if target.startswith(columns.PARAMETER):
        name = safe.one_line(target.removeprefix(columns.PARAMETER), 40)
        return _("Parameter {name}").format(name=name)
    return _(WORDS.get(target, target))
