"""The card of people: who has which role, who gave it and when; an admin changes it there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from services import messages
from services.called import ROLE_WORDS
from services.desktop.registration import NOTHING, OTHER, WINDOW, WORKER, Registered, Registration
from services.domain.fleet.role import ADMIN, VIEWER, Person, Roles
from services.i18n import N_, _, ngettext
from services.messages import noted, own, told
from services.monitor import aside
from services.monitor.aside import AsideView
from services.monitor.audit import AuditQueries
from views.context import PageContext
from views.dialogs.file import FileDialog
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label, line
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import Button, IconButton
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, clear, in_column, in_row, put, tab_through
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec, failure

ALL = tuple(ROLE_WORDS.items())
USUAL = ALL[:2]
#: width of the words before a choice; characters of a command that is shown
LABEL, MOST_COMMAND = 160, 200


class _AskedCard(Card):
    """Asks how it is, and asks for what a person chooses; where that is refused, the choice goes back to what holds."""

    def __init__(self, title: str) -> None:
        """`title` is source text."""
        super().__init__(title, divided=True)
        self._asking, self._acting = Operation(self, latest=True), Operation(self)
        self.error = ErrorStrip()
        self.error.retry.connect(self.refresh)
        self.body.addWidget(self.error)

    def refresh(self) -> None:
        """Ask how it is now."""
        self.error.clear()
        self._look()

    def _look(self) -> None:
        self._asking.start(self._ask, self._on_looked, self._on_failed)

    def show_state(self) -> None:
        """Show what was heard last."""
        raise NotImplementedError

    def _ask(self) -> Any:
        """The answer, asked off the GUI thread."""
        raise NotImplementedError

    def _on_looked(self, known: Any) -> None:
        raise NotImplementedError

    def _act(self, call: Callable[[], object], then: Callable[[], object] = lambda: None) -> None:
        self.error.clear()
        self._asking.drop()  # what was asked before tells how it was before

        def done(_answer: object) -> None:
            then()
            self.refresh()

        self._acting.start(call, done, self._on_refused)

    def _on_refused(self, error: BaseException) -> None:
        self.show_state()
        self._on_failed(error)
        self._look()

    def _on_failed(self, error: BaseException) -> None:
        self.error.show_error(told(error))


class PeopleCard(_AskedCard):
    """Everybody that the fleet knows of; whoever is no admin only reads it."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("People and roles"))
        self._context, self._forbidden = context, ""
        self._known: Roles | None = None
        self.rows: list[PersonRow] = []
        self._list = in_column(spacing=8)
        self.usual = UsualRow()
        self.field = QLineEdit()
        self.add_button = Button(N_("Add as viewer"), icon="ph.plus")
        self._new = QWidget()
        in_row((self.field, 1), self.add_button, owner=self._new)
        self.note = Label("", "label", "text3", wrap=True)
        put(self.body, self._list, line(), self.usual, self._new, self.note)
        self.usual.choice.chosen.connect(lambda role: self._act(lambda: context.commands.roles.set_default(role)))
        self.add_button.clicked.connect(self._on_add)
        self.field.returnPressed.connect(self._on_add)
        say_in_language(self.show_state)

    def _ask(self) -> Roles:
        return self._context.roles.look()

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed."""
        self._forbidden = reason
        self.show_state()

    def show_state(self) -> None:
        """Show what was heard last."""
        clear(self._list)
        known, may = self._known, self._may()
        people = known.people if known is not None else ()
        self.rows = [self._person(one, may=may) for one in people]
        for row in self.rows:
            self._list.addWidget(row)
        tab_through(self, (button for row in self.rows for button in (row.choice, row.remove_button)))
        self.usual.show_role(known.default if known is not None else "", may=may)
        self._new.setVisible(may)
        self.field.setPlaceholderText(_("account@host"))
        self.field.setAccessibleName(_("Person"))
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

    def _on_looked(self, known: Roles) -> None:
        if known != self._known:
            self._known = known
            self.show_state()


class PersonRow(QWidget):
    """One person: who gave the role and when, and the role itself, to choose where one may."""

    def __init__(self, one: Person, *, you: bool, may: bool) -> None:
        super().__init__()
        self.person = one
        self.name = Elided(_("{name} (you)").format(name=one.who) if you else one.who, "strong")
        self.given = Elided(_given(one), "label", "text3")
        self.choice = Segmented(ALL, one.who)
        self.choice.set_current(one.role)
        self.word = Label(_(ROLE_WORDS[one.role]), "body", "text2")
        self.remove_button = IconButton("ph.trash", N_("Take this role back"))
        self.remove_button.disable("" if one.entry is not None else _("The role is that of everybody else"))
        column = in_column(self.name, self.given, spacing=1)
        row = in_row((column, 1), owner=self)
        for widget in (self.choice, self.word, self.remove_button):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        # Only now: what is shown before it stands in something is a window of its own for a moment.
        for widget, shown_ in ((self.choice, may), (self.word, not may), (self.remove_button, may)):
            widget.setVisible(shown_)
        self.setAccessibleName(", ".join((self.name.text(), _(ROLE_WORDS[one.role]), self.given.text())))


class UsualRow(QWidget):
    """What everybody is who has no role of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._label = Label("", "body", "text")
        self.choice = Segmented(USUAL, N_("Everybody else"))
        self.word = Label("", "body", "text2")
        in_row((self._label, 1), self.choice, self.word, owner=self)

    def show_role(self, role: str, *, may: bool) -> None:
        """Show it; "" while nobody knows."""
        self._label.setText(_("Everybody else"))
        self.word.setText(_(ROLE_WORDS[role]) if role else "")
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
    when = shown.clock(entry.at, instant.now_ms())
    who = (
        _("given by {who}").format(who=messages.noted(entry.by))
        if entry.by
        else _("the first of the fleet")
        if entry.at
        else ""
    )
    return " · ".join(part for part in (who, when, entry.note) if part)


