"""Takes tasks out of the program: to the clipboard in several forms, or to a file; chosen ones or all that match."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.task.record import Task
from services.domain.task.search.filter import format_terms
from services.domain.task.search.query import Term
from services.domain.text import shell, view_link
from services.domain.text.mask import masked_json
from services.domain.text.said import said
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.files import export
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.file import ask_file
from views.kit import exporting
from views.kit.task_verb import many
from views.pages.tasks.listing import Wanted, rows_of
from views.pages.tasks.rows import TaskRow
from views.support import safe, shown, text
from views.support.operation import Operation
from views.widgets.toast import ToastSpec, failure, lasting

#: where ``api`` listens unless it was told otherwise
REST = "http://127.0.0.1:8765/api/v1/tasks"
#: what a clipboard is good for; more goes to a file
MOST_COPIED = 10_000
FORMS: tuple[tuple[str, str], ...] = (
    ("ids", N_("Task ids")),
    ("tsv", N_("Table rows (TSV)")),
    ("json", N_("JSON")),
    ("command", N_("Command line")),
    ("curl", N_("curl, for the REST interface")),
    ("link", N_("Link")),
)
_TELL_MS = 500
EXPORT = "export"


class _Export(msgspec.Struct):
    """One export under way."""

    path: Path
    stop: threading.Event


class Sharing(QObject):
    """Signals:
    exported: a file stands at this path (``Path``).
    """

    exported = Signal(object)

    def __init__(self, context: PageContext, tsv: Callable[[Sequence[TaskRow]], str], owner: QWidget) -> None:
        """``tsv`` makes table rows of records, with the columns on screen."""
        super().__init__(owner)
        self._context, self._tsv, self._owner = context, tsv, owner
        self._copying = Operation(self, latest=True)
        self._exporting = Operation(self)
        self._export: _Export | None = None
        self._timer = QTimer(self, singleShot=True, interval=_TELL_MS)
        self._timer.timeout.connect(self._tell_busy)

    # clipboard

    def fill_menu(self, menu: QMenu, ids: Callable[[], Sequence[str]]) -> None:
        """Put the forms of copying into a menu."""
        for form, words in FORMS:
            menu.addAction(_(words), partial(self._copy_of, form, ids))

    def _copy_of(self, form: str, ids: Callable[[], Sequence[str]]) -> None:
        self.copy(form, ids())

    def copy(self, form: str, ids: Sequence[str]) -> None:
        """Copy tasks in one of ``FORMS``; what is still read for the copy before does not take its place."""
        self._copying.drop()
        if len(ids) > MOST_COPIED:
            words = _("The clipboard takes up to {n} tasks. Export them to a file instead.")
            self._context.toast(ToastSpec(text=words.format(n=text.count(MOST_COPIED)), status="warning"))
        elif form == "ids":
            self._take("\n".join(ids), len(ids))
        elif form == "link":
            self._take_link(ids)
        elif ids:
            self._copying.start(partial(_rows, self._context.tasks, ids), partial(self._copy_rows, form))

    def _copy_rows(self, form: str, rows: Sequence[TaskRow]) -> None:
        if form == "tsv":
            words = self._tsv(rows)
        elif form == "json":
            words = _json(rows)
        elif form == "curl":
            words = "\n".join(curl(row.task) for row in rows)
        else:
            words = "\n".join(command_line(row.task, self._context.profile) for row in rows)
        ours = shell.WINDOWS and form in ("command", "curl")
        self._take(words, len(rows), _("for the Command Prompt (cmd)") if ours else "")

    def _take_link(self, ids: Sequence[str]) -> None:
        """One link to all of them, where it does not get too long."""
        shown = format_terms((Term(field="id", op="=", values=tuple(ids)),)) if ids else ""
        if len(shown) > view_link.MOST:
            self._context.toast(ToastSpec(text=told(said("link.long", most=view_link.MOST)), status="warning"))
        elif shown:
            self._take(str(view_link.ViewLink(self._context.profile, "tasks", shown)), len(ids))

    def _take(self, words: str, number: int, where: str = "") -> None:
        """``where``: the only place in which they mean what they say, "" for any."""
        QGuiApplication.clipboard().setText(words)
        done = ngettext("{n} task copied", "{n} tasks copied", number).format(n=text.count(number))
        self._context.toast(ToastSpec(text=text.listed([done, where]) if where else done))

    # file

    def ask_file(self, ids: Sequence[str], wanted: Wanted) -> None:
        """Ask where to: the tasks of ``ids``, without any all that match."""
        title = _("Export {tasks}").format(tasks=many(len(ids))) if ids else _("Export all that match")
        ask_file(self._owner, title, "tasks", lambda path: self.write(path, ids, wanted))

    def write(self, path: Path, ids: Sequence[str], wanted: Wanted) -> None:
        """Write the file in the background; one at a time."""
        if self._export is not None:
            self._context.toast(ToastSpec(text=_("An export is under way; wait for it or stop it"), status="warning"))
            return
        under_way = _Export(path, threading.Event())
        self._export = under_way
        self._timer.start()
        call = partial(_write, self._context.tasks, under_way, tuple(ids), wanted)
        self._exporting.start(call, self._tell_done, self._tell_failed)

    def stop(self) -> None:
        """Stop the export; nothing is left of it."""
        if self._export is not None:
            self._export.stop.set()

    def _tell_busy(self) -> None:
        if self._export is not None:
            self._context.toast(lasting(partial(exporting.under_way, self._export.path, self.stop, EXPORT)))

    def _end(self) -> Path:
        self._timer.stop()
        path = self._export.path if self._export is not None else Path()
        self._export = None
        return path

    def _tell_done(self, number: int) -> None:
        path = self._end()
        self._context.toast(lasting(partial(_done, path, number)))
        self.exported.emit(path)

    def _tell_failed(self, error: BaseException) -> None:
        self._end()
        if isinstance(error, export.Stopped):
            self._context.toast(lasting(partial(exporting.stopped, EXPORT)))
            return
        self._context.toast(failure(error, N_("The export failed."), key=EXPORT))


def _done(path: Path, number: int) -> ToastSpec:
    words = ngettext("{n} task exported to {file}", "{n} tasks exported to {file}", number)
    said = words.format(n=text.count(number), file=safe.one_line(path.name, 60))
    return ToastSpec(text=said, actions=(exporting.folder_of(path),), seconds=10, key=EXPORT)


def command_line(task: Task, profile: str) -> str:
    """The words that make the same task again."""
    words = ["fleetdeck", "task", "create", "--platform", task.platform, "--shop", task.shop_id]
    words += ["--type", task.task_type, "--payload", masked_json(task.payload), "--priority", str(task.priority)]
    words += ["--profile", profile] if profile not in ("", "local") else []
    return shell.line(words)


def curl(task: Task) -> str:
    """The call of the REST interface (``api``, on this machine) that makes the same task again.

    The token is a variable, so that none gets into a clipboard.
    """
    body = {"shops": [task.shop], "type": task.task_type, "priority": str(task.priority)}
    text = json.dumps({**body, "payload": json.loads(masked_json(task.payload))}, ensure_ascii=False)
    words = ["curl", "-X", "POST", REST, "-H", "content-type: application/json", "-d", text]
    return f'{shell.line(words)} -H "authorization: Bearer {shell.variable("TOKEN")}"'


def _rows(queries: TaskQueries, ids: Sequence[str]) -> tuple[TaskRow, ...]:
    return rows_of(queries, list(queries.each_of(ids)))


def _json(rows: Sequence[TaskRow]) -> str:
    documents = [
        {**export.document(row.task, None, shown.zone(), row.gate), "shop_name": row.shop_name} for row in rows
    ]
    return json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False, indent=2)


def _write(queries: TaskQueries, under_way: _Export, ids: Sequence[str], wanted: Wanted) -> int:
    everything = queries.each(wanted.filter, sort=wanted.sort, descending=wanted.descending)
    tasks = queries.each_of(ids) if ids else everything
    return export.write(tasks, under_way.path, queries.shops(), shown.zone(), gates=queries.gates, stop=under_way.stop)
