"""The card of people: who has which role, who gave it and when; an admin changes it there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services import messages
from services.clock import SystemClock
from services.domain.fleet.role import ADMIN, OPERATOR, VIEWER, Person, Roles
from services.i18n import N_, _
from services.messages import told
from views.context import PageContext
from views.support import shown
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.operation import Operation
from views.widgets.buttons import Button, IconButton
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip

WORDS = {VIEWER: N_("Viewer"), OPERATOR: N_("Operator"), ADMIN: N_("Admin")}
ALL = tuple(WORDS.items())
USUAL = ALL[:2]


class PeopleCard(Card):
    """Everybody that the fleet knows of; whoever is no admin only reads it."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("People and roles"), divided=True)
        self._context, self._forbidden = context, ""
        self._known: Roles | None = None
        self._asking, self._acting = Operation(self), Operation(self)
        self.rows: list[PersonRow] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self.usual = UsualRow()
        self.field = QLineEdit()
        self.add_button = Button(N_("Add as viewer"), icon="ph.plus")
        self._new = QWidget()
        new = QHBoxLayout(self._new)
        new.setContentsMargins(0, 0, 0, 0)
        new.addWidget(self.field, 1)
        new.addWidget(self.add_button)
        self.note = Label("", "label", "text3", wrap=True)
        self.error = ErrorStrip()
        self.body.addWidget(self.error)
        self.body.addLayout(self._list)
        self.body.addWidget(line())
        for widget in (self.usual, self._new, self.note):
            self.body.addWidget(widget)
        self.usual.choice.chosen.connect(lambda role: self._act(lambda: context.commands.roles.set_default(role)))
        self.add_button.clicked.connect(self._on_add)
        self.field.returnPressed.connect(self._on_add)
        self.error.retry.connect(self.refresh)
        on_language_changed(self.show_state)
        self.show_state()

    def refresh(self) -> None:
        """Ask who has which role now."""
        self.error.clear()
        self._asking.start(self._context.roles.look, self._on_looked, self._on_failed)

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed."""
        self._forbidden = reason
        self.show_state()

    def show_state(self) -> None:
        """Show what was heard last."""
        while (item := self._list.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        known, may = self._known, self._may()
        people = known.people if known is not None else ()
        self.rows = [self._person(one, may=may) for one in people]
        for row in self.rows:
            self._list.addWidget(row)
        self.usual.show_role(known.default if known is not None else "", may=may)
        self._new.setVisible(may)
        self.field.setPlaceholderText(_("account@host"))
        self.note.setText(
            _("A person is the account of the operating system at a machine. A role holds from the next act on.")
            if may
            else self._forbidden or _("Only an admin may change roles.")
        )

    def _may(self) -> bool:
        me = self._context.commands.operator
        role = self._known.of(me.who) if self._known is not None else self._context.role
        return not self._forbidden and not me.read_only and role == ADMIN

    def _person(self, one: Person, *, may: bool) -> PersonRow:
        roles = self._context.commands.roles
        row = PersonRow(one, you=one.who == self._context.commands.operator.who, may=may)
        row.choice.chosen.connect(lambda role: self._act(lambda: roles.set(one.who, role)))
        row.remove_button.clicked.connect(lambda: self._act(lambda: roles.remove(one.who)))
        return row

    def _on_add(self) -> None:
        who = self.field.text().strip()
        if who:
            self._act(lambda: self._context.commands.roles.set(who, VIEWER), self.field.clear)

    def _act(self, call: Callable[[], Roles], then: Callable[[], object] = lambda: None) -> None:
        self.error.clear()

        def done(_before: Roles) -> None:
            then()
            self.refresh()

        self._acting.start(call, done, self._on_refused)

    def _on_looked(self, known: Roles) -> None:
        if known != self._known:
            self._known = known
            self.show_state()

    def _on_refused(self, error: BaseException) -> None:
        self.show_state()  # the choice goes back to what holds
        self._on_failed(error)

    def _on_failed(self, error: BaseException) -> None:
        self.error.show_error(told(error))


class PersonRow(QWidget):
    """One person: who gave the role and when, and the role itself, to choose where one may."""

    def __init__(self, one: Person, *, you: bool, may: bool) -> None:
        super().__init__()
        self.person = one
        self.name = Elided(_("{name} (you)").format(name=one.who) if you else one.who, "strong")
        self.given = Elided(_given(one), "label", "text3")
        self.choice = Segmented(ALL, one.who)
        self.choice.set_current(one.role)
        self.word = Label(_(WORDS[one.role]), "body", "text2")
        self.remove_button = IconButton("ph.trash", N_("Take this role back"))
        self.remove_button.disable("" if one.entry is not None else _("The role is that of everybody else"))
        column = QVBoxLayout()
        column.setSpacing(1)
        column.addWidget(self.name)
        column.addWidget(self.given)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addLayout(column, 1)
        for widget in (self.choice, self.word, self.remove_button):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        # Only now: what is shown before it stands in something is a window of its own for a moment.
        for widget, shown_ in ((self.choice, may), (self.word, not may), (self.remove_button, may)):
            widget.setVisible(shown_)
        self.setAccessibleName(", ".join((self.name.text(), _(WORDS[one.role]), self.given.text())))


class UsualRow(QWidget):
    """What everybody is who has no role of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._label = Label("", "body", "text")
        self.choice = Segmented(USUAL, N_("Everybody else"))
        self.word = Label("", "body", "text2")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._label, 1)
        row.addWidget(self.choice)
        row.addWidget(self.word)

    def show_role(self, role: str, *, may: bool) -> None:
        """Show it; "" while nobody knows."""
        self._label.setText(_("Everybody else"))
        self.word.setText(_(WORDS[role]) if role else "")
        if role:
            self.choice.set_current(role)
        self.choice.setVisible(may and bool(role))
        self.word.setVisible(not may)


def _given(one: Person) -> str:
    """Who gave the role, and when."""
    entry = one.entry
    if entry is None:
        return _("like everybody else")
    if not entry.readable:
        return _("cannot be read, so it permits least")
    when = shown.clock(entry.at, SystemClock().now_ms())
    who = (
        _("given by {who}").format(who=messages.own(entry.by))
        if entry.by
        else _("the first of the fleet")
        if entry.at
        else ""
    )
    return " · ".join(part for part in (who, when, entry.note) if part)