SHOWN, VALUE_CHARS = 12, 120


class AsideCard(Card):
    """Nothing is to be seen of it while there is nothing."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Set aside"), divided=True)
        self._context = context
        self._asking, self._writing = Operation(self, latest=True), Operation(self, lasting=True)
        self._found: Sequence[AsideView] = ()
        self._values: Sequence[str] = ()  #: of the first
        self.rows: list[AsideRow] = []
        self.note = Label("", "label", "text3", wrap=True)
        self.error = ErrorStrip()
        self._list = in_column(spacing=8)
        self.export_button = Button(N_("Export"), icon="ph.export")
        put(self.body, self.error, self.note, self._list, (self.export_button, 0, Qt.AlignmentFlag.AlignLeft))
        self.export_button.clicked.connect(self._on_export)
        self.error.retry.connect(self.refresh)
        on_language_changed(self.show_state)
        self.hide()

    def refresh(self) -> None:
        """Ask what there is now."""
        self.error.clear()
        self._asking.start(partial(_ask, self._context.audit), self._on_found, self._on_failed)

    def show_state(self) -> None:
        """Show what was heard last."""
        clear(self._list)
        number = len(self._found)
        self.rows = [AsideRow(*both) for both in zip(self._found, self._values, strict=False)]
        for row in self.rows:
            self._list.addWidget(row)
        words = ngettext(
            "{n} entry could not be read and was set aside; nothing of it is lost.",
            "{n} entries could not be read and were set aside; nothing of them is lost.",
            number,
        ).format(n=text.count(number))
        left = number - len(self.rows)
        more = ngettext("{n} more is in the file.", "{n} more are in the file.", left).format(n=text.count(left))
        self.note.setText(text.sentences([words, more if left else ""]))

    def write(self, path: Path) -> None:
        """Write all of it, with secrets as dots, into a new file."""
        self._writing.start(
            partial(_write, self._context.audit, path), partial(self._on_written, path), self._on_not_written
        )

    def _on_export(self) -> None:
        dialog = FileDialog(self, _("Export what was set aside"), self.write, forms=["JSON (*.jsonl)"])
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.write("aside.jsonl")

    def _on_found(self, asked: tuple[Sequence[AsideView], Sequence[str]]) -> None:
        found, self._values = asked
        self._found = found
        self.show_state()
        self.setVisible(bool(found))

    def _on_failed(self, error: BaseException) -> None:
        self.error.show_error(told(error))

    def _on_written(self, path: Path, number: int) -> None:
        words = ngettext("{n} entry exported to {file}", "{n} entries exported to {file}", number)
        said = words.format(n=text.count(number), file=safe.one_line(path.name, 60))
        self._context.toast(ToastSpec(text=said, status="healthy"))

    def _on_not_written(self, error: BaseException) -> None:
        self._context.toast(failure(error))


class AsideRow(QWidget):
    """One entry: where it lay, then when, by whom and why, then its value."""

    def __init__(self, one: AsideView, value: str) -> None:
        super().__init__()
        entry = one.entry
        place = " · ".join(part for part in (entry.place, entry.entry) if part)
        when = shown.clock(entry.at, instant.now_ms()) if entry.at else ""
        facts = " · ".join(part for part in (when, noted(one.by), own(entry.why)) if part)
        self.place = Elided(safe.one_line(place, 200), "strong")
        self.facts = Elided(safe.one_line(facts, 300), "label", "text3")
        self.value = Elided(value, "monosmall", "text3")
        in_column(self.place, self.facts, self.value, owner=self, spacing=1)


def _ask(queries: AuditQueries) -> tuple[Sequence[AsideView], Sequence[str]]:
    """What there is, and the values of the first; masking them takes as long as they are."""
    found = queries.aside()
    return found, [safe.one_line(aside.value(one), VALUE_CHARS) for one in found[:SHOWN]]


def _write(queries: AuditQueries, path: Path) -> int:
    found = queries.aside()
    aside.write(path, [aside.document(one) for one in found])
    return len(found)


LOADING, STOPPING = "loading", "stopping"


LOGIN = ((NOTHING, N_("Nothing")), (WINDOW, N_("Window")), (WORKER, N_("Worker")))
LINKS = (("on", N_("On")), ("off", N_("Off")))


class DesktopCard(_AskedCard):
    """What the desktop of this person starts: at the log-in, and for links. Shown as the desktop says it is."""

    def __init__(self, registration: Registration) -> None:
        super().__init__(N_("On this computer"))
        self._registration = registration
        self._known = Registered()
        self.login, self.links = Segmented(LOGIN, N_("Started at log-in")), Segmented(LINKS, N_("fleetdeck:// links"))
        self._labels = [(Label("", "body", "text"), title) for title in (N_("Started at log-in"), N_("Opens links"))]
        self.note = Label("", "label", "text3", wrap=True)
        for (label, _title), choice in zip(self._labels, (self.login, self.links), strict=True):
            row = in_row(label, choice, STRETCH)
            if choice is self.links:
                self.body.addWidget(line())
            self.body.addLayout(row)
        self.body.addWidget(self.note)
        self.login.chosen.connect(lambda kind: self._act(partial(registration.start_at_login, kind)))
        self.links.chosen.connect(lambda key: self._act(partial(registration.open_links, key == "on")))
        on_language_changed(self.show_state)
        theme().changed.connect(self.show_state)
        self.show_state()

    def _ask(self) -> Registered:
        return self._registration.look()

    def show_state(self) -> None:
        """Show what was heard last."""
        for label, title in self._labels:
            label.setText(_(title))
            label.setFixedWidth(round(LABEL * theme().growth))
        known = self._known
        if known.login == OTHER:  # so that each choice, "Nothing" too, takes its place
            self.login.set_none()
        else:
            self.login.set_current(known.login)
        self.links.set_current("on" if known.links else "off")
        self.links.setEnabled(not known.kept)
        told = {
            WINDOW: _("The window opens when you log in, with the connection used last."),
            WORKER: _("A worker for this connection starts when you log in, without a window."),
            OTHER: _("At the log-in another copy of Fleetdeck starts; a choice here takes its place."),
        }
        words = [told.get(known.login, "")]
        if known.others:
            words.append(_("Registered is: {command}").format(command=safe.one_line(known.others, MOST_COMMAND)))
        if known.kept:
            entry = safe.one_line(known.kept, MOST_COMMAND)
            words.append(
                _("Links are opened by {entry}, which was installed; only its removal ends that.").format(entry=entry)
            )
        self.note.setText(text.sentences(words))
        self.note.setVisible(any(words))

    def _on_looked(self, known: Registered) -> None:
        self._known = known
        self.show_state()


class SampleCard(Card):
    """One button, for what can be done next; why it cannot be pressed stands beside it."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Sample fleet"), divided=True)
        self._context = context
        self._working, self._doing, self._forbidden = Operation(self), "", ""
        self._state = Label("", "label", "text2", wrap=True)
        self._note = Label("", "label", "text3", wrap=True)
        self.button = Button(N_("Load the sample fleet"), icon="ph.monitor-play")
        self.error = ErrorStrip()
        for widget in (self._state, self.error, self.button, self._note):
            self.body.addWidget(widget)
        self.button.clicked.connect(self._on_click)
        self.error.retry.connect(self._on_click)
        say_in_language(self.show_state)

    @property
    def _loaded(self) -> bool:
        return self._context.sample.loaded

    def words(self) -> tuple[str, str]:
        """What it says of its state and of the button."""
        return self._state.text(), self._note.text()

    def set_acting(self, reason: str) -> None:
        """Load and stop nothing while that is not allowed."""
        self._forbidden = reason
        self.show_state()

    def show_state(self) -> None:
        """Say how it stands."""
        elsewhere = not self._context.embedded
        self._state.setText(
            _("At work: 60 pretended shops, and about three new tasks a second.")
            if self._loaded
            else _("60 pretended shops on this computer, with tasks that come and go. Nothing leaves this machine.")
        )
        self._note.setText(self._explain(elsewhere))
        self._note.setVisible(bool(self._note.text()))
        sources = {
            LOADING: N_("Loading"),
            STOPPING: N_("Stopping"),
            "": N_("Stop the sample fleet") if self._loaded else N_("Load the sample fleet"),
        }
        self.button.set_source(sources[self._doing])
        self.button.set_glyph("ph.square" if self._loaded else "ph.monitor-play")
        self.button.disable(self._note.text() if elsewhere or self._doing else self._forbidden)

    def _explain(self, elsewhere: bool) -> str:
        if self._doing == STOPPING:
            return _("Running tasks may finish first.")
        if self._doing == LOADING:
            return _("Its storefront is starting.")
        if elsewhere:
            return _("Only on this machine's own engine, not in a fleet that others use")
        if self._loaded:
            return _(
                "Stopping ends its storefront and its new tasks, and cancels those that wait."
                " Its shops, ended tasks and dead letters stay; it does not come back with the next start."
            )
        return ""

    def _on_click(self) -> None:
        if self._doing:
            return
        self.error.clear()
        sample = self._context.sample
        if self._loaded:
            self._doing = STOPPING
            self._working.start(sample.stop, self._on_stopped, self._on_failed)
        else:
            self._doing = LOADING
            self._working.start(sample.load, self._on_loaded, self._on_failed)
        self.show_state()

    def _on_loaded(self, _none: object) -> None:
        self._end()
        detail = _("Its shops and tasks are on every page.")
        self._context.toast(ToastSpec(text=_("The sample fleet is loaded."), detail=detail))

    def _on_stopped(self, cancelled: int) -> None:
        self._end()
        words = ngettext("{n} waiting task cancelled.", "{n} waiting tasks cancelled.", cancelled)
        detail = words.format(n=text.count(cancelled)) if cancelled else ""
        self._context.toast(ToastSpec(text=_("The sample fleet is stopped."), detail=detail))

    def _on_failed(self, error: BaseException) -> None:
        self._end()
        self.error.show_error(told(error))

    def _end(self) -> None:
        self._doing = ""
        self.show_state()
