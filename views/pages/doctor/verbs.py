"""What can be done about a finding: one list behind panel, table, menu, keys and palette; and the repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QWidget
from shiboken6 import isValid

from services.domain.upkeep import repair
from services.domain.upkeep.health import OK
from services.domain.upkeep.repair import Mend
from services.i18n import N_, _, ngettext
from services.messages import told
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.kit.page_acts import PageActs
from views.kit.verb import LOOK, Verb
from views.pages.doctor import words
from views.pages.doctor.words import FindingRow
from views.support import safe, text
from views.support.acting import TELL_S
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import HowFar, Operation
from views.widgets.buttons import Button
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec, failure, lasting

NO_ADMIN = "doctor.no_admin"
NOT_COMPARED = "doctor.not_compared"
#: what a repair mends, beside all that is named as it names it
MENDED = frozenset(
    {
        "doctor.not_declared",
        "doctor.unbound",
        "doctor.shop_queue_missing",
        "doctor.orphans",
        "doctor.outbox",
        "doctor.unreadable",
        "doctor.unreadable_more",
        NO_ADMIN,
    }
)
WIDTH, LIST_HEIGHT = 680, 320
#: of the messages that tell of a repair: each takes the place of the one before
KEY = "doctor.repair"


class Door(NamedTuple):
    """The page on which somebody can do something about it."""

    page: str
    request: object
    text: str  #: source text


#: by code, else by what was looked at
DOORS: Mapping[str, Door] = {
    "doctor.audit_unknown": Door("audit", "state:unknown", N_("Show those acts")),
    "doctor.quiet_hours": Door("shops", None, N_("Open shops")),
    "tuning.limit": Door("shops", None, N_("Open shops")),
    "tuning.limit_idle": Door("shops", None, N_("Open shops")),
    "audit": Door("audit", None, N_("Open the audit")),
    "flow": Door("overview", None, N_("Open the overview")),
    "leader": Door("workers", None, N_("Open workers")),
    "pauses": Door("shops", "paused", N_("Open shops")),
    "promises": Door("promises", None, N_("Open promises")),
    "roles": Door("settings", None, N_("Open settings")),
    "schedules": Door("schedules", None, N_("Open schedules")),
    "types": Door("types", None, N_("Open task types")),
    "tuning.timeout_far": Door("types", None, N_("Open task types")),
    "tuning.timeout_near": Door("types", None, N_("Open task types")),
    "sessions": Door("shops", "session", N_("Open shops")),
    "tuning": Door("workers", None, N_("Open workers")),
    "workers": Door("workers", None, N_("Open workers")),
}


def door(row: FindingRow) -> Door | None:
    """Where somebody can do something about it, None for nowhere here; what is in order needs none."""
    if row.finding.level == OK or mends(row):
        return None
    return DOORS.get(row.code) or DOORS.get(row.finding.check)


def mends(row: FindingRow) -> bool:
    """Whether a repair mends it."""
    return row.finding.level != OK and (row.code in MENDED or row.code.startswith("repair."))


class DoctorActions(PageActs):
    """Signals:
    wanted_deep: compare all records.
    """

    wanted_deep = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self._open = False

    def allow_anybody(self, anybody: bool) -> None:
        """Nobody of the fleet is admin: who may repair then is for the command to say."""
        self._open = anybody

    def barred(self, role: str = "operator") -> str:
        """Why nothing can be changed that needs ``role``, "" when it can."""
        needed = "operator" if self._open and role == "admin" and self._context.role != "viewer" else role
        return super().barred(needed)

    def repair(self, _row: FindingRow | None = None) -> RepairDialog:
        """Show what would be mended, and mend it when that is wanted."""
        dialog = RepairDialog(self._context, lambda: self.barred("admin"), self.changed.emit, self._owner)
        dialog.open()
        return dialog

    def go(self, row: FindingRow) -> None:
        """Open the page on which somebody can do something about it."""
        found = door(row)
        if found is not None:
            self.shown.emit(found.page, found.request)

    def compare(self, _row: FindingRow | None = None) -> None:
        """Look once more, at all records."""
        self.wanted_deep.emit()

    def copy(self, row: FindingRow) -> None:
        """Copy it for whoever looks after the servers; secrets are dots."""
        QGuiApplication.clipboard().setText(safe.masked(words.copied(row)))
        self._context.toast(ToastSpec(text=_("Copied."), seconds=TELL_S))


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorVerb(Verb[FindingRow]):
    """Something that can be done about a finding."""

    do: Callable[[DoctorActions, FindingRow], object]


class Go(DoctorVerb):
    """Opens a page, and is called after it."""

    def name(self, chosen: FindingRow) -> str:
        """Which page."""
        found = door(chosen)
        return found.text if found is not None else self.text


REPAIR = DoctorVerb(
    key="repair", text=N_("Repair"), icon="ph.wrench", role="operator", special=True, do=DoctorActions.repair
)
COMPARE = DoctorVerb(
    key="compare", text=N_("Compare all"), icon="ph.magnifying-glass", role=LOOK, special=True,
    do=DoctorActions.compare,
)  # fmt: skip
GO = Go(key="go", text=N_("Open"), icon="ph.arrow-right", role=LOOK, special=True, do=DoctorActions.go)
COPY = DoctorVerb(key="copy", text=N_("Copy message for IT"), icon="ph.copy", role=LOOK, do=DoctorActions.copy)


def leading(row: FindingRow) -> DoctorVerb | None:
    """The one thing to do about it here, None where nothing is."""
    if mends(row):
        return REPAIR
    if row.code == NOT_COMPARED:
        return COMPARE
    return GO if door(row) is not None else None


def verbs_of(row: FindingRow) -> tuple[DoctorVerb, ...]:
    """What can be done about it, what helps first."""
    first = leading(row)
    return (first, COPY) if first is not None else (COPY,)


def step(row: FindingRow) -> str:
    """What the link of its row does, "" for nothing."""
    first = leading(row)
    return first.said(row) if first is not None else ""


class RepairDialog(DialogFrame):
    """What would be mended, then what was, and what is left for a person.

    Looks first; nothing is changed until a person has seen what, and wants it.

    Signals:
        planned: what it would do is shown.
    """

    planned = Signal()

    def __init__(
        self,
        context: PageContext,
        barred: Callable[[], str],
        repaired: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        """``barred`` says why nothing may be mended, "" where it may; ``repaired`` is called when it is over."""
        super().__init__(N_("Repair"), icon="ph.wrench", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._barred, self._repaired = context, barred, repaired
        self._found: Sequence[Mend] | None = None
        self._over = False
        # the window may be left meanwhile; what was begun goes on, and the page tells how it ended
        self._repairing = Operation(parent or self, lasting=True)
        self._looking = Operation(self, latest=True, lasting=True)
        self._how_far, self._step = HowFar(parent or self), (0, 0)
        self._how_far.told.connect(self._on_step)
        self.set_width(WIDTH)
        self.headline = Label("", "strong", wrap=True)
        self._about = Label("", "label", "text2", wrap=True)
        self.from_stream = QCheckBox()
        self.from_stream.setVisible(context.dead_log)
        self.list = KeyValues()
        pane = ScrollPane(name=N_("Details"))
        pane.body.setContentsMargins(0, 0, 12, 0)
        pane.body.addWidget(self.list)
        pane.body.addStretch(1)
        pane.grow_with_content(LIST_HEIGHT)
        self.error = ErrorStrip()
        for part in (self.headline, self._about, self.error):
            self.body.addWidget(part)
        self.body.addWidget(pane)
        self.body.addWidget(self.from_stream)
        self.cancel_button = Button(N_("Cancel"), hint="Esc")
        self.verb_button = Button(kind="primary")
        put(self.foot, STRETCH, self.cancel_button, self.verb_button)
        self.cancel_button.clicked.connect(self.reject)
        self.verb_button.clicked.connect(self.mend)
        self.error.retry.connect(self.look)
        self.from_stream.toggled.connect(lambda _on: self.look())
        on_language_changed(self._say)
        self.cancel_button.setFocus()
        self.look()

    @property
    def found(self) -> Sequence[Mend] | None:
        """What it would do, or did; None while that is not known."""
        return self._found

    def look(self) -> None:
        """Ask what would be mended."""
        self._found = None
        self.error.clear()
        self._looking.start(self._in_steps(self._context.doctor.plan), self._show, self._fail)
        self._say()

    def mend(self) -> None:
        """Mend it."""
        if self._barred() or self._repairing.busy:
            return
        self._repairing.start(self._in_steps(self._context.doctor.repair), self._done, self._fail_to)
        self._say()

    def done(self, result: int) -> None:
        """Leave; what goes on is told by a message from now on."""
        super().done(result)
        if self._repairing.busy:
            toast = self._context.toast
            toast(lasting(partial(_mending, *self._step)))
            self._how_far.told.connect(lambda at, of: toast(replace(lasting(partial(_mending, at, of)), update=True)))

    def _in_steps(self, call: Callable[..., Sequence[Mend]]) -> Callable[[], Sequence[Mend]]:
        self._step = (0, 0)
        return partial(call, from_stream=self.from_stream.isChecked(), told=self._how_far.begin())

    def _on_step(self, at: int, of: int) -> None:
        self._step = (at, of)
        self._say()

    def _show(self, found: Sequence[Mend]) -> None:
        self._found = found
        self._say()
        self.planned.emit()

    def _done(self, found: Sequence[Mend]) -> None:
        self._found, self._over = found, True
        self._context.toast(lasting(partial(_mended, found)))
        if isValid(self):
            self._say()
        self._repaired()

    def _fail_to(self, error: BaseException) -> None:
        if isValid(self):
            self._fail(error)
        else:
            self._context.toast(failure(error, key=KEY))

    def _fail(self, error: BaseException) -> None:
        self.error.show_error(told(error))
        self._say()

    def _say(self) -> None:
        found, busy = self._found, self._repairing.busy
        self.from_stream.setText(_("Also bring back dead letters that the store has lost, from their second copy"))
        self.from_stream.setEnabled(not busy and not self._over)
        self._about.setText(
            _("It is safe beside working workers and deletes nothing; what was done stands in the audit.")
        )
        if self._over and found is not None:
            self.headline.setText(words.done(found))
        elif busy:
            self.headline.setText(_going_on(_("It is being mended …"), *self._step))
        elif found is not None:
            self.headline.setText(words.planned(found))
        else:
            looking = _going_on(_("Looking what can be mended …"), *self._step)
            self.headline.setText("" if self.error.isVisibleTo(self) else looking)
        self.list.set_rows(words.mends(found or ()))
        todo = words.number(found or (), repair.PLANNED)
        verb = ngettext("Mend {n} thing", "Mend {n} things", todo).format(n=text.count(todo)) if todo else _("Mend")
        self.verb_button.set_count_text(verb)
        self.verb_button.setVisible(not self._over)
        self.verb_button.disable(self._reason(todo, busy))
        self.cancel_button.set_source(
            N_("Close") if self._over or busy or (found is not None and not todo) else N_("Cancel")
        )

    def _reason(self, todo: int, busy: bool) -> str:
        if busy:
            return _("It is being mended …")
        if self._found is None:
            return _("Looking what can be mended …")
        return self._barred() or ("" if todo else _("Nothing has to be mended."))


def _going_on(what: str, at: int, of: int) -> str:
    """What goes on, and how far it is."""
    if not of:
        return what
    return _("{what} step {at} of {of}").format(what=what, at=text.count(at), of=text.count(of))


def _mended(found: Sequence[Mend]) -> ToastSpec:
    came_to = words.done(found)
    said = _("Repaired: {what}").format(what=came_to) if words.number(found, repair.DONE) else came_to
    return ToastSpec(text=said, status="succeeded", key=KEY)


def _mending(at: int, of: int) -> ToastSpec:
    """The message that stands while nobody sees the dialog."""
    return ToastSpec(text=_going_on(_("It is being mended …"), at, of), status="running", sticky=True, key=KEY)
