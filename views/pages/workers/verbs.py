"""What workers are told, here and elsewhere: verbs behind cards, menu and palette, each an audited command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from services.domain.fleet.remote import LOG_S, WorkerLog
from services.domain.fleet.worker import WorkerInfo
from services.domain.fleet.worker_order import LOG, MAX_GRACE_S
from services.domain.insight import worker as insight
from services.domain.insight.worker import WorkerNow
from services.i18n import N_, _, ngettext
from services.messages import told
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.frame import DialogFrame
from views.kit.find_bar import FindBar
from views.kit.verb import LOOK, Place, Verb
from views.pages.workers.lanes_dialog import LanesDialog
from views.pages.workers.nodes import NO_NAMES, Names, running_rows
from views.support import instant, safe, shown, text
from views.support.keys import bind
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label
from views.support.operation import Operation, Start
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.fields import Labelled, NumberField
from views.widgets.layout import put
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec, failure

SIZE, LEAST = (980, 620), (560, 360)
LOOK_MS, PATIENCE_MS = 1_000, 20_000
_BAD = ("warning", "error", "critical")


class OfWorker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker, and what is known around it."""

    now: WorkerNow
    names: Names = NO_NAMES
    now_ms: int = 0  #: UTC
    here: bool = False  #: it runs in this program
    can_start: bool = False  #: one could run on this computer in its place
    asked: str = ""  #: an order that it was given and has not obeyed yet

    @property
    def info(self) -> WorkerInfo:
        """Its heartbeat."""
        return self.now.info

    @property
    def away(self) -> bool:
        """Whether it hears no orders."""
        return self.now.missing or self.now.state == insight.STOPPED

    @property
    def draining(self) -> bool:
        """Whether it takes no new tasks."""
        return self.info.state == "draining"


