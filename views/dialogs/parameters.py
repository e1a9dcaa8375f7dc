"""The payload of a new task: as a form, or as raw JSON; both edit the same document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.domain.schema import Problem
from services.domain.task_type import TaskType
from services.i18n import N_, _, ngettext
from views.dialogs.json_text import pretty
from views.dialogs.part import Part
from views.dialogs.problems import editor_validator, payload_problems, placed
from views.dialogs.schema_form import SchemaForm
from views.support.language import on_language_changed
from views.support.look import Label
from views.widgets.json_editor import JsonEditor
from views.widgets.segmented import Segmented
from views.widgets.status_pill import StatusPill

EDITOR_HEIGHT = 168


class Parameters(Part):
    """Signals:
    changed: the document or what is wrong with it.
    """

    changed = Signal()

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(number, N_("Parameters"), parent=parent)
        self._kind: TaskType | None = None
        self._document: dict[str, Any] = {}
        self._problems: list[Problem] = []
        self._pill = StatusPill("succeeded", framed=False)
        self.mode = Segmented((("form", N_("Form")), ("json", N_("Raw JSON"))), N_("View of the parameters"))
        self.add_action(self._pill)
        self.add_action(self.mode)
        self.form = SchemaForm()
        self.editor = JsonEditor(N_("Parameters as JSON"))
        self.editor.setFixedHeight(EDITOR_HEIGHT)
        self.editor.set_validator(editor_validator(lambda: self._kind, dates=True))
        self.editor.hide()
        self._elsewhere = Label("", "label", "dead", wrap=True)
        self.body.addWidget(self.form)
        self.body.addWidget(self.editor)
        self.body.addWidget(self._elsewhere)
        self.form.edited.connect(self._on_form)
        self.editor.textChanged.connect(self._on_text)
        self.mode.chosen.connect(self._on_mode)
        on_language_changed(self._check)
        self._check()

    # the document

    def document(self) -> dict[str, Any]:
        """What will be sent."""
        return dict(self._document)

    def problems(self) -> int:
        """How many things are wrong."""
        if self.mode.current() == "json" and self.editor.problems():
            return len(self.editor.problems())
        return len(self._problems)

    def show_kind(self, kind: TaskType | None, document: Mapping[str, Any] | None = None) -> None:
        """Show the parameters of a task type; the document stays unless another is given."""
        self._kind = kind
        if document is not None:
            self._document = dict(document)
        self.form.show_schema(kind.schema if kind is not None else {}, self._document)
        if self.mode.current() == "json" or document is not None:
            self._load_text()
        self._check()

    def set_mode(self, mode: str) -> None:
        """Show the form or the JSON text."""
        self.mode.set_current(mode)
        self._on_mode(mode)

    def go_to_problem(self) -> None:
        """Bring the next problem into view (F8)."""
        if self.mode.current() == "json":
            self.editor.setFocus()
            self.editor.go_to_next_problem()
        elif not self.form.focus_problem():
            self.set_mode("json")

    def tell(self, path: str, words: str) -> bool:
        """Show what the server said about a field; False when it is not here."""
        problem = Problem(path=path, message=words, code="server")
        row = self.form.input(path.partition(".")[0].partition("[")[0])
        if row is None:
            return False
        self._problems = [problem]
        self.form.show_problems(self._problems)
        self._say()
        return True

    def tell_refusals(self, errors: Sequence[tuple[object, str, str]]) -> bool:
        """Put a refusal that all tasks share at its field; False where they differ or have no field here."""
        spots = {(field, sentence) for _spec, field, sentence in errors}
        if len(spots) != 1:
            return False
        field, sentence = spots.pop()
        return self.tell(field, sentence.removeprefix(f"{field}: "))

    def _on_form(self) -> None:
        self._document = self.form.document()
        self._check()

    def _on_text(self) -> None:
        if self.mode.current() != "json":
            return
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
            self.editor.load_text(pretty(self._document) if self._document else "{\n  \n}")

    # what is wrong

    def _check(self) -> None:
        self._problems = payload_problems(self._kind, self._document, dates=True)
        left = self.form.show_problems(self._problems)
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
        wrong = self.problems()
        if wrong:
            self._pill.set_status("dead", ngettext("{n} error", "{n} errors", wrong).format(n=wrong))
        else:
            self._pill.set_status("succeeded", _("valid"))
        self.changed.emit()
