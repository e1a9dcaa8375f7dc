"""What can be done about a finding: one list behind panel, table, menu, keys and palette; and the repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from services.domain.upkeep.health import OK
from services.i18n import N_, _
from views.context import PageContext
from views.kit.task_acting import barred
from views.kit.verb import LOOK, Verb
from views.pages.doctor import words
from views.pages.doctor.repair import RepairDialog
from views.pages.doctor.words import FindingRow
from views.support import safe
from views.support.acting import TELL_S
from views.widgets.toast import ToastSpec

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


class DoctorActions(QObject):
    """Signals:
    changed: something was mended; look again.
    wanted_deep: compare all records.
    shown: what another page shall show: page id, request.
    """

    changed = Signal()
    wanted_deep = Signal()
    shown = Signal(str, object)

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._forbidden, self._open = "", False

    def forbid(self, reason: str) -> None:
        """Change nothing from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def allow_anybody(self, anybody: bool) -> None:
        """Nobody of the fleet is admin: who may repair then is for the command to say."""
        self._open = anybody

    def barred(self, role: str = "operator") -> str:
        """Why nothing can be changed that needs ``role``, "" when it can."""
        needed = "operator" if self._open and role == "admin" and self._context.role != "viewer" else role
        return barred(self._context, self._forbidden, needed)

    def repair(self, _row: FindingRow | None = None) -> RepairDialog:
        """Show what would be mended, and mend it when that is wanted."""
        dialog = RepairDialog(self._context, lambda: self.barred("admin"), self._owner)
        dialog.repaired.connect(self.changed)
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
