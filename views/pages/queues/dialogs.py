"""What the page of queues asks and shows apart: a look into one, emptying one, a queue for one shop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QCompleter, QLineEdit, QVBoxLayout, QWidget

from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.queues.board import QueueBoard, QueueNow
from services.monitor.queues.queries import Peeked
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.frame import DialogFrame
from views.support import instant, safe, shown, text
from views.support.look import Label
from views.support.operation import Operation
from views.support.words import type_names
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.panes import stacked
from views.widgets.strip import ErrorStrip

SHOWN = 50
WIDTH, HEIGHT = 860, 460


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task in a queue, what its shop is called, and where it waits."""

    task: Task
    shop: str
    gate: str

    @property
    def key(self) -> str:
        """Its id."""
        return self.task.task_id


def _why(row: Waiting) -> str:
    if row.task.due_at and row.task.status == "retrying":
        return text.until(shown.span(row.task.due_at - instant.now_ms()))
    return shown.gate_word(row.gate) if row.gate else shown.status_word(row.task.status)


COLUMNS: tuple[Column[Waiting], ...] = (
    Column(
        key="type", title=N_("Type"), value=lambda row: type_names.name(row.task.task_type), kind="strong", width=150
    ),
    Column(key="shop", title=N_("Shop"), value=lambda row: row.shop, width=180, stretch=True, names=True),
    Column(key="priority", title=N_("Priority"), value=lambda row: row.task.priority, kind="number", width=76),
    Column(key="why", title=N_("Waits"), value=_why, text=_why, tone="text2", width=190, live=True),
    Column(
        key="age",
        title=N_("For"),
        value=lambda row: row.task.created_at,
        text=lambda row: text.duration(shown.span(max(0, instant.now_ms() - row.task.created_at))),
        kind="number",
        width=96,
        live=True,
    ),
    Column(
        key="id", title=N_("Task"), value=lambda row: row.task.task_id, mono=True, names=True, tone="text3", width=170
    ),
)


class PeekDialog(DialogFrame):
    """The tasks that wait in a queue, by the records.

    Signals:
        task_wanted: a task shall be opened: its id.
        tasks_wanted: all of them shall be shown as a list.
    """

    task_wanted = Signal(str)
    tasks_wanted = Signal()

    def __init__(self, context: PageContext, row: QueueNow, parent: QWidget | None = None) -> None:
        super().__init__(N_("What waits in the queue"), icon="ph.eye", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(WIDTH, HEIGHT)
        self._asking = Operation(self, latest=True)
        self._model: RecordModel[Waiting] = RecordModel(COLUMNS, key=lambda one: one.key, hold_new=False)
        self.table = TableView(self._model, name=N_("Waiting tasks"), ground="surface")
        self.none = EmptyState(N_("Nothing waits there."))
        self.stack = stacked(self.table, self.none)
        self.told = Label("", "label", "text3", wrap=True)
        self.error = ErrorStrip()
        self.body.addWidget(self.told)
        self.body.addWidget(self.error)
        self.body.addWidget(self.stack, 1)
        self.all_button = Button(N_("Open as a list"), icon="ph.list-bullets")
        self.all_button.clicked.connect(self._show_all)
        self.close_button = Button(N_("Close"), hint="Esc")
        self.close_button.clicked.connect(self.reject)
        self.foot.addWidget(self.all_button)
        self.foot.addStretch(1)
        self.foot.addWidget(self.close_button)
        self._name = row.name
        self.told.setText(_("{name}: loading…").format(name=row.name))
        self.table.open_requested.connect(self._open)
        self.error.retry.connect(partial(self._ask, context))
        self._ask(context)

    def _ask(self, context: PageContext) -> None:
        self._asking.start(partial(_look, context.queues, context.tasks, self._name), self._show, self._fail)

    def _show(self, answer: tuple[Peeked, tuple[Waiting, ...]]) -> None:
        peeked, rows = answer
        self.error.clear()
        self._model.apply(rows, settle=True)
        self.stack.setCurrentWidget(self.table if rows else self.none)
        number = ngettext("the first task", "the first {n} tasks", len(rows)).format(n=text.count(len(rows)))
        said = _("{name}: {tasks}, from the records. No message is taken off the queue.")
        if not peeked.more:
            number = ngettext("{n} task", "{n} tasks", len(rows)).format(n=text.count(len(rows)))
        self.told.setText(said.format(name=self._name, tasks=number))
        if rows:
            self.table.set_current_key(rows[0].key)
            self.table.setFocus()

    def _fail(self, error: BaseException) -> None:
        self.error.show_error(told(error))

    def _open(self, key: object) -> None:
        self.accept()
        self.task_wanted.emit(str(key))

    def _show_all(self) -> None:
        self.accept()
        self.tasks_wanted.emit()


def _look(board: QueueBoard, tasks: TaskQueries, name: str) -> tuple[Peeked, tuple[Waiting, ...]]:
    peeked = board.questions.peek(name, SHOWN)
    gates, shops = tasks.gates(peeked.tasks), tasks.shops()
    return peeked, tuple(
        Waiting(
            task,
            safe.one_line(shops[task.shop].name or task.shop, 60) if task.shop in shops else task.shop,
            gates.get(task.task_id, ""),
        )
        for task in peeked.tasks
    )


class PurgeDialog(ConfirmDialog):
    """Asks for the name of a queue before what waits there is cancelled; it is written to a file first, unless one does
    not want that.
    """

    def __init__(self, name: str, number: int, parent: QWidget | None = None) -> None:
        tasks = ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))
        question = Question(
            title=N_("Purge a queue"),
            number=tasks,
            rows=((_("queue"), name),),
            text=_(
                "They are cancelled in the records, some hundreds at a time, and workers skip their messages. What runs"
                " goes on. Cancelled tasks can be created again."
            ),
            verb=_("Purge {tasks}").format(tasks=tasks),
            danger=True,
            typed=name,
            note=_("Note, kept in the audit trail"),
        )
        super().__init__(question, parent)
        self.export_box = QCheckBox(_("Export them to a file first"))
        self.export_box.setChecked(True)
        self.body.addWidget(self.export_box)

    @property
    def exports(self) -> bool:
        """Whether they are written to a file before."""
        return self.export_box.isChecked()


