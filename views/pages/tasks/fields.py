"""The filter fields of the task pages as data."""

from __future__ import annotations

from services.domain.task.lane import LANES
from services.domain.task.status import Status, Triage
from services.i18n import N_
from views.support.shown import GATE_WORDS
from views.widgets.filter.bar import FilterField, FilterValue

_STATUSES = (
    ("flight", N_("In flight")),
    ("active", N_("Not ended")),
    ("waiting", N_("All waiting")),
    (Status.PENDING, N_("Unsent")),
    (Status.QUEUED, N_("Waiting")),
    (Status.BLOCKED, N_("Blocked")),
    (Status.SCHEDULED, N_("Scheduled")),
    (Status.RUNNING, N_("Running")),
    (Status.RETRYING, N_("Retrying")),
    (Status.HELD, N_("To confirm")),
    (Status.SUCCEEDED, N_("Succeeded")),
    (Status.DEAD, N_("Dead")),
    (Status.CANCELLED, N_("Cancelled")),
)
_TRIAGE = (
    (Triage.OPEN, N_("Open")),
    (Triage.ARCHIVED, N_("Archived")),
    (Triage.IGNORED, N_("Ignored")),
    (Triage.REPUBLISHED, N_("Republished")),
    (Triage.OVERTAKEN, N_("Overtaken")),
)
_LANES = {"high": N_("High"), "normal": N_("Normal"), "low": N_("Low")}

FIELDS = (
    FilterField("status", N_("Status"), tuple(FilterValue(value, word) for value, word in _STATUSES)),
    FilterField(
        "platform",
        N_("Platform"),
        (FilterValue("pdd", "Pinduoduo"), FilterValue("temu", "TEMU"), FilterValue("tiktok", "TikTok Shop")),
        free=True,
    ),
    FilterField("type", N_("Type")),
    FilterField("lane", N_("Lane"), tuple(FilterValue(lane, _LANES[lane]) for lane in LANES)),
    FilterField("shop", N_("Shop")),
    FilterField("worker", N_("Worker")),
    FilterField("gate", N_("Waits at"), tuple(FilterValue(gate, word) for gate, word in GATE_WORDS.items())),
    FilterField("error", N_("Error contains"), single=True),
    FilterField("fp", N_("Cause")),
    FilterField("triage", N_("Dead letter"), tuple(FilterValue(value, word) for value, word in _TRIAGE)),
)
