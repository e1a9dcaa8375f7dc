"""A form made from a JSON schema; it edits a document and leaves alone what it does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from services.domain.types.schema import Problem
from services.i18n import _
from views.dialogs.new_task.problems import sentence, top_name
from views.dialogs.schema import read as plan
from views.dialogs.schema.fields import DateInput, Input, SwitchInput, make
from views.dialogs.schema.read import MISSING, FieldPlan
from views.support.language import on_language_changed
from views.support.look import Label
from views.widgets.elided import Elided

COLUMNS = 6
FEW_CHOICES = 5
_SPANS = {plan.WHOLE: 2, plan.NUMBER: 2, plan.DATE: 2, plan.SWITCH: 2, plan.CHOICE: 2, plan.JSON: 6}
_SPAN = 3
_TOP = Qt.AlignmentFlag.AlignTop


class SchemaForm(QWidget):
    """Signals:
    edited: a person changed the document.
    touched: name of the field that a person changed.
    """

    edited = Signal()
    touched = Signal(str)

    def __init__(self, *, narrow: bool = False, parent: QWidget | None = None) -> None:
        """`narrow` sets two fields in a row, else three."""
        super().__init__(parent)
        self._narrow = narrow
        self._schema: Mapping[str, Any] = {}
        self._document: dict[str, Any] = {}
        self._rows: dict[str, _Row] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(10)
        for column in range(COLUMNS):
            self._grid.setColumnStretch(column, 1)
        self._none = Label("", "label", "text3", wrap=True)
        self._grid.addWidget(self._none, 0, 0, 1, COLUMNS)
        on_language_changed(self._say)

    def show_schema(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> None:
        """Show the fields of a schema with the values of a document."""
        if schema != self._schema or not self._rows:
            self._schema = schema
            self._rebuild(plan.read(schema))
        self.show_document(document)

    def show_document(self, document: Mapping[str, Any]) -> None:
        """Show other values."""
        self._document = dict(document)
        for name, row in self._rows.items():
            row.input.show_value(self._document.get(name, MISSING))

    def document(self) -> dict[str, Any]:
        """The document: what the form does not know stays as it was."""
        return dict(self._document)

    def show_problems(self, problems: Sequence[Problem]) -> list[Problem]:
        """Tell each problem at its field; return those that have none here."""
        left, by_field = [], dict[str, str]()
        for problem in problems:
            name = top_name(problem.path)
            if name in self._rows:
                by_field.setdefault(name, sentence(problem))
            else:
                left.append(problem)
        for name, row in self._rows.items():
            row.mark(by_field.get(name, ""))
        return left

    def input(self, name: str) -> Input | None:
        """The input of a field."""
        row = self._rows.get(name)
        return row.input if row is not None else None

    def problem_of(self, name: str) -> str:
        """What is told at a field now."""
        row = self._rows.get(name)
        return row.problem if row is not None else ""

    def problem_names(self) -> list[str]:
        """The fields at which a problem is told, from top to bottom."""
        return [name for name, row in self._rows.items() if row.problem]

    def title_of(self, name: str) -> str:
        """What people call a field."""
        row = self._rows.get(name)
        return row.field.title if row is not None else name

    def focus_field(self, name: str) -> QWidget | None:
        """Put the cursor into a field; its widget, None when it is not here."""
        row = self._rows.get(name)
        if row is None:
            return None
        row.input.focus()
        return row

    def _rebuild(self, fields: Sequence[FieldPlan]) -> None:
        for row in self._rows.values():
            self._grid.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = {}
        self._none.setVisible(not fields)
        taken: list[int] = []
        for field in fields:
            span = _span(field, self._narrow)
            line = next((n for n, used in enumerate(taken) if used + span <= COLUMNS), len(taken))
            if line == len(taken):
                taken.append(0)
            row = _Row(field, self)
            row.input.edited.connect(partial(self._on_edited, field.name))
            self._grid.addWidget(row, line, taken[line], 1, span, _TOP)
            self._rows[field.name] = row
            taken[line] += span
        self._say()

    def _on_edited(self, touched: str) -> None:
        for name, row in self._rows.items():
            value = row.input.value()
            if value is MISSING:
                self._document.pop(name, None)
            else:
                self._document[name] = value
        self.touched.emit(touched)
        self.edited.emit()

    def _say(self) -> None:
        self._none.setText(_("This task type describes no parameters; use Raw JSON to send some."))
        for row in self._rows.values():
            row.say()


def _span(field: FieldPlan, narrow: bool) -> int:
    if field.kind == plan.CHOICES:
        return 4 if len(field.choices()) <= FEW_CHOICES and not narrow else COLUMNS
    span = _SPANS.get(field.kind, _SPAN)
    if narrow:
        return _SPAN if span == _SPANS[plan.WHOLE] else COLUMNS
    return span


class _Row(QWidget):
    """Title, limits, input, and what is wrong or what it is for."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(parent)
        self.field, self.problem = field, ""
        self.input = make(field, self)
        self._title = Label("", "label", "text2")
        self._limits = Label("", "label", "text3")
        self._help = Elided("", "caption", "text3")
        self._below = Label("", "caption", "dead", wrap=True)
        head = QHBoxLayout()
        head.setSpacing(7)
        head.addWidget(self._title)
        head.addWidget(self._limits)
        head.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        if isinstance(self.input, SwitchInput):
            row = QHBoxLayout()
            row.setSpacing(6)
            row.addWidget(self.input.widget)
            row.addWidget(self._help, 1)
            column.addLayout(row)
            column.addWidget(self._below)
            return
        column.addWidget(self.input.box if isinstance(self.input, DateInput) else self.input.widget)
        column.addWidget(self._help)
        column.addWidget(self._below)

    def mark(self, problem: str) -> None:
        """Show what is wrong, "" for nothing."""
        self.problem = problem
        self.input.mark(problem)
        self._below.setText(problem)
        self._below.setVisible(bool(problem))
        self._help.show_text(self.field.help)
        self._help.setVisible(bool(self.field.help) and not (problem and self.field.kind != plan.SWITCH))

    def say(self) -> None:
        """Say everything again."""
        self._title.setText(self.field.title)
        self._limits.setText(self.field.limits)
        self._title.setToolTip(self.field.name)
        self.input.say()
        self.mark(self.problem)
