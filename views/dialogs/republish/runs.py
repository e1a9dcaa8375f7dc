"""Runs of bulk republishing: how far each came, what became of every letter, and going on with one or giving it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.commands.bulk import fates
from services.commands.bulk.fates import Fate
from services.commands.bulk.republish import BulkRepublish, Plan, RunView
from services.domain.fleet.shop import Shop
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.text.message import Message
from services.i18n import N_, _
from services.messages import told
from views.dialogs.frame import DialogFrame
from views.dialogs.republish.runner import BulkRunner, RunRequest
from views.dialogs.republish.shares import SharesBar
from views.support import safe, shown, text
from views.support.look import Label, line
from views.support.operation import Operation
from views.tables.column import Column, dated
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button, LinkLabel
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.strip import ErrorStrip

SIZE, LEAST, LEFT = (1060, 640), (760, 460), 420
#: letters that are listed one by one
LISTED = 2_000
#: how often a run that moves is asked for; lines of fates; tasks that one of them opens
FOLLOW_MS, MOST_DOORS, OPENED = 1_000, 8, 100
_WITH_WHY = frozenset({fates.DIED, fates.SKIPPED, fates.CLOSED})
_STATES: dict[str, tuple[str, str]] = {
    "running": ("running", N_("under way")),
    "interrupted": ("warning", N_("interrupted")),
    "stopped": ("paused", N_("stopped")),
    "aborted": ("cancelled", N_("aborted")),
    "done": ("succeeded", N_("done")),
}
_UNFINISHED = ("interrupted", "stopped")


def state_words(view: RunView) -> str:
    """How a run stands."""
    return _(_STATES[view.state][1]) if view.state in _STATES else view.state


#: fate -> (glyph, colour role of its share, source text of its number)
_FATES: dict[str, tuple[str, str, str]] = {
    fates.SUCCEEDED: ("succeeded", "succeeded", N_("{n} succeeded")),
    fates.DIED: ("dead", "deadfill", N_("{n} died again")),
    fates.STOPPED: ("cancelled", "text3", N_("{n} stopped or held")),
    fates.RUNNING: ("running", "running", N_("{n} running")),
    fates.SENT: ("waiting", "waiting", N_("{n} sent, waiting")),
    fates.LEFT: ("paused", "line2", N_("{n} not sent: still dead letters")),
    fates.SKIPPED: ("warning", "retrying", N_("{n} skipped: still dead letters")),
    fates.CLOSED: ("cancelled", "text3", N_("{n} skipped: no dead letters any more")),
}


def words(one: Fate) -> str:
    """What became of a letter, in a few words."""
    why = shown.say(one.why) if one.why is not None else ""
    if one.state in (fates.SKIPPED, fates.CLOSED):
        return why or _("no dead letter any more")
    if one.state == fates.LEFT:
        return _("still a dead letter")
    if one.state == fates.DIED:
        return _("died again: {cause}").format(cause=safe.one_line(why, 100))
    status = shown.status_word(one.status).lower() if one.status else _("succeeded, its record was removed")
    return _("{status}, as {id}").format(status=status, id=safe.one_line(one.new_id, 80))


def number_words(state: str, number: int) -> str:
    """``48 succeeded``."""
    return _(_FATES[state][2]).format(n=text.count(number))


def summary(view: RunView, found: Sequence[Fate]) -> str:
    """How a run stands, or what came of it once nothing of it moves any more."""
    counts = fates.counts(found)
    parts = [number_words(state, number) for state, number in counts.items()]
    moves = view.state == "running" or any(state in fates.MOVING for state in counts)
    template = _("Going on: {parts}") if moves else _("Over: {parts}")
    return template.format(parts=text.listed(parts)) if parts else ""


RUNS: tuple[Column[RunView], ...] = (
    Column(
        key="state",
        title="",
        value=lambda view: _STATES.get(view.state, ("waiting", ""))[0],
        kind="glyph",
        width=30,
        speech=state_words,
    ),
    dated("begun", N_("Begun"), lambda view: view.entry.begun_at, width=96),
    Column(key="word", title=N_("State"), value=state_words, width=90),
    Column(
        key="done",
        title=N_("Sent"),
        value=lambda view: view.entry.done,
        text=lambda view: f"{text.count(view.entry.done)} / {text.count(view.entry.total)}",
        kind="number",
        width=104,
    ),
    Column(
        key="who",
        title=N_("By"),
        value=lambda view: safe.one_line(view.holder or view.entry.who, 60),
        tone="text2",
        width=90,
        stretch=True,
    ),
)


class FateRow(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a letter, with the name of its shop."""

    fate: Fate
    shop_name: str = ""


