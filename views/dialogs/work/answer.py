"""One work: the answer first, then what is next and promised, the day as a strip, what a person should know of it, and
the evidence of the run that is chosen: result, log and picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from services.domain.insight.wait import TRY_ANYWAY, ways
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import Status
from services.domain.text.mask import masked
from services.domain.types import strict_json
from services.i18n import N_, _, ngettext
from services.messages import logged, with_names
from services.monitor.artifacts import Found
from services.monitor.promises import WorkPromise
from services.monitor.shops.day import UNKNOWN, DayAttempt, ShopDay
from services.monitor.tasks import LogTail
from services.monitor.waits.waiting import Wait
from services.monitor.works import WorkStory
from services.ports import LogLine
from views.charts import gantt_words
from views.charts.gantt import Gantt
from views.context import PageContext
from views.dialogs.artifact import ArtifactDialog
from views.dialogs.work import words
from views.dialogs.work.words import Line
from views.kit.picture import Picture
from views.kit.ways_row import WaysRow
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.words import kinds, type_names
from views.theme import theme
from views.theme.tokens import platform_badge, status
from views.widgets.badge import Badge
from views.widgets.buttons import LinkLabel
from views.widgets.card import Card, TileRow
from views.widgets.elided import Elided
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import clear, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.unknown import Bones

#: the evidence is asked for when the answer has stood so long: who steps through the list asks for none
SOON_MS = 150
DAY, MONTH = "day", "month"
_SPANS = ((DAY, N_("The day")), (MONTH, N_("30 days")))
#: tasks of a work of which it is asked what they wait for
MOST_WAITS = 20
EDGE, LINES, VALUES, LONGEST = 120, 5, 5, 60
#: in a pane that is not so high something has to be scrolled to
LOW = 640


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """All that was asked of one work at one moment."""

    story: WorkStory
    day: ShopDay
    promised: tuple[WorkPromise, ...]
    waits: Mapping[str, Wait]  #: by id, where those wait that do
    at_ms: int  #: when, UTC ms


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a run left."""

    task: Task
    attempt: int
    values: Mapping[str, str] = msgspec.field(default_factory=dict)  #: of its result, the first ones
    lines: tuple[LogLine, ...] = ()  #: of its log, the last ones
    written: int = 0  #: lines of the log in all
    place: int = 0  #: in the log, behind the last one
    files: tuple[Found, ...] = ()


def look(context: PageContext, shop: str, task_type: str, day: str, payload: Mapping[str, Any] | None) -> Told | None:
    """Ask all of it; None for what is no day. Blocking."""
    story = context.limits.story(shop, task_type, day, payload)
    if story is None:
        return None
    return Told(
        story=story,
        day=context.limits.days.of(story, payload),
        promised=context.promises.of_work(shop, task_type),
        waits=context.tasks.waits(story.active[:MOST_WAITS]),
        at_ms=instant.now_ms(),
    )


def evidence(context: PageContext, task_id: str, attempt: int, before: Evidence | None = None) -> Evidence | None:
    """What an attempt of a task left (0: its last one), None where its record is gone; of what is known from ``before``
    only what is new is read. Blocking.
    """
    found = context.tasks.get([task_id])
    if not found:
        return None
    task = found[0]
    number = attempt or task.attempt
    if before is None or (before.task.task_id, before.attempt) != (task_id, number):
        before = Evidence(task=task, attempt=number)
    elif before.task.ended:
        return before
    tail = context.tasks.log(task_id, number, before.place) if number else LogTail(lines=(), place=0)
    return Evidence(
        task=task,
        attempt=number,
        values=_values(task),
        lines=(*before.lines, *tail.lines)[-LINES:],
        written=before.written + len(tail.lines),
        place=tail.place,
        files=context.artifacts.of(task_id, task),
    )


def _values(task: Task) -> Mapping[str, str]:
    try:
        found = strict_json.loads(task.result) if task.result else {}
    except (ValueError, RecursionError):
        found = {}
    if not isinstance(found, dict):
        return {"": safe.one_line(found, LONGEST)}
    return {name: _value(value) for name, value in list(masked(found).items())[:VALUES]}


