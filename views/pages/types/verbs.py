"""What is done to task types: one list behind panel, menu, keys and palette; audited, and for admins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from services.commands.types import UNCHANGED, Change, Fault
from services.domain.errors import UsageError
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from services.monitor.files import types as files
from views.context import PageContext
from views.dialogs.confirm import Finding, Question, confirm
from views.dialogs.file import FileDialog
from views.kit.page_acts import PageActs
from views.kit.verb import LOOK, Place, Verb
from views.pages.types import words
from views.pages.types.editor import TypeDialog
from views.support import safe, text
from views.support.operation import Operation
from views.widgets.toast import ToastSpec

FILES = "JSON (*.json)"


class TypeActions(PageActs):
    """Signals:
    made: name of a type that was kept.
    planned: the dialog with what a file would change is open, or says why it cannot be taken.
    """

    made = Signal(str)
    planned = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self._reading = Operation(self, lasting=True)

    def barred(self, role: str = "admin") -> str:
        """Why nothing can be changed, "" when it can."""
        return super().barred(role)

    def create(self) -> TypeDialog:
        """Define a new type, in a dialog."""
        return self._open(None)

    def edit(self, kind: TaskType) -> TypeDialog:
        """Make the next version of one, in a dialog."""
        return self._open(kind)

    def go_back(self, kind: TaskType, older: TaskType) -> TypeDialog:
        """Make an older version the next one, in a dialog: what that would refuse is told before."""
        return self._open(kind, older)

    def _open(self, kind: TaskType | None, start: TaskType | None = None) -> TypeDialog:
        dialog = TypeDialog(self._context, kind, self._owner, start=start)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self._on_saved)
        dialog.open()
        return dialog

    def _on_saved(self, change: Change) -> None:
        said, kind = N_("{name} is kept as version {n}."), change.kind
        self._tell(
            lambda: _(said).format(name=kind.name, n=kind.version),
            partial(self._put_back, change) if change.replaced else None,
        )
        self.made.emit(change.kind.name)

    def _put_back(self, change: Change) -> None:
        """Make what was replaced the next version: what stands in the history is never taken out of it."""
        before = msgspec.structs.replace(task_type.stored(change.replaced), version=change.kind.version)
        self._context.commands.fleet.import_types([task_type.dump(before)])

    # files

    def ask_import(self) -> None:
        """Ask which file."""
        FileDialog(self._owner, _("Import task types"), self.take, forms=[FILES]).open()

    def take(self, path: Path) -> None:
        """Show what a file would change, and import it when that is wanted: all of it or nothing."""
        self._reading.start(partial(self._plan, path), partial(self._ask, path), self._fail)

    def _plan(self, path: Path) -> tuple[list[str], list[Change], list[Fault]]:
        bodies = files.read(path)
        if not bodies:
            raise UsageError(_("There is no task type in {file}.").format(file=path.name), field="file")
        return (bodies, *self._context.commands.fleet.plan_types(bodies))

    def _ask(self, path: Path, found: tuple[list[str], list[Change], list[Fault]]) -> None:
        bodies, changes, faults = found
        real = [one for one in changes if one.what != UNCHANGED]
        if faults or not real:
            said = _("All of them stand there already as they are in the file.")
            if faults:
                lead = _("Nothing was changed, for the file has faults.")
                said = text.run_on([lead, *(f"{words.fault(one)}." for one in faults[: words.MOST])])
            self._context.toast(ToastSpec(text=said, status="error" if faults else "healthy"))
            self.planned.emit()
            return

        def number() -> str:
            return ngettext("{n} task type", "{n} task types", len(real)).format(n=text.count(len(real)))

        def question() -> Question:
            rows = tuple((one.kind.name, words.would(one)) for one in changes[: words.MOST])
            more = len(changes) - len(rows)
            note = ngettext("{n} more", "{n} more", more).format(n=text.count(more)) if more else ""
            return Question(
                title=N_("Import task types"),
                number=number(),
                text=text.sentences([_("From {file}").format(file=safe.one_line(path.name, 80)), note]),
                rows=rows,
                findings=(Finding("scheduled", "", _("What is replaced is kept as an earlier version.")),),
                verb=_("Import {what}").format(what=number()),
            )

        confirm(question, self._owner, lambda: self._import(bodies, number))
        self.planned.emit()

    def _import(self, bodies: Sequence[str], number: Callable[[], str]) -> None:
        call = partial(self._context.commands.fleet.import_types, bodies)
        self._act(call, lambda _done: _("{what} imported.").format(what=number()))

    def ask_export(self, kinds: Sequence[TaskType]) -> None:
        """Ask where to."""
        name = f"{kinds[0].name}.json" if len(kinds) == 1 else "task-types.json"
        write = partial(self.write, kinds=kinds)
        FileDialog(self._owner, _("Export task types"), write, forms=[FILES]).write(name)

    def write(self, path: Path, kinds: Sequence[TaskType]) -> None:
        """Write the file in the background."""

        def done(number: int) -> None:
            said = ngettext("{n} task type exported to {file}", "{n} task types exported to {file}", number)
            name = safe.one_line(path.name, 60)
            self._context.toast(ToastSpec(text=said.format(n=text.count(number), file=name), status="succeeded"))

        self._reading.start(partial(files.write, path, kinds), done, self._fail)

    def export(self, kind: TaskType) -> None:
        """Export one."""
        self.ask_export([kind])

    # doors

    def show_tasks(self, kind: TaskType) -> None:
        """Its tasks."""
        self.shown.emit("tasks", filter.format_terms((equals("type", kind.name),)))

    def show_trail(self, kind: TaskType) -> None:
        """Who did what to it."""
        self.shown.emit("audit", f'target:"{kind.name}"')


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeVerb(Verb[TaskType]):
    """Something that can be done to a task type."""

    do: Callable[[TypeActions, TaskType], object]


_LISTED = frozenset({Place.MENU, Place.PALETTE})
#: in their order
USUAL: tuple[TypeVerb, ...] = (
    TypeVerb(
        key="edit", text=N_("Edit"), icon="ph.pencil-simple", shortcut="types.edit", role="admin", do=TypeActions.edit,
    ),
    TypeVerb(key="tasks", text=N_("Show tasks"), icon="ph.list-bullets", role=LOOK, do=TypeActions.show_tasks),
    TypeVerb(key="export", text=N_("Export"), icon="ph.export", role=LOOK, do=TypeActions.export),
    TypeVerb(
        key="trail", text=N_("Who did what to it"), icon="ph.clipboard-text", role=LOOK, places=_LISTED,
        do=TypeActions.show_trail,
    ),
)  # fmt: skip
