"""A form made from a JSON schema; it edits a document and leaves alone what it does not know.

One input for each kind of payload field; all speak in values of the document, ``MISSING`` for left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QMenu, QWidget

from services.domain.types.schema import Problem
from services.i18n import N_, _
from views.dialogs.new_task.problems import sentence, top_name
from views.dialogs.schema import read as plan
from views.dialogs.schema.read import MISSING, FieldPlan
from views.dialogs.schema.values import READ, WRITE, plain
from views.support import instant, shown
from views.support.language import on_language_changed
from views.support.look import Label, set_look
from views.widgets.buttons import IconButton
from views.widgets.fields import ChoiceField
from views.widgets.layout import STRETCH, in_column, in_row, put, tab_through
from views.widgets.toggle import Toggle

CHOICES_IN_ROW = 5
_DAYS = ((0, N_("Today")), (1, N_("Yesterday")), (7, N_("7 days ago")), (30, N_("30 days ago")))


class Input(QObject):
    """An input of a form.

    Signals:
        edited: a person changed it.
    """

    edited = Signal()

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = field
        self.widget: QWidget = parent

    def value(self) -> Any:
        """What stands there; text that is no number stays text, so that the schema can say so."""
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Show a value without a signal."""
        raise NotImplementedError

    def focus(self) -> None:
        """Put the cursor here."""
        self.widget.setFocus()

    def say(self) -> None:
        """Say titles again."""
        self.widget.setAccessibleName(self.field.title)

    def mark(self, problem: str) -> None:
        """Show whether something is wrong with it."""
        set_look(self.widget, invalid="true" if problem else "false")
        self.widget.setAccessibleDescription(problem or self.field.help)


class LineInput(Input):
    """Text, numbers, lists and raw JSON in one line."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(field, parent)
        self.line = QLineEdit(parent)
        self.line.setClearButtonEnabled(False)
        self.widget = self.line
        self.line.textEdited.connect(self.edited)

    def value(self) -> Any:
        """What stands there."""
        text = self.line.text()
        if not text.strip():
            return MISSING
        return READ[self.field.kind](text)

    def show_value(self, value: Any) -> None:
        """Show a value."""
        text = "" if value is MISSING else WRITE.get(self.field.kind, plain)(value)
        if text != self.line.text():
            self.line.setText(text)

    def say(self) -> None:
        """Say titles again; what counts when nothing is typed stands there in grey."""
        super().say()
        default = self.field.default
        hint = "" if default is MISSING or default in ("", []) else WRITE.get(self.field.kind, plain)(default)
        if not hint and self.field.example:
            hint = self.field.example
        elif self.field.kind == plan.LIST and not hint:
            hint = _("one, two, three")
        self.line.setPlaceholderText(hint)


class DateInput(LineInput):
    """A day as text, with the usual days at hand."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(field, parent)
        box = QWidget(parent)
        row = in_row(owner=box, spacing=4)
        button = IconButton("ph.calendar-blank", N_("Choose a day"), kind="plain")
        menu = QMenu(button)
        for days, title in _DAYS:
            menu.addAction(_(title), partial(self._choose, days))
        menu.addAction(_("No day"), self._clear)
        button.set_menu(menu)
        row.addWidget(self.line, 1)
        row.addWidget(button)
        self._box = box

    @property
    def box(self) -> QWidget:
        """Line and button together."""
        return self._box

    def _choose(self, days: int) -> None:
        day = shown.moment(instant.now_ms()).astimezone(shown.zone()).date() - timedelta(days=days)
        self.line.setText(day.isoformat())
        self.edited.emit()

    def _clear(self) -> None:
        self.line.clear()
        self.edited.emit()


