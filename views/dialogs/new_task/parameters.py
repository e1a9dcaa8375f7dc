"""The payload of a new task: as a form, or as raw JSON; both edit the same document.

A field that is missing is nobody's mistake before something was typed or tried: until then it is asked for, not red.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.domain.text import mask
from services.domain.types.schema import Problem
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from services.messages import told
from views.dialogs.new_task.problems import editor_validator, payload_problems, placed, top_name
from views.dialogs.new_task.section import FormSection
from views.dialogs.schema.form import SchemaForm
from views.dialogs.schema.json_text import pretty
from views.support.language import say_in_language
from views.support.look import Label
from views.widgets.buttons import IconButton
from views.widgets.json.editor import JsonEditor
from views.widgets.layout import put
from views.widgets.segmented import Segmented
from views.widgets.status_pill import StatusPill

EDITOR_HEIGHT = 168
#: where something is wrong: a name that stays while it is wrong, and how to get there
Spot = tuple[str, Callable[[], "QWidget | None"]]


class Parameters(FormSection):
    """Signals:
    changed: the document or what is wrong with it.
    """

    changed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__(number, N_("Parameters"))
        self._kind: TaskType | None = None
        self._document: dict[str, Any] = {}
        self._original: Any = None  #: what the dots in the document stand for
        self._problems: list[Problem] = []
        self._touched: set[str] = set()
        self._tried = self._loading = False
        self._state = StatusPill("succeeded", framed=False)
        self.mode = Segmented((("form", N_("Form")), ("json", N_("Raw JSON"))), N_("View of the parameters"))
        self.reveal_button = IconButton("ph.eye", N_("Show secrets"))
        self.reveal_button.hide()
        self.add_action(self.reveal_button)
        self.add_action(self._state)
        self.add_action(self.mode)
        self.form = SchemaForm()
        self.editor = JsonEditor(N_("Parameters as JSON"))
        self.editor.setFixedHeight(EDITOR_HEIGHT)
        self.editor.set_validator(
            editor_validator(lambda: self._kind, quiet=self._is_quiet, original=lambda: self._original)
        )
        self.editor.hide()
        self._elsewhere = Label("", "label", "dead", wrap=True)
        put(self.body, self.form, self.editor, self._elsewhere)
        self.form.touched.connect(self._touched.add)
        self.form.edited.connect(self._on_form)
        self.editor.textChanged.connect(self._on_text)
        self.mode.chosen.connect(self._on_mode)
        say_in_language(self._check)

    # the document

    @property
    def kind(self) -> TaskType | None:
        """The task type whose parameters are shown."""
        return self._kind

    def document(self) -> dict[str, Any]:
        """What will be sent."""
        return dict(mask.put_back(self._document, self._original))

    def show_kind(self, kind: TaskType | None, document: Mapping[str, Any] | None = None) -> None:
        """Show the parameters of a task type; the document stays unless another is given."""
        if document is not None or kind is None or self._kind is None or kind.name != self._kind.name:
            self._touched.clear()
            self._tried = False
        fresh = kind is not None and (self._kind is None or kind.name != self._kind.name)
        self._kind = kind
        if document is not None:
            self._original = dict(document)
            self._document = mask.masked(self._original)
        if fresh and kind is not None and needs_text(kind.schema) and self.mode.current() == "form":
            self.set_mode("json")
        self.form.show_schema(kind.schema if kind is not None else {}, self._document)
        if self.mode.current() == "json" or document is not None:
            self._load_text()
        self._check()

    def forget_secrets(self) -> None:
        """The dots of the document stand for nothing that is known: they must be typed over."""
        self._original = None
        self._check()

    def reveal(self) -> None:
        """Show the secrets that were hidden; who asks has written down that somebody looks."""
        self._document = self.document()
        self._original = None
        self.form.show_document(self._document)
        self._load_text()
        self._check()

    def set_mode(self, mode: str) -> None:
        """Show the form or the JSON text."""
        self.mode.set_current(mode)
        self._on_mode(mode)

    # what is wrong

    def problems(self) -> int:
        """How many things are wrong; what was never filled in is not."""
        if self.mode.current() == "json" and self.editor.problems():
            return len(self.editor.problems())
        return len(self._loud())

    def missing(self) -> list[str]:
        """Titles of the fields that are still to be filled in."""
        return [self.form.title_of(problem.path) for problem in self._problems if self._is_quiet(problem)]

    def insist(self) -> None:
        """Somebody tried to go on: from now on what is missing is wrong."""
        self._tried = True
        self.editor.validate()
        self._check()

    def spots(self) -> list[Spot]:
        """The places of what is wrong, from top to bottom."""
        if self.mode.current() == "json":
            lines = sorted({problem.line for problem in self.editor.problems() if problem.line})
            return [(f"line {line}", partial(self._go_to_line, line)) for line in lines]
        names = self.form.problem_names()
        if not names and self.problems():
            return [("json", partial(self.set_mode, "json"))]
        return [(name, partial(self.form.focus_field, name)) for name in names]

    def tell_refusals(self, errors: Sequence[tuple[object, str, str]]) -> bool:
        """Put a refusal that all tasks share at its field; False where they differ or have no field here."""
        found = {(field, sentence) for _spec, field, sentence in errors}
        if len(found) != 1:
            return False
        field, sentence = found.pop()
        if self.form.input(top_name(field)) is None:
            return False
        words = told(sentence).removeprefix(f"{field}: ").removeprefix(f"{field}：")
        self._problems = [Problem(path=field, message=words, code="server")]
        self.form.show_problems(self._problems)
        self._say()
        return True

    def _is_quiet(self, problem: Problem) -> bool:
        """A field that nobody has come to yet; what is missing inside of one that is filled in is wrong at once."""
        name = top_name(problem.path)
        return problem.code == "required" and not self._tried and problem.path == name and name not in self._touched

    def _loud(self) -> list[Problem]:
        return [problem for problem in self._problems if not self._is_quiet(problem)]

    def _go_to_line(self, line: int) -> QWidget:
        self.editor.setFocus()
        self.editor.go_to_line(line)
        return self.editor

    # slots

    def _on_form(self) -> None:
        self._document = self.form.document()
        self._check()

    def _on_text(self) -> None:
        if self.mode.current() != "json" or self._loading:
            return
        self._tried = True
        self.editor.validate()
        value = self.editor.document_value()
        if isinstance(value, dict):
            self._document = value
        self._check()

    def _on_mode(self, mode: str) -> None:
        if mode == "json":
            self._load_text()
        else:
            self.form.show_document(self._document)
        self.form.setVisible(mode == "form")
        self.editor.setVisible(mode == "json")
        self._check()

    def _load_text(self) -> None:
        shown = self.editor.document_value()
        if shown != self._document or not self.editor.toPlainText():
            self._loading = True
            self.editor.load_text(pretty(self._document) if self._document else "{\n  \n}")
            self._loading = False
        self.editor.validate()

    def _check(self) -> None:
        self._problems = payload_problems(self._kind, self._document, self._original)
        hidden = self._original is not None and self._document != mask.put_back(self._document, self._original)
        self.reveal_button.setVisible(hidden)
        left = self.form.show_problems(self._loud())
        form = self.mode.current() == "form"
        self._elsewhere.setText("\n".join(placed(problem) for problem in left) if form else "")
        self._elsewhere.setVisible(form and bool(left))
        self._say()

    def _say(self) -> None:
        kind = self._kind
        note = ""
        if kind is not None:
            note = _("schema of {type}, version {version}") if kind.version else _("schema of {type}")
            note = note.format(type=kind.name, version=kind.version)
        self.set_note(note)
        wrong, missing = self.problems(), len(self.missing())
        self.set_errors(wrong)
        self._state.setVisible(not wrong)
        if missing:
            words = ngettext("{n} field to fill in", "{n} fields to fill in", missing).format(n=missing)
            self._state.set_status("waiting", words)
        else:
            self._state.set_status("succeeded", _("valid"))
        self.changed.emit()


def needs_text(document_schema: Mapping[str, Any]) -> bool:
    """Whether a form would be one long line: a list of objects must be given, as the steps of a flow are."""
    properties = document_schema.get("properties", {})
    needed = [properties.get(name, {}) for name in document_schema.get("required", ())]
    return any(one.get("type") == "array" and _of_objects(one.get("items", {})) for one in needed)


def _of_objects(items: object) -> bool:
    return isinstance(items, dict) and ("$ref" in items or items.get("type") == "object")
