"""One dead letter: why it died, its message to correct, and the verbs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services import messages
from services.commands.outcome import Outcome
from services.domain.insight.cause import Worth, refused_field
from services.domain.insight.shop import ShopNow
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.messages import told
from services.monitor.tasks import TaskDetail
from views.context import PageContext
from views.pages.dead_letters import words
from views.pages.dead_letters.editor import MessageEditor
from views.pages.dead_letters.head import LetterHead
from views.pages.dead_letters.headers import headers_of
from views.pages.dead_letters.notes import NotesSection
from views.support import instant, safe, shown
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.operation import Operation
from views.support.words import verdicts
from views.widgets.buttons import Button, IconButton, LinkLabel
from views.widgets.key_values import KeyValues
from views.widgets.scroll_pane import ScrollPane
from views.widgets.section import Section
from views.widgets.strip import ErrorStrip, Strip

ERROR_SHOWN = 4000


class LetterPanel(QWidget):
    """Shows one letter; what is typed into its message stays until it is sent.

    Signals:
        republish_wanted: the ``Task``, and the corrected payload or None.
        triage_wanted: id, new state, state before.
        step_wanted: the letter above (-1) or below (+1).
        task_wanted: id of another task to be shown.
        new_task_wanted: fields of a new task.
    """

    republish_wanted = Signal(object, object)
    triage_wanted = Signal(str, str, str)
    step_wanted = Signal(int)
    task_wanted = Signal(str)
    new_task_wanted = Signal(object)

    def __init__(self, context: PageContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._task_id = ""
        self._detail: TaskDetail | None = None
        self._now = ShopNow()
        self._types: Mapping[str, TaskType] = {}
        self._yields = False
        self._forbidden = ""
        self._whole = False
        self._ask = Operation(self, latest=True)
        self._noting = Operation(self)
        self.setProperty("panel", "side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._build()
        on_language_changed(self._say)

    @property
    def task_id(self) -> str:
        """Id of the letter shown, "" for none."""
        return self._task_id

    @property
    def task(self) -> Task | None:
        """The letter shown, None while it is asked for."""
        detail = self._detail
        return detail.task if detail is not None and detail.task.task_id == self._task_id else None

    @property
    def worth(self) -> Worth | None:
        """Whether the letter shown would pass now, None where nobody has said."""
        return self._detail.worth if self._detail is not None else None

    def set_types(self, types: Mapping[str, TaskType]) -> None:
        """Take the task types, whose schemas check the message."""
        self._types = types
        self._say()

    def yield_primary(self, yields: bool) -> None:
        """Be modest while rows are ticked: one filled button per view."""
        self._yields = yields
        self._show_verbs()

    def set_acting(self, reason: str) -> None:
        """Decide nothing, for this reason; "" decides again. What is typed stays."""
        self._forbidden = reason
        self._show_verbs()

    def show_letter(self, task_id: str) -> None:
        """Show a letter; what stands there stays until the answer is here."""
        self._task_id = task_id
        self.refresh()

    def show_shop(self, now: ShopNow) -> None:
        """Say how the shop of the letter stands now."""
        self._now = now
        if self._detail is not None and self._detail.task.task_id == self._task_id:
            self._show_reason(self._detail)

    def clear(self) -> None:
        """Show nothing."""
        self._task_id, self._detail = "", None
        self._say()

    def refresh(self) -> None:
        """Ask again."""
        if self._task_id:
            self._ask.start(partial(self._context.tasks.detail, self._task_id), self._show, self._on_failed)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = LetterHead()
        self.head.step_wanted.connect(self.step_wanted)
        column.addWidget(self.head)
        self._error = ErrorStrip()
        self._error.retry.connect(self.refresh)
        column.addWidget(self._error)
        self._inner = ScrollPane()
        self._body = self._inner.body
        self._content = self._inner.takeWidget()
        self._inner.setWidget(self._content)
        self._build_reason()
        self._body.addWidget(line())
        self.editor = MessageEditor()
        self.editor.changed.connect(self._show_verbs)
        self._body.addWidget(self.editor)
        self.notes = NotesSection()
        self.notes.note_wanted.connect(self._on_note)
        self._body.addWidget(self.notes)
        self._build_facts()
        column.addWidget(self._inner, 1)
        column.addWidget(line())
        column.addWidget(self._build_foot())

    def _build_reason(self) -> None:
        self._why = Section(N_("Why it died"), foldable=False)
        self._reason = Strip("dead")
        self._text = Label("", "monosmall", "text2", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.attempts = KeyValues()
        self.attempts.setContentsMargins(0, 2, 0, 6)
        self._verdict = Strip("healthy")
        self._beside = Label("", "label", "text2", wrap=True)
        self._more = LinkLabel()
        self._more.activated.connect(self._on_more)
        parts: tuple[QWidget, ...] = (self._reason, self._text, self._more, self.attempts, self._verdict, self._beside)
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
        self._body.addWidget(self._headers)
        self._body.addWidget(self._future)
        self._body.addStretch(1)

    def _build_foot(self) -> QWidget:
        foot = QWidget()
        row = QHBoxLayout(foot)
        row.setContentsMargins(16, 10, 16, 10)
        row.setSpacing(8)
        self.reopen_button = Button(N_("Reopen"))
        self.ignore_button = Button(N_("Ignore"))
        self.archive_button = Button(N_("Archive"))
        self.plain_button = Button(N_("Republish"))
        self.primary_button = Button(N_("Republish"), kind="primary", icon="ph.arrow-clockwise", shortcut="Ctrl+Return")
        for button, triage in (
            (self.reopen_button, Triage.OPEN),
            (self.ignore_button, Triage.IGNORED),
            (self.archive_button, Triage.ARCHIVED),
        ):
            button.clicked.connect(partial(self._on_triage, triage))
            row.addWidget(button)
        row.addStretch(1)
        for button in (self.plain_button, self.primary_button):
            row.addWidget(button)
        self.plain_button.clicked.connect(self._on_plain)
        self.primary_button.clicked.connect(self._on_primary)
        return foot

    # answers

    def _show(self, detail: TaskDetail | None) -> None:
        self._error.clear()
        self._detail = detail
        self._say()

    def _on_failed(self, error: BaseException) -> None:
        self._error.show_error(told(error))

    def _say(self) -> None:
        detail = self._detail
        there = detail is not None and detail.task.task_id == self._task_id
        self._content.setVisible(there)
        self.head.show_letter(detail if there else None)
        if detail is not None and there:
            self._show_reason(detail)
            self._show_message(detail)
            self.notes.show_notes(detail)
            self._next.setText(words.next_step(detail.task, self._context.commands.operator.who))
            self._follow.setVisible(bool(detail.task.successor))
        self._show_verbs()

    def _show_reason(self, detail: TaskDetail) -> None:
        task = detail.task
        self._reason.show_text(words.reason(task))
        whole = safe.visible(safe.cut(messages.own(task.error.strip()), ERROR_SHOWN), keep_newlines=True)
        brief = safe.visible(messages.own(classify.headline(task.error)))
        self._text.setText(whole if self._whole else brief)
        self._text.setVisible(bool(task.error))
        self._more.setVisible(whole != brief)
        self._more.set_source(N_("Only the last line") if self._whole else N_("Whole error text"))
        now = instant.now_ms()
        self.attempts.set_rows([*words.attempts(task, now), words.shop_row(self._now, task, now)])
        self._verdict.setVisible(detail.verdict is not None)
        self._beside.hide()
        if detail.verdict is not None:
            said = verdicts.say(detail.verdict, detail.worth, detail.refusal)
            self._verdict.set_status(said.status)
            self._verdict.show_text(verdicts.wrapped(f"{said.lead}\n{said.evidence}"))
            self._beside.setText(said.beside)
            self._beside.setVisible(bool(said.beside))

    def _show_message(self, detail: TaskDetail) -> None:
        task = detail.task
        payload = task.payload
        if task.task_id.startswith("bad_") and detail.letter is not None:
            payload = detail.letter.body.decode("utf-8", "replace")
        self.editor.show_message(task.task_id, payload, self._types.get(task.task_type))
        refused = task.error_kind == classify.BAD_PAYLOAD
        self.editor.show_refusal(refused, refused_field(task.error) if refused else "")
        self.editor.set_read_only(task.triage == Triage.REPUBLISHED)
        headers = headers_of(detail)
        self._headers.setVisible(bool(headers))
        self._fields.set_rows(headers)

    def _show_verbs(self) -> None:
        task = self._detail.task if self._detail is not None else None
        usable = task is not None and task.task_id == self._task_id and task.status == Status.DEAD
        triage = task.triage if task is not None and usable else ""
        closed = not usable or triage == Triage.REPUBLISHED
        self.reopen_button.setVisible(triage in (Triage.IGNORED, Triage.ARCHIVED, Triage.OVERTAKEN))
        self.ignore_button.setVisible(triage != Triage.IGNORED)
        self.archive_button.setVisible(triage != Triage.ARCHIVED)
        why = "" if not closed else _("Already republished") if usable else _("Select a dead letter first")
        why = self._forbidden or why
        self.notes.bar(self._forbidden)
        self.reopen_button.disable(self._forbidden)
        for button in (self.ignore_button, self.archive_button):
            button.disable(why)
        edited = usable and self.editor.is_edited
        bad = task is not None and task.task_id.startswith("bad_")
        refusal = self._detail.refusal if self._detail is not None and usable and not bad else None
        refused = shown.say(refusal) if refusal is not None else ""
        self.plain_button.setVisible(edited and not bad)
        self.plain_button.disable(why or refused)
        worth = self._detail.worth if self._detail is not None else None
        hopeless = verdicts.hopeless(worth) and not edited and not bad
        self.primary_button.set_kind("plain" if self._yields or hopeless else "primary")
        self.primary_button.set_source(
            N_("New task from it") if bad else N_("Edit and republish") if edited else N_("Republish")
        )
        self.primary_button.set_glyph("ph.plus" if bad else "ph.pencil-simple" if edited else "ph.arrow-clockwise")
        invalid = _("Correct the message first") if edited and not bad and not self.editor.is_valid else ""
        self.primary_button.disable(why or invalid or ("" if edited else refused))

    # verbs

    def _on_primary(self) -> None:
        detail = self._detail
        if detail is None:
            return
        if detail.task.task_id.startswith("bad_"):
            self.new_task_wanted.emit({"payload": self.editor.payload() or {}})
        else:
            edited = self.editor.is_edited
            self.republish_wanted.emit(detail.task, self.editor.payload() if edited else None)

    def _on_plain(self) -> None:
        if self._detail is not None:
            self.republish_wanted.emit(self._detail.task, None)

    def _on_more(self) -> None:
        self._whole = not self._whole
        self._say()

    def _on_triage(self, to: str) -> None:
        if self._detail is not None:
            self.triage_wanted.emit(self._detail.task.task_id, to, self._detail.task.triage)

    def _on_note(self, task_id: str, note: str) -> None:
        call = partial(self._context.commands.dead_letters.note, task_id, note)
        self._noting.start(call, self._on_noted, self._on_failed)

    def _on_noted(self, outcome: Outcome) -> None:
        for one in outcome.skipped:
            self._error.show_error(shown.say(one.why))
        for task_id in outcome.done:
            self.notes.kept(task_id)
            self.refresh()

    def _on_follow(self) -> None:
        if self._detail is not None:
            self.task_wanted.emit(self._detail.task.successor)

    def _copy_headers(self) -> None:
        lines = (f"{name}: {value}" for name, value in self._fields.values().items())
        QGuiApplication.clipboard().setText("\n".join(lines))
