"""What the guard against doing the same work twice has refused, held back or let pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.task.notes import SUPPRESSED_KEPT, Suppressed
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.tasks import TaskQueries
from views.dialogs.frame import DialogFrame
from views.support import safe, shown, text
from views.support.look import Label
from views.support.operation import Operation
from views.support.words import origins, type_names
from views.tables.column import Column, dated
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.layout import in_column
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (980, 600), (700, 400)
#: what became of it: status for the glyph, words of one, words of many
_OUTCOMES: dict[str, tuple[str, str]] = {
    "refused": ("cancelled", N_("not created")),
    "queued": ("waiting", N_("created, waits behind it")),
    "forced": ("warning", N_("created all the same")),
    "waits": ("waiting", N_("came from elsewhere, waits")),
    "held": ("held", N_("came from elsewhere, held for a person")),
}
Counts = Mapping[tuple[str, str, str], int]


class Row(Suppressed, frozen=True, kw_only=True):
    """With the name of its shop."""

    shop_name: str


Answer = tuple[list[Row], Counts]


def outcome(one: Suppressed) -> str:
    """What became of the second task."""
    return _(_OUTCOMES[one.outcome][1]) if one.outcome in _OUTCOMES else one.outcome


def summary(counts: Counts) -> str:
    """How many in all, by what became of them; they are counted longer than they are listed."""
    found: Counter[str] = Counter()
    for (what, _shop, _type), number in counts.items():
        found[what] += number
    total = sum(found.values())
    if not total:
        return ""
    parts = [
        _("{name}: {value}").format(name=_(words), value=text.count(found[what]))
        for what, (_glyph, words) in _OUTCOMES.items()
        if found[what]
    ]
    words = ngettext("{n} task met the same work", "{n} tasks met the same work", total)
    return f"{words.format(n=text.count(total))}  ·  {text.listed(parts, ';')}"


COLUMNS: tuple[Column[Row], ...] = (
    Column(
        key="glyph",
        title="",
        value=lambda one: _OUTCOMES.get(one.outcome, ("waiting", ""))[0],
        kind="glyph",
        width=30,
        speech=outcome,
    ),
    dated("at", N_("Time"), lambda one: one.at, width=96),
    Column(
        key="type",
        title=N_("Type"),
        value=lambda one: one.task_type,
        text=lambda one: type_names.name(one.task_type),
        kind="strong",
        width=130,
    ),
    Column(
        key="shop",
        title=N_("Shop"),
        value=lambda one: one.shop_name,
        names=True,
        tooltip=lambda one: f"{one.shop_name}\n{one.platform}:{one.shop_id}",
        width=150,
    ),
    Column(key="outcome", title=N_("What came of it"), value=outcome, width=180),
    Column(
        key="holder",
        title=N_("Because of"),
        value=lambda one: safe.one_line(one.holder, 80),
        text=lambda one: _("{id} ({status})").format(
            id=safe.one_line(one.holder, 80), status=shown.status_word(one.holder_status).lower()
        ),
        kind="link",
        width=180,
        stretch=True,
        tooltip=lambda one: one.holder,
    ),
    Column(key="by", title=N_("By"), value=lambda one: origins.who(one.by or one.origin), tone="text2", width=120),
)


class SuppressedDialog(DialogFrame):
    """Signals:
    task_wanted: id of a task to be opened.
    """

    task_wanted = Signal(str)

    def __init__(
        self, queries: TaskQueries, name: Callable[[str], str], task_type: str = "", parent: QWidget | None = None
    ) -> None:
        """``name``: what a shop (its key) is called, may block; ``task_type``: those of one type only."""
        super().__init__(N_("Suppressed duplicates"), icon="ph.copy-simple", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._queries, self._name, self._type = queries, name, task_type
        self._asking = Operation(self, latest=True)
        self._rows: RecordModel[Row] = RecordModel(
            COLUMNS, key=lambda one: f"{one.at}-{one.task_id}-{one.outcome}", hold_new=False
        )
        self.counts = Label("", "body", "text2", wrap=True)
        self.error = ErrorStrip()
        self.table = TableView(self._rows, name=N_("Suppressed duplicates"))
        self.empty = EmptyState(
            N_("No task has met another one with the same work."),
            N_("When the same task is asked for twice, the second one is listed here with what became of it."),
            icon="ph.copy-simple",
        )
        self._build()
        self.table.open_requested.connect(self._open)
        self.table.menu_requested.connect(self._fill_menu)
        self.error.retry.connect(self.refresh)
        self.refresh()

    def _build(self) -> None:
        head = in_column(self.counts, self.error, margins=(18, 10, 18, 10))
        body = in_column(self.table, self.empty)
        self.empty.hide()
        self.fill(head, body, size=SIZE, least=LEAST)
        self.set_note(type_names.name(self._type) if self._type else "")
        self.close_button = Button(N_("Close"), hint="Esc")
        self.close_button.clicked.connect(self.reject)
        self.foot.addStretch(1)
        self.foot.addWidget(self.close_button)

    def refresh(self) -> None:
        self._asking.start(self._look, self._show, lambda error: self.error.show_error(told(error)))

    def _look(self) -> Answer:
        found, counts = self._queries.suppressed(SUPPRESSED_KEPT)
        rows = [
            Row(**msgspec.structs.asdict(one), shop_name=self._name(f"{one.platform}:{one.shop_id}")) for one in found
        ]
        return rows, counts

    def _show(self, answer: Answer) -> None:
        rows, counts = answer
        if self._type:
            rows = [one for one in rows if one.task_type == self._type]
            counts = {key: number for key, number in counts.items() if key[2] == self._type}
        self.error.clear()
        self._rows.apply(rows)
        self.counts.setText(summary(counts))
        self.table.setVisible(bool(rows))
        self.empty.setVisible(not rows)

    def _open(self, key: object) -> None:
        """The task that was there first: the second one may not exist."""
        one = self._rows.find(str(key))
        if one is not None:
            self.accept()
            self.task_wanted.emit(one.holder)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        one = self._rows.find(str(key))
        if one is None:
            return
        menu.addAction(_("Open the task that was first"), partial(self._open, key))
        if one.outcome != "refused":
            menu.addAction(_("Open the second task"), partial(self._open_second, one))

    def _open_second(self, one: Suppressed) -> None:
        self.accept()
        self.task_wanted.emit(one.task_id)
