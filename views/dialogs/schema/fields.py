"""One input for each kind of payload field; all speak in values of the document, ``MISSING`` for left out."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLineEdit, QMenu, QWidget

from services.clock import SystemClock
from services.i18n import N_, _
from views.dialogs.schema import read as plan
from views.dialogs.schema.read import MISSING, FieldPlan
from views.dialogs.schema.values import READ, WRITE, plain
from views.support import shown
from views.support.look import set_look
from views.widgets.buttons import IconButton
from views.widgets.fields import ChoiceField
from views.widgets.toggle import Toggle

CHOICES_IN_ROW = 5
_CLOCK = SystemClock()
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
        self.line.textEdited.connect(self._on_edited)

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

    def _on_edited(self) -> None:
        self.edited.emit()


class DateInput(LineInput):
    """A day as text, with the usual days at hand."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(field, parent)
        box = QWidget(parent)
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
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
        day = shown.moment(_CLOCK.now_ms()).astimezone(shown.zone()).date() - timedelta(days=days)
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
        self.toggle.clicked.connect(self._on_edited)

    def value(self) -> Any:
        """Whether it is on, ``MISSING`` where that is the default."""
        on = self.toggle.isChecked()
        default = self.field.default
        return MISSING if (default is MISSING and not on) or default == on else on

    def show_value(self, value: Any) -> None:
        """Show a value."""
        on = bool(self.field.default) if value is MISSING else value is True
        self.toggle.setChecked(on)

    def _on_edited(self) -> None:
        self.edited.emit()


class ChoiceInput(Input):
    """One of a few values."""

    def __init__(self, field: FieldPlan, parent: QWidget) -> None:
        super().__init__(field, parent)
        self.combo = ChoiceField(parent)
        self.widget = self.combo
        self._values: list[Any] = []
        self.combo.activated.connect(self._on_edited)
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

    def _on_edited(self) -> None:
        self.edited.emit()


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
            box.clicked.connect(self._on_edited)
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

    def _on_edited(self) -> None:
        self.edited.emit()


def make(field: FieldPlan, parent: QWidget) -> Input:
    """The input that suits a field."""
    special: dict[str, type[Input]] = {
        plan.SWITCH: SwitchInput,
        plan.CHOICE: ChoiceInput,
        plan.CHOICES: ChoicesInput,
        plan.DATE: DateInput,
    }
    return special.get(field.kind, LineInput)(field, parent)
