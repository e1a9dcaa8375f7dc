"""Runs of bulk republishing: how far each came, what became of every letter, and going on with one or giving it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.clock import SystemClock
from services.commands.bulk import BulkRepublish, Plan, RunView
from services.commands.bulk_book import successor_tail
from services.commands.bulk_plan import GONE, READY, Item
from services.domain.message import Message
from services.i18n import N_, _
from services.messages import told
from views.dialogs.frame import DialogFrame
from views.dialogs.republish.runner import BulkRunner, Job
from views.support import safe, shown, text
from views.support.look import Label, line
from views.support.operation import Operation
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.widgets.buttons import Button
from views.widgets.key_values import KeyValues
from views.widgets.strip import ErrorStrip

SIZE, LEAST, LEFT = (1060, 640), (760, 460), 420
#: letters that are listed one by one
LISTED = 2_000
_CLOCK = SystemClock()
_STATES: dict[str, tuple[str, str]] = {
    "running": ("running", N_("under way")),
    "interrupted": ("warning", N_("interrupted")),
    "stopped": ("paused", N_("stopped")),
    "aborted": ("cancelled", N_("aborted")),
    "done": ("succeeded", N_("done")),
}
_UNFINISHED = ("interrupted", "stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of one letter of a run."""

    item: Item
    glyph: str
    words: str
    sort: str  #: what equal fates share, for counting


def state_words(view: RunView) -> str:
    """How a run stands."""
    return _(_STATES[view.state][1]) if view.state in _STATES else view.state


def fate(run_id: str, item: Item) -> Fate:
    """What became of a letter, as it stands now."""
    if item.successor.endswith(f"_{successor_tail(run_id, item.task_id)}"):
        words = _("republished as {id}").format(id=safe.one_line(item.successor, 80))
        return Fate(item=item, glyph="succeeded", words=words, sort=_("republished"))
    if item.state == READY:
        return Fate(item=item, glyph="dead", words=_("still a dead letter"), sort=_("still dead letters"))
    why = shown.say(item.why) if item.why is not None else _("no dead letter any more")
    if item.state == GONE:
        return Fate(item=item, glyph="cancelled", words=why, sort=_("no dead letters any more"))
    return Fate(item=item, glyph="warning", words=why, sort=_("still dead letters, would be skipped"))


