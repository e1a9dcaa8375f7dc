"""The original message of a dead letter, to be corrected before it is sent again."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QTextCursor, QTextFormat
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QTextEdit,
    QWidget,
)

from services.domain.insight import refused
from services.domain.text import mask
from services.domain.text.said import said
from services.domain.types import schema
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from views.dialogs.new_task.problems import editor_validator, payload_problems
from views.dialogs.schema.form import SchemaForm
from views.dialogs.schema.json_text import pretty
from views.support import safe, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import IconButton, shortcut_text
from views.widgets.elided import Elided
from views.widgets.flow_row import FlowRow
from views.widgets.json.editor import JsonEditor
from views.widgets.json.problems import Problem
from views.widgets.layout import in_column, in_row
from views.widgets.segmented import Segmented

_MARKS = {"+": "succeeded", "-": "dead"}
#: characters of a message that are read and masked where the window is, of a longer one elsewhere; and up to how many
#: one can be changed here, which is checked with every key: of a longer one the beginning is shown
AT_ONCE, MOST_EDITED = 8_000, 60_000
MODES = (("json", "JSON"), ("form", N_("Form")), ("diff", N_("Diff")))
KEPT_DRAFTS = 50
LEAST_HEIGHT, MOST_HEIGHT = 120, 420


class MessageEditor(QWidget):
    """An editor that keeps what was typed for each letter until it is sent or taken back.

    Signals:
        changed: edited, valid or neither any more.
        reveal_wanted: id of the letter whose secrets somebody wants to see; ``reveal`` shows them.
    """

    changed = Signal()
    reveal_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._task_id = ""
        self._kind: TaskType | None = None
        self._original = mask.Original(None)
        self._shown: Any = None  #: the same as it is shown, its secrets as dots until they are revealed
        self._long = self._read_only = self._loading = False
        self._reading = Operation(self, latest=True)
        self._revealed: set[str] = set()
        self._refused = False
        self._named = ""
        self._pointed_at: tuple[str, tuple[refused.Place, ...]] = ("", ())
        self._drafts: dict[str, str] = {}
        self.note = Label("", "label", "text2")
        self._revert = IconButton("ph.arrow-counter-clockwise", N_("Take the changes back"))
        self.reveal_button = IconButton("ph.eye", N_("Show secrets"))
        self.mode = Segmented(MODES, N_("View of the message"))
        self.json = JsonEditor(N_("Original message"))
        self.json.set_validator(editor_validator(lambda: self._kind, original=lambda: self._original))
        self.form = SchemaForm(narrow=True)
        self.form.edited.connect(self._on_form)
        self.diff = QPlainTextEdit()
        self.diff.setReadOnly(True)
        self.diff.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._stack = QStackedWidget()
        self._stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._glyph = QLabel()
        # long words on one line would push the whole panel beyond its right edge
        self.state = Label("", "label", "text2", wrap=True)
        self.was = Elided("", "label", "text3")
        self._put_together()
        self.mode.chosen.connect(self._on_mode)
        self._revert.clicked.connect(self.revert)
        self.reveal_button.clicked.connect(self._on_reveal)
        self.json.textChanged.connect(self._on_text)
        self.json.validity_changed.connect(self._say)
        on_language_changed(self._say)
        theme().changed.connect(self._say)

    def _put_together(self) -> None:
        about = QWidget()
        words = in_row(owner=about, spacing=8)
        self._title = Label("", "card")
        for widget in (self._title, self.note, self._revert, self.reveal_button):
            words.addWidget(widget)
        head = FlowRow(across=8, down=4, last_right=True)  # in a narrow panel the views stand below the title
        head.addWidget(about)
        head.addWidget(self.mode)
        for view in (self.json, self.form, self.diff):
            self._stack.addWidget(view)
        foot = in_row((self._glyph, 0, Qt.AlignmentFlag.AlignTop), (self.state, 1), spacing=6)
        in_column(head, self._stack, foot, self.was, owner=self, margins=(16, 8, 16, 10), spacing=6)

    @property
    def is_edited(self) -> bool:
        """Whether the document differs from the original one; while that is read, whether a draft waits for it."""
        if self.is_reading:
            return self._task_id in self._drafts
        if self._long:  # what is shown is a part, as the editor can show it
            return False
        return bool(self._changes()) or (self.json.document_value() is None and self.json.is_edited)

    @property
    def is_reading(self) -> bool:
        """Whether the message is still being read."""
        return self._reading.awaited

    @property
    def is_valid(self) -> bool:
        """Whether the document may be sent."""
        return self.json.is_valid

    def payload(self) -> dict[str, Any] | None:
        """The edited document, with its secrets where their dots were left; None while it is no JSON object, or being
        read. One too long to be edited is as it was.
        """
        if self.is_reading:
            return None
        if self._long:
            return self._original.value if isinstance(self._original.value, dict) else None
        value = self.json.document_value()
        return self._original.put_back(value) if isinstance(value, dict) else None

    def show_refusal(self, is_refused: bool, named: str = "") -> None:
        """Whether the flow has refused this very message, and the field it named: that one is marked, or said to be
        missing where it would stand. Fitting its form is then nothing to be glad of.
        """
        if (is_refused, named) != (self._refused, self._named):
            self._refused, self._named = is_refused, named
            self._say()

    def show_message(self, task_id: str, payload: str, kind: TaskType | None) -> None:
        """Show the payload of a letter; the same letter again changes nothing that was typed."""
        if task_id == self._task_id and kind == self._kind:
            return
        fresh = task_id != self._task_id
        self._kind = kind
        if fresh:
            self._keep_draft()
            self._task_id = task_id
            self._reading.drop()
            if len(payload) > AT_ONCE:
                self._reading.start(partial(_read, payload, task_id in self._revealed), self._take)
                self._load(_Message(mask.Original(None), ""))  # no JSON yet, so nothing can be sent meanwhile
            else:
                self._take(_read(payload, task_id in self._revealed))
                return
        self.json.validate()
        self._say()

    def _take(self, message: _Message) -> None:
        self._load(message)
        draft = self._drafts.get(self._task_id)
        if draft is not None and not self._long:
            self.json.setPlainText(draft)
        self._choose("json")

    def reveal(self, task_id: str) -> None:
        """Show the secrets of a letter; who asks has written down that somebody looks."""
        self._revealed.add(task_id)
        if task_id == self._task_id and self._original.value is not None:
            typed, after = self.json.toPlainText(), self.json.document_value()
            edited = self.is_edited
            self._load(_Message(self._original, pretty(self._original.value)))
            if edited:
                self.json.setPlainText(typed if after is None else pretty(self._original.put_back(after)))
            self._on_mode(self.mode.current())

    def _load(self, message: _Message) -> None:
        self._original, self._long = message.original, len(message.words) > MOST_EDITED
        self._shown = self._original.value if self._task_id in self._revealed else self._original.shown
        self._loading = True
        if self._long:
            self.json.load_part(message.words[:MOST_EDITED])
        else:
            self.json.load_text(message.words)
        self._loading = False
        self.set_read_only(self._read_only)

    def _on_reveal(self) -> None:
        self.reveal_wanted.emit(self._task_id)

    def set_read_only(self, read_only: bool) -> None:
        """Refuse editing, e.g. of a message that was never a task."""
        self._read_only = read_only
        self.json.setReadOnly(read_only or self._long or self.is_reading)

    def revert(self) -> None:
        """Return to the original."""
        self._drafts.pop(self._task_id, None)
        self.json.revert()
        self._choose("json")
        self._say()

    def _keep_draft(self) -> None:
        if self.is_reading:  # its draft is not in the editor yet
            return
        if self._task_id and self.is_edited:
            self._drafts[self._task_id] = self.json.toPlainText()
            while len(self._drafts) > KEPT_DRAFTS:
                self._drafts.pop(next(iter(self._drafts)))
        else:
            self._drafts.pop(self._task_id, None)

    def _changes(self) -> list[str]:
        after = self.json.document_value()
        if after is None:
            return []
        return [change.words() for change in changes(self._shown, after)]

    def _mark(self, complained: bool) -> tuple[refused.Place, ...]:
        found: tuple[refused.Place, ...] = ()
        if complained and self.json.document_value() is not None:
            form = self._kind.schema if self._kind is not None else {}
            found = refused.places(self.json.document_value(), self._named, form)
        self.json.set_remarks([Problem(text=_remark(one), path=one.path) for one in found])
        if (self._task_id, found) != self._pointed_at:
            self._pointed_at = (self._task_id, found)
            if found:
                self.json.go_to_line(self.json.remarks()[0].line)
        return found

    def _on_text(self) -> None:
        if self._loading:  # who loads it says it once, when all is there
            return
        # The editor checks after a pause in typing; the button must know before that.
        self.json.validate()
        self._fit()
        self._say()

    def _on_form(self) -> None:
        self.json.setPlainText(pretty(self.form.document()))

    def _fit(self) -> None:
        if self._stack.currentWidget() is self.form:
            self._stack.setFixedHeight(self.form.sizeHint().height())
            return
        lines = self.json.blockCount()
        height = QFontMetrics(self.json.font()).lineSpacing() * lines + 22
        self._stack.setFixedHeight(min(MOST_HEIGHT, max(LEAST_HEIGHT, height)))

    def _choose(self, mode: str) -> None:
        self.mode.set_current(mode)
        self._on_mode(mode)

    def _on_mode(self, mode: str) -> None:
        payload = self.json.document_value()
        payload = payload if isinstance(payload, dict) else None
        if (mode == "form" and (payload is None or self.json.isReadOnly())) or self._long:
            # A form can only show what can be read; the text says what is wrong.
            self.mode.set_current("json")
            mode = "json"
        if mode == "form":
            self.form.show_schema(self._kind.schema if self._kind is not None else {}, payload or {})
        elif mode == "diff":
            self._show_diff()
        self._stack.setCurrentWidget({"form": self.form, "diff": self.diff}.get(mode, self.json))
        self._fit()
        self._say()

    def _show_diff(self) -> None:
        before = pretty(self._shown)
        lines = line_diff(before, self.json.toPlainText())
        self.diff.setFont(theme().font("mono"))
        self.diff.setAccessibleName(_("Changes"))
        self.diff.setPlainText("\n".join(f"{mark or ' '} {line}" for mark, line in lines))
        marks = []
        for number, (mark, _line) in enumerate(lines):
            if mark in _MARKS:
                selection = QTextEdit.ExtraSelection()
                selection.format.setBackground(theme().tint(_MARKS[mark], 16, "input"))
                selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
                selection.cursor = QTextCursor(self.diff.document().findBlockByNumber(number))
                marks.append(selection)
        self.diff.setExtraSelections(marks)

    def _say(self) -> None:
        self._title.setText(_("Original message"))
        done = self._changes()
        self.note.setText(ngettext("{n} change", "{n} changes", len(done)).format(n=len(done)) if done else "")
        self._revert.setVisible(self.is_edited)
        self.reveal_button.setVisible(self._shown != self._original.value)
        problems = self.json.problems()
        complained = self._refused and not self.is_edited
        places = self._mark(complained)
        document = self.json.document_value()
        problems_of_form = payload_problems(self._kind, document, self._original) if isinstance(document, dict) else []
        self.form.show_problems([*problems_of_form, *(_of_form(one) for one in places)])
        name = self._kind.name if self._kind is not None else ""
        if self.is_reading:
            self.state.setText(_("Loading…"))
        elif self._long:
            said = _("Too long to be changed here: its beginning is shown. It can be republished as it is.")
            self.state.setText(said)
        elif problems:
            self.state.setText(_wrong(len(problems)))
        elif places:
            self.state.setText(_complaint(places[0]))
        elif name and complained:
            self.state.setText(_("Fits the form of {type}, but the flow refused it: change it first").format(type=name))
        elif name:
            version = self._kind.version if self._kind is not None else 0
            said = _("Valid for {type}, version {version}") if version else _("Valid for {type}")
            self.state.setText(said.format(type=name, version=version))
        else:
            self.state.setText(_("Valid JSON; nobody described this task type"))
        wrong = bool(problems) and not self.is_reading
        self.state.set_tone("dead" if wrong else "text2")
        token = status("dead" if wrong else "warning" if complained else "succeeded")
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 14))
        more = f"  +{len(done) - 1}" if len(done) > 1 else ""
        self.was.show_text(safe.cut(done[0], 60) + more if done else "")
        self.was.setToolTip(safe.tooltip("\n".join(done)))
        self.was.setVisible(bool(done))
        self.changed.emit()


def _complaint(place: refused.Place) -> str:
    if place.missing:
        return _("The flow refused “{field}”, which this message does not set: add it with a right value").format(
            field=place.name
        )
    return _("The flow refused “{field}”: change it first").format(field=place.name)


def _remark(place: refused.Place) -> str:
    if place.missing:
        return _("“{field}” is not set here").format(field=place.name)
    return _("“{field}” was refused").format(field=place.path[-1])


def _of_form(place: refused.Place) -> schema.Problem:
    code = "schema.missing" if place.missing else "schema.refused"
    return schema.Problem(path=place.name, message=said(code), code=code)


class _Message(msgspec.Struct, frozen=True):
    """``words``: its whole text as it is shown."""

    original: mask.Original
    words: str


def _read(payload: str, revealed: bool) -> _Message:
    """Takes half a second for the longest."""
    original = mask.Original(_parsed(payload))
    if original.value is None:
        return _Message(original, mask.masked_text(payload))
    return _Message(original, pretty(original.value if revealed else original.shown))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_MISSING = object()
LIMIT = 40


class Change(msgspec.Struct, frozen=True):
    """One field: its path, what stood there and what stands there now, both as short JSON ("" for nothing)."""

    path: str
    before: str
    after: str

    def words(self) -> str:
        """The change in a few words."""
        if not self.before:
            return _("{field} is new").format(field=self.path)
        if not self.after:
            return _("{field} is gone").format(field=self.path)
        return _("{field} was {value}").format(field=self.path, value=self.before)


def changes(before: Any, after: Any, path: str = "") -> list[Change]:
    """The fields in which two documents differ; lists are compared as a whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        found = []
        for name in {**before, **after}:
            place = f"{path}.{name}" if path else str(name)
            found += changes(before.get(name, _MISSING), after.get(name, _MISSING), place)
        return found
    if before == after and type(before) is type(after):
        return []
    return [Change(path, _short(before), _short(after))]


def line_diff(before: str, after: str) -> list[tuple[str, str]]:
    """All lines of both texts as ``(mark, line)``: ``-`` gone, ``+`` new, blank kept."""
    return [
        (line[0].strip(), line[2:])
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if not line.startswith("?")
    ]


def _short(value: object) -> str:
    if value is _MISSING:
        return ""
    return safe.cut(safe.visible(json.dumps(value, ensure_ascii=False)), LIMIT)


def _wrong(number: int) -> str:
    """How much is wrong, and the key that leads to it."""
    key = shortcut_text("parts.next_error")
    words = ngettext("{n} error; {key} goes to it", "{n} errors; {key} goes to the next", number)
    if not key:
        words = ngettext("{n} error", "{n} errors", number)
    return words.format(n=text.count(number), key=key)
