"""Adds or edits a connection, and tries it: its name, what it is for, where it leads, whether it may act."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services.domain.fleet import environment
from services.domain.insight.connection import BROKER, MANAGEMENT, STORE, Answer
from services.i18n import N_, _
from services.messages import told
from services.profiles import check
from services.profiles.book import SavedProfile
from views.dialogs.typed import KeepsTyped
from views.support import text
from views.support.look import Label, set_look
from views.widgets.buttons import Button
from views.widgets.connection.address_field import AddressField, AddressRow
from views.widgets.connection.answer_line import AnswerLine
from views.widgets.fields import ChoiceField, Labelled
from views.widgets.layout import STRETCH, in_column, in_row
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.toggle import Toggle

SIZE, LEAST = (560, 640), (460, 380)
HERE, FLEET = "here", "fleet"
EXAMPLES = {
    BROKER: "amqps://user:password@mq.example.com:5671/fleet",
    STORE: "rediss://:password@redis.example.com:6380/0",
    MANAGEMENT: "https://mq.example.com:15671",
}
ENVIRONMENTS = {
    "": N_("None"),
    environment.PRODUCTION: N_("Production"),
    environment.STAGING: N_("Staging"),
    environment.TEST: N_("Test"),
}
#: part that answers by field of a profile
_PARTS = {"broker": BROKER, "redis": STORE, "management": MANAGEMENT}


class ConnectionDialog(KeepsTyped):
    """Nothing is kept before Save; a field that cannot be says what is wanted.

    Signals:
        saved: the ``SavedProfile`` as entered, its passwords in the addresses.
        test_wanted: the same, to be tried.
    """

    saved = Signal(object)
    test_wanted = Signal(object)

    def __init__(
        self, profile: SavedProfile | None = None, others: Collection[str] = (), parent: QWidget | None = None
    ) -> None:
        """``profile``: to be edited, with its passwords; ``others``: names that are taken."""
        title = N_("Edit connection") if profile is not None else N_("Add connection")
        super().__init__(title, icon="ph.globe-hemisphere-east", parent=parent)
        self._others = tuple(others)
        self._before = profile
        self.name = QLineEdit()
        self.name.setMaxLength(check.LONGEST)
        self.environment = ChoiceField()
        self.where = Segmented(((FLEET, N_("A fleet")), (HERE, N_("This machine"))), N_("Where tasks run"))
        self.addresses = {field: AddressField(EXAMPLES[part]) for field, part in _PARTS.items()}
        self.answers = {part: AnswerLine() for part in _PARTS.values()}
        self.kind = Segmented((("single", N_("Single")), ("cluster", N_("Cluster"))), N_("Kind of broker"))
        self.read_only = Toggle(N_("Read-only"))
        self.fields: dict[str, Labelled] = {}
        self._fleet = QWidget()
        self._build()
        self._fill(profile or SavedProfile(name="", broker_profile="single"), fleet=profile is None)
        if profile is None:
            self.environment.currentIndexChanged.connect(self._on_environment)
        self.where.chosen.connect(self._on_where)
        self.name.textChanged.connect(partial(self._on_mended, "name"))
        for field, widget in self.addresses.items():
            widget.edited.connect(self._on_edited)
            widget.edited.connect(partial(self._on_mended, field))
        self.name.setFocus()

    def profile(self) -> SavedProfile:
        """What is entered now."""
        here = self.where.current() == HERE
        found = {field: "" if here else widget.address() for field, widget in self.addresses.items()}
        return SavedProfile(
            name=self.name.text().strip(),
            environment=str(self.environment.currentData() or ""),
            broker_profile="" if here else self.kind.current(),
            read_only=self.read_only.isChecked(),
            **found,
        )

    def show_key_store(self, *, keeps: bool) -> None:
        """Say where passwords go; ``keeps``: whether this computer has a key store that encrypts."""
        where = _("They go to the key store of this computer.")
        if not keeps:
            where = _("This computer has no key store that encrypts: they are forgotten when Fleetdeck ends.")
        self.passwords.setText(text.run_on((_("Passwords never go into a file of Fleetdeck."), where)))

    def show_test(self, answers: Sequence[Answer], of: SavedProfile) -> None:
        """Show what each part answered; nothing where other addresses than those ``of`` it are entered by now."""
        if not self._is_entered(of):
            return
        self._busy("")
        for answer in answers:
            if answer.part in self.answers:
                self.answers[answer.part].show_answer(answer)

    def show_problem(self, field: str, words: str, of: SavedProfile) -> None:
        """Show what is wrong with a field, already translated; where it has no field, beside the name. ``of``: as of
        ``show_test``.
        """
        if not self._is_entered(of):
            return
        self._busy("")
        self.fields.get(field, self.fields["name"]).set_error(words)

    def _is_entered(self, tested: SavedProfile) -> bool:
        now = self.profile()
        return all(getattr(now, field) == getattr(tested, field) for field in _PARTS)

    # putting together

    def _build(self) -> None:
        column = in_column(margins=(20, 16, 20, 16), spacing=12)
        self.fields["name"] = Labelled(N_("Name"), self.name)
        for value, words in ENVIRONMENTS.items():
            self.environment.addItem(_(words), value)
        self.fields["environment"] = Labelled(
            N_("Environment"),
            self.environment,
            hint=N_("production is outlined, asks earlier, and is read-only at first"),
        )
        for widget in (
            self.fields["name"],
            self.fields["environment"],
            self._titled(N_("Where tasks run"), self.where),
        ):
            column.addWidget(widget)
        inner = in_column(owner=self._fleet, spacing=8)
        hints = {"management": N_("may stay empty")}
        titles = {"broker": N_("Broker address"), "redis": N_("Redis address"), "management": N_("Management address")}
        for field, part in _PARTS.items():
            self.fields[field] = Labelled(titles[field], AddressRow(self.addresses[field]), hint=hints.get(field, ""))
            self.addresses[field].setAccessibleName(_(titles[field]))
            inner.addWidget(self.fields[field])
            inner.addWidget(self.answers[part])
        inner.addWidget(self._titled(N_("Kind of broker"), self.kind))
        self.passwords = Label(_("Passwords never go into a file of Fleetdeck."), "label", "text3", wrap=True)
        inner.addWidget(self.passwords)
        column.addWidget(self._fleet)
        row = in_row(self.read_only, (Label(_("Read-only: look at everything, change nothing"), "body"), 1), spacing=8)
        column.addLayout(row)
        column.addStretch(1)
        pane = ScrollPane()
        pane.body.addLayout(column)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(pane, 1)
        self.test_button = Button(N_("Test"), icon="ph.broadcast")
        self.test_button.clicked.connect(self._on_test)
        self.foot.addWidget(self.test_button)
        self.cancel_button, self.save_button = self.end_with_save(self._on_save)
        self._wanted = SIZE
        self.setMinimumSize(*LEAST)
        self.resize(*SIZE)

    def _titled(self, title: str, choice: QWidget) -> QWidget:
        box = QWidget()
        in_row(Label(_(title), "label", "text2"), STRETCH, choice, owner=box)
        return box

    def _fill(self, profile: SavedProfile, *, fleet: bool) -> None:
        self.name.setText(profile.name)
        known = environment.read(profile.environment)
        if known not in ENVIRONMENTS:
            self.environment.addItem(known, known)
        self.environment.setCurrentIndex(max(0, self.environment.findData(known)))
        for field, widget in self.addresses.items():
            widget.set_address(getattr(profile, field))
        self.where.set_current(FLEET if fleet or not profile.local else HERE)
        self.kind.set_current(profile.broker_profile or "single")
        self.read_only.setChecked(profile.read_only)
        if self._before is not None and self._before.local:
            # the file of this machine's engine goes by the name: another name would be an empty engine
            self.name.setEnabled(False)
            self.name.setToolTip(_("Its file goes by this name"))
            self.where.setEnabled(False)
        self._on_where()

    # what a person does

    def _on_where(self, _key: str = "") -> None:
        self._fleet.setVisible(self.where.current() == FLEET)
        self._busy("")

    def _on_environment(self) -> None:
        """A new connection to production is to be looked through first; whoever means to act there says so here."""
        self.read_only.setChecked(self.environment.currentData() == environment.PRODUCTION)

    def _on_edited(self) -> None:
        for line in self.answers.values():
            line.clear(still=True)
        self._busy("")

    def _on_mended(self, field: str, *_text: object) -> None:
        """What was wrong with a field is said no longer than it is so."""
        if self.fields[field].error():
            self._show_error(field, self._wrong(self.profile()).get(field, ""))

    def _wrong(self, profile: SavedProfile) -> dict[str, str]:
        return dict(check.problems(profile, self._others, local=self.where.current() == HERE))

    def _show_error(self, field: str, problem: str) -> None:
        labelled = self.fields[field]
        labelled.set_error(told(problem) if problem else "")
        set_look(self.addresses.get(field, labelled.field), invalid=bool(problem))

    def _sound(self, profile: SavedProfile, fields: Collection[str] = ()) -> bool:
        """Whether it can be; what cannot is shown at its field. ``fields``: those that matter, all by default."""
        wrong = self._wrong(profile)
        for field in self.fields:
            self._show_error(field, wrong.get(field, "") if not fields or field in fields else "")
        shown = [field for field in self.fields if self.fields[field].error()]
        if shown:
            first = self.addresses.get(shown[0], self.name)
            first.setFocus()
        return not shown

    def _on_test(self) -> None:
        profile = self.profile()
        for line in self.answers.values():
            line.clear()
        if self._sound(profile, tuple(_PARTS)):
            self._busy(_("Waiting for an answer"))
            self.test_wanted.emit(profile)

    def _on_save(self) -> None:
        profile = self.profile()
        if self._sound(profile):
            self.accept()
            self.saved.emit(profile)

    def _busy(self, reason: str) -> None:
        here = _("This machine needs no test") if self.where.current() == HERE else ""
        self.test_button.disable(reason or here)
