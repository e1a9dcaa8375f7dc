"""What became of the tasks: created, duplicates with a way on for each, errors with their place."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from services.commands.outcome import Outcome
from services.commands.tasks import Submitted, TaskSpec
from services.domain.plans.schedule import Planned, Schedule
from services.domain.task.ledger import Done
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.text.refusals import UNSURE
from services.domain.text.said import Said
from services.i18n import N_, _, ngettext, pgettext
from services.messages import told
from views.context import PageContext
from views.dialogs.confirm import Question, confirm, typed_count
from views.support import instant, safe, shown, text
from views.support.acting import tell_done, unless_changed
from views.support.look import Label, line
from views.support.operation import Operation
from views.widgets.buttons import Button, LinkLabel
from views.widgets.elided import Elided
from views.widgets.layout import clear, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip
from views.widgets.toast import ToastAction, ToastSpec, failure

ROWS = 100


class Created(QWidget):
    """The result in place of the form; what was left out can still be had.

    Signals:
        watch_wanted: id of the active task.
        queue_wanted: the ``TaskSpec`` shall run after the active one.
        force_wanted: the ``TaskSpec`` and the reason to run it beside the active one.
        back_wanted: return to the form.
    """

    watch_wanted = Signal(str)
    queue_wanted = Signal(object)
    force_wanted = Signal(object, str)
    back_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[tuple[str, int], _Duplicate] = {}
        self._summary = Strip("healthy")
        pane = ScrollPane()
        self._list = pane.body
        self._list.setContentsMargins(0, 0, 10, 0)
        in_column(self._summary, (pane, 1), owner=self, margins=(20, 16, 20, 16), spacing=12)

    def show_result(self, result: Submitted) -> None:
        """Show what was created and what was not."""
        self._clear()
        made, twins, wrong = len(result.created), len(result.duplicates), len(result.errors)
        before = len(result.done)
        words = [ngettext("{n} task created", "{n} tasks created", made).format(n=text.count(made))]
        if twins:
            words.append(ngettext("{n} is active already", "{n} are active already", twins).format(n=text.count(twins)))
        if before:
            words.append(ngettext("{n} was done already", "{n} were done already", before).format(n=text.count(before)))
        if wrong:
            words.append(ngettext("{n} was refused", "{n} were refused", wrong).format(n=text.count(wrong)))
        if result.unconfirmed:
            late = ngettext("{n} is not confirmed yet", "{n} are not confirmed yet", result.unconfirmed)
            words.append(late.format(n=text.count(result.unconfirmed)))
        self._summary.set_status("dead" if wrong else "warning" if twins or before else "healthy")
        self._summary.show_text(text.listed(words, ";"))
        for spec, field, sentence in result.errors[:ROWS]:
            self._add_error(spec, field, sentence)
        for spec, task in result.duplicates[:ROWS]:
            standing = _("{shop}: {status} as {id}").format(
                shop=place_of(spec), status=shown.status_word(task.status).lower(), id=task.task_id
            )
            self._add(spec, standing, task.task_id)
        for spec, done in result.done[:ROWS]:
            self._add(spec, done_words(place_of(spec), done), done.task_id, active=False)
        self._list.addStretch(1)

    def settle(self, spec: TaskSpec, words: str) -> None:
        """Say what became of a duplicate that a person decided about."""
        row = self._rows.get((f"{spec.platform}:{spec.shop_id}", spec.line))
        if row is not None:
            row.settle(words)

    def duplicate(self, shop: str, row: int = 0) -> _Duplicate | None:
        """What is said of a shop; of a file, of one of its rows."""
        return self._rows.get((shop, row))

    def _add(self, spec: TaskSpec, words: str, existing: str, *, active: bool = True) -> None:
        row = _Duplicate(spec, words, active=active, whole=not existing)
        if not existing:
            row.watch.hide()
        row.watch.activated.connect(partial(self.watch_wanted.emit, existing))
        row.queue.activated.connect(partial(self.queue_wanted.emit, spec))
        row.forced.connect(self.force_wanted)
        self._rows[f"{spec.platform}:{spec.shop_id}", spec.line] = row
        self._list.addWidget(row)

    def _add_error(self, spec: TaskSpec, field: str, sentence: str) -> None:
        if isinstance(sentence, Said) and sentence.message.code == UNSURE:  # for a reason it is made all the same
            words = _("{name}: {value}").format(name=place_of(spec), value=told(sentence))
            self._add(spec, words, "", active=False)
        else:
            self._list.addWidget(_Error(spec, field, sentence))

    def _clear(self) -> None:
        self._rows = {}
        clear(self._list)


def place_of(spec: TaskSpec) -> str:
    """The shop of a task, after its row where it came from a file."""
    shop = f"{spec.platform}:{spec.shop_id}"
    return _("row {row}: {what}").format(row=spec.line, what=f"{shop} {spec.task_type}") if spec.line else shop


def done_words(what: str, done: Done) -> str:
    """That the same work has succeeded, when, as which task, and who had created that."""
    at = shown.clock(done.at, instant.now_ms())
    words = _("{what}: the same work succeeded at {time} as {id}, by {who}")
    return words.format(what=what, time=at, id=done.task_id, who=done.by)


class _Error(QWidget):
    """One task that was refused."""

    def __init__(self, spec: TaskSpec, field: str, sentence: str) -> None:
        super().__init__()
        column = in_column(owner=self, margins=(0, 6, 0, 6))
        head = Elided(place_of(spec) if spec.line else f"{place_of(spec)}  {spec.task_type}", "strong")
        words = Label(safe.one_line(told(sentence) or field), "label", "dead", wrap=True)
        put(column, head, words, line())


class _Duplicate(QWidget):
    """One shop that has the task already, or had it: watch that one, queue after an active one, or force with a reason.

    Signals:
        forced: spec and reason.
    """

    forced = Signal(object, str)

    def __init__(self, spec: TaskSpec, words: str, *, active: bool, whole: bool = False) -> None:
        super().__init__()
        self._spec = spec
        self.watch, self.queue = LinkLabel(N_("Watch it")), LinkLabel(N_("Queue after it"))
        self.force = LinkLabel(N_("Force"))
        self.reason = QLineEdit()
        beside, again = _("Why must it run beside the active one?"), _("Why must it be done again?")
        self.reason.setPlaceholderText(beside if active else again)
        self.reason.setAccessibleName(_("Reason to force"))
        self.go = Button(N_("Force"), kind="warning", small=True)
        self.said = Label("", "label", "text2")
        first, self._second = QHBoxLayout(), QWidget()
        first.setSpacing(14)
        first.addWidget(Label(safe.one_line(words), "body", wrap=True) if whole else Elided(words, "body"), 1)
        for link in (self.watch, self.queue, self.force) if active else (self.watch, self.force):
            first.addWidget(link)
        first.addWidget(self.said)
        in_row((self.reason, 1), self.go, owner=self._second)
        in_column(first, self._second, line(), owner=self, margins=(0, 6, 0, 6))
        self._second.hide()
        self.force.activated.connect(self._ask)
        self.go.clicked.connect(self._on_force)
        self.reason.returnPressed.connect(self._on_force)
        self.reason.textChanged.connect(self._check)
        self._check()

    def settle(self, words: str) -> None:
        """Say what became of it."""
        self.said.setText(words)
        self._second.hide()
        for link in (self.queue, self.force):
            link.hide()

    def _ask(self) -> None:
        self._second.show()
        self.reason.setFocus()

    def _check(self) -> None:
        self.go.disable("" if self.reason.text().strip() else _("Give a reason first"))

    def _on_force(self) -> None:
        if self.reason.text().strip():
            self.forced.emit(self._spec, self.reason.text().strip())


class Wanted(Protocol):
    """Tasks to be created, as one batch."""

    def specs(self, batch: str) -> list[TaskSpec]: ...


class Creator(QObject):
    """Creates the tasks of a draft off the GUI thread, tells of it, and takes it back on request.

    Signals:
    done: the ``Submitted`` of a creation.
    settled: a ``TaskSpec`` decided about one by one, and what became of it in words.
    failed: nothing was created, and why.
    tasks_wanted: a filter that the Tasks page shall show.
    planned: the name of a schedule that was kept.
    """

    planned = Signal(str)
    done = Signal(object)
    settled = Signal(object, str)
    failed = Signal(object)
    tasks_wanted = Signal(str)

    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._operation = Operation(self)
        self._batch = ""

    @property
    def busy(self) -> bool:
        """Whether a creation is under way: a second click creates nothing."""
        return self._operation.busy

    def create(self, draft: Wanted, number: int, owner: QWidget) -> None:
        """Create the tasks; very many only after the number was typed."""
        typed = typed_count(number, self._context.environment)
        if not typed:
            self._create(draft)
            return

        def question() -> Question:
            count = text.count(number)
            verb = ngettext("Create {n} task", "Create {n} tasks", number).format(n=count)
            total = ngettext("{n} task", "{n} tasks", number).format(n=count)
            return Question(title=N_("Create tasks"), number=total, verb=verb, typed=typed)

        confirm(question, owner, partial(self._create, draft))

    def plan(self, schedule: Schedule) -> None:
        """Keep a schedule in the place of tasks."""
        call = partial(self._context.commands.schedules.add, schedule)
        self._operation.start(call, self._on_planned, self.failed.emit)

    def _on_planned(self, kept: Planned) -> None:
        name = kept.schedule.name
        remove = unless_changed(self._context.audit, partial(self._context.commands.schedules.remove, [name]))
        back = partial(self._operation.start, remove, self._on_unplanned, self._on_not_undone)
        tell_done(self._context.toast, lambda: _("{name} is kept; see Schedules.").format(name=name), back)
        self.planned.emit(name)

    def _on_unplanned(self, names: tuple[str, ...]) -> None:
        self._context.toast(ToastSpec(text=_("{name} is removed.").format(name=text.listed(names)), status="cancelled"))

    def _create(self, draft: Wanted) -> None:
        if self.busy:
            return
        self._batch = f"console-{secrets.token_hex(4)}"
        specs = draft.specs(self._batch)
        call = partial(self._context.commands.tasks.create, specs, origin="console")
        self._operation.start(call, self._on_done, self.failed.emit)

    def create_one(self, spec: TaskSpec, *, if_duplicate: str, reason: str = "") -> None:
        """Create a task that was left out as a duplicate."""
        again = replace(spec, batch=self._batch, if_duplicate=if_duplicate, reason=reason)
        call = partial(self._context.commands.tasks.create, [again], origin="console")
        self._operation.start(call, partial(self._on_one, spec), self.failed.emit)

    def _on_done(self, result: Submitted) -> None:
        if result.created:
            self._tell(result)
        self.done.emit(result)

    def _on_one(self, spec: TaskSpec, result: Submitted) -> None:
        words = (
            pgettext("task", "created")
            if result.created
            else told(result.errors[0][2])
            if result.errors
            else _("still active")
        )
        self.settled.emit(spec, words)

    def _tell(self, result: Submitted) -> None:
        number = len(result.created)
        ids = [task.task_id for task in result.created]
        show = partial(self.tasks_wanted.emit, filter.format_terms((equals("batch", self._batch),)))
        tell_done(
            self._context.toast,
            lambda: ngettext("{n} task created", "{n} tasks created", number).format(n=text.count(number)),
            partial(self._undo, ids),
            opens=ToastAction(text=pgettext("button", "Open"), call=show),
        )

    def _undo(self, ids: list[str]) -> None:
        self._operation.start(partial(self._context.commands.tasks.cancel, ids), self._on_undone, self._on_not_undone)

    def _on_not_undone(self, error: BaseException) -> None:
        self._context.toast(failure(error))  # the dialog is closed by now

    def _on_undone(self, outcome: Outcome) -> None:
        number = len(outcome.done) + len(outcome.pending)
        words = ngettext("{n} task cancelled", "{n} tasks cancelled", number).format(n=text.count(number))
        self._context.toast(ToastSpec(text=words, status="cancelled"))
