"""What each column of a file says: a row of drop-downs above the grid, each over its column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Signal
from PySide6.QtWidgets import QWidget

from services.commands.sheet import columns
from services.commands.sheet.columns import Column
from services.domain.types.task_type import TaskType
from services.domain.types.type_index import titles_of
from services.i18n import N_, _
from services.messages import render
from views.dialogs.sheet.grid import SheetGrid
from views.dialogs.sheet.model import STATE
from views.support import safe, text
from views.support.language import say_in_language
from views.support.look import Label, set_look
from views.widgets.fields import ChoiceField

HEIGHT, GAP = 34, 4
BESIDE = 46  #: pixels that a drop-down needs beside its words
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


class SheetColumns(QWidget):
    """Signals:
    chosen: place of a column, and what it says from now on.
    """

    chosen = Signal(int, str)

    def __init__(self, grid: SheetGrid) -> None:
        super().__init__()
        self.fields: list[ChoiceField] = []
        self._grid = grid
        self._shown: tuple[int, tuple[str, ...]] = (0, ())
        self._holder = QWidget(self)  # cuts off what is scrolled out of sight, as the grid does
        self._lead = Label("", "label", "text3")
        self._lead.setParent(self._holder)
        self.setFixedHeight(HEIGHT)
        grid.scrolled.connect(self.place)
        say_in_language(self._say)

    def show_columns(self, mapped: Iterable[Column], types: Iterable[TaskType]) -> None:
        """Show what each column says, and offer what it could say."""
        every = tuple(mapped)
        targets = self._targets(every, types)
        # the words are those of one language
        words = (len(every), tuple(map(field_word, targets)))
        if words != self._shown:
            self._rebuild(every, targets)
        self._shown = words
        for one, field in zip(every, self.fields, strict=True):
            field.setCurrentIndex(targets.index(one.target))
            why = render(one.why) if one.why is not None and one.filled else ""
            values = text.listed([safe.one_line(value, 40) for value in one.samples])
            field.setToolTip(safe.tooltip(": ".join([_("not used"), why]) if why else values))
            set_look(field, tone="retrying" if why else "text")
            field.setAccessibleName(_("Field of column {column}").format(column=safe.one_line(one.title, 60)))
        self._grid.make_room({one.at + 1: self._room_of(one) for one in every})
        self.place()

    def place(self) -> None:
        """Put each over its column."""
        edge = self._grid.viewport().x()
        self._holder.setGeometry(edge, 0, max(0, self.width() - edge), HEIGHT)
        first = self._grid.columnWidth(STATE) - 2 * GAP
        self._lead.setGeometry(self._grid.columnViewportPosition(STATE) + 2 * GAP, 0, max(0, first), HEIGHT - 4)
        for at, field in enumerate(self.fields):
            x = self._grid.columnViewportPosition(at + 1)
            field.setGeometry(x + GAP // 2, 2, self._grid.columnWidth(at + 1) - GAP, HEIGHT - 6)

    def sizeHint(self) -> QSize:
        """As wide as the grid is."""
        return QSize(200, HEIGHT)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Bring the column of a field that gets the focus into sight."""
        if event.type() == QEvent.Type.FocusIn and watched in self.fields:
            self._grid.show_section(self.fields.index(watched) + 1)
        return False

    @staticmethod
    def _targets(every: tuple[Column, ...], types: Iterable[TaskType]) -> tuple[str, ...]:
        names = dict.fromkeys(name for kind in types for name in titles_of(kind))
        wanted = dict.fromkeys((columns.IGNORED, *columns.TARGETS, *(f"{columns.PARAMETER}{name}" for name in names)))
        return tuple(wanted | dict.fromkeys(one.target for one in every))

    def _rebuild(self, every: tuple[Column, ...], targets: tuple[str, ...]) -> None:
        for old in self.fields:
            old.hide()
            old.deleteLater()
        self.fields = []
        before: QWidget = self._lead
        for one in every:
            field = ChoiceField(self._holder)
            for target in targets:
                field.addItem(field_word(target), target)
            field.activated.connect(partial(self._on_chosen, one.at, field))
            field.installEventFilter(self)
            field.show()
            QWidget.setTabOrder(before, field)
            before = field
            self.fields.append(field)

    def _room_of(self, one: Column) -> int:
        """For the words of what is chosen above a column."""
        return self.fields[one.at].fontMetrics().horizontalAdvance(field_word(one.target)) + BESIDE

    def _on_chosen(self, at: int, field: ChoiceField, _index: int) -> None:
        self.chosen.emit(at, str(field.currentData() or ""))

    def _say(self) -> None:
        self._lead.setText(_("Column says"))


def field_word(target: str) -> str:
    """What people read for what a column says."""
    if target.startswith(columns.PARAMETER):
        name = safe.one_line(target.removeprefix(columns.PARAMETER), 40)
        return _("Parameter {name}").format(name=name)
    return _(WORDS.get(target, target))
