"""One dead letter: why it died, its message to correct, and the verbs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QWidget
from shiboken6 import isValid

from services import messages
from services.commands.outcome import Outcome
from services.domain.insight.cause import refused_field
from services.domain.insight.shop import ShopNow
from services.domain.task import classify, ids
from services.domain.task.notes import NOTE_LIMIT
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.domain.text import mask
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, pgettext
from services.messages import told
from services.monitor.tasks import TaskDetail
from views.context import PageContext
from views.kit.beside import BesideSection
from views.kit.verb import Place, Verbs, show
from views.pages.dead_letters import words
from views.pages.dead_letters.editor import MessageEditor
from views.pages.dead_letters.verbs import PRESS, CauseVerb, Letters, LetterVerb, OfCause, Put
from views.pages.dead_letters.words import minute
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label, line, paint_ground
from views.support.operation import Operation
from views.support.throttle import turns
from views.support.words import type_names, verdicts
from views.theme import theme
from views.theme.tokens import LANES, platform_badge
from views.widgets.badge import Badge
from views.widgets.buttons import Button, IconButton, LinkLabel
from views.widgets.elided import Elided
from views.widgets.flow_row import FlowRow
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put, stacked
from views.widgets.scroll_pane import ScrollPane
from views.widgets.section import Section
from views.widgets.status_pill import StatusPill
from views.widgets.strip import ErrorStrip, Strip
from views.widgets.toast import ToastSpec, failure
from views.widgets.unknown import Bones

ERROR_SHOWN = 4000
#: the verbs of a cause that stand at its letter, too
KEYS = ("take", "known", "follow")


class LetterPanel(QWidget):
    """Shows one letter; what is typed into its message stays until it is sent.

    Signals:
        step_wanted: the letter above (-1) or below (+1).
        task_wanted: id of another task to be shown.
        left: the keyboard stood in it and can stand there no longer.
    """

    step_wanted = Signal(int)
    task_wanted = Signal(str)
    left = Signal()

    def __init__(
        self, context: PageContext, verbs: Verbs[LetterVerb, Letters], causes: Verbs[CauseVerb, OfCause]
    ) -> None:
        """``causes``: what can be done about the cause of the letter."""
        super().__init__()
        self._context, self._verbs, self._causes = context, verbs, causes
        self._task_id = ""
        self._detail: TaskDetail | None = None
        self._now = ShopNow()
        self._types: Mapping[str, TaskType] = {}
        self._yields = self._whole = False
        self._answered = True
        self._first = "republish"
        self._ask = Operation(self, latest=True)
        self._noting = Operation(self)
        paint_ground(self, "side")

    @property
    def task_id(self) -> str:
        """Id of the letter shown, "" for none."""
        return self._task_id

    @property
    def task(self) -> Task | None:
        """The letter shown, None while it is asked for."""
        detail = self._detail
        return detail.task if detail is not None and detail.task.task_id == self._task_id else None

    def letters(self) -> Letters:
        """The letter shown, as verbs take it."""
        detail, task = self._detail, self.task
        if detail is None:
            return Letters(state="", closed=_("Select a dead letter first"))
        if task is None or task.status != Status.DEAD:
            none = _("Select a dead letter first")
            return Letters(state="", closed=none, task=detail.task, worth=detail.worth)
        edited = self.editor.is_edited
        return Letters(
            ids=(task.task_id,),
            state=task.triage,
            worth=detail.worth,
            told=verdicts.say(detail.verdict, detail.worth, detail.refusal) if detail.verdict is not None else None,
            refused=lambda: shown.say(detail.refusal) if detail.refusal is not None else "",
            task=task,
            closed=_("Already republished") if task.triage == Triage.REPUBLISHED else "",
            edited=edited,
            invalid=edited and not self.editor.is_valid,
            reading=self.editor.is_reading,
            payload=self.editor.payload,
        )

    def set_types(self, types: Mapping[str, TaskType]) -> None:
        """Take the task types, whose schemas check the message."""
        self._types = types
        self._say()

    def yield_primary(self, yields: bool) -> None:
        """Be modest while rows are ticked: one filled button per view."""
        self._yields = yields
        self._show_verbs()

    def set_acting(self, reason: str) -> None:
        """Write no notes, for this reason, and show what may be decided now. What is typed stays."""
        self.notes.bar(reason)
        self._show_verbs()

    def show_letter(self, task_id: str) -> None:
        """Show a letter; what stands there stays until the answer is here, unless that is late."""
        other, self._task_id = task_id not in ("", self._task_id), task_id
        if other:
            self._answered = False
            if self._bones.due:  # and is late already
                self._say()
            self._bones.begin()
        self.refresh()

    def show_shop(self, now: ShopNow) -> None:
        """Say how the shop of the letter stands now."""
        self._now = now
        if self._detail is not None and self._detail.task.task_id == self._task_id:
            self._show_reason(self._detail)

    def show_cause(self, of: OfCause | None) -> None:
        """Say who is at the cause of the letter."""
        self.at_it.show_cause(of)

    def clear(self) -> None:
        """Show nothing."""
        self._ask.drop()
        self._task_id, self._detail, self._answered = "", None, True
        self._bones.end(known=False)
        self._error.clear()
        self.success.show_letter("")
        self._say()

    def take_focus(self) -> None:
        """Bring the keyboard to the head; where no letter is awaited its buttons go as well."""
        if self._task_id:
            self.head.take_focus()
        else:
            self.left.emit()

    def refresh(self) -> None:
        if self._task_id:
            self._ask.start(partial(self._context.tasks.detail, self._task_id), self._show, self._on_failed)

    def build(self) -> Iterator[None]:
        """Put it together, a little between two yields; whoever makes it goes through all of it."""
        column = in_column(owner=self, spacing=0)
        self.head = LetterHead()
        self.head.step_wanted.connect(self.step_wanted)
        column.addWidget(self.head)
        self._error = ErrorStrip()
        self._error.retry.connect(self.refresh)
        column.addWidget(self._error)
        self._inner = ScrollPane()
        self._body = self._inner.body
        place = stacked(self._inner)
        column.addWidget(place, 1)
        self._bones = Bones(self, place, ground="surface", leave=self.take_focus)
        self._bones.end(known=False)
        self._bones.came.connect(self._say)
        yield
        self._build_reason()
        yield
        self.success = BesideSection(self._context.letters.beside, self._context.artifacts)
        self.success.task_wanted.connect(self.task_wanted)
        self.success.answered.connect(self._say)
        self._body.addWidget(self.success)
        self._body.addWidget(line())
        yield
        self.editor = MessageEditor()
        self.editor.changed.connect(self._show_verbs)
        self._body.addWidget(self.editor)
        yield
        self.notes = NotesSection()
        self.notes.note_wanted.connect(self._on_note)
        self._body.addWidget(self.notes)
        yield
        self._build_facts()
        yield
        column.addWidget(line())
        column.addWidget(self._build_foot())
        on_language_changed(self._say)

    def _build_reason(self) -> None:
        self._why = Section(N_("Why it died"), foldable=False)
        self._reason = Strip("dead", stacked=True)
        self._text = Label("", "monosmall", "text2", wrap=True)
        self._reason.add_below(self._text)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.attempts = KeyValues()
        self.attempts.setContentsMargins(0, 2, 0, 6)
        self._verdict = Strip("healthy", stacked=True)
        self._beside = Label("", "label", "text2", wrap=True)
        self._more = LinkLabel()
        self._more.activated.connect(self._on_more)
        self.at_it = AtIt(self._causes)
        parts: tuple[QWidget, ...] = (
            self._reason,
            self._more,
            self.attempts,
            self._verdict,
            self._beside,
            self.at_it,
        )
        for widget in parts:
            self._why.body.addWidget(widget)
        self._body.addWidget(self._why)

    def _build_facts(self) -> None:
        self._headers = Section(N_("Headers"))
        self._fields = KeyValues(mono=True)
        copy = IconButton("ph.copy", N_("Copy the headers"))
        copy.clicked.connect(self._copy_headers)
        self._headers.add_action(copy)
        self._headers.body.addWidget(self._fields)
        self._future = Section(N_("What happens next"), foldable=False)
        self._next = Label("", "label", "text2", wrap=True)
        self._follow = Button(N_("Open the new task"), kind="link")
        self._follow.clicked.connect(self._on_follow)
        self._future.body.addWidget(self._next)
        self._future.body.addWidget(self._follow)
        put(self._body, self._headers, self._future, STRETCH)

    def _build_foot(self) -> QWidget:
        foot = QWidget()
        row = in_row(owner=foot, margins=(16, 10, 16, 10), spacing=8)
        self.buttons: dict[str, Button] = {}
        for verb in self._verbs.at(Place.PANEL):
            if isinstance(verb, Put):
                self.buttons[verb.key] = button = Button(verb.text)
                button.clicked.connect(partial(self._act, verb.key))
                row.addWidget(button)
        row.addStretch(1)
        self.plain_button = Button(N_("Republish"))
        self.primary_button = Button(N_("Republish"), kind="primary", icon="ph.arrow-clockwise", shortcut=PRESS)
        for button in (self.plain_button, self.primary_button):
            row.addWidget(button)
        self.plain_button.clicked.connect(partial(self._act, "republish"))
        self.primary_button.clicked.connect(self._on_primary)
        return foot

    # answers

    def _show(self, detail: TaskDetail | None) -> None:
        self._error.clear()
        self._detail, self._answered = detail, True
        self._say()
        turns().soon(self._reveal)

    def _reveal(self) -> None:
        """What was filled while nobody saw it is laid out in a turn of its own: that takes as long."""
        if isValid(self) and self._answered:
            self._bones.end(known=self.task is not None)

    def _on_failed(self, error: BaseException) -> None:
        self._bones.end(known=self.task is not None)
        self._error.show_error(told(error))
        self._say()

    def _say(self) -> None:
        detail = self._detail
        there = detail is not None and detail.task.task_id == self._task_id
        self.head.show_letter(detail if there else None, "" if self._answered else self._task_id)
        if detail is not None and there:
            self._show_reason(detail)
            self._show_message(detail)
            self.notes.show_notes(detail)
            self._next.setText(words.next_step(detail.task, self._context.commands.operator.who))
            self._follow.setVisible(bool(detail.task.successor))
        else:
            self._bones.empty()
        self._show_verbs()

    def _show_reason(self, detail: TaskDetail) -> None:
        task = detail.task
        self._reason.show_text("", words.reason(task))
        whole = safe.beginning(messages.own(task.error.lstrip()[: safe.LOOKED_AT].rstrip()), ERROR_SHOWN)
        brief = safe.visible(messages.own(classify.headline(task.error)))
        self._text.setText(whole if self._whole else brief)
        self._text.setVisible(bool(task.error))
        self._more.setVisible(whole != brief)
        self._more.set_source(N_("Only the last line") if self._whole else N_("Whole error text"))
        now = instant.now_ms()
        self.success.show_letter(task.task_id if task.attempts else "")
        more = [words.shop_row(self._now, task, now), *words.before(self.success.before, now)]
        self.attempts.set_rows([*words.attempts(task, now), *more])
        self._verdict.setVisible(detail.verdict is not None)
        self._beside.hide()
        if detail.verdict is not None:
            said = verdicts.say(detail.verdict, detail.worth, detail.refusal)
            held = self._now.paused and task.triage != Triage.REPUBLISHED
            paused = [_("Its shop is paused: a new task waits until that ends.")] if held else []
            self._verdict.set_status("warning" if held and said.status == "healthy" else said.status)
            self._verdict.show_text(verdicts.wrapped("\n".join([*paused, said.evidence])), verdicts.wrapped(said.lead))
            self._beside.setText(said.beside)
            self._beside.setVisible(bool(said.beside))

    def _show_message(self, detail: TaskDetail) -> None:
        task = detail.task
        payload = task.payload
        if ids.is_unread(task.task_id) and detail.letter is not None:
            payload = detail.letter.body.decode("utf-8", "replace")
        self.editor.show_message(task.task_id, payload, self._types.get(task.task_type))
        refused = task.error_kind == classify.BAD_PAYLOAD
        self.editor.show_refusal(refused, refused_field(task.error) if refused else "")
        self.editor.set_read_only(task.triage == Triage.REPUBLISHED)
        headers = headers_of(detail)
        self._headers.setVisible(bool(headers))
        self._fields.set_rows(headers)

    def _show_verbs(self) -> None:
        letters = self.letters()
        offers = [one for one in self._verbs.offers(Place.PANEL, letters) if not isinstance(one.verb, Put)]
        for one in self._verbs.offers(Place.PANEL, letters):
            if one.verb.key in self.buttons:
                show(self.buttons[one.verb.key], one)
        # the filled one is what is done with what was typed; beside it the letter can go as it is
        first = [one for one in offers if one.shown][-1]
        self._first = first.verb.key
        show(self.primary_button, first)
        self.primary_button.set_glyph(first.glyph)
        hopeless = verdicts.hopeless(letters.worth) and self._first == "republish"
        self.primary_button.set_kind("plain" if self._yields or hopeless else "primary")
        self.plain_button.setVisible(self._first == "correct")
        self.plain_button.disable(offers[0].reason)

    # verbs

    def _act(self, key: str, _checked: bool = False) -> None:
        self._verbs.act(key, self.letters())

    def _on_primary(self) -> None:
        self._act(self._first)

    def _on_more(self) -> None:
        self._whole = not self._whole
        self._say()

    def _on_note(self, task_id: str, note: str) -> None:
        call = partial(self._context.commands.dead_letters.note, task_id, note)
        self._noting.start(call, self._on_noted, partial(self._on_not_noted, task_id))

    def _on_not_noted(self, task_id: str, error: BaseException) -> None:
        """What was written is kept and shown again with its letter; another one is not to be told of it."""
        if task_id == self._task_id:
            self._on_failed(error)
        else:
            self._context.toast(failure(error))

    def _on_noted(self, outcome: Outcome) -> None:
        for one in outcome.skipped:
            if one.task_id == self._task_id:
                self._error.show_error(shown.say(one.why))
            else:
                self._context.toast(ToastSpec(text=shown.say(one.why), status="warning"))
        for task_id in outcome.done:
            self.notes.kept(task_id)
            self.refresh()

    def _on_follow(self) -> None:
        if self._detail is not None:
            self.task_wanted.emit(self._detail.task.successor)

    def _copy_headers(self) -> None:
        lines = (f"{name}: {value}" for name, value in self._fields.values().items())
        QGuiApplication.clipboard().setText("\n".join(lines))


def headers_of(detail: TaskDetail) -> list[tuple[str, str]]:
    """Where the message lay and what it carried; nothing where the letter is not kept."""
    letter = detail.letter
    if letter is None:
        return []
    rows = [("queue", letter.queue), ("routing-key", letter.routing_key), ("content-type", letter.content_type)]
    try:
        kept = json.loads(letter.headers)
    except ValueError:
        kept = {"headers": letter.headers}
    if isinstance(kept, dict):
        rows += [
            (str(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for name, value in kept.items()
        ]
    return [(name, safe.cut(_dotted(name, value), 400)) for name, value in rows if value]


def _dotted(name: str, value: str) -> str:
    """A header called like a secret is one."""
    return mask.DOTS if mask.is_secret(name) else mask.masked_text(value)


_STATES: dict[str, tuple[str, str]] = {
    Triage.OPEN: ("dead", N_("Dead since {time}")),
    Triage.IGNORED: ("paused", N_("Ignored, dead since {time}")),
    Triage.ARCHIVED: ("cancelled", N_("Archived, dead since {time}")),
    Triage.REPUBLISHED: ("succeeded", N_("Republished, dead since {time}")),
    Triage.OVERTAKEN: ("succeeded", N_("Overtaken, dead since {time}")),
}


class LetterHead(QWidget):
    """Signals:
    step_wanted: the letter above (-1) or below (+1).
    """

    step_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._id_text = ""
        self._type, self._pill = Label("", "panel"), StatusPill("dead", framed=True)
        self._shop, self._badge = Elided("", "body"), Badge.platform("")
        self._lane_glyph, self._lane = QLabel(), Label("", "label", "text2")
        self._id = Elided("", "monosmall", "text3", middle=True)
        self._up = IconButton("ph.arrow-up", N_("Letter above"))
        self._down = IconButton("ph.arrow-down", N_("Letter below"))
        self._copy = IconButton("ph.copy", N_("Copy the task id"))
        self._up.clicked.connect(lambda: self.step_wanted.emit(-1))
        self._down.clicked.connect(lambda: self.step_wanted.emit(1))
        self._copy.clicked.connect(self._on_copy)
        self._put_together()

    def _put_together(self) -> None:
        first = QHBoxLayout()
        self._detail_row = QWidget()
        second = in_row(owner=self._detail_row)
        first.setSpacing(8)
        name = FlowRow(across=8, down=4)  # in a narrow panel the state stands below the type
        name.addWidget(self._type)
        name.addWidget(self._pill)
        put(first, (name, 1), self._up, self._down)
        second.setSpacing(8)
        parts: tuple[QWidget, ...] = (self._shop, self._badge, self._lane_glyph, self._lane)
        for widget in parts:
            second.addWidget(widget)
        second.addWidget(self._id, 1)
        second.addWidget(self._copy)
        in_column(first, self._detail_row, owner=self, margins=(16, 10, 12, 8), spacing=4)

    def take_focus(self) -> None:
        """Bring the keyboard here."""
        self._down.setFocus()

    def show_letter(self, detail: TaskDetail | None, awaited: str = "") -> None:
        """Show a letter, that one is ``awaited``, or that none is chosen."""
        self._show_rest(shown=detail is not None, steps=detail is not None or bool(awaited))
        if detail is None:
            self._type.setText(safe.one_line(awaited, 60) or _("No dead letter chosen"))
            self._type.setToolTip("")
            return
        task, now = detail.task, instant.now_ms()
        self._type.setText(type_names.name(task.task_type))
        self._type.setToolTip(safe.tooltip(task.task_type))
        status, words = _STATES.get(task.triage, ("waiting", task.status))
        self._pill.set_status(status, _(words).format(time=minute(task.ended_at, now)))
        name = detail.shop.name if detail.shop is not None and detail.shop.name else task.shop_id
        self._shop.show_text(name)
        self._badge.show_text(platform_badge(task.platform))
        lane = LANES.get(task.lane)
        self._lane.setText(pgettext("lane", lane.word) if lane is not None else task.lane)
        if lane is not None:
            self._lane_glyph.setPixmap(theme().status_pixmap(lane, 13))
        self._id_text = task.task_id
        self._id.show_text(task.task_id)

    def _show_rest(self, *, shown: bool, steps: bool) -> None:
        self._pill.setVisible(shown)
        self._detail_row.setVisible(shown)
        for button in (self._up, self._down):
            button.setVisible(steps)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._id_text)


class NotesSection(Section):
    """Shows the notes of one letter; what is typed waits for its letter to be shown again.

    Signals:
        note_wanted: id of the letter, and the text that shall be kept.
    """

    note_wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__(N_("Notes"))
        self.rows = KeyValues()
        self._barred = self._task_id = ""
        self._drafts: dict[str, str] = {}
        self.line = QLineEdit()
        self.line.setMaxLength(NOTE_LIMIT)
        self.line.returnPressed.connect(self._ask)
        self.line.textChanged.connect(self._allow)
        self.button = Button(N_("Add note"))
        self.button.clicked.connect(self._ask)
        row = in_row((self.line, 1), self.button, spacing=8)
        self.body.addWidget(self.rows)
        self.body.addLayout(row)
        say_in_language(self._name)

    def show_notes(self, detail: TaskDetail) -> None:
        """The notes of this letter, the oldest first; before them what was said when it was put aside."""
        task = detail.task
        if task.task_id != self._task_id:
            self._drafts[self._task_id] = self.line.text()
            self._task_id = task.task_id
            self.line.setText(self._drafts.pop(task.task_id, ""))
        said = [(_("Put aside"), task.triage_note)] if task.triage_note else []
        now = instant.now_ms()
        said += [(f"{shown.clock(note.at, now)} {note.who}", note.text) for note in detail.notes]
        self.rows.set_rows(said)
        self.rows.setVisible(bool(said))
        self.set_note(text.count(len(said)) if said else "")

    def bar(self, reason: str) -> None:
        """Nobody may write, with the reason; an empty one allows it again."""
        self._barred = reason
        self._allow()

    def _ask(self) -> None:
        words = self.line.text().strip()
        if words and not self._barred:
            self.note_wanted.emit(self._task_id, words)

    def kept(self, task_id: str) -> None:
        """The note to this letter is there: its line is free again."""
        self._drafts.pop(task_id, None)
        if task_id == self._task_id:
            self.line.clear()

    def _allow(self) -> None:
        empty = "" if self.line.text().strip() else _("Write something first.")
        self.line.setEnabled(not self._barred)
        self.button.disable(self._barred or empty)

    def _name(self) -> None:
        self.line.setPlaceholderText(_("What whoever looks next should know"))
        self.line.setAccessibleName(_("Note"))
        self._allow()


class AtIt(QWidget):
    """Who is at the cause of a letter, and what is decided about it, with the verbs to change that.

    Hidden for letters that share no cause.
    """

    def __init__(self, verbs: Verbs[CauseVerb, OfCause]) -> None:
        super().__init__()
        self._verbs = verbs
        self._of: OfCause | None = None
        self.said = Label("", "label", "text2", wrap=True)
        self.buttons: dict[str, Button] = {}
        row = FlowRow(across=8, down=6)
        for verb in verbs.all:
            if verb.key in KEYS:
                self.buttons[verb.key] = button = Button(verb.text, icon=verb.icon, small=True)
                button.clicked.connect(partial(self._act, verb.key))
                row.addWidget(button)
        in_column(self.said, row, owner=self, margins=(0, 4, 0, 0), spacing=6)
        self.hide()
        on_language_changed(self._say)

    def show_cause(self, of: OfCause | None) -> None:
        """Say what is decided about a cause."""
        self._of = of
        self._say()

    def _act(self, key: str, _checked: bool = False) -> None:
        if self._of is not None:
            self._verbs.act(key, self._of)

    def _say(self) -> None:
        of = self._of
        self.setVisible(of is not None and words.has_print(of.cause))
        if of is None:
            return
        told = "\n".join(part for part in (words.known(of.cause), of.cause.rule.note) if part)
        self.said.setText(safe.visible(told, keep_newlines=True) or _("Nobody is at it yet."))
        for one in self._verbs.offers(Place.MENU, of):
            if one.verb.key in self.buttons:
                show(self.buttons[one.verb.key], one)