def _value(value: object) -> str:
    if isinstance(value, (list, dict)):
        return ngettext("{n} entry", "{n} entries", len(value)).format(n=text.count(len(value)))
    if isinstance(value, bool) or not isinstance(value, int):
        return safe.one_line(str(value), LONGEST)
    return text.count(value)


class AnswerPane(ScrollPane):
    """Signals:
    wanted: a page, and what it shall show there.
    way_wanted: a verb about what holds it, and what that is about.
    day_wanted: another day, as a date.
    """

    wanted = Signal(str, object)
    way_wanted = Signal(str, str)
    day_wanted = Signal(str)

    def __init__(self, context: PageContext, barred: Callable[[], str] = str) -> None:
        """``barred``: why nothing can be changed, "" when it can."""
        super().__init__()
        self._barred = barred
        self._told: Told | None = None
        self._stale = False
        self._shop_name = ""
        self._chosen = ""  #: the run that a person went to, "" follows the answer
        self._facts: tuple[tuple[str, str, str], ...] = ()
        self.head, self.badge, self.key = Elided("", "strong"), Badge.platform(""), Label("", "monosmall", "text3")
        self.age = Label("", "label", "text3")
        self._glyph, self.short = QLabel(), Label("", "number")
        self.beside, self.under = Label("", "panel", wrap=True), Label("", "body", "text2", wrap=True)
        self.ways = WaysRow()
        self._row_of_facts = QWidget()
        self._flow = FlowRow(self._row_of_facts, across=14)
        self.tiles = TileRow()
        self.day_title, self.counted = Label("", "strong"), Label("", "label", "text2", wrap=True)
        self.span = Segmented(_SPANS, N_("Time range"))
        self.strip = Gantt(row=lambda run: run.asked, name=_row_name, cells=True)
        self.know = Label("", "label", "text2")
        self.lines = Lines()
        self.evidence = EvidenceRow(context)
        self.rest = Label("", "label", "text3", wrap=True)
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._show_evidence)
        self._put_together()
        self._connect()

    def _put_together(self) -> None:
        head, answer, said, strip = QHBoxLayout(), QHBoxLayout(), QVBoxLayout(), QHBoxLayout()
        head.setSpacing(8)
        for widget in (self.head, self.badge, self.key):
            head.addWidget(widget)
        head.addStretch(1)
        head.addWidget(self.age)
        answer.setSpacing(12)
        answer.addWidget(self._glyph)
        answer.addWidget(self.short)
        said.setSpacing(2)
        put(said, self.beside, self.under, self._row_of_facts, self.ways)
        answer.addLayout(said, 1)
        strip.setSpacing(10)
        put(strip, self.day_title, (self.counted, 1), self.span)
        self._row_of_facts.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.body.setContentsMargins(20, 10, 20, 10)
        self.body.setSpacing(8)
        self.body.addLayout(head)
        self.body.addLayout(answer)
        self.body.addWidget(self.tiles)
        self.body.addLayout(strip)
        self.body.addWidget(self.strip)
        self.body.addWidget(self.know)
        self.body.addWidget(self.lines)
        self.body.addWidget(self.rest)
        self.body.addWidget(self.evidence)
        self.body.addStretch(1)

    def _connect(self) -> None:
        self.lines.wanted.connect(self.wanted)
        self.evidence.wanted.connect(self.wanted)
        self.ways.wanted.connect(self.way_wanted)
        self.tiles.opened.connect(self._on_tile)
        self.span.chosen.connect(lambda _span: self._on_span())
        self.strip.chosen.connect(self._on_run)
        self.strip.opened.connect(self._open_task)
        theme().changed.connect(self._say)
        on_language_changed(self._say)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room, the evidence stands before what else is to be known of the day."""
        super().resizeEvent(event)
        low = self.height() < LOW
        if low != (self.body.indexOf(self.evidence) < self.body.indexOf(self.know)):
            self.body.removeWidget(self.evidence)
            self.body.insertWidget(self.body.indexOf(self.strip if low else self.rest) + 1, self.evidence)
            self.body.setSpacing(6 if low else 8)
            self.body.setContentsMargins(20, 6 if low else 10, 20, 6 if low else 10)

    # what is shown

    @property
    def told(self) -> Told | None:
        """What is shown."""
        return self._told

    @property
    def task_id(self) -> str:
        """The task that is meant: of the run that was chosen, else the one that the answer rests on; "" for none."""
        run = self.strip.current
        if run is not None and self._chosen:
            return run.task_id
        return words.answer(self._told.story, instant.now_ms()).task_id if self._told is not None else ""

    def show_told(self, told: Told, shop_name: str) -> None:
        """Show an answer."""
        before = self._told.story if self._told is not None else None
        same = before is not None and _same(before, told.story)
        self._told, self._shop_name, self._stale = told, shop_name, False
        if not same:
            self._chosen = ""
            self.evidence.clear()
            self.verticalScrollBar().setValue(0)
        self._show_strip()
        self._say()
        if not same:
            self._soon.start()
        else:
            self._show_evidence()

    def follow(self) -> None:
        """Of a run that goes on, show what it has written since."""
        if self._told is not None and not self._soon.isActive() and self.evidence.isVisible():
            self._show_evidence()

    @property
    def waits(self) -> bool:
        """Whether something of the work waits, whose place and gates others change."""
        return self._told is not None and bool(self._told.waits)

    def mark_stale(self) -> None:
        """Nothing newer is known for now."""
        self._stale = True
        self._say()

    def clear(self) -> None:
        """Show nothing of the work that was shown."""
        self._told, self._chosen = None, ""
        self.evidence.clear()
        self._soon.stop()

    def _show_strip(self) -> None:
        if self._told is None:
            return
        now = instant.now_ms()
        day = self._told.day if self.span.current() == DAY else words.month(self._told.story, now)
        self.strip.show_day(day)
        answered = words.answer(self._told.story, now).task_id
        if not self._chosen and self.span.current() == DAY:
            mine = [run.key for run in day.runs if run.task_id and run.task_id == answered]
            self.strip.choose(mine[-1] if mine else "")

    def _on_span(self) -> None:
        self._chosen = ""
        self._show_strip()
        self._say()

    def _on_run(self, run: object) -> None:
        if not isinstance(run, DayAttempt):
            return
        if self.span.current() == MONTH:
            self.span.set_current(DAY)
            self._chosen = ""
            self.day_wanted.emit(f"{shown.moment(run.begins).astimezone(shown.zone()):%Y-%m-%d}")
            return
        self._chosen = run.key
        self._say()
        self._show_evidence()

    def _show_evidence(self) -> None:
        run = self.strip.current if self._chosen else None
        task_id = self.task_id
        self.evidence.setVisible(bool(task_id))
        if task_id:
            self.evidence.ask(task_id, run.attempt if run is not None else 0)

    # words

    def say(self) -> None:
        """Count everything to now."""
        self._say()

    def _say(self) -> None:
        if self._told is None:
            return
        story, now = self._told.story, instant.now_ms()
        found = words.answer(story, now)
        self.head.show_text(_("{type} of {shop}").format(type=type_names.name(story.task_type), shop=self._shop_name))
        self.badge.show_text(platform_badge(story.shop.partition(":")[0]))
        self.key.setText(safe.one_line(story.shop.partition(":")[2], 60))
        self.age.setText(_latest(story, now))
        token = status(found.status)
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 30))
        as_of = _("{answer}, as of {time}").format(answer=found.short, time=shown.clock(self._told.at_ms, now))
        self.short.setText(as_of if self._stale else found.short)
        self.short.set_kind("page" if self._stale else "number")
        self.short.set_tone(token.role if found.status in ("healthy", "dead", "held") else "text")
        self.beside.setText(safe.visible(found.beside))
        wait = self._told.waits.get(found.task_id)
        why = (
            shown.say(with_names(wait.gate.message, self._called))
            if wait is not None and found.status == "waiting"
            else ""
        )
        self.under.setText(safe.visible(text.sentences([why, found.under]) if why else found.under))
        self.under.setVisible(bool(self.under.text()))
        self._say_facts(story, found.task_id, now)
        self._say_ways(story, found.task_id)
        at = self._told.at_ms if self._stale else now  # nothing is counted down while nothing newer is known
        self.tiles.show_tiles(words.tiles(story, self._told.promised, at, stale=self._stale))
        self.day_title.setText(_("The last 30 days") if self.span.current() == MONTH else _the_day(story, now))
        self.counted.setText(_of_month(story) if self.span.current() == MONTH else words.counted(self._told.day))
        notable = words.notable(story, self._told.day, now)
        self.lines.show_lines(notable)
        self.know.setText(_("What a person should know of the day"))
        self.know.setVisible(bool(notable))
        rest = words.left_out(story, found)
        if not rest and not self._told.day.complete and story.known:
            rest = _("What became of the first runs that schedules planned for the day is not kept.")
            if any(run.state == UNKNOWN for run in self._told.day.runs):
                rest = _("What became of some runs that schedules planned for the day is not known for this shop.")
        self.rest.setText(rest)
        self.rest.setVisible(bool(rest))

    def _called(self, key: str) -> str:
        """What a shop is called: of another one its key."""
        return self._shop_name if self._told is not None and key == self._told.story.shop else key

    def _say_ways(self, story: WorkStory, task_id: str) -> None:
        """What can be done about what holds it: of a gate its verbs, else the decision that is a person's."""
        task = next((one for one in story.active if one.task_id == task_id), None)
        found: tuple[tuple[str, str], ...] = ()
        if task is not None and task.status == Status.HELD:
            found = (("decide", f"id:{task_id}"),)
        elif task is not None and self._told is not None and (wait := self._told.waits.get(task_id)) is not None:
            # one that asks for a reason is asked for on the page of the task
            found = tuple((verb, about) for verb, about in ways(task, wait.gate) if verb != TRY_ANYWAY)
        self.ways.offer(found, self._barred() or (_("Nothing newer is known") if self._stale else ""))

    def _say_facts(self, story: WorkStory, task_id: str, now: int) -> None:
        task = next((one for one in (*story.runs, *story.active) if one.task_id == task_id), None)
        found = tuple(words.facts(task, now)) if task is not None else ()
        self._row_of_facts.setVisible(bool(found))
        if [one[1:] for one in found] != [one[1:] for one in self._facts]:
            clear(self._flow)
            for said, page, request in found:
                self._flow.addWidget(self._fact(said, page, request))
        self._facts = found
        for place, (said, _page, _request) in enumerate(found):
            item = self._flow.itemAt(place)
            widget = item.widget() if item is not None else None
            if isinstance(widget, LinkLabel):
                widget.set_count_text(safe.one_line(said, 70))
            elif isinstance(widget, QLabel):
                widget.setText(safe.one_line(said, 70))

    def _fact(self, said: str, page: str, request: str) -> QWidget:
        if not page:
            return Label(safe.one_line(said, 70), "body", "text2")
        link = LinkLabel()
        link.activated.connect(partial(self._open, page, request))
        return link

    # doors

    def _open(self, page: str, request: str) -> None:
        if page == "tasks":
            self._open_task(request)
        else:
            self.wanted.emit(page, request or None)

    def _open_task(self, task_id: str) -> None:
        self.wanted.emit("tasks", filter.format_terms((equals("id", task_id),)))

    def _on_tile(self, key: str) -> None:
        if self._told is None:
            return
        planned, promised = self._told.story.planned, self._told.promised
        if key == words.PROMISE and promised:
            self.wanted.emit("promises", promised[0].row.name)
        elif key == words.NEXT and planned is not None and planned.task_id:
            self._open_task(planned.task_id)
        elif key == words.NEXT and planned is not None:
            self.wanted.emit("schedules", planned.schedule)


