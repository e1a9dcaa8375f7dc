"""The limit of one platform or type beside the table: how far it is used, and its two numbers to be changed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from services.domain.gates import limit
from services.i18n import N_, _
from services.monitor.shops.queries import ScopeRow
from views.pages.shops import words
from views.support import instant
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.fields import Labelled, NumberField
from views.widgets.key_values import KeyValues


class ScopeCard(Card):
    """Signals:
    limit_chosen: tasks at once, starts a minute; 0 is no limit.
    tasks_wanted: show what waits there.
    """

    limit_chosen = Signal(int, int)
    tasks_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("", divided=True)
        self._scope: ScopeRow | None = None
        self._reason = ""
        self._facts = KeyValues(spread=True)
        self.at_once = NumberField(0, 0, limit.MAX_CONCURRENCY)
        self.a_minute = NumberField(0, 0, limit.MAX_PER_MINUTE)
        self._note = Label("", "label", "text3", wrap=True)
        self.save_button = Button(N_("Save"), kind="primary")
        self.tasks_button = Button(N_("Show what waits"), icon="ph.list-bullets")
        self.body.addWidget(self._facts)
        self.body.addWidget(line())
        self.body.addWidget(Labelled(N_("Tasks at once"), self.at_once, hint=N_("0: no limit")))
        self.body.addWidget(Labelled(N_("Starts a minute"), self.a_minute, hint=N_("0: no limit")))
        self.body.addWidget(self._note)
        row = QHBoxLayout()
        row.addWidget(self.save_button)
        row.addWidget(self.tasks_button)
        row.addStretch(1)
        self.body.addLayout(row)
        for field in (self.at_once, self.a_minute):
            field.valueChanged.connect(self._show_verbs)
        self.save_button.clicked.connect(lambda: self.limit_chosen.emit(self.at_once.value(), self.a_minute.value()))
        self.tasks_button.clicked.connect(self.tasks_wanted)
        on_language_changed(self._say)

    @property
    def shown(self) -> ScopeRow | None:
        """What is shown."""
        return self._scope

    def show_scope(self, row: ScopeRow | None) -> None:
        """Show a limit; numbers that a person has changed stay while it is the same one."""
        before, self._scope = self._scope, row
        self.setVisible(row is not None)
        if row is not None and (before is None or before.key != row.key or not self._changed(before)):
            for field, value in self._pairs(row):
                field.blockSignals(True)
                field.setValue(value)
                field.blockSignals(False)
        self._say()

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed, for this reason."""
        self._reason = reason
        self._show_verbs()

    def _pairs(self, row: ScopeRow) -> tuple[tuple[NumberField, int], ...]:
        return (self.at_once, row.now.limit.concurrency), (self.a_minute, row.now.limit.per_minute)

    def _changed(self, row: ScopeRow) -> bool:
        return any(field.value() != value for field, value in self._pairs(row))

    def _say(self) -> None:
        row = self._scope
        if row is None:
            return
        self.show_name(words.scope_name(row))
        self.set_note(words.scope_kind(row))
        self.setAccessibleName(words.scope_sentence(row))
        found, now = row.now, instant.now_ms()
        rows = [
            (_("Running"), words.used(found.running, found.limit.concurrency)),
            (_("Released and not started yet"), str(found.promised) if found.promised else ""),
            (_("Started this minute"), words.used(found.started, found.limit.per_minute)),
            (_("Next start free"), words.resets(found, now)),
            (_("Waiting at the gate"), words.at_gate(found)),
        ]
        self._facts.set_rows([pair for pair in rows if pair[1]])
        is_type = row.key.startswith(f"{limit.TYPE}:")
        self._note.setText(
            _("It is written into the document of the type, as its next version.")
            if is_type
            else _("It holds for all shops of the platform together, on every machine.")
        )
        self._show_verbs()

    def _show_verbs(self) -> None:
        row = self._scope
        same = _("Nothing was changed yet") if row is not None and not self._changed(row) else ""
        self.save_button.disable(self._reason or same)
        for field in (self.at_once, self.a_minute):
            field.setReadOnly(bool(self._reason))