class WorkerActions(QObject):
    """Signals:
    ordered: worker, order: it was given and waits for the next heartbeat.
    refused: worker: the order could not be given.
    local_changed: starting, running, stopping or stopped.
    local_failed: the error of starting.
    start_wanted: one shall run on this computer.
    """

    ordered = Signal(str, str)
    refused = Signal(str)
    local_changed = Signal(str)
    local_failed = Signal(object)
    start_wanted = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._telling = Operation(self)
        self._local = Operation(self)
        self._forbidden = ""

    def forbid(self, reason: str) -> None:
        """Give no orders from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def barred(self, _role: str = "operator") -> str:
        """Why no orders are given, "" where they are."""
        return self._forbidden

    @property
    def local_busy(self) -> bool:
        """Whether the local worker is starting or stopping."""
        return self._local.busy

    def tell(self, worker: str, order: str) -> None:
        """Give an order; it is obeyed at the worker's next heartbeat."""
        self._telling.start(
            partial(self._context.commands.fleet.tell_worker, worker, order),
            lambda _none: self.ordered.emit(worker, order),
            partial(self._on_refused, worker),
        )

    def _tell_all(self, start: Start, worker: str, orders: Sequence[str]) -> None:
        given: list[str] = []

        def tell() -> None:
            for order in orders:
                self._context.commands.fleet.tell_worker(worker, order)
                given.append(order)

        def told_all(_none: None) -> None:
            for order in given:
                self.ordered.emit(worker, order)

        def refused(error: BaseException) -> None:
            told_all(None)
            self._on_refused(worker, error)

        start(tell, told_all, refused)

    def forget(self, of: OfWorker) -> None:
        """Strike a worker that is gone off the list."""
        worker = of.info.worker
        self._telling.start(
            partial(self._context.commands.fleet.forget_worker, worker),
            lambda _none: self._context.toast(
                ToastSpec(
                    text=_("{worker} is forgotten").format(worker=worker),
                    status="healthy",
                    detail=_("It comes back by itself if it beats again."),
                )
            ),
            partial(self._on_refused, worker),
        )

    def drain(self, of: OfWorker) -> None:
        """Let it take no new tasks."""
        self.tell(of.info.worker, "drain")

    def resume(self, of: OfWorker) -> None:
        """Let it take tasks again."""
        self.tell(of.info.worker, "resume")

    def stop(self, of: OfWorker) -> None:
        """Stop a worker; asks first when that interrupts tasks, and offers to drain instead."""
        if of.here:
            self.stop_local(of.info, of.names, of.now_ms)
            return
        worker = of.info.worker
        if not of.info.busy:
            self.tell(worker, "stop")
            return
        dialog = StopDialog(of.info, of.names, of.now_ms, self._owner)
        dialog.stop_wanted.connect(lambda grace: self.tell(worker, stop_order(grace)))
        dialog.other_chosen.connect(partial(self.tell, worker, "drain"))
        dialog.open()

    def share(self, of: OfWorker) -> None:
        """How its slots are shared, in a dialog."""
        dialog = LanesDialog(of.info, self._forbidden, self._owner)
        dialog.chosen.connect(partial(self._tell_all, dialog.start, of.info.worker))
        dialog.open()

    def log(self, of: OfWorker) -> None:
        """What its program has logged, in a dialog."""
        LogDialog(self._context, of.info.worker, self._owner).open()

    def start(self, _of: OfWorker) -> None:
        """Let one run on this computer in its place."""
        self.start_wanted.emit()

    def start_local(self, slots: int, lanes: tuple[str, ...]) -> None:
        """Start working in this program."""
        if self._local.busy:
            return
        self.local_changed.emit("starting")
        self._local.start(
            partial(self._context.local.start, slots, lanes),
            lambda _worker: self.local_changed.emit("running"),
            self._on_not_started,
        )

    def stop_local(self, info: WorkerInfo | None, names: Names, now_ms: int) -> None:
        """Stop working in this program; asks first when tasks are running."""
        if info is None or not info.busy:
            self._stop_local()
            return
        dialog = StopDialog(info, names, now_ms, self._owner)
        dialog.stop_wanted.connect(self._stop_local)
        dialog.other_chosen.connect(partial(self.tell, info.worker, "drain"))
        dialog.open()

    def _stop_local(self, grace_s: float | None = None) -> None:
        if self._local.busy:
            return
        self.local_changed.emit("stopping")
        self._local.start(partial(self._context.local.stop, grace_s), self._on_stopped, self._on_not_stopped)

    def _on_stopped(self, clean: bool) -> None:
        self.local_changed.emit("stopped")
        if not clean:
            text = _("Stopped; some outcomes could not be written yet.")
            self._context.toast(
                ToastSpec(text=text, status="warning", detail=_("They are repeated by another worker."))
            )

    def _on_not_stopped(self, error: BaseException) -> None:
        self.local_changed.emit("running")
        self.local_failed.emit(error)

    def _on_not_started(self, error: BaseException) -> None:
        self.local_changed.emit("stopped")
        self.local_failed.emit(error)

    def _on_refused(self, worker: str, error: BaseException) -> None:
        self.refused.emit(worker)
        self._context.toast(failure(error))


#: by verb, the one that takes it back
TWINS = {"drain": "resume", "resume": "drain"}
#: below all numbers of seconds: the worker's own setting
OWN = -1


class StopDialog(ConfirmDialog):
    """Signals:
    stop_wanted: seconds that running tasks get, None for what the worker has set.
    """

    stop_wanted = Signal(object)

    def __init__(self, info: WorkerInfo, names: Names, now_ms: int, parent: QWidget | None = None) -> None:
        super().__init__(partial(_question, info, names, now_ms), parent)
        self.grace = NumberField(OWN, OWN, MAX_GRACE_S)
        say_in_language(self._say_grace)
        self.body.addWidget(Labelled(N_("Time to finish"), self.grace, hint=N_("seconds; 30 where nothing is set")))
        self.confirmed.connect(self._on_confirmed)

    def _say_grace(self) -> None:
        self.grace.setSpecialValueText(_("as the worker has set"))

    def _on_confirmed(self) -> None:
        chosen = self.grace.value()
        self.stop_wanted.emit(None if chosen == OWN else float(chosen))


def stop_order(grace_s: float | None) -> str:
    """The order in the words of the worker."""
    return "stop" if grace_s is None else f"stop={grace_s:g}"