ITEMS: tuple[Column[FateRow], ...] = (
    Column(
        key="glyph",
        title="",
        value=lambda row: _FATES[row.fate.state][0],
        kind="glyph",
        width=30,
        speech=lambda row: words(row.fate),
    ),
    Column(
        key="shop",
        title=N_("Shop"),
        value=lambda row: row.shop_name or row.fate.shop.partition(":")[2],
        width=140,
        tooltip=lambda row: row.fate.shop,
    ),
    Column(
        key="letter",
        title=N_("Letter"),
        value=lambda row: safe.one_line(row.fate.item.task_id, 80),
        kind="mono",
        width=180,
        names=True,
        tooltip=lambda row: row.fate.item.task_id,
    ),
    Column(
        key="words",
        title=N_("What came of it"),
        value=lambda row: words(row.fate),
        width=160,
        stretch=True,
        tooltip=lambda row: words(row.fate),
    ),
)


class _Door(LinkLabel):
    """A line that opens the tasks it counts.

    Signals:
        wanted: its place in the list.
    """

    wanted = Signal(int)

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place
        self.activated.connect(self._on_activated)

    def _on_activated(self) -> None:
        self.wanted.emit(self._place)


class RunsDialog(DialogFrame):
    """Follows a run while something of it moves.

    Signals:
        resumed: a run goes on; its progress is told where every run's is.
        tasks_wanted: a filter that the Tasks page shall show.
    """

    resumed = Signal()
    tasks_wanted = Signal(str)

    def __init__(
        self,
        bulk: Callable[[], BulkRepublish],
        shops: Callable[[], Mapping[str, Shop]],
        runner: BulkRunner,
        reason: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """``shops``: by ``platform:shop_id``, blocking; ``reason``: why nothing can be changed, "" when it can."""
        super().__init__(N_("Runs of republishing"), icon="ph.clock-counter-clockwise", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._bulk, self._shops, self._runner, self._reason = bulk, shops, runner, reason
        self._shown = ""
        self._behind: list[list[str]] = []
        self._plan = Plan()
        self._looking, self._asking = Operation(self, latest=True), Operation(self, latest=True)
        self._acting = Operation(self)
        self._runs: RecordModel[RunView] = RecordModel(RUNS, key=lambda view: view.entry.run_id, hold_new=False)
        self._items: RecordModel[FateRow] = RecordModel(ITEMS, key=lambda row: row.fate.item.task_id, hold_new=False)
        self.error = ErrorStrip()
        self.runs, self.items = TableView(self._runs, name=N_("Runs")), TableView(self._items, name=N_("Letters"))
        self._about, self.summary = Label("", "body", "text2", wrap=True), Label("", "strong", wrap=True)
        self.shares, self._doors_room = SharesBar(), QVBoxLayout()
        self.doors: list[_Door] = []
        self._fates: list[Fate] = []
        self._beat = QTimer(self, interval=FOLLOW_MS)
        self._beat.timeout.connect(self._follow)
        self._build()
        # bound methods only: a lambda would hold the dialog, and let go of it in the middle of its end
        self.runs.current_changed.connect(self._on_current)
        self.error.retry.connect(self.refresh)
        self.refresh()

    def _build(self) -> None:
        self.runs.setFixedWidth(LEFT)
        right = in_column(self._about, self.summary, self.shares, margins=(16, 12, 16, 0), spacing=8)
        self._doors_room.setSpacing(2)
        put(right, self._doors_room, line(), (self.items, 1))
        row = in_row(self.runs, line("v"), (right, 1), spacing=0)
        self.fill(self.error, row, size=SIZE, least=LEAST)
        self.close_button = Button(N_("Close"), hint="Esc")
        self.abort_button = Button(N_("Abort"), kind="danger", icon="ph.x")
        self.resume_button = Button(N_("Go on"), kind="primary", icon="ph.play")
        self.close_button.clicked.connect(self.reject)
        self.abort_button.clicked.connect(self._on_abort)
        self.resume_button.clicked.connect(self._on_resume)
        put(self.foot, self.abort_button, STRETCH, self.close_button, self.resume_button)
        self.close_button.setFocus()
        self._say()

    def refresh(self) -> None:
        """Ask for the runs again."""
        self._looking.start(lambda: self._bulk().runs(), self._show, self._fail)

    def current(self) -> RunView | None:
        """The run under the cursor."""
        key = self.runs.current_key()
        return self._runs.find(str(key)) if key is not None else None

    def showEvent(self, event: QShowEvent) -> None:
        """Follow what moves."""
        super().showEvent(event)
        self._beat.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Follow nothing."""
        self._beat.stop()
        super().hideEvent(event)

    def _follow(self) -> None:
        view = self.current()
        moves = any(one.state in fates.MOVING for one in self._fates)
        if view is not None and (moves or view.state in ("running", "interrupted")) and not self._looking.busy:
            self.refresh()

    def _show(self, views: list[RunView]) -> None:
        self.error.clear()
        self._runs.apply(views)
        if views and self.current() is None:
            self.runs.set_current_key(next((v for v in views if v.state in _UNFINISHED), views[0]).entry.run_id)
        else:
            self._ask()

    def _on_current(self, _key: object) -> None:
        self._ask()

    def _ask(self) -> None:
        view = self.current()
        run_id = view.entry.run_id if view is not None else ""
        if run_id != self._shown:
            self._plan, self._fates, self._shown = Plan(), [], run_id
            self._items.clear()
        self._say()
        self._asking.drop()
        if view is not None:
            self._asking.start(partial(_look, self._bulk, self._shops, run_id), self._take, self._fail)

    def _take(self, found: tuple[Plan, list[FateRow]]) -> None:
        self._plan, rows = found
        self._fates = [row.fate for row in rows]
        self._items.apply(rows[:LISTED], settle=True)
        self._say()

    def _show_doors(self) -> None:
        """A line for each fate, with its causes where it died; each opens its tasks."""
        groups: dict[tuple[str, str], list[Fate]] = {}
        for one in self._fates:
            why = shown.say(one.why) if one.why is not None and one.state in _WITH_WHY else ""
            groups.setdefault((one.state, safe.one_line(why, 100)), []).append(one)
        order = sorted(groups, key=lambda key: (fates.FATES.index(key[0]), -len(groups[key])))[:MOST_DOORS]
        while len(self.doors) < len(order):
            door = _Door(len(self.doors))
            door.wanted.connect(self._open)
            self.doors.append(door)
            self._doors_room.addWidget(door)
        self._behind = [[one.new_id or one.item.task_id for one in groups[key]] for key in order]
        for place, door in enumerate(self.doors):
            door.setVisible(place < len(order))
            if place < len(order):
                state, why = order[place]
                number = number_words(state, len(groups[order[place]]))
                door.set_count_text(_("{name}: {value}").format(name=number, value=why) if why else number)
        self.shares.show_pieces([(number, _FATES[state][1]) for state, number in fates.counts(self._fates).items()])

    def _open(self, place: int) -> None:
        self.accept()
        self.tasks_wanted.emit(filter.format_terms((equals("id", *self._behind[place][:OPENED]),)))

    def _fail(self, error: BaseException) -> None:
        self.error.show_error(told(error))

    # acting

    def _problem(self, view: RunView | None) -> str:
        if self._reason:
            return self._reason
        if view is None:
            return _("No run was made yet")
        if view.state == "running":
            return _("{who} is at it").format(who=safe.one_line(view.holder, 60))
        return "" if view.state in _UNFINISHED else _("Nothing of it is left")

    def _on_resume(self) -> None:
        view = self.current()
        if view is None or self._problem(view):
            return
        job = RunRequest(plan=self._plan, options=view.entry.options, run_id=view.entry.run_id)
        if self._runner.begin(job):
            self.accept()
            self.resumed.emit()

    def _on_abort(self) -> None:
        view = self.current()
        if view is not None and not self._problem(view):
            run_id = view.entry.run_id
            self._acting.start(lambda: self._bulk().abort(run_id), lambda _left: self.refresh(), self._fail)

    def _say(self) -> None:
        view = self.current()
        problem = self._problem(view)
        busy = _("Another republish is still under way") if self._runner.job is not None else ""
        looking = "" if self._plan.items else _("Still looking at the letters")
        self.abort_button.disable(problem)
        self.resume_button.disable(problem or busy or looking)
        self._about.setText(_head(view) if view is not None else _("No run was made yet"))
        self.summary.setText(summary(view, self._fates) if view is not None else "")
        self._show_doors()


def _look(
    bulk: Callable[[], BulkRepublish], shops: Callable[[], Mapping[str, Shop]], run_id: str
) -> tuple[Plan, list[FateRow]]:
    plan, found = bulk().fates(run_id)
    known = shops()
    return plan, [FateRow(fate=one, shop_name=known[one.shop].name if one.shop in known else "") for one in found]


def _head(view: RunView) -> str:
    entry = view.entry
    parts = [
        _("{done} of {total} sent, {skipped} skipped.").format(
            done=text.count(entry.done), total=text.count(entry.total), skipped=text.count(entry.skipped)
        )
    ]
    if view.state == "interrupted":
        parts.append(_("Its program ended in the middle; nothing is sent twice when it goes on."))
    if entry.why in ("bulk.stopped", "bulk.left", "bulk.aborted"):
        parts.append(shown.say(Message(entry.why)))
    return text.run_on(parts)
