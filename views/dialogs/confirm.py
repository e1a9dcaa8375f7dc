"""Asks before something that touches many tasks or cannot be taken back: what will happen, counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services.domain.fleet.environment import is_production
from services.i18n import N_, _
from services.settings.values import ConfirmSettings
from views.dialogs.frame import MARGIN
from views.dialogs.saving import SavingDialog
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Start
from views.widgets.buttons import Button
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip

WIDTH, ROWS_HEIGHT = 520, 260
ROOM = WIDTH - 2 * MARGIN
#: above this many tasks the number must be typed, by whether it is production; settings of this machine may say others
LIMITS = {True: ConfirmSettings().production, False: ConfirmSettings().other}
NOTE_LIMIT = 500


class Finding(NamedTuple):
    """Something to weigh before one says yes, already translated."""

    status: str  #: for the tint
    lead: str
    text: str


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked; the texts but `title` and `leave` are already translated."""

    title: str  #: source text
    number: str = ""  #: large, e.g. ``51 tasks``
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()  #: name and value, e.g. shop and how many
    codes: tuple[tuple[str, str], ...] = ()  #: of name and value of each row, for their tool tips
    verb: str = ""  #: what the button does, with its number
    danger: bool = False
    leave: str = N_("Cancel")  #: source text of the way out; another word where the verb itself is to cancel
    other: str = ""  #: a milder way out, e.g. drain before stop
    typed: str = ""  #: must be typed before the button works
    findings: tuple[Finding, ...] = ()  #: evidence, between number and text
    note: str = ""  #: what to write down beside it; "" asks for nothing
    note_needed: str = ""  #: why the button waits for the note; "" where it may stay empty
    barred: str = ""  #: why there is nothing to do any more


#: says a question in the language of the moment: with the same parts, whenever it is asked
Asked = Callable[[], Question]