def _question(info: WorkerInfo, names: Names, now_ms: int) -> Question:
    number, once = info.busy, sum(names.once_only(slot.task_type) for slot in info.slots if slot.task_id)
    parts = [
        ngettext(
            "{worker} runs {n} task. It gets the time below to finish; then it is interrupted and begins anew on the"
            " next free worker. That counts as no failure.",
            "{worker} runs {n} tasks. They get the time below to finish; then they are interrupted and begin anew on"
            " the next free worker. That counts as no failure.",
            number,
        ).format(worker=info.worker, n=number)
    ]
    if once:
        parts.append(
            ngettext(
                "{n} of them must not run twice: interrupted, it is held until somebody decides.",
                "{n} of them must not run twice: interrupted, they are held until somebody decides.",
                once,
            ).format(n=once)
        )
    parts.append(_("Draining interrupts nothing: it takes no new tasks and finishes these."))
    return Question(
        title=N_("Stop a worker"),
        text="\n\n".join(parts),
        rows=running_rows(info, names, now_ms),
        verb=ngettext("Stop with {n} task running", "Stop with {n} tasks running", number).format(n=number),
        danger=True,
        other=_("Drain instead"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerVerb(Verb[OfWorker]):
    """Something that a worker can be told."""

    do: Callable[[WorkerActions, OfWorker], None]
    tip: str = ""  #: what it does, source text
    word: str = ""  #: where there is little room, source text; else its text
    fits: Callable[[OfWorker], bool] = lambda of: not of.away  #: where it is offered

    def offered(self, place: Place, chosen: OfWorker) -> bool:
        """Only what suits its state."""
        return place in self.places and self.fits(chosen)

    def why_not(self, chosen: OfWorker) -> str:
        """What stops takes no more orders."""
        leaving = chosen.info.state in ("stopping", "stopped") or chosen.asked.startswith("stop")
        return _("It is stopping") if leaving and not chosen.away else ""


class Reading(WorkerVerb):
    """Only reads: what a worker logs while it stops is what somebody wants to see then."""

    def why_not(self, chosen: OfWorker) -> str:
        """Nothing keeps anybody from it."""
        return ""


class Forget(WorkerVerb):
    """Strikes one off that is gone."""

    def why_not(self, chosen: OfWorker) -> str:
        """What it held may be about to come back."""
        held = insight.kept(chosen.now, chosen.now_ms)
        return shown.told(held) if held is not None else ""


#: in their order in a menu
VERBS: tuple[WorkerVerb, ...] = (
    WorkerVerb(
        key="resume", text=N_("Resume"), tip=N_("Resume: take tasks again"), icon="ph.play",
        fits=lambda of: not of.away and of.draining, do=WorkerActions.resume,
    ),
    WorkerVerb(
        key="drain", text=N_("Drain"), tip=N_("Drain: take no new tasks"), icon="ph.download-simple",
        fits=lambda of: not of.away and not of.draining, do=WorkerActions.drain,
    ),
    WorkerVerb(
        key="stop", text=N_("Stop"), tip=N_("Stop this worker"), icon="ph.square", danger=True, do=WorkerActions.stop
    ),
    WorkerVerb(
        key="share", text=N_("Slots and lanes"), tip=N_("Slots and lanes"), word=N_("Lanes"),
        icon="ph.sliders-horizontal", role=LOOK, do=WorkerActions.share,
    ),
    Reading(
        key="log", text=N_("Log"), tip=N_("Look at the last lines of its log"), icon="ph.article",
        role=LOOK, do=WorkerActions.log,
    ),
    Forget(
        key="forget", text=N_("Forget"), tip=N_("Take it off the list; it comes back if it beats."), icon="ph.trash",
        fits=lambda of: of.away, do=WorkerActions.forget,
    ),
    WorkerVerb(
        key="start", text=N_("Start one here"), icon="ph.play-fill", places=frozenset({Place.PANEL, Place.PALETTE}),
        fits=lambda of: of.now.missing and of.can_start, do=WorkerActions.start,
    ),
)  # fmt: skip


class LogDialog(DialogFrame):
    """The last lines that the program of a worker has logged on its machine, as they come.

    Asks the worker for its log when it is opened, and again while it stays open.

    Signals:
        looked: another look has come.
    """

    looked = Signal()

    def __init__(self, context: PageContext, worker: str, parent: QWidget | None = None) -> None:
        super().__init__(N_("Log of a worker"), icon="ph.article", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._worker = context, worker
        self._log: WorkerLog | None = None
        self._lines: list[str] = []  #: as they stand there
        self._stumbled, self._live = False, True
        self._began = self._asked = instant.now_ms()
        self._acting, self._asking = Operation(self), Operation(self, latest=True)
        self.error = ErrorStrip()
        self.error.retry.connect(self._wish)
        self.levels = Segmented((("all", N_("All lines")), ("bad", N_("Warnings and errors"))), N_("Which lines"))
        self.levels.chosen.connect(lambda _key: self._say(whole=True))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)  # it would keep every line that has ever stood there
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(theme().font("monosmall"))
        self.hint = Label("", "label", "text3", wrap=True)
        head, body = QVBoxLayout(), QVBoxLayout()
        head.addWidget(self.error)
        self.finder = FindBar(self.text)
        body.setContentsMargins(16, 12, 16, 12)
        body.addWidget(self.finder)
        body.addWidget(self.text)
        self.fill(head, body, size=SIZE, least=LEAST)
        bind(self, {"parts.find": self.finder.open})
        self.copy_button = Button(N_("Copy"), icon="ph.copy")
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.close_button = Button(N_("Close"), hint="Esc")
        self.close_button.clicked.connect(self.reject)
        self.find_button = Button(N_("Find"), icon="ph.magnifying-glass", hint="parts.find")
        self.find_button.clicked.connect(self.finder.open)
        put(self.foot, self.levels, (self.hint, 1), self.find_button, self.copy_button, self.close_button)
        self.set_note(safe.one_line(worker, 60))
        on_language_changed(self._say)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        self._wish()
        self._say()

    def _wish(self) -> None:
        """Ask the worker to show it; it does so for a while."""
        self.error.clear()
        self._began = self._asked = instant.now_ms()
        call = partial(self._context.commands.fleet.tell_worker, self._worker, f"{LOG}={LOG_S}")
        self._acting.start(call, lambda _none: self._look(), self._fail)

    def _look(self) -> None:
        if instant.now_ms() - self._asked > (LOG_S - 30) * 1000:
            self._wish()
        if self._asking.busy:  # a store that is slow is not asked by all threads of the window
            return
        remote = self._context.remote
        self._asking.start(
            lambda: (remote.log(self._worker), remote.is_heard(self._worker)), lambda found: self._take(*found),
            self._stumble,
        )  # fmt: skip

    def _take(self, found: WorkerLog | None, live: bool) -> None:
        self._live = live
        if self._stumbled:
            self._stumbled = False
            self.error.clear()
        if found is not None and found != self._log:
            self._log = found
            self._say(whole=True)
        else:
            self._say()
        self.looked.emit()

    def _stumble(self, error: BaseException) -> None:
        self._stumbled = True  # the next look that is answered takes it away
        self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.error.show_error(told(error))

    def _say(self, *, whole: bool = False) -> None:
        self.text.setAccessibleName(_("Lines of the log"))
        log = self._log
        if log is None:
            late = instant.now_ms() - self._began > PATIENCE_MS
            said = _("{worker} does not show its log: is it alive?") if late else _("{worker} is asked for its log.")
            self.hint.setText(said.format(worker=safe.one_line(self._worker, 60)))
            self.copy_button.disable(_("Nothing is shown yet"))
            return
        said = (
            _("The last {n} lines of that program, secrets as dots; new ones come by themselves.")
            if self._live
            else _("{worker} is silent: the last {n} lines that it has shown, secrets as dots. No new ones come.")
        )
        self.hint.setText(said.format(n=text.count(len(log.lines)), worker=safe.one_line(self._worker, 60)))
        self.copy_button.disable("")
        if not whole:
            return
        bar = self.text.verticalScrollBar()
        at, end = bar.value(), bar.value() >= bar.maximum() - 4
        now, bad = instant.now_ms(), self.levels.current() == "bad"
        lines = [line for line in log.lines if not bad or line.level in _BAD]
        said_lines = [f"{shown.clock(line.at, now)}  {line.level:<8} {safe.one_line(line.text, 400)}" for line in lines]
        gone = self._put(said_lines)
        bar.setValue(bar.maximum() if end else max(0, at - gone))

    def _put(self, lines: list[str]) -> int:
        """Put the lines in place of those before, and answer how many went in front. Those that stay are not touched:
        what is marked or found in them stays so, and stays where it is.
        """
        before, self._lines = self._lines, lines
        gone = next((n for n in range(len(before)) if lines[: len(before) - n] == before[n:]), None)
        if gone is None:
            self.text.setPlainText("\n".join(lines))
            return 0
        cursor = QTextCursor(self.text.document())
        if gone:
            cursor.movePosition(QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor, gone)
            cursor.removeSelectedText()
        if more := lines[len(before) - gone :]:
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText("\n" + "\n".join(more))
        return gone