class SwitchInput(Input):
    """On or off; as the default has it, the field is left out."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(field, parent)
        self.toggle = Toggle(field.title, parent=parent)
        self.widget = self.toggle
        self.toggle.clicked.connect(self.edited)

    def value(self) -> Any:
        """Whether it is on, ``MISSING`` where that is the default."""
        on = self.toggle.isChecked()
        default = self.field.default
        return MISSING if (default is MISSING and not on) or default == on else on

    def show_value(self, value: Any) -> None:
        """Show a value."""
        on = bool(self.field.default) if value is MISSING else value is True
        self.toggle.setChecked(on)


class ChoiceInput(Input):
    """One of a few values."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(field, parent)
        self.combo = ChoiceField(parent)
        self.widget = self.combo
        self._values: list[Any] = []
        self.combo.activated.connect(self.edited)
        self._fill()

    def value(self) -> Any:
        """The value chosen."""
        at = self.combo.currentIndex()
        return self._values[at] if 0 <= at < len(self._values) else MISSING

    def show_value(self, value: Any) -> None:
        """Show a value, also one that is not among the choices."""
        if value not in self._values:
            self._values.append(value)
            self.combo.addItem(plain(value))
        self.combo.setCurrentIndex(self._values.index(value))

    def say(self) -> None:
        """Say the choices again."""
        super().say()
        chosen = self.value()
        self._fill()
        self.show_value(chosen)

    def _fill(self) -> None:
        choices = self.field.choices()
        names = {str(value): name for value, name in choices}
        default = self.field.default
        nothing = "" if default is MISSING else _("{name} (as usual)").format(name=names.get(str(default), default))
        self._values = [MISSING, *(value for value, _name in choices)]
        self.combo.clear()
        self.combo.addItems([nothing, *(name for _value, name in choices)])


class ChoicesInput(Input):
    """Any of a few values, as tick boxes."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(field, parent)
        self.widget = QWidget(parent)
        self.widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        grid = QGridLayout(self.widget)
        grid.setContentsMargins(0, 3, 0, 3)
        grid.setHorizontalSpacing(14)
        grid.setColumnStretch(CHOICES_IN_ROW, 1)
        self.boxes: dict[str, QCheckBox] = {}
        self._others: list[Any] = []
        for place, (value, name) in enumerate(field.choices()):
            box = QCheckBox(name)
            box.clicked.connect(self.edited)
            self.boxes[str(value)] = box
            grid.addWidget(box, place // CHOICES_IN_ROW, place % CHOICES_IN_ROW)

    def value(self) -> Any:
        """The values ticked, and those that the form does not know."""
        ticked = [value for value, _name in self.field.choices() if self.boxes[str(value)].isChecked()]
        return [*ticked, *self._others] or MISSING

    def show_value(self, value: Any) -> None:
        """Show values."""
        wanted = value if isinstance(value, list) else []
        for name, box in self.boxes.items():
            box.setChecked(name in wanted)
        self._others = [one for one in wanted if one not in self.boxes]

    def focus(self) -> None:
        """Put the cursor on the first box."""
        next(iter(self.boxes.values()), self.widget).setFocus()

    def say(self) -> None:
        """Say the choices again."""
        super().say()
        for value, name in self.field.choices():
            self.boxes[str(value)].setText(name)

    def mark(self, problem: str) -> None:
        """Show whether something is wrong with it; a row of boxes has no edge to colour."""
        self.widget.setAccessibleDescription(problem or self.field.help)


def make(field: FieldPlan, parent: QWidget) -> Input:
    """The input that suits a field."""
    special: dict[str, type[Input]] = {
        plan.SWITCH: SwitchInput,
        plan.CHOICE: ChoiceInput,
        plan.CHOICES: ChoicesInput,
        plan.DATE: DateInput,
    }
    return special.get(field.kind, LineInput)(field, parent)


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

    def __init__(self, *, narrow: bool = False) -> None:
        """`narrow` sets two fields in a row, else three."""
        super().__init__()
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
        inputs = [
            one for row in self._rows.values() for one in row.findChildren(QWidget) if one.window() is row.window()
        ]
        tab_through(self, (one for one in inputs if one.focusPolicy() & Qt.FocusPolicy.TabFocus))
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
        self._help = Label("", "caption", "text3", wrap=True)
        self._below = Label("", "caption", "dead", wrap=True)
        head = in_row(self._title, self._limits, STRETCH, spacing=7)
        column = in_column(head, owner=self, spacing=4)
        if isinstance(self.input, SwitchInput):
            column.addLayout(in_row(self.input.widget, (self._help, 1), spacing=6))
            column.addWidget(self._below)
            return
        put(column, self.input.box if isinstance(self.input, DateInput) else self.input.widget, self._help, self._below)

    def mark(self, problem: str) -> None:
        """Show what is wrong, "" for nothing."""
        self.problem = problem
        self.input.mark(problem)
        self._below.setText(problem)
        self._below.setVisible(bool(problem))
        self._help.setText(self.field.help)
        self._help.setVisible(bool(self.field.help) and not (problem and self.field.kind != plan.SWITCH))

    def say(self) -> None:
        self._title.setText(self.field.title)
        self._limits.setText(self.field.limits)
        self._title.setToolTip(self.field.name)
        self.input.say()
        self.mark(self.problem)
