"""What is done about queues: one list behind panel, menu, keys and palette; all of it audited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QCompleter, QLineEdit, QVBoxLayout, QWidget

from services.commands.outcome import Outcome
from services.commands.queues import PurgePlan
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import WAITING, Status
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.files import export
from services.monitor.queues.board import DEAD_KIND, DELAY, LANE, SHOP, QueueBoard, QueueNow
from services.monitor.queues.queries import Peeked
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.file import ask_file
from views.dialogs.frame import DialogFrame
from views.dialogs.typed import KeepsTyped
from views.kit.page_acts import PageActs
from views.kit.task_verb import again_of_cancelled, many
from views.kit.verb import LOOK, Place, Verb
from views.pages.queues import words
from views.support import instant, safe, shown, text
from views.support.acting import Acting
from views.support.language import say_in_language
from views.support.look import Label
from views.support.operation import Operation, Start
from views.support.words import type_names
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.layout import STRETCH, put, stacked
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec

SHOWN = 50
WIDTH, HEIGHT = 860, 460


class QueueActions(PageActs):
    """What is done about a queue."""

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self._planning = Operation(self, latest=True)
        self.acting = Acting(self, context.toast, context.pending)

    # looking

    def peek(self, row: QueueNow) -> None:
        """The tasks that wait there, from the store."""
        dialog = PeekDialog(self._context, row, self._owner)
        dialog.task_wanted.connect(lambda task_id: self.shown.emit("tasks", _ids(task_id)))
        dialog.tasks_wanted.connect(partial(self.show_tasks, row))
        dialog.open()

    def show_tasks(self, row: QueueNow) -> None:
        """The same as a list of tasks."""
        if row.kind == DEAD_KIND:
            self.shown.emit("dead_letters", "")
            return
        if row.kind == DELAY:
            terms = [equals("status", Status.RETRYING)]
        else:
            waits = equals("status", *sorted(WAITING))
            terms = [waits, equals("lane", row.lane) if row.kind == LANE else equals("shop", row.shop)]
        self.shown.emit("tasks", filter.format_terms(tuple(terms)))

    def show_shop(self, row: QueueNow) -> None:
        """Its shop."""
        self.shown.emit("shops", row.shop)

    # switches

    def pause(self, row: QueueNow) -> None:
        """Let nothing of it start, or let it go on."""
        if row.pauses:
            pause = row.pauses[0]
            self._end_pause(pause, pause.scope, partial(words.paused_scope, row, pause.scope))
        else:
            self._pause(f"shop:{row.shop}", partial(words.title, row))

    def ask_dedicate(self) -> None:
        """Ask which shop gets a queue of its own."""
        dialog = DedicateDialog(self._context, self._owner)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(partial(self._dedicate, on=True))
        dialog.open()

    def undedicate(self, row: QueueNow) -> None:
        """Let its shop go through the lanes again, or take it back."""
        self._dedicate(row.shop, words.title(row), on=row.leaving)

    def _dedicate(self, key: str, name: str, *, on: bool) -> None:
        fleet = self._context.commands.fleet
        there, back = (fleet.dedicate, fleet.undedicate) if on else (fleet.undedicate, fleet.dedicate)
        said = N_("{shop} has a queue of its own now.") if on else N_("{shop} goes through the lanes again.")
        self._act(partial(there, key), lambda _done: _(said).format(shop=name), partial(back, key))

    # emptying

    def purge(self, row: QueueNow) -> None:
        """Look what waits there, then ask for its name."""
        plan = partial(self._context.commands.queues.plan_purge, row.name)
        self._planning.start(plan, self._ask_purge, self._fail)

    def _ask_purge(self, plan: PurgePlan) -> None:
        if not plan.task_ids:
            said = _("Nothing waits in {name}.").format(name=plan.queue.name)
            self._context.toast(ToastSpec(text=said, status="warning"))
            return
        dialog = PurgeDialog(plan.queue.name, len(plan.task_ids), self._owner)
        dialog.confirmed.connect(lambda: self._purge(plan, dialog))
        dialog.open()

    def _purge(self, plan: PurgePlan, asked: PurgeDialog) -> None:
        reason = asked.note
        if not asked.exports:
            self._do_purge(plan, reason, asked.start)
            return
        title = _("Export {tasks}").format(tasks=many(len(plan.task_ids)))
        go_on = partial(self.purge_after_export, plan, reason)
        # after the question has closed: a box that opens beside it would lose the keyboard to the window
        asked.accepted.connect(partial(ask_file, self._owner, title, plan.queue.name, go_on, self._tell_left))

    def purge_after_export(self, plan: PurgePlan, reason: str, path: Path) -> None:
        """Write what waits there to a file; only when that stands, empty the queue."""
        call = partial(_write, self._context.tasks, plan.task_ids, path)
        self._operation.start(call, lambda _number: self._do_purge(plan, reason), self._fail)

    def _tell_left(self) -> None:
        self._context.toast(ToastSpec(text=_("No file was chosen; nothing was cancelled."), status="cancelled"))

    def _do_purge(self, plan: PurgePlan, reason: str, start: Start | None = None) -> None:
        commands, name = self._context.commands, plan.queue.name

        def done(outcome: Outcome) -> str:
            self.changed.emit()
            number = len(outcome.done) + len(outcome.pending)
            said = ngettext("{n} task of {queue} is cancelled.", "{n} tasks of {queue} are cancelled.", number)
            return said.format(n=text.count(number), queue=name) + " " + _("Workers skip their messages.")

        again = again_of_cancelled(commands.tasks)
        call = partial(commands.queues.purge, plan, typed=name, reason=reason)
        self.acting.at_once(call, done, again, start=start)

    # acting


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueVerb(Verb[QueueNow]):
    """Something that can be done about a queue."""

    do: Callable[[QueueActions, QueueNow], None]
    kinds: tuple[str, ...] = (LANE, SHOP, DELAY)

    def offered(self, place: Place, chosen: QueueNow) -> bool:
        """Only for queues of its kinds."""
        return place in self.places and chosen.kind in self.kinds

    def why_not(self, chosen: QueueNow) -> str:
        """Not of other kinds."""
        return "" if chosen.kind in self.kinds else _("Not with this queue")


class Open(QueueVerb):
    """Names what it opens, with its number: by the records, as the list has it, not by messages."""

    def said(self, chosen: QueueNow) -> str:
        """What is opened."""
        if chosen.kind == DEAD_KIND:
            return _("Triage {n}").format(n=words.number(chosen.ready))
        if chosen.kind == DELAY:  # a filter knows no delay: it lists what waits for any
            return _("Open all in back-off")
        return _("Open {tasks}").format(tasks=many(chosen.tasks)) if chosen.tasks else _("Open tasks")


class Switch(QueueVerb):
    """Pauses what runs and resumes what is paused."""

    def name(self, chosen: QueueNow) -> str:
        """What it would do."""
        return N_("Resume") if chosen.pauses else N_("Pause")

    def glyph(self, chosen: QueueNow) -> str:
        """Its icon."""
        return "ph.play" if chosen.pauses else "ph.pause"

    def why_not(self, chosen: QueueNow) -> str:
        """A lane has no switch of its own."""
        if chosen.kind == LANE and not chosen.pauses:
            return _("A lane has no pause of its own: pause a shop, a platform or a type, or drain workers")
        return QueueVerb.why_not(self, chosen)


class Lanes(QueueVerb):
    """Gives a queue up, or keeps one that is being given up."""

    def name(self, chosen: QueueNow) -> str:
        """What it would do."""
        return N_("Keep its own queue") if chosen.leaving else N_("Back to the lanes")


class Purge(QueueVerb):
    """Empties a queue."""

    def why_not(self, chosen: QueueNow) -> str:
        """Nothing to empty."""
        return _("Nothing waits there") if chosen.depth == 0 else QueueVerb.why_not(self, chosen)


_LISTED = frozenset({Place.MENU, Place.PALETTE})
VERBS: tuple[QueueVerb, ...] = (
    QueueVerb(key="peek", text=N_("Peek"), icon="ph.eye", shortcut="queues.peek", role=LOOK, do=QueueActions.peek),
    Open(
        key="tasks", text=N_("Open tasks"), icon="ph.list-bullets", role=LOOK, do=QueueActions.show_tasks,
        kinds=(LANE, SHOP, DELAY, DEAD_KIND),
    ),
    Switch(key="pause", text=N_("Pause"), icon="ph.pause", do=QueueActions.pause, kinds=(LANE, SHOP)),
    Lanes(
        key="lanes", text=N_("Back to the lanes"), icon="ph.git-merge", do=QueueActions.undedicate, kinds=(SHOP,),
    ),
    QueueVerb(
        key="shop", text=N_("Open shop"), icon="ph.storefront", role=LOOK, places=_LISTED, do=QueueActions.show_shop,
        kinds=(SHOP,),
    ),
    Purge(
        key="purge", text=N_("Purge"), icon="ph.trash", shortcut="queues.purge", danger=True, group=1,
        do=QueueActions.purge,
    ),
)  # fmt: skip


def _ids(task_id: str) -> str:
    return filter.format_terms((equals("id", task_id),))


def _write(queries: TaskQueries, ids: tuple[str, ...], path: Path) -> int:
    return export.write(queries.each_of(ids), path, queries.shops(), shown.zone(), gates=queries.gates)


class Waiting(msgspec.Struct, frozen=True):
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
        put(self.body, self.told, self.error, (self.stack, 1))
        self.all_button = Button(N_("Open as a list"), icon="ph.list-bullets")
        self.all_button.clicked.connect(self._show_all)
        self.close_button = Button(N_("Close"), hint="Esc")
        self.close_button.clicked.connect(self.reject)
        put(self.foot, self.all_button, STRETCH, self.close_button)
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
        def question() -> Question:
            tasks = ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))
            return Question(
                title=N_("Purge a queue"),
                number=tasks,
                rows=((_("queue"), name),),
                text=_(
                    "They are cancelled in the records, some hundreds at a time, and workers skip their messages. What"
                    " runs goes on. Cancelled tasks can be created again."
                ),
                verb=_("Purge {tasks}").format(tasks=tasks),
                danger=True,
                typed=name,
                note=_("Note, kept in the audit trail"),
            )

        super().__init__(question, parent)
        self.export_box = QCheckBox()
        self.export_box.setChecked(True)
        self.body.addWidget(self.export_box)
        say_in_language(self._say_box)

    def _say_box(self) -> None:
        self.export_box.setText(_("Export them to a file first"))

    @property
    def exports(self) -> bool:
        """Whether they are written to a file before."""
        return self.export_box.isChecked()


class DedicateDialog(KeepsTyped):
    """Asks which shop gets a queue of its own.

    Signals:
        chosen: ``platform:shop_id``, and what the shop is called.
    """

    chosen = Signal(str, str)

    def __init__(self, context: PageContext, parent: QWidget | None = None) -> None:
        super().__init__(N_("A queue for one shop"), icon="ph.star-four", parent=parent)
        self.set_width(460)
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
