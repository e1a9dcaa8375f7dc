"""The fixed words of what is printed for people: heads of columns, names of facts, and what states are called.

English output keeps the words of the grammar and of ``--json``; in Chinese they read as the window says them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from services import called as words
from services import i18n
from services.act_words import ACTS
from services.domain.insight import shop
from services.i18n import N_, NP_

#: of the catalogue: what stands above a column, or before a fact
COLUMN = "column"
#: every head there is
HEADS = (
    NP_("column", "accepted"), NP_("column", "action"), NP_("column", "active"), NP_("column", "address"),
    NP_("column", "again"),
    NP_("column", "answered_by"), NP_("column", "asks for"), NP_("column", "at"), NP_("column", "at_risk"),
    NP_("column", "attempt"), NP_("column", "batch"), NP_("column", "because of"), NP_("column", "before"),
    NP_("column", "after"), NP_("column", "begun"), NP_("column", "blocked"), NP_("column", "breaks"),
    NP_("column", "broken"), NP_("column", "busy"), NP_("column", "by"), NP_("column", "by status"),
    NP_("column", "bytes"), NP_("column", "calm"), NP_("column", "cause"), NP_("column", "channels"),
    NP_("column", "chromium"), NP_("column", "consumers"), NP_("column", "count"), NP_("column", "cpu"),
    NP_("column", "created"), NP_("column", "dead"), NP_("column", "detail"), NP_("column", "died"),
    NP_("column", "done"), NP_("column", "enabled"), NP_("column", "ended"), NP_("column", "ended by"),
    NP_("column", "entry"), NP_("column", "error"), NP_("column", "escalate"), NP_("column", "executor"),
    NP_("column", "expires"), NP_("column", "extent"), NP_("column", "failed"), NP_("column", "filter"),
    NP_("column", "first break"), NP_("column", "fleetdeck"), NP_("column", "for"), NP_("column", "from"),
    NP_("column", "gate"), NP_("column", "gates"), NP_("column", "given by"), NP_("column", "goes"),
    NP_("column", "group"), NP_("column", "heartbeat"), NP_("column", "held by"), NP_("column", "here"),
    NP_("column", "holds"),
    NP_("column", "how"), NP_("column", "id"), NP_("column", "idempotent"),
    NP_("column", "incident"), NP_("column", "kept"),
    NP_("column", "kind"), NP_("column", "known"), NP_("column", "lane"), NP_("column", "lanes"),
    NP_("column", "language"), NP_("column", "last"), NP_("column", "last login"), NP_("column", "last run"),
    NP_("column", "last success"), NP_("column", "last_failure"), NP_("column", "last_success"),
    NP_("column", "last_used"), NP_("column", "lease until"), NP_("column", "left out"), NP_("column", "letters"),
    NP_("column", "limit"), NP_("column", "limits"), NP_("column", "login"), NP_("column", "machine"),
    NP_("column", "memory"), NP_("column", "name"), NP_("column", "next"), NP_("column", "next run"),
    NP_("column", "next try"), NP_("column", "node"), NP_("column", "note"), NP_("column", "of"),
    NP_("column", "order"), NP_("column", "outcome"), NP_("column", "own queue"), NP_("column", "page"),
    NP_("column", "place"), NP_("column", "platform"), NP_("column", "playwright"), NP_("column", "priority"),
    NP_("column", "promise"), NP_("column", "proxy"), NP_("column", "python"), NP_("column", "queue"),
    NP_("column", "ready"), NP_("column", "reason"), NP_("column", "resolved"), NP_("column", "retries"),
    NP_("column", "retrying"), NP_("column", "role"), NP_("column", "run"), NP_("column", "runs"),
    NP_("column", "scope"), NP_("column", "set aside"), NP_("column", "severity"), NP_("column", "sha256"),
    NP_("column", "shop"), NP_("column", "shop (attempts)"), NP_("column", "shops"), NP_("column", "since"),
    NP_("column", "size"), NP_("column", "skipped"), NP_("column", "slot"), NP_("column", "state"),
    NP_("column", "status"), NP_("column", "step"), NP_("column", "system"),
    NP_("column", "targets"), NP_("column", "through"),
    NP_("column", "task"), NP_("column", "tasks"), NP_("column", "timeout"), NP_("column", "title"),
    NP_("column", "type"), NP_("column", "unacked"), NP_("column", "uniqueness"), NP_("column", "until"),
    NP_("column", "value"), NP_("column", "version"), NP_("column", "waiting"), NP_("column", "what"),
    NP_("column", "what holds them"), NP_("column", "what_holds_it"), NP_("column", "when"),
    NP_("column", "where it lies"), NP_("column", "which was"), NP_("column", "who"), NP_("column", "who can act"),
    NP_("column", "why"), NP_("column", "worker"), NP_("column", "workers"), NP_("column", "worth it"),
)  # fmt: skip
#: what stands before a fact of one thing, beside the heads
FACTS = (
    NP_("column", "again?"), NP_("column", "again_at"), NP_("column", "again_s"), NP_("column", "all_shops"),
    NP_("column", "apart"), NP_("column", "attempts"), NP_("column", "base"), NP_("column", "calm_s"),
    NP_("column", "can"), NP_("column", "cancel"), NP_("column", "changed"), NP_("column", "concurrency"),
    NP_("column", "created_at"), NP_("column", "created_by"), NP_("column", "cron"), NP_("column", "deadline"),
    NP_("column", "dedicated"), NP_("column", "depends_on"), NP_("column", "due_at"), NP_("column", "ended_at"),
    NP_("column", "error_kind"), NP_("column", "escalate_s"), NP_("column", "escalate_to"),
    NP_("column", "escalates_at"), NP_("column", "every_s"), NP_("column", "expected_s"), NP_("column", "extra"),
    NP_("column", "facts"), NP_("column", "file"), NP_("column", "files"), NP_("column", "fingerprint"),
    NP_("column", "first_at"), NP_("column", "for_s"), NP_("column", "gen"), NP_("column", "groups"),
    NP_("column", "headline"), NP_("column", "home"), NP_("column", "key"), NP_("column", "label"),
    NP_("column", "last_at"), NP_("column", "late_s"), NP_("column", "lease_until"), NP_("column", "login_age_s"),
    NP_("column", "login_at"), NP_("column", "login_by"), NP_("column", "losses"), NP_("column", "marks"),
    NP_("column", "max_retries"), NP_("column", "measure"), NP_("column", "missed"), NP_("column", "muted_by"),
    NP_("column", "muted_until"), NP_("column", "name_en"), NP_("column", "names"), NP_("column", "not_due"),
    NP_("column", "on_dependency_failure"), NP_("column", "origin"), NP_("column", "overlap"),
    NP_("column", "owner"), NP_("column", "parent"), NP_("column", "parked_at"), NP_("column", "parts"),
    NP_("column", "paused"), NP_("column", "payload"), NP_("column", "planned_for"), NP_("column", "platforms"),
    NP_("column", "problem"), NP_("column", "progress"), NP_("column", "queued_at"), NP_("column", "raised"),
    NP_("column", "ran_late_s"), NP_("column", "reach"), NP_("column", "refused"), NP_("column", "resolves_at"),
    NP_("column", "result"), NP_("column", "rule"), NP_("column", "rule_version"), NP_("column", "runs long"),
    NP_("column", "runs next"), NP_("column", "same work"), NP_("column", "session"),
    NP_("column", "set_at"), NP_("column", "shop_count"),
    NP_("column", "shop_id"), NP_("column", "spread_s"), NP_("column", "started_at"), NP_("column", "starts"),
    NP_("column", "state_since"), NP_("column", "success_at"),
    NP_("column", "successor"), NP_("column", "switch"), NP_("column", "tags"),
    NP_("column", "task_id"), NP_("column", "task_type"),
    NP_("column", "time_zone"), NP_("column", "timeout_s"), NP_("column", "trend"), NP_("column", "triage"),
    NP_("column", "triage_note"), NP_("column", "type_version"), NP_("column", "types"), NP_("column", "uid"),
    NP_("column", "unconfirmed"), NP_("column", "under"), NP_("column", "uniq"), NP_("column", "unregistered"),
    NP_("column", "updated_at"), NP_("column", "updated_by"), NP_("column", "waits for"), NP_("column", "where"),
    NP_("column", "why_late"), NP_("column", "worst"), NP_("column", "worth"), NP_("column", "worth it?"),
    NP_("column", "zone"),
)  # fmt: skip

_Called = Mapping[str, str | tuple[str, str]]
_LANE: _Called = {name: ("lane", text) for name, text in words.LANE_WORDS.items()}
_STATE: _Called = {
    **{word: ("shop", text) for code, text in shop.WORDS.items() for word in (code, text)},
    **words.PROMISE_WORDS,
    # of workers, and of runs of a bulk act
    "running": N_("Running"),
    "draining": ("state", NP_("state", "draining")),
    "stopping": N_("Stopping"),
    "stopped": N_("Stopped"),
    "cut_off": ("state", NP_("state", "cut_off")),
    "late": ("state", NP_("state", "late")),
    "silent": ("state", NP_("state", "silent")),
    "gone": ("state", NP_("state", "gone")),
    "interrupted": ("state", NP_("state", "interrupted")),
    "aborted": ("state", NP_("state", "aborted")),
    "done": N_("Done"),
    # of quiet hours
    "open": ("quiet", NP_("quiet", "open")),
    "over": ("state", NP_("state", "over")),
    "waits": ("state", NP_("state", "waits")),
    # of messages in somebody's hands
    "runs": ("state", NP_("state", "runs")),
    "in no slot": ("state", NP_("state", "in no slot")),
    "worker not heard of": ("state", NP_("state", "worker not heard of")),
    "given to others since": ("state", NP_("state", "given to others since")),
}
_QUEUE: _Called = {
    "lane": ("queue", NP_("queue", "lane")),
    "dedicated": ("queue", NP_("queue", "dedicated")),
    "shop": ("queue", "dedicated"),  # as RabbitMQ has it
    "other": ("queue", NP_("queue", "other")),
    "dead": ("queue", NP_("queue", "dead")),
    "delay": ("queue", NP_("queue", "delay")),
    "foreign": ("queue", NP_("queue", "foreign")),
    "notice": ("queue", NP_("queue", "notice")),
    "late": ("queue", NP_("queue", "late")),
    "work": ("queue", NP_("queue", "work")),
}
_OUTCOME: _Called = {
    **words.ACT_WORDS,
    "outcome unknown": words.ACT_WORDS["unknown"],
    # of attempts
    "succeeded": N_("Succeeded"),
    "cancelled": N_("Cancelled"),
    "timeout": ("outcome", NP_("outcome", "timeout")),
    "lost": ("outcome", NP_("outcome", "lost")),
    "returned": ("outcome", NP_("outcome", "returned")),
    "preempted": ("outcome", NP_("outcome", "preempted")),
    "waiting": ("outcome", NP_("outcome", "waiting")),
    "fenced": ("outcome", NP_("outcome", "fenced")),
    # of tasks that met the same work
    "queued": ("outcome", NP_("outcome", "queued")),
    "forced": ("outcome", NP_("outcome", "forced")),
    "waits": ("outcome", NP_("outcome", "waits")),
    "held": N_("To confirm"),
}
_WORTH: _Called = {**words.WORTH_WORDS, **words.SAFETY_WORDS}
_TREND: _Called = {
    "new": ("cause", NP_("cause", "new")),
    "growing": ("cause", NP_("cause", "growing")),
    "fading": ("cause", NP_("cause", "fading")),
    "over": ("cause", NP_("cause", "none for 6 hours")),
}
#: what was told of an incident
_TOLD: _Called = {
    "raised": ("told", NP_("told", "raised")),
    "again": ("told", NP_("told", "again")),
    "worse": ("told", NP_("told", "worse")),
    "escalated": ("told", NP_("told", "escalated")),
    "resolved": ("told", NP_("told", "resolved")),
}
#: what becomes of a task type
_CHANGE: _Called = {
    "created": ("change", NP_("change", "created")),
    "changed": ("change", NP_("change", "changed")),
    "unchanged": ("change", NP_("change", "unchanged")),
}
_BROWSER: _Called = {
    "starting": ("browser", NP_("browser", "starting")),
    "busy": ("browser", NP_("browser", "busy")),
    "lent": ("browser", NP_("browser", "lent")),
    "idle": ("browser", NP_("browser", "idle")),
    "open": ("browser", NP_("browser", "open")),
    "closing": ("browser", NP_("browser", "closing")),
}
#: by the head of a column, or the name of a fact: what its codes are called; a context before a text stands for those
#: that mean something else elsewhere
CALLED: Mapping[str, _Called] = MappingProxyType(
    {
        "status": words.STATUS_WORDS,
        "which was": words.STATUS_WORDS,
        "triage": words.TRIAGE_WORDS,
        "lane": _LANE,
        "level": words.FINDING_WORDS,
        "severity": {**words.FINDING_WORDS, **words.SEVERITY_WORDS},
        "state": _STATE,
        "outcome": _OUTCOME,
        "verdict": _WORTH,
        "worth it": _WORTH,
        "goes": _TREND,
        "trend": _TREND,
        "gate": words.GATE_WORDS,
        "parked_at": words.GATE_WORDS,
        "told": _TOLD,
        "incident": words.INCIDENT_WORDS,
        "repair": words.REPAIR_WORDS,
        "check": words.CHECK_WORDS,
        "through": words.ORIGIN_WORDS,
        "kind": _QUEUE,
        "action": ACTS,
        "change": _CHANGE,
        "browser": _BROWSER,
    }
)


def head(name: str, meant: str = "") -> str:
    """What stands above a column, or before a fact, in the language of the run; what is no such word as it is.

    ``meant``: under which name it stands here, where it has another meaning elsewhere.
    """
    return i18n.pgettext(COLUMN, meant or name) if name and i18n.is_chinese() else name


def called(name: str, value: str) -> str:
    """What a code of this column is called; an outcome with the counts or the reason that it has."""
    known = CALLED.get(name)
    # of these the code alone says something else: "again" is what will fail again
    if known is None or not (i18n.is_chinese() or known is _WORTH):
        return value
    code, colon, rest = value.partition(":") if name == "outcome" else (value, "", "")
    found = known.get(code)
    if found is None:
        return value
    said = i18n.pgettext(*found) if isinstance(found, tuple) else i18n._(found)
    return f"{said}{colon}{rest}"