def _same(one: WorkStory, other: WorkStory) -> bool:
    return (one.shop, one.task_type, one.begins) == (other.shop, other.task_type, other.begins)


def _row_name(key: str) -> str:
    return _(gantt_words.ASKERS[key]) if key in gantt_words.ASKERS else _("All runs")


def _the_day(story: WorkStory, now: int) -> str:
    day = f"{shown.moment(story.begins + 1).astimezone(shown.zone()):%m-%d}"
    if story.begins <= now < story.ends:
        return _("Today, {day}").format(day=day)
    return _("The day, {day}").format(day=day)


def _of_month(story: WorkStory) -> str:
    good, bad = sum(day.succeeded for day in story.days), sum(day.failed for day in story.days)
    parts = [_("{n} succeeded").format(n=text.count(good))]
    if bad:
        parts.append(ngettext("{n} failed", "{n} failed", bad).format(n=text.count(bad)))
    return text.listed(parts) if story.days else _("days are counted where all of a type is one work")


def _latest(story: WorkStory, now: int) -> str:
    at = max((task.ended_at for task in story.runs if task.ended_at), default=0)
    return text.age(shown.span(now - at)) if at else ""


class Lines(QWidget):
    """Lines that lead to their task or schedule.

    Signals:
        wanted: a page, and what it shall show there.
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._column = in_column(owner=self, spacing=4)
        self._shown: tuple[Line, ...] = ()
        self.links: dict[str, LinkLabel] = {}  #: by id of a task or name of a schedule

    def show_lines(self, found: Sequence[Line]) -> None:
        """Show these, if they are others: a link that stays keeps its focus."""
        if tuple(found) == self._shown:
            return
        self._shown = tuple(found)
        focused = next((key for key, link in self.links.items() if link.hasFocus()), "")
        clear(self._column)
        self.links = {}
        for one in found:
            self._column.addWidget(self._row(one))
        if focused in self.links:
            self.links[focused].setFocus()

    def _row(self, one: Line) -> QWidget:
        widget = QWidget()
        row = in_row(owner=widget, spacing=8)
        token, glyph = status(one.status), QLabel()
        glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))
        row.addWidget(glyph)
        row.addWidget(Label(safe.visible(one.words), "body", wrap=True), 1)
        if key := one.task_id or one.schedule:
            link = LinkLabel()
            link.set_count_text(safe.one_line(key, 44))
            link.activated.connect(partial(self._open, one))
            link.setAccessibleDescription(one.words)
            self.links[key] = link
            row.addWidget(link)
        return widget

    def _open(self, one: Line) -> None:
        if one.task_id:
            self.wanted.emit("tasks", filter.format_terms((equals("id", one.task_id),)))
        else:
            self.wanted.emit("schedules", one.schedule)


class EvidenceRow(QWidget):
    """What a run left: its result or error, the end of its log, a picture. Asked off the GUI thread.

    Signals:
        wanted: a page, and what it shall show there.
    """

    wanted = Signal(str, object)

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context = context
        self._wanted: tuple[str, int] = ("", 0)
        self._found: Evidence | None = None
        self._asking = Operation(self, latest=True)
        self.title, self.of, self.task = Label("", "strong"), Label("", "label", "text2"), LinkLabel()
        self.task.activated.connect(self._open_task)
        self.result, self.log, self.shot = Card(N_("Result")), Card(N_("Log")), Card(N_("Screenshot"))
        self.values, self.trouble = KeyValues(spread=True), Label("", "label", "text2", wrap=True)
        self.tail = KeyValues(mono=True, single=True)
        self.silent = Label("", "label", "text3", wrap=True)
        self.picture, self.no_picture = Picture(context.artifacts, EDGE), Label("", "label", "text3", wrap=True)
        self.picture.activated.connect(self._open_picture)
        self._cards = QWidget()
        head, row = QHBoxLayout(), QHBoxLayout(self._cards)
        head.setSpacing(8)
        for widget in (self.title, self.of, self.task):
            head.addWidget(widget)
        head.addStretch(1)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for card, parts, wide in (
            (self.result, (self.values, self.trouble), 3),
            (self.log, (self.tail, self.silent), 5),
            (self.shot, (self.picture, self.no_picture), 3),
        ):
            for part in parts:
                card.body.addWidget(part)
            card.body.addStretch(1)
            card.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            row.addWidget(card, wide)
        in_column(head, self._cards, owner=self, spacing=8)
        self._bones = Bones(self, self._cards, ground="surface")
        on_language_changed(self._say)
        self.hide()

    def clear(self) -> None:
        """Show nothing; another work comes."""
        self._asking.drop()
        self._wanted, self._found = ("", 0), None
        self._bones.end()
        self.picture.show_file(None)
        self.hide()

    def ask(self, task_id: str, attempt: int) -> None:
        """Show what an attempt left (0: the last one); of the same one again what is new, until it has ended."""
        if (task_id, attempt) == self._wanted and self._found is not None and self._found.task.ended:
            return
        if (task_id, attempt) != self._wanted:
            self._found = None
            self._bones.begin()
            self.picture.show_file(None)
        self._wanted = (task_id, attempt)
        self._say()
        self._asking.start(
            partial(evidence, self._context, task_id, attempt, self._found),
            partial(self._show, (task_id, attempt)),
            self._pass,
        )

    def _show(self, wanted: tuple[str, int], found: Evidence | None) -> None:
        if wanted != self._wanted:
            return
        self._found = found
        self._bones.end()
        images = [one.artifact for one in found.files if one.here and one.artifact.kind == "image"] if found else []
        mine = [one for one in images if found is not None and one.attempt == found.attempt]
        shown_ = mine or images
        self.picture.show_file(shown_[-1] if shown_ else None)
        self._say()

    def _pass(self, _error: BaseException) -> None:
        """The answer above tells that nothing newer is known."""
        self._bones.end()
        self._say()

    def _say(self) -> None:
        found, task_id = self._found, self._wanted[0]
        self.title.setText(_("Evidence"))
        self.task.set_count_text(safe.one_line(task_id, 60))
        if found is None:  # nothing of another run stands there
            self.of.setText(_("Loading…") if task_id and self._asking.awaited else "")
            for part in (self.values, self.trouble, self.tail, self.silent, self.no_picture):
                part.hide()
            self.log.set_note("")
            return
        now = instant.now_ms()
        begins = next((one.started_at for one in found.task.attempts if one.number == found.attempt), 0)
        begins = begins or found.task.started_at
        said = [_("attempt {n}").format(n=found.attempt)] if found.attempt else [_("not begun yet")]
        if begins:
            said.append(_("begun {when}").format(when=shown.clock(begins, now)))
        self.of.setText(text.listed(said))
        self._say_result(found)
        self.log.set_note(
            ngettext("last {shown} of {n} line", "last {shown} of {n} lines", found.written).format(
                shown=len(found.lines), n=text.count(found.written)
            )
            if found.lines
            else ""
        )
        self.tail.set_rows([(text.log_time(shown.moment(one.at), shown.zone()), _line(one)) for one in found.lines])
        self.tail.setVisible(bool(found.lines))
        none = _("No lines of this attempt are kept.") if found.attempt else _("not begun yet")
        self.silent.setText("" if found.lines else none)
        self.silent.setVisible(not found.lines)
        blank = _("No picture was kept.") if found.attempt else _("not begun yet")
        self.no_picture.setText(blank if self.picture.shown is None else "")
        self.no_picture.setVisible(self.picture.shown is None)
        self.setAccessibleName(text.listed([_("Evidence"), *said, task_id]))

    def _say_result(self, found: Evidence) -> None:
        tried = next((one for one in found.task.attempts if one.number == found.attempt), None)
        error, kind = ("", "") if found.task.status == Status.RUNNING else (found.task.error, found.task.error_kind)
        if tried is not None:  # while one runs its task tells the error of the one before
            error, kind = tried.error, tried.error_kind
        failed = bool(error or kind)
        self.values.set_rows([] if failed else list(found.values.items()))
        self.values.setVisible(bool(found.values) and not failed)
        why = text.sentences([kinds.title(kind) or kind, kinds.telling(error, 300)]) if failed else ""
        none = (
            _("It left no result.")
            if found.task.ended
            else _("It has not ended.")
            if found.attempt
            else _("not begun yet")
        )
        self.trouble.setText(why or ("" if found.values else none))
        self.trouble.setVisible(bool(self.trouble.text()))
        self.result.set_title(N_("Error") if failed else N_("Result"))

    def _open_task(self) -> None:
        self.wanted.emit("tasks", filter.format_terms((equals("id", self._wanted[0]),)))

    def _open_picture(self) -> None:
        if self._found is None or self.picture.shown is None:
            return
        here = [one.artifact for one in self._found.files if one.here]
        ArtifactDialog(self._context.artifacts, here, here.index(self.picture.shown), self.window()).open()


def _line(one: LogLine) -> str:
    return safe.one_line(logged(one.stream, one.text), 160)