RUNS: tuple[Column[RunView], ...] = (
    Column(
        key="state",
        title="",
        value=lambda view: _STATES.get(view.state, ("waiting", ""))[0],
        kind="glyph",
        width=30,
        speech=state_words,
    ),
    Column(
        key="begun",
        title=N_("Begun"),
        value=lambda view: view.entry.begun_at,
        text=lambda view: shown.clock(view.entry.begun_at, _CLOCK.now_ms()),
        width=96,
    ),
    Column(key="word", title=N_("State"), value=state_words, width=90),
    Column(
        key="done",
        title=N_("Republished"),
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
ITEMS: tuple[Column[Fate], ...] = (
    Column(key="glyph", title="", value=lambda one: one.glyph, kind="glyph", width=30, speech=lambda one: one.words),
    Column(
        key="letter",
        title=N_("Letter"),
        value=lambda one: safe.one_line(one.item.task_id, 80),
        kind="mono",
        width=250,
        tooltip=lambda one: safe.tooltip(one.item.task_id),
    ),
    Column(
        key="words",
        title=N_("What came of it"),
        value=lambda one: one.words,
        width=160,
        stretch=True,
        tooltip=lambda one: safe.tooltip(one.words),
    ),
)


class RunsDialog(DialogFrame):
    """Signals:
    resumed: a run goes on; its progress is told where every run's is.
    """

    resumed = Signal()

    def __init__(
        self, bulk: Callable[[], BulkRepublish], runner: BulkRunner, reason: str = "", parent: QWidget | None = None
    ) -> None:
        """``reason``: why nothing can be changed, "" when it can."""
        super().__init__(N_("Runs of republishing"), icon="ph.clock-counter-clockwise", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._bulk, self._runner, self._reason = bulk, runner, reason
        self._plan = Plan()
        self._looking, self._asking, self._acting = (Operation(self, latest=True) for _n in range(3))
        self._runs: RecordModel[RunView] = RecordModel(RUNS, key=lambda view: view.entry.run_id, hold_new=False)
        self._items: RecordModel[Fate] = RecordModel(ITEMS, key=lambda one: one.item.task_id, hold_new=False)
        self.error = ErrorStrip()
        self.runs, self.items = TableView(self._runs, name=N_("Runs")), TableView(self._items, name=N_("Letters"))
        self._about, self._counts = Label("", "body", "text2", wrap=True), KeyValues(spread=True)
        self._build()
        self.runs.current_changed.connect(lambda _key: self._ask())
        self.error.retry.connect(self.refresh)
        self.refresh()

    def _build(self) -> None:
        self.runs.setFixedWidth(LEFT)
        right = QVBoxLayout()
        right.setContentsMargins(16, 12, 16, 0)
        right.setSpacing(8)
        for widget in (self._about, self._counts, line()):
            right.addWidget(widget)
        right.addWidget(self.items, 1)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.runs)
        row.addWidget(line("v"))
        row.addLayout(right, 1)
        self.fill(self.error, row, size=SIZE, least=LEAST)
        self.close_button = Button(N_("Close"), hint="Esc")
        self.abort_button = Button(N_("Abort"), kind="danger", icon="ph.x")
        self.resume_button = Button(N_("Go on"), kind="primary", icon="ph.play")
        self.close_button.clicked.connect(self.reject)
        self.abort_button.clicked.connect(self._on_abort)
        self.resume_button.clicked.connect(self._on_resume)
        self.foot.addWidget(self.abort_button)
        self.foot.addStretch(1)
        self.foot.addWidget(self.close_button)
        self.foot.addWidget(self.resume_button)
        self.close_button.setFocus()
        self._say()

    def refresh(self) -> None:
        """Ask for the runs again."""
        self._looking.start(lambda: self._bulk().runs(), self._show, self._fail)

    def current(self) -> RunView | None:
        """The run under the cursor."""
        key = self.runs.current_key()
        return self._runs.find(str(key)) if key is not None else None

    def _show(self, views: list[RunView]) -> None:
        self.error.clear()
        self._runs.apply(views)
        if views and self.current() is None:
            self.runs.set_current_key(next((v for v in views if v.state in _UNFINISHED), views[0]).entry.run_id)
        else:
            self._ask()

    def _ask(self) -> None:
        view = self.current()
        self._plan = Plan()
        self._say()
        if view is not None:
            run_id = view.entry.run_id
            self._asking.start(partial(_look, self._bulk, run_id), self._take, self._fail)

    def _take(self, found: tuple[Plan, list[Fate]]) -> None:
        self._plan, fates = found
        self._items.clear()
        self._items.apply(fates[:LISTED])
        counts = Counter(one.sort for one in fates)
        self._counts.set_rows([(sort, text.count(number)) for sort, number in counts.most_common()])
        self._say()

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
        job = Job(plan=self._plan, options=view.entry.options, run_id=view.entry.run_id)
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


def _look(bulk: Callable[[], BulkRepublish], run_id: str) -> tuple[Plan, list[Fate]]:
    plan = bulk().plan_of(run_id)
    return plan, [fate(run_id, item) for item in plan.items]


def _head(view: RunView) -> str:
    entry = view.entry
    parts = [
        _("{done} of {total} republished, {skipped} skipped.").format(
            done=text.count(entry.done), total=text.count(entry.total), skipped=text.count(entry.skipped)
        )
    ]
    if view.state == "interrupted":
        parts.append(_("Its program ended in the middle; nothing is sent twice when it goes on."))
    if entry.why:
        parts.append(shown.say(Message(entry.why)) if entry.why in ("bulk.stopped", "bulk.aborted") else "")
    return " ".join(part for part in parts if part)
