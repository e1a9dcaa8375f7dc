"""The list in groups: by shop, type, cause or batch, how many of each there are in every state; a click shows one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

import msgspec
from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QMenu, QWidget

from services import messages
from services.domain.task.record import Task
from services.domain.task.search.query import Group, Groups
from services.domain.task.status import Status
from services.domain.text.mask import masked_text
from services.i18n import N_, _, ngettext
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.kit.list_source import Ask, ListSource
from views.support import safe, shown, text
from views.support.look import Label
from views.support.words import kinds, type_names
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import IconButton
from views.widgets.layout import in_column, in_row

#: by what, and what that is called
WAYS: Mapping[str, str] = {"shop": N_("Shop"), "type": N_("Type"), "fp": N_("Cause"), "batch": N_("Batch")}
#: what tasks are called that have no such value
_NONE: Mapping[str, str] = {"fp": N_("no error"), "batch": N_("no batch")}
#: groups that are listed at most, and rows of them that are seen at once
MOST, ROWS = 500, 6
#: how often they are counted, and how many times longer than that took it rests at least
EVERY_MS, SHARE = 3000, 15
_WAITING = (Status.PENDING, Status.QUEUED, Status.BLOCKED, Status.SCHEDULED)


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """One group as a row."""

    by: str
    group: Group
    name: str

    def number(self, *statuses: str) -> int:
        """How many stand in one of these."""
        return sum(self.group.counts.get(status, 0) for status in statuses)


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    filter: str = ""
    by: str = ""


#: the question, its answer in groups and in rows, and the milliseconds of processor time that it took
_Answer = tuple[Ask[_Wanted], Groups, list[GroupRow], int]


def _number(key: str, title: str, role: str, *statuses: str, hide_rank: int = 0) -> Column[GroupRow]:
    return Column(
        key=key,
        title=title,
        value=lambda row: row.number(*statuses),
        text=lambda row: text.count(number) if (number := row.number(*statuses)) else "",
        kind="number",
        tone=role,
        width=84,
        hide_rank=hide_rank,
    )


COLUMNS: tuple[Column[GroupRow], ...] = (
    Column(
        key="name", title=N_("Group"), value=lambda row: row.name, kind="strong", width=160, stretch=True,
        tooltip=lambda row: row.name if row.by == "fp" else row.group.value,
    ),
    Column(
        key="total", title=N_("Tasks"), value=lambda row: row.group.total,
        text=lambda row: text.count(row.group.total), kind="number", width=84,
    ),
    _number("waiting", N_("Waiting"), "waiting", *_WAITING),
    _number("running", N_("Running"), "running", Status.RUNNING),
    _number("retrying", N_("Retrying"), "retrying", Status.RETRYING),
    _number("held", N_("To confirm"), "held", Status.HELD),
    _number("dead", N_("Dead"), "dead", Status.DEAD),
    _number("succeeded", N_("Succeeded"), "succeeded", Status.SUCCEEDED, hide_rank=2),
    _number("cancelled", N_("Cancelled"), "cancelled", Status.CANCELLED, hide_rank=1),
)  # fmt: skip


class GroupStrip(QWidget):
    """Between filter and table while the list is grouped; asks off the GUI thread while it is seen.

    Signals:
        narrowed: field and value of the group that shall be shown alone.
    """

    narrowed = Signal(str, str)

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context = context
        self._model: RecordModel[GroupRow] = RecordModel(
            COLUMNS, key=lambda row: row.group.value, hold_new=False, sentence=sentence
        )
        self.table = TableView(self._model, name=N_("Groups"))
        self.title, self.note = Label("", "card"), Label("", "label", "text3")
        close = IconButton("ph.x", N_("Group no more"))
        close.clicked.connect(partial(self.group_by, ""))
        head = in_row(self.title, (self.note, 1), close, margins=(PAGE_MARGIN, 4, PAGE_MARGIN, 4), spacing=8)
        in_column(head, self.table, owner=self, spacing=0)
        self._fit()
        self._source = ListSource(self._call, _Wanted(), self, every_ms=EVERY_MS, in_turn=True)
        self._source.listed.connect(self._show)
        self._source.failed.connect(self._fail)
        self.table.clicked.connect(self._on_clicked)
        self.table.open_requested.connect(self._narrow)
        self.hide()

    @property
    def by(self) -> str:
        """By what the list is grouped, "" for not at all."""
        return self._source.wanted.by

    def rows(self) -> list[GroupRow]:
        """What is listed."""
        return list(self._model.records())

    def fill(self, menu: QMenu) -> None:
        """Put the ways into a menu."""
        for by, word in {"": N_("Not grouped"), **WAYS}.items():
            action = menu.addAction(_(word), partial(self.group_by, by))
            action.setCheckable(True)
            action.setChecked(by == self.by)

    def group_by(self, by: str) -> None:
        """Group the list, or no more."""
        self.setVisible(bool(by))
        self.note.setText("")
        self._ask(_Wanted(filter=self._source.wanted.filter, by=by))

    def follow(self, filter_: str) -> None:
        """The list shows another filter."""
        if filter_ != self._source.wanted.filter:
            self._ask(_Wanted(filter=filter_, by=self.by))

    def refresh(self) -> None:
        self._source.again()

    def set_active(self, active: bool) -> None:
        """Ask only while the page is in use."""
        self._source.set_active(active)

    def retranslate(self) -> None:
        """Say it in the language of the moment."""
        self.title.setText(_("By {way}").format(way=_(WAYS[self.by])) if self.by else "")
        if self.by:
            self._source.again(settle=False)

    def _ask(self, wanted: _Wanted) -> None:
        self._source.ask(wanted)
        self.title.setText(_("By {way}").format(way=_(WAYS[wanted.by])) if wanted.by else "")

    def _call(self, ask: Ask[_Wanted]) -> partial[_Answer] | None:
        return partial(_look, self._context.tasks, ask) if ask.wanted.by else None

    def _show(self, answer: _Answer) -> None:
        ask, found, rows, took_ms = answer
        self._source.ask_every(max(EVERY_MS, SHARE * took_ms))
        self._model.apply(rows, settle=ask.settle)
        self.note.setText(_note(found))
        self._fit()

    def _fit(self) -> None:
        """As high as its rows, so that the list below keeps its room."""
        rows = min(ROWS, max(1, self._model.rowCount())) * self.table.verticalHeader().defaultSectionSize()
        self.table.setFixedHeight(self.table.header.sizeHint().height() + rows)

    def _fail(self, error: BaseException) -> None:
        """A filter that is none is told where it is typed."""
        self.note.setText(safe.one_line(messages.told(error), 160))

    def _on_clicked(self, index: QModelIndex) -> None:
        self._narrow(self._model.key_at(index.row()))

    def _narrow(self, key: object) -> None:
        if key and self.by:
            self.narrowed.emit(self.by, str(key))


def sentence(row: GroupRow) -> str:
    """The row for a screen reader."""
    parts = [f"{shown.status_word(status)} {text.count(n)}" for status, n in row.group.counts.items() if n]
    return text.listed([_("{name}: {value}").format(name=row.name, value=text.count(row.group.total)), *parts])


def _note(found: Groups) -> str:
    number = len(found.groups)
    words = ngettext("{n} group", "{n} groups", number).format(n=text.count(number))
    if number > MOST:
        words = _("the {n} largest of {all} groups").format(n=text.count(MOST), all=text.count(number))
    if not found.whole:
        looked = text.count(sum(one.total for one in found.groups))
        words = text.listed([words, _("of the first {n} tasks that match; narrow the filter for all").format(n=looked)])
    return words


def _look(queries: TaskQueries, ask: Ask[_Wanted]) -> _Answer:
    begun, wanted = time.thread_time(), ask.wanted
    found, samples = queries.groups(wanted.filter, wanted.by)
    shops = queries.shops() if wanted.by == "shop" else {}
    rows = []
    for one in found.groups[:MOST]:
        name = one.value
        if wanted.by == "shop" and one.value in shops and shops[one.value].name:
            name = f"{shops[one.value].name}  {one.value}"
        elif wanted.by == "type":
            name = type_names.name(one.value)
        elif wanted.by == "fp":
            name = _cause(samples.get(one.sample), one.value)
        rows.append(GroupRow(by=wanted.by, group=one, name=safe.one_line(name, 120) or _(_NONE.get(wanted.by, ""))))
    return ask, found, rows, round(1000 * (time.thread_time() - begun))


def _cause(task: Task | None, fingerprint: str) -> str:
    """What one of the tasks of a cause says of it."""
    if task is None or not fingerprint:
        return fingerprint
    said = messages.own(masked_text(task.error[: safe.LOOKED_AT]))
    return _("{name}: {value}").format(name=kinds.title(task.error_kind), value=said) if task.error_kind else said