class ConfirmDialog(SavingDialog):
    """Cancel is the default; nothing happens unless a person chose it. One that asks for a note stays open where
    whoever is told that it is ``confirmed`` gives ``start`` what it is for, until that is answered.

    Signals:
        confirmed: the person wants it.
        other_chosen: the person took the milder way.
    """

    confirmed = Signal()
    other_chosen = Signal()
    going_on, going_on_still = N_("It is being done"), N_("It is being done…")

    def __init__(self, asked: Asked, parent: QWidget | None = None) -> None:
        question = asked()
        icon = "ph.warning" if question.danger else "ph.list-bullets"
        super().__init__(question.title, icon=icon, width=WIDTH, parent=parent)
        self._asked, self.question, self.leave = asked, question, question.leave
        self._values = KeyValues(spread=True)
        self._number, self._text = Label("", "number"), Label("", "body", "text2", wrap=True)
        self._findings = [Strip(finding.status) for finding in question.findings]
        self._note, self._typed = Label("", "label", "text2"), Label("", "label", "text2")
        self.note_field, self.typed_field = QLineEdit(), QLineEdit()
        self.note_field.setMaxLength(NOTE_LIMIT)
        self._put(self._number, wanted=bool(question.number))
        self._build_words()
        for part in (self._note, self.note_field):
            self._put(part, wanted=bool(question.note))
        for part in (self._typed, self.typed_field):
            self._put(part, wanted=bool(question.typed))
        self._build_foot()
        for field in (self.note_field, self.typed_field):
            field.textChanged.connect(self._on_typed)
        self._show(question)
        on_language_changed(self.say)

    def _put(self, part: QWidget, *, wanted: bool) -> None:
        if wanted:
            self.body.addWidget(part)
        else:  # nobody else would end it
            part.setParent(self)
            part.hide()

    def _build_words(self) -> None:
        """What it is about, what is known of it, what will happen; without evidence what will happen stands first."""
        question = self.question
        self._values.set_rows(question.rows, question.codes)
        rows = (_in_sight(self._values) if question.rows else self._values, bool(question.rows))
        text, known = (self._text, bool(question.text)), [(one, True) for one in self._findings]
        for part, wanted in (rows, *known, text) if known else (text, rows):
            self._put(part, wanted=wanted)

    def say(self) -> None:
        """Say what it asks, in the language of the moment and by what is known now."""
        self._show(self._asked())

    def _show(self, question: Question) -> None:
        self.question = question
        self._number.setText(question.number)
        self._text.setText(question.text)
        self._values.set_rows(question.rows, question.codes)
        for strip, finding in zip(self._findings, question.findings, strict=False):
            strip.show_text(finding.text, finding.lead)
        typed = _("Type {text} to go on").format(text=question.typed) if question.typed else ""
        for label, field, words in (
            (self._note, self.note_field, question.note),
            (self._typed, self.typed_field, typed),
        ):
            label.setText(words)
            field.setAccessibleName(words)
        self.verb_button.set_count_text(question.verb)
        self.other_button.set_count_text(question.other)
        self._on_typed()

    @property
    def note(self) -> str:
        """What was written down, trimmed."""
        return self.note_field.text().strip()

    def _build_foot(self) -> None:
        self.cancel_button = Button(self.question.leave, hint="Esc")
        self.cancel_button.clicked.connect(self.reject)
        kind = "dangerfill" if self.question.danger else "primary"
        self.verb_button = Button(kind=kind, shortcut="dialog.main")
        self.verb_button.clicked.connect(self._on_confirm)
        self.other_button = Button()
        self.other_button.setVisible(bool(self.question.other))
        self.other_button.clicked.connect(self._on_other)
        self.save_button = self.verb_button
        self.body.addWidget(self.problem)
        put(self.foot, self.other_button, self.meanwhile, STRETCH, self.cancel_button, self.verb_button)
        # where it has to be written down first, a person writes at once: a space would press Cancel, and what follows
        # would be keys of the page behind, which some are anyway where it opens by itself, seconds after the act
        (self.note_field if self.question.note_needed else self.cancel_button).setFocus()

    def _on_typed(self) -> None:
        wanted, typed = self.question.typed, self.typed_field.text().strip()
        wrong = bool(wanted) and wanted.strip() not in (typed, typed.replace(",", ""))  # a name may have commas, too
        missing = self.question.note_needed if not self.note else ""
        untyped = _("Type {text} first").format(text=self.question.typed) if wrong else ""
        self.forbid(self.question.barred or missing or untyped)

    def _on_confirm(self) -> None:
        if not self.question.note:
            self.accept()
            self.confirmed.emit()
            return
        self.confirmed.emit()
        if not self.waiting:
            self.accept()

    def _on_other(self) -> None:
        self.accept()
        self.other_chosen.emit()


def confirm(asked: Asked, owner: QWidget, go: Callable[[], object]) -> None:
    """Ask, and ``go`` on once a person wants it."""
    dialog = ConfirmDialog(asked, owner)
    dialog.confirmed.connect(go)
    dialog.open()


def ask_for_note(
    asked: Asked, owner: QWidget, go: Callable[[str, Start], object], left: Callable[[], object] = lambda: None
) -> None:
    """Ask with a note, and ``go`` on with it and what runs it; ``left``: the person did not want it."""
    dialog = ConfirmDialog(asked, owner)
    dialog.confirmed.connect(lambda: go(dialog.note, dialog.start))
    dialog.rejected.connect(lambda: None if dialog.waiting else left())
    dialog.open()


def typed_count(number: int, environment: str) -> str:
    """The number that must be typed, "" where a click is enough."""
    return str(number) if number > confirm_limit(environment) else ""


def confirm_limit(environment: str) -> int:
    """How many a click may act on at once."""
    return LIMITS[is_production(environment)]


def set_confirm_limits(settings: ConfirmSettings) -> None:
    """Let so many be acted on at once from now on."""
    LIMITS.update({True: settings.production, False: settings.other})


def _in_sight(values: KeyValues) -> QWidget:
    if values.heightForWidth(ROOM) <= ROWS_HEIGHT:
        return values
    pane = ScrollPane(name=N_("Details"))
    pane.body.setContentsMargins(0, 0, 12, 0)
    pane.body.addWidget(values)
    pane.body.addStretch(1)
    pane.setFixedHeight(ROWS_HEIGHT)
    return pane