class DedicateDialog(DialogFrame):
    """Asks which shop gets a queue of its own.

    Signals:
        chosen: ``platform:shop_id``, and what the shop is called.
    """

    chosen = Signal(str, str)

    def __init__(self, context: PageContext, parent: QWidget | None = None) -> None:
        super().__init__(N_("A queue for one shop"), icon="ph.star-four", parent=parent)
        self.setFixedWidth(460)
        self._shops: dict[str, tuple[str, str]] = {}
        self._asking = Operation(self, latest=True)
        column = QVBoxLayout()
        self.field = QLineEdit()
        self.field.setPlaceholderText(_("Name or id of the shop"))
        self.field.setAccessibleName(_("Shop"))
        self.field.textChanged.connect(self._on_typed)
        self.field.returnPressed.connect(self._on_done)
        column.addWidget(self.field)
        column.addWidget(
            Label(
                _("Its tasks wait behind nobody else's. Waiting ones move there; workers take it up in seconds."),
                "label",
                "text3",
                wrap=True,
            )
        )
        self.body.addLayout(column)
        self.cancel_button, self.done_button = self.end_with_save(self._on_done)
        self.done_button.set_source(N_("Give it a queue"))
        self._asking.start(context.shops, self._offer, _pass)
        self._on_typed()
        self.field.setFocus()

    def _offer(self, shops: Mapping[str, Shop]) -> None:
        for key, shop in shops.items():
            name = shop.name or key
            if not shop.dedicated:
                self._shops[f"{name} ({key})" if name != key else key] = key, name
                self._shops.setdefault(key, (key, name))
        completer = QCompleter(sorted(words for words in self._shops), self.field)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.field.setCompleter(completer)
        self._on_typed()

    def _found(self) -> tuple[str, str] | None:
        typed = self.field.text().strip()
        exact = self._shops.get(typed)
        if exact is not None or not typed:
            return exact
        near = {one for words, one in self._shops.items() if typed.casefold() in words.casefold()}
        return next(iter(near)) if len(near) == 1 else None

    def _on_typed(self) -> None:
        self.done_button.disable("" if self._found() is not None else _("Choose a shop first"))

    def _on_done(self) -> None:
        found = self._found()
        if found is not None:
            self.accept()
            self.chosen.emit(*found)


def _pass(_error: BaseException) -> None:
    """Without names an id can still be typed once the store answers again."""
