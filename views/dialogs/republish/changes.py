"""What all new tasks shall have in common: lane, one field of the payload, attempts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from services.domain.task.lane import Lane
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from views.dialogs.republish.sorting import Sorted
from views.dialogs.schema.read import JSON
from views.dialogs.schema.values import READ
from views.support import shown, text
from views.support.language import say_in_language
from views.support.look import Label
from views.support.throttle import Debounce
from views.theme.tokens import LANES
from views.widgets.buttons import IconButton, LinkLabel
from views.widgets.fields import ChoiceField
from views.widgets.layout import STRETCH, in_column, in_row
from views.widgets.segmented import Segmented

QUIET_MS = 400
MOST_ATTEMPTS = 6


class ChangesPane(QWidget):
    """Signals:
    changed: lane or attempts.
    fields_changed: a field that is set in every payload: the plan must be made again.
    """

    changed = Signal()
    fields_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._attempts_before = 0
        lanes = (Lane.HIGH, Lane.NORMAL, Lane.LOW)
        choices = [("", N_("Keep own"), "", "")]
        choices += [(name.value, LANES[name].word, LANES[name].glyph, LANES[name].role) for name in lanes]
        self.lane = Segmented(choices, N_("Lane"), stretch=True)
        self.attempts = ChoiceField()
        self.name, self.value = ChoiceField(), QLineEdit()
        self.name.setEditable(True)
        self._titles = [Label("", "label", "text2") for _number in range(3)]
        self._notes = [Label("", "label", "text3") for _number in range(3)]
        self._unchanged, self._set = Label("", "body", "text2"), LinkLabel(N_("Set a field for all"))
        self._drop = IconButton("ph.x", N_("Leave the payload as it is"))
        self._plain, self._edit = QWidget(), QWidget()
        self._put_together()
        self._soon = Debounce(self.fields_changed.emit, QUIET_MS, self)
        self.lane.chosen.connect(self.changed)
        self.attempts.activated.connect(self.changed)
        self._set.activated.connect(self._on_set)
        self._drop.clicked.connect(self._on_drop)
        self.name.editTextChanged.connect(self._on_typed)
        self.value.textChanged.connect(self._on_typed)
        self._sorted: Sorted | None = None  #: what the notes speak of
        say_in_language(self._say)

    def _put_together(self) -> None:
        for widget in (self._plain, self._edit):
            QHBoxLayout(widget).setContentsMargins(0, 0, 0, 0)
        for widget, stretch in ((self._unchanged, 1), (self._set, 0)):
            self._row(self._plain).addWidget(widget, stretch)
        for widget, stretch in ((self.name, 1), (self.value, 1), (self._drop, 0)):
            self._row(self._edit).addWidget(widget, stretch)
        self._edit.hide()
        column = in_column(owner=self, spacing=5)
        fields: tuple[tuple[QWidget, ...], ...] = ((self.lane,), (self._plain, self._edit), (self.attempts,))
        for title, note, widgets in zip(self._titles, self._notes, fields, strict=True):
            column.addLayout(in_row(title, note, STRETCH, spacing=7))
            for widget in widgets:
                column.addWidget(widget)
            column.addSpacing(5)

    @staticmethod
    def _row(widget: QWidget) -> QHBoxLayout:
        row = widget.layout()
        assert isinstance(row, QHBoxLayout)
        return row

    def fields(self) -> dict[str, Any]:
        """What is set in every payload."""
        name = self.name.currentText().strip()
        if self._edit.isHidden() or not name or not self.value.text().strip():
            return {}
        return {name: READ[JSON](self.value.text())}

    def chosen_attempts(self) -> int:
        """How often each may be tried, 0 keeps what it had."""
        return int(self.attempts.currentData() or 0)

    def show_sorted(self, found: Sorted, types: Mapping[str, TaskType]) -> None:
        """Name the lanes they have, the fields they may have, and how many they are."""
        self._sorted = found
        self._say_notes()
        kinds = [types[name] for name in found.counts("task_type") if name in types]
        names = list(dict.fromkeys(name for kind in kinds for name in kind.schema.get("properties", {})))
        if [self.name.itemText(at) for at in range(self.name.count())] != names:
            typed = self.name.currentText()
            self.name.blockSignals(True)
            self.name.clear()
            self.name.addItems(names)
            self.name.setEditText(typed)
            self.name.blockSignals(False)
        usual = {kind.max_retries + 1 for kind in kinds}
        self._attempts_before = usual.pop() if len(usual) == 1 else 0
        self._say_attempts()

    def _on_typed(self) -> None:
        self._soon()

    def _on_set(self) -> None:
        self._plain.hide()
        self._edit.show()
        self.name.setFocus()

    def _on_drop(self) -> None:
        self.value.clear()
        self._edit.hide()
        self._plain.show()
        self.fields_changed.emit()

    def _say(self) -> None:
        self._say_notes()
        for title, words in zip(self._titles, (_("Lane"), _("Payload"), _("Attempts")), strict=True):
            title.setText(words)
        self._unchanged.setText(_("Unchanged"))
        self.name.setAccessibleName(_("Field"))
        self.value.setAccessibleName(_("Value for all"))
        self.value.setPlaceholderText(_("value, as JSON or text"))
        self.attempts.setAccessibleName(_("Attempts"))
        self._say_attempts()

    def _say_notes(self) -> None:
        found = self._sorted
        if found is None:
            return
        lanes = (
            f"{text.count(number)} {shown.lane_word(name).lower()}" for name, number in found.counts("lane").items()
        )
        self._notes[0].setText(text.listed(lanes))
        number = len(found.going)
        self._notes[1].setText(ngettext("applies to {n}", "applies to all {n}", number).format(n=text.count(number)))

    def _say_attempts(self) -> None:
        chosen = self.chosen_attempts()
        before = self._attempts_before
        keep = _("Start again at 1 of {n}").format(n=before) if before else _("Start again, as often as before")
        words = [keep]
        for number in range(1, MOST_ATTEMPTS + 1):
            words.append(ngettext("{n} attempt", "{n} attempts", number).format(n=number))
        self.attempts.blockSignals(True)
        self.attempts.clear()
        for number, each in enumerate(words):
            self.attempts.addItem(each, number)
        self.attempts.setCurrentIndex(chosen)
        self.attempts.blockSignals(False)
