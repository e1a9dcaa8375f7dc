"""The panel of one task: why it waits, what happened, payload, log, message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence, Set
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from services import messages
from services.domain.errors import StoreUnavailable, Unreadable
from services.domain.fleet.shop import Shop
from services.domain.insight import attempts
from services.domain.insight.attempts import Unknown
from services.domain.insight.forecast import estimate
from services.domain.insight.verdict import WOULD_DUPLICATE
from services.domain.insight.wait import closed, stoppable, ways
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.task.tombstone import Tombstone
from services.domain.text.mask import masked, masked_text
from services.i18n import N_, _
from services.monitor.tasks import Pick, TaskDetail, TaskQueries, pick
from services.monitor.waits.waiting import Wait
from services.ports import Letter
from views.context import PageContext
from views.kit.task_verb import Chosen, TaskVerb
from views.kit.verb import Place, Verbs
from views.kit.ways_row import WaysRow
from views.pages.tasks.actions import TaskActions
from views.pages.tasks.panel.links_section import LinksSection
from views.pages.tasks.panel.outputs import ArtifactSection, LogSection
from views.pages.tasks.panel.steps_section import StepsSection
from views.pages.tasks.panel.story import gate_entries, so_far, timeline
from views.pages.tasks.verbs import CANCEL, CREATE_AGAIN, DECISIONS, RUN_NOW, STOP_HOLDER, TRY_ANYWAY
from views.pages.tasks.wait_words import needs_person, no_help
from views.support import heard, instant, safe, shown, text
from views.support.instant import ticks
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground, panel
from views.support.operation import Operation, report
from views.support.words import origins, type_names, verdicts, way
from views.support.words.shop import platform_name
from views.theme.tokens import DETAIL_MAX, QWIDGETSIZE_MAX, platform_badge
from views.widgets.badge import Badge
from views.widgets.buttons import Button, IconButton
from views.widgets.document_section import MOST_LINES, DocumentSection
from views.widgets.elided import Elided
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put, stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.section import Section
from views.widgets.status_pill import StatusPill
from views.widgets.strip import Strip
from views.widgets.timeline import Timeline
from views.widgets.unknown import Bones

FOLLOW_MS, ERROR_SHOWN = 700, 1200
WIDE_LINES = 30  #: of a document on the whole page
#: what the button does while the panel stands on the whole page, and beside the list
FULL = {True: N_("Beside the list again"), False: N_("Open in full")}


class TaskDetailPanel(QWidget):
    """Shows one task and follows it while it is seen.

    Signals:
        closed: the person wants the panel away.
        edit_wanted: the payload shall become a new task (the ``Task``).
        batch_wanted: its batch shall be shown.
        full_wanted: the panel shall take the whole page, or stand beside the list again.
        told: another answer about the task is shown.
    """

    closed = Signal()
    edit_wanted = Signal(object)
    batch_wanted = Signal(str)
    full_wanted = Signal()
    told = Signal()

    def __init__(self, context: PageContext, actions: TaskActions, verbs: Verbs[TaskVerb, Chosen]) -> None:
        super().__init__()
        self._context, self._actions, self._verbs = context, actions, verbs
        self._task_id = ""
        self._shown_id = ""  #: of whom everything tells that stands here
        self._came_from: list[str] = []  #: tasks that were left by a link, the last one last
        self._still = False
        self._task: Task | None = None
        self._holder = ""  #: the task that holds its shop
        self._ask = Operation(self, latest=True)
        self._find = Operation(self, latest=True)
        self._timer = QTimer(self, interval=FOLLOW_MS)
        self._timer.timeout.connect(self._follow)
        paint_ground(self, "surface")

    def wait(self) -> tuple[str, Wait | None]:
        """The task and where it waits, as it stands here; "" while nothing does."""
        if self._task is None or not self.isVisible():
            return "", None
        gate = closed(self._detail.gates)
        return self._task_id, Wait(gate=gate, starts=self._detail.starts) if gate is not None else None

    @property
    def task_id(self) -> str:
        """Id of the task shown, "" for none."""
        return self._task_id

    @property
    def task(self) -> Task | None:
        """The record shown, None while it is asked for or where there is none any more."""
        return self._task

    def show_task(self, task_id: str) -> None:
        """Show another task; what stands there stays until the answer is here, unless that is late."""
        if task_id != self._task_id:
            self._came_from.clear()
        self._turn_to(task_id)

    def go(self, task_id: str) -> None:
        """Follow a link to another task; ``back`` comes back."""
        if self._task_id and task_id != self._task_id:
            self._came_from.append(self._task_id)
        self._turn_to(task_id)

    def back(self) -> bool:
        """Return to the task whose link was followed; False where there is none."""
        if not self._came_from:
            return False
        self._turn_to(self._came_from.pop())
        return True

    def _leave(self) -> None:
        """The cross closes, however many links were followed; Esc goes back one by one."""
        self._came_from.clear()
        self._back.hide()
        self.closed.emit()

    def set_full(self, full: bool) -> None:
        """Stand on the whole page, in two columns, or in one beside the list."""
        self.setMaximumWidth(QWIDGETSIZE_MAX if full else DETAIL_MAX)
        for place, section in enumerate(self._wide):
            if full:
                self._side.insertWidget(place, section)
            else:
                self._body.insertWidget(self._body.count() - 1, section)
        self._side_area.setVisible(full)
        self.logs.set_tall(full)
        for document in (self._data, self._outcome):
            document.set_most_lines(WIDE_LINES if full else MOST_LINES)
        self._full.set_look("ph.arrows-in-simple" if full else "ph.arrows-out-simple", FULL[full])

    def _turn_to(self, task_id: str) -> None:
        self._back.setVisible(bool(self._came_from))
        if task_id != self._task_id:
            self._task_id, self._task = task_id, None
            self.logs.clear()
            self.files.clear()
            self.steps.clear()
            if self._bones.due:  # and is late already
                self._show_id_alone()
            self._bones.begin()
        self.refresh()

    def refresh(self) -> None:
        if self._task_id:
            self._ask.start(partial(_look, self._context.tasks, self._task_id), self._show, self._fail)

    def note_listed(self, keys: Set[object]) -> None:
        """What is in the answer to the list no more may be no more at all."""
        if self.isVisible() and self._task is not None and self._task_id not in keys:
            self.refresh()

    def focus_first(self) -> None:
        """Bring the keyboard here."""
        self._close.setFocus(Qt.FocusReason.TabFocusReason)

    def set_following(self, following: bool) -> None:
        """Follow the task, or stand still."""
        self._still = not following
        if self._still:
            self._timer.stop()
        elif self.isVisible():
            self._timer.start()
            self.refresh()

    def showEvent(self, event: object) -> None:
        """Follow the task while it is seen."""
        if not self._still:
            self._timer.start()
        super().showEvent(event)  # type: ignore[arg-type]

    def hideEvent(self, event: object) -> None:
        """Ask nothing while nobody looks."""
        self._timer.stop()
        super().hideEvent(event)  # type: ignore[arg-type]

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        column = in_column(self._build_head(), owner=self, spacing=0)
        yield
        area, self._body = _scrolled()
        self._side_area, self._side = _scrolled()
        columns = QWidget()
        in_row((area, 1), (self._side_area, 1), owner=columns, spacing=0)
        place = stacked(columns)
        column.addWidget(place, 1)
        self._bones = Bones(self, place, ground="surface", leave=self.focus_first)
        self._bones.came.connect(self._show_id_alone)
        yield
        yield from self._build_sections()
        for layout in (self._body, self._side):
            layout.addStretch(1)
        self._side_area.hide()
        on_language_changed(self._show_again)
        ticks().tell(self, self._on_tick)

    def _build_head(self) -> QWidget:
        head = QWidget()
        rows = in_column(owner=head, margins=(16, 10, 12, 10), spacing=8)
        first = QHBoxLayout()
        self._type = Label("", "panel")
        self.pill = StatusPill(framed=True)
        self._close = IconButton("ph.x", N_("Close panel"))
        self._close.clicked.connect(self._leave)
        self._back = IconButton("ph.arrow-left", N_("Back to the task before"))
        self._back.clicked.connect(self.back)
        self._back.hide()
        self._full = IconButton("ph.arrows-out-simple", FULL[False])
        self._full.clicked.connect(self.full_wanted)
        put(first, self._back, self._type, self.pill, STRETCH, self._full, self._close)
        second = QHBoxLayout()
        self._shop = Elided("", "body", middle=True)
        self._badge = Badge.platform("")
        self._id = Elided("", "monosmall", "text3", middle=True)
        self._copy = IconButton("ph.copy", N_("Copy the task id"))
        self._copy.clicked.connect(self._copy_id)
        put(second, self._shop, self._badge, (self._id, 1), self._copy)
        third = FlowRow(across=8, down=6)
        self.buttons: dict[str, Button] = {}
        for verb in (*self._verbs.at(Place.PANEL), STOP_HOLDER):
            button = Button(verb.text, icon=verb.icon, kind="danger" if verb.danger else "plain", small=True)
            button.clicked.connect(partial(self._act, verb))
            self.buttons[str(verb.key)] = button
            third.addWidget(button)
        for row in (first, second, third):
            rows.addLayout(row)
        self.unread = Strip("error")
        self.unread.hide()
        rows.addWidget(self.unread)
        for verb in (*self._verbs.at(Place.PANEL), STOP_HOLDER):
            self.buttons[str(verb.key)].setVisible(not verb.special and verb is not STOP_HOLDER)
        return head

    def _build_sections(self) -> Iterator[None]:
        self.decide = DecideSection()
        self.decide.wanted.connect(self._act)
        self.decide.look_wanted.connect(partial(self._context.way_out, "look_shop"))
        self.decide.hide()
        self._body.addWidget(self.decide)
        self.verdict = Strip("warning")
        self._beside = Label("", "label", "text2", wrap=True)
        verdict = QWidget()
        in_column(self.verdict, self._beside, owner=verdict, spacing=6)
        self._verdict_room = _margins(verdict)
        self._verdict_room.hide()
        self._body.addWidget(self._verdict_room)
        yield
        self._why = Section(N_("Why is it waiting?"))
        self.gates = Timeline()
        self.sentence = Label("", "body", "text", wrap=True)
        self._starts = Label("", "label", "text2", wrap=True)
        self.again = Label("", "label", "text2", wrap=True)
        self.ways = WaysRow()
        self.ways.wanted.connect(self._on_way)
        for widget in (self.sentence, self._starts, self.again, self.ways, self.gates):
            self._why.body.addWidget(widget)
        self._story = Section(N_("Timeline"), foldable=False)
        self.timeline = Timeline()
        self._story.body.addWidget(self.timeline)
        yield
        self._failure = Section(N_("Last error"))
        self.error = Label("", "label", "text", wrap=True)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._failure.body.addWidget(self.error)
        yield
        self._data, self._outcome = PayloadSection(), DocumentSection(N_("Result"))
        self.payload, self.result = self._data.editor, self._outcome.editor
        self.edit_button = self._data.edit_button
        self.edit_button.clicked.connect(self._on_edit)
        yield
        self.steps = StepsSection(self._context.artifacts)
        self.files = ArtifactSection(self._context.artifacts, self.steps.shows)
        self.files.answered.connect(self.steps.take)
        self.steps.open_wanted.connect(self.files.open)
        yield
        self.logs = LogSection(self._context.tasks)
        self._facts = Section(N_("Message and headers"))
        self._fields = KeyValues(mono=True)
        self._fields.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self._facts.body.addWidget(self._fields)
        yield
        self.links = LinksSection()
        self.links.task_wanted.connect(self.go)
        self.links.batch_wanted.connect(self.batch_wanted)
        first = (self._why, self._story, self._failure, self.links, self.steps, self.files)
        self._wide = (self._data, self._outcome, self.logs, self._facts)
        for section in (*first, *self._wide):
            self._body.addWidget(section)

    def _show(self, detail: TaskDetail | Tombstone | Unreadable | None) -> None:
        self.pill.show()
        self.unread.hide()
        if not isinstance(detail, TaskDetail):
            self._show_missing(detail)
            return
        before, self._task = self._task, detail.task
        self._detail = detail
        task = detail.task
        self._shown_id = task.task_id
        self._bones.end()
        now = instant.now_ms()
        self._type.setText(type_names.name(task.task_type))
        self._type.setToolTip(safe.tooltip(task.task_type))
        self.pill.set_status(heard.glyph(task, now), heard.word(task, now))
        self._shop.show_text(detail.shop.name if detail.shop is not None and detail.shop.name else task.shop_id)
        self._badge.show_text(platform_badge(task.platform))
        self._id.show_text(task.task_id)
        self._show_verdict(detail)
        self._show_decision(detail, now)
        self._why.setVisible(bool(detail.gates))
        self._story.set_note(so_far(task, now))
        self._data.set_note(_("schema v{n}").format(n=task.type_version) if task.type_version else "")
        self._show_wait(detail)
        self._show_story(task, now)
        self.steps.follow(detail.flow)
        self._failure.setVisible(bool(task.error) and not self.steps.failed)  # there the step says it
        self.error.setText(safe.beginning(messages.own(task.error[: safe.LOOKED_AT]), ERROR_SHOWN))
        self._show_documents(before, task)
        self.links.show_detail(detail)
        self._fields.set_rows(facts(task, detail.letter, now, detail.again))
        self.show_verbs()
        self.logs.follow(task)
        self.files.follow(task)
        self.told.emit()

    def _on_tick(self) -> None:
        """Say again how far away everything is."""
        if self._task is None or self._still or not self.isVisible():
            return
        now = instant.now_ms()
        if self._detail.unheard or self._detail.long is not None:
            self._show_verdict(self._detail)
        self._story.set_note(so_far(self._task, now))
        self._show_wait(self._detail)
        self._show_story(self._task, now)

    def _fail(self, error: BaseException) -> None:
        """Nobody did anything: while the connection is lost the window says so, and what stands here stays."""
        latest = self._context.feed.latest
        if latest.store.connected and not isinstance(error, StoreUnavailable):
            report(error)
        self._end()

    def _show_missing(self, stone: Tombstone | Unreadable | None) -> None:
        """There is no record (any more): what stands here is what it was when it was last seen, if it ever was."""
        self._task = None
        self._end()
        self.pill.show()
        if isinstance(stone, Unreadable):
            self._show_unread(stone)
            return
        if stone is None:
            self.pill.set_status("cancelled", _("not found"))
            return
        words = _("{status}, record removed").format(status=shown.status_word(stone.status))
        self.pill.set_status(shown.GLYPHS.get(stone.status, "cancelled"), words)
        self.edit_button.disable(_("Its record was removed, for its time was over."))
        for button in (*self.buttons.values(), *self.decide.buttons.values(), self.decide.look_button):
            button.disable(_("Its record was removed, for its time was over."))

    def _show_unread(self, error: Unreadable) -> None:
        """Its record is none that anybody can read: what to do, and nothing that could be done to it."""
        self.pill.set_status("error", _("cannot be read"))
        self.unread.show_text(safe.visible(text.sentences([text.first_up(messages.told(error))])))
        self.unread.show()
        decisions = (*self.decide.buttons.values(), self.decide.look_button)
        for button in (self.edit_button, *self.buttons.values(), *decisions):
            button.disable(_("Its record cannot be read."))

    def _end(self) -> None:
        """Nothing newer comes of the task, or nothing at all."""
        known = self._shown_id == self._task_id
        self._bones.end(known=known)
        if not known:
            self._show_id_alone()

    def _show_id_alone(self) -> None:
        """Nothing is known of the task, and what stood here was of another one."""
        self._shown_id = ""
        if QApplication.focusWidget() in self.buttons.values():
            self.focus_first()  # what has it is hidden, and Esc shall go on meaning this panel
        self._type.setText("")
        self._type.setToolTip("")
        for field in (self._shop, self._badge):
            field.show_text("")
        self._id.show_text(self._task_id)
        for widget in (self.pill, self.unread, *self.buttons.values()):
            widget.hide()

    def show_verbs(self) -> None:
        """Say anew what can be done with the task."""
        self.edit_button.disable(self._actions.barred())
        if self._task is None:
            return
        standing = {(self._task.status, self._task.triage): 1}
        held, gone = self._task.status == Status.HELD, self._task.status == Status.CANCELLED
        gate = closed(self._detail.gates)
        self._holder = stoppable(gate)
        useless = no_help(gate)
        self.decide.look_button.disable(self._actions.barred())
        for verb in (*DECISIONS, CANCEL):
            self.decide.buttons[verb.key].disable(self._actions.reason(verb, standing))
        chosen = Chosen(standing=standing, picks=self._picks, refused=self._refusal, one=self._task)
        for verb in self._verbs.at(Place.PANEL):
            button = self.buttons[verb.key]
            button.disable(self._verbs.reason(verb, chosen))
            button.set_source(verb.name(chosen))
            if (warning := verb.warning(chosen)) and button.isEnabled():
                button.setToolTip(warning)
            # each is shown or hidden once: the row would jump with every answer; what a held task needs stands below,
            # each answer beside what it does
            replaced = verb is RUN_NOW and bool(self._holder and useless)
            usual = verb.special or (not held and not gone)
            button.setVisible(usual and not replaced and verb.offered(Place.PANEL, chosen))
        if self._detail.again and not self._actions.barred() and CREATE_AGAIN.key in self.buttons:
            done = _("Created again already, as {id}.").format(id=self._detail.again)
            self.buttons[CREATE_AGAIN.key].disable(CREATE_AGAIN.reason(standing) or done)
        self._show_way_out(useless)

    def _show_way_out(self, useless: str) -> None:
        """Where moving it to the front does not start it, say why; where stopping another task does, offer that."""
        now, stop, holder = self.buttons[RUN_NOW.key], self.buttons[STOP_HOLDER.key], self._holder
        if useless and not self._actions.barred():
            now.disable(useless)
        stop.setVisible(bool(holder))
        gate = closed(self._detail.gates)
        # where that one seems to hang, nothing else lets this one start
        stop.set_kind("dangerfill" if gate is not None and needs_person(gate) else "danger")
        stop.disable(self._actions.barred())
        if not self._actions.barred():
            stop.setToolTip(
                _("Ask {holder} to stop, so that its shop is free").format(holder=safe.one_line(holder, 80))
            )

    def _on_way(self, verb: str, target: str) -> None:
        """What is copied for somebody else is what the panel says of the wait, and of which task."""
        if verb == TRY_ANYWAY.key:
            self._act(TRY_ANYWAY)
            return
        told = f"{self._shop.text()}  {self._type.text()}  {self._task_id}\n{self.sentence.text()}"
        self._context.way_out(verb, safe.masked(told) if verb.startswith("copy_") else target)

    def _stop_holder(self) -> None:
        """Ask before the task that holds the shop is stopped; what runs now may be another one than a moment ago."""
        if self._holder:
            ids = [self._holder]
            self._find.start(partial(self._context.tasks.picks_of, ids), partial(self._actions.run, CANCEL))

    def _show_wait(self, detail: TaskDetail) -> None:
        gate = closed(detail.gates)
        found = ways(detail.task, gate)
        # letting one through mends nothing: the gate stays as it is
        leads = gate is not None and needs_person(gate) and found[:1] != ((TRY_ANYWAY.key, detail.task.task_id),)
        self.ways.offer(found, self._actions.barred(), leads=leads)
        self.sentence.setText(safe.visible(shown.say(gate.message)) if gate is not None else "")
        self._starts.setVisible(detail.starts is not None)
        self._starts.setText(shown.say(estimate.sentence(detail.starts)) if detail.starts is not None else "")
        self.again.setVisible(detail.suppressed is not None)
        self.again.setText(safe.visible(shown.say(detail.suppressed)) if detail.suppressed is not None else "")
        self.gates.set_entries(gate_entries(detail.gates))

    def _show_story(self, task: Task, now: int) -> None:
        self.timeline.set_entries(timeline(task, now, closed(self._detail.gates), self._detail.met))

    def _refusal(self) -> str:
        """Why running it again would be refused, said before the click; "" where it would not."""
        detail = self._detail
        return shown.say(detail.refusal) if detail.refusal is not None else ""

    def _show_again(self) -> None:
        if self._task is not None:
            self._show(self._detail)

    def _show_verdict(self, detail: TaskDetail) -> None:
        if detail.unheard:
            self.verdict.set_status(heard.UNCONFIRMED)
            self.verdict.show_text(safe.visible(text.run_on(map(shown.say, detail.unheard))))
            self._beside.hide()
            self._verdict_room.show()
            return
        if detail.verdict is None:
            self._verdict_room.setVisible(detail.long is not None)
            if detail.long is not None:
                self.verdict.set_status("warning")
                self.verdict.show_text(safe.visible(shown.say(detail.long)))
                self._beside.hide()
            return
        said = verdicts.say(detail.verdict, detail.worth, detail.refusal)
        self.verdict.set_status(said.status)
        # of a held task the sentence itself says what would be done twice, and on which condition
        lead = "" if detail.task.status == Status.HELD and detail.verdict.level == WOULD_DUPLICATE else said.lead
        self.verdict.show_text(verdicts.wrapped(said.evidence), lead)
        self._beside.setText(said.beside)
        self._beside.setVisible(bool(said.beside))
        self._verdict_room.show()

    def _show_decision(self, detail: TaskDetail, now: int) -> None:
        end = detail.unknown
        self.decide.setVisible(end is not None)
        if end is not None:
            self.decide.show_task(detail.task, detail.shop, end, now)

    def _show_documents(self, before: Task | None, task: Task) -> None:
        if before is None or before.payload != task.payload:
            self._data.show_json(task.payload)
        self._outcome.setVisible(bool(task.result))
        if task.result and (before is None or before.result != task.result):
            self._outcome.show_json(task.result)

    def _follow(self) -> None:
        if self._task is not None and not self._task.ended:
            self.refresh()

    def _picks(self) -> tuple[Pick, ...]:
        return (pick(self._task),) if self._task is not None else ()

    def _act(self, verb: TaskVerb) -> None:
        if verb is STOP_HOLDER:
            self._stop_holder()
            return
        if self._task is not None:
            self._actions.run(verb, self._picks())

    def _copy_id(self) -> None:
        QGuiApplication.clipboard().setText(self._task_id)

    def _on_edit(self) -> None:
        if self._task is not None:
            self.edit_wanted.emit(self._task)


def _scrolled() -> tuple[ScrollPane, QVBoxLayout]:
    """A column of sections that scrolls, by the keyboard too, and its layout."""
    area = ScrollPane(name=N_("Details"))
    area.body.setContentsMargins(0, 0, 0, 8)
    return area, area.body


def _margins(widget: QWidget) -> QWidget:
    frame = panel("plain")
    in_row(widget, owner=frame, margins=(16, 10, 16, 8))
    return frame


def _look(queries: TaskQueries, task_id: str) -> TaskDetail | Tombstone | Unreadable | None:
    try:
        return queries.detail(task_id) or queries.removed(task_id)
    except Unreadable as exc:
        return exc


class PayloadSection(DocumentSection):
    """What the task was given; it can be copied, and become a new task."""

    def __init__(self) -> None:
        super().__init__(N_("Payload"))
        copy = IconButton("ph.copy", N_("Copy the payload"))
        self.copied_by(copy)
        self.add_action(copy)
        self.edit_button = Button(N_("Edit as new task"), kind="ghost", icon="ph.pencil-simple", small=True)
        self.add_action(self.edit_button)


def facts(task: Task, letter: Letter | None, now: int, again: str = "") -> Sequence[tuple[str, str]]:
    """Names and values; what is empty is left out, what is named like a secret is dots."""
    rows = [
        (_("task id"), task.task_id),
        (_("shop"), task.shop),
        (_("lane and priority"), f"{shown.lane_word(task.lane)} {task.priority}"),
        (_("created"), shown.clock(task.created_at, now)),
        (_("must start by"), shown.clock(task.deadline, now) if task.deadline else ""),
        (_("created by"), origins.who(task.created_by) if task.created_by else ""),
        (_("origin"), origins.name(task.origin)),
        (_("attempts"), _attempts(task)),
        (_("time-out"), text.coarse(shown.span(task.timeout_s * 1000))),
        (_("worker"), task.worker),
        (_("batch"), task.batch),
        (_("created again from") if task.origin == "again" else _("republished from"), task.parent),
        (_("created again as"), again),
        (_("republished as"), task.successor),
        (_("marks"), ", ".join(task.marks)),
        (_("reason"), messages.noted(task.reason)),
        (_("note"), task.triage_note),
        (_("routing key"), f"task.{task.platform}.{task.queue or task.lane}"),
        ("x-rpa-gen", str(task.gen)),
        ("x-rpa-attempt", str(task.attempt)),
    ]
    known = {name for name, _value in rows}
    rows += [(name, value) for name, value in _headers(letter) if name not in known]
    return [(name, value) for name, value in rows if value]


def _attempts(task: Task) -> str:
    """How many of how many, and that no other follows."""
    number = f"{task.attempt} / {attempts.most(task)}"
    said = attempts.last(task)
    return f"{number} · {shown.say(said)}" if said is not None else number


def _headers(letter: Letter | None) -> list[tuple[str, str]]:
    """The headers the message had when it was dead-lettered."""
    if letter is None:
        return []
    try:
        found = masked(json.loads(letter.headers))
    except ValueError:
        return []
    if not isinstance(found, dict):
        return []
    return [
        (str(name), masked_text(value if isinstance(value, str) else json.dumps(value)))
        for name, value in found.items()
    ]


class DecideSection(Section):
    """Signals:
    wanted: the ``TaskVerb`` that was chosen.
    look_wanted: the shop (``platform:shop_id``) in whose browser a person looks first.
    """

    wanted = Signal(object)
    look_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(N_("Did it run? A person must say"), foldable=False, divider=False)
        self._known = Label("", "body", "text2", wrap=True)
        self._first = Label("", "body", "text", wrap=True)
        self._shop, self._looked = "", ""  #: of the task shown, and the task for which somebody looked
        self._task_id = ""
        self.look_button = Button(kind="primary", icon="ph.browser", small=True)
        self.look_button.clicked.connect(self._on_look)
        self.buttons: dict[str, Button] = {}
        self._effects: dict[str, Label] = {}
        grid = QGridLayout()
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for place, verb in enumerate((*DECISIONS, CANCEL)):
            # what was seen decides between the first ones; the last are for who could see nothing, or wants nothing
            button = Button(verb.text, icon=verb.icon, kind="ghost" if verb.danger else "plain", small=True)
            button.clicked.connect(partial(self.wanted.emit, verb))
            effect = Label("", "label", "text2", wrap=True)
            effect.setBuddy(button)
            self.buttons[str(verb.key)], self._effects[verb.effect] = button, effect
            grid.addWidget(button, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(effect, place, 1)
        put(self.body, self._known, self._first, (self.look_button, 0, Qt.AlignmentFlag.AlignLeft), grid)

    def show_task(self, task: Task, shop: Shop | None, end: Unknown, now_ms: int) -> None:
        """Say what is known of its end and what to look at before an answer is chosen."""
        self._task_id, self._shop = task.task_id, task.shop
        self.look_button.set_count_text(way.label("login_shop", task.shop))
        self._lead()
        at, worker = shown.clock(end.at, now_ms), safe.one_line(end.worker, 60)
        words = _("Attempt {n} ended at {time} without an answer.")
        if worker:
            words = _("Attempt {n} on worker {worker} ended at {time} without an answer.")
        if worker and end.lost:
            words = _("Worker {worker} was lost while it ran; nobody knows anything of it since {time}.")
        if worker and end.sign_at:
            # the first page counts the silence of the worker from the same sign
            words = _("Worker {worker} was lost while it ran: its last sign came at {sign}, it was given up at {time}.")
        if worker and end.late:
            words = _("Worker {worker}, given up at {time}, came back and says that attempt {n} ended well.")
        self._known.setText(words.format(n=task.attempt, worker=worker, time=at, sign=shown.clock(end.sign_at, now_ms)))
        name = safe.one_line(shop.name if shop is not None and shop.name else task.shop_id, 60)
        look = _("First look in the {platform} backend of {shop}: was “{type}” done after {time}?")
        started = shown.clock(end.started_at or task.created_at, now_ms)
        self._first.setText(
            look.format(
                platform=platform_name(task.platform), shop=name, type=type_names.name(task.task_type), time=started
            )
        )
        for effect, label in self._effects.items():
            label.setText(_(effect))

    def _lead(self) -> None:
        """To look comes first; once that was done, which answer is right is for the person to say."""
        self.look_button.set_kind("plain" if self._looked == self._task_id else "primary")

    def _on_look(self) -> None:
        self._looked = self._task_id
        self._lead()
        self.look_wanted.emit(self._shop)
