"""What people call the codes that stand in sentences, cells and printed tables: states, platforms, lanes, gates.

The tables hold source texts, for windows, pages and the command line alike; the functions speak the present language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.domain import audit
from services.domain.alerts import incident, rule
from services.domain.fleet.role import ADMIN, OPERATOR, VIEWER
from services.domain.gates import listed
from services.domain.insight import cause
from services.domain.promises import judge
from services.domain.task.status import Status, Triage
from services.domain.text.message import Param
from services.domain.text.sentences import N_, NP_
from services.domain.upkeep import health, repair
from services.i18n import SOURCE_LANGUAGE, _, is_chinese, language, pgettext

PLATFORM_NAMES: Mapping[str, str] = {
    "pdd": N_("Pinduoduo"),
    "temu": "TEMU",
    "tiktok": "TikTok Shop",
    "tts": "TikTok Shop",
    "taobao": N_("Taobao"),
    "tmall": N_("Tmall"),
    "jd": N_("JD"),
    "douyin": N_("Douyin"),
    "kuaishou": N_("Kuaishou"),
    "xiaohongshu": N_("Xiaohongshu"),
    "amazon": "Amazon",
    "shopee": "Shopee",
    "lazada": "Lazada",
    "shein": "SHEIN",
    "aliexpress": "AliExpress",
}
#: source texts, translated with ``pgettext("lane", word)``
LANE_WORDS: Mapping[str, str] = {
    "high": NP_("lane", "High"),
    "dedicated": NP_("lane", "Dedicated"),
    "normal": NP_("lane", "Normal"),
    "low": NP_("lane", "Low"),
}
ROLE_WORDS: Mapping[str, str] = {VIEWER: N_("Viewer"), OPERATOR: N_("Operator"), ADMIN: N_("Admin")}
SEVERITY_WORDS: Mapping[str, str] = {
    rule.CRITICAL: N_("Critical"),
    rule.WARNING: N_("Warning"),
    rule.NOTE: N_("Note"),
}
#: the decisive words come first; what follows may be cut off
GATE_WORDS: Mapping[str, str] = {gate.name: gate.short for gate in listed.ORDER}
#: of a task, by its status
STATUS_WORDS: Mapping[str, str] = {
    Status.PENDING: N_("Unsent"),
    Status.QUEUED: N_("Waiting"),
    Status.BLOCKED: N_("Blocked"),
    Status.SCHEDULED: N_("Scheduled"),
    Status.RUNNING: N_("Running"),
    Status.RETRYING: N_("Retrying"),
    Status.HELD: N_("To confirm"),
    Status.SUCCEEDED: N_("Succeeded"),
    Status.DEAD: N_("Dead"),
    Status.CANCELLED: N_("Cancelled"),
}
#: what somebody has done about a dead letter
TRIAGE_WORDS: Mapping[str, str] = {
    Triage.OPEN: N_("Open"),
    Triage.ARCHIVED: N_("Archived"),
    Triage.IGNORED: N_("Ignored"),
    Triage.REPUBLISHED: N_("Republished"),
    Triage.OVERTAKEN: N_("Overtaken"),
}
#: of an incident, by its state
INCIDENT_WORDS: Mapping[str, str] = {
    incident.OPEN: N_("Not answered"),
    incident.ANSWERED: N_("Somebody is on it"),
    incident.MUTED: N_("Muted"),
    incident.CALMING: N_("Calming down"),
    incident.WAITING: N_("New"),
    incident.RESOLVED: N_("Resolved"),
}
#: of a promise, by its state; the last two are those of ``monitor.promises``
PROMISE_WORDS: Mapping[str, str] = {
    judge.BROKEN: N_("Broken"),
    judge.AT_RISK: N_("At risk"),
    judge.KEPT: N_("Kept"),
    judge.NOT_DUE: N_("Not due"),
    "unjudged": N_("Not judged yet"),
    "disabled": N_("Disabled"),
}
#: how bad a finding is
FINDING_WORDS: Mapping[str, str] = {
    health.ERROR: N_("Error"),
    health.WARNING: N_("Warning"),
    health.NOTE: N_("Advice"),
    health.OK: N_("In order"),
}
#: what the doctor looks at
CHECK_WORDS: Mapping[str, str] = {
    "audit": N_("Audit"),
    "broker": N_("Broker"),
    "clock": N_("Clock"),
    "disk": N_("Disk"),
    "flow": N_("Work"),
    "home": N_("Files"),
    "keys": N_("Key store"),
    "leader": N_("Leader"),
    "orphans": N_("Left-overs"),
    "pauses": N_("Pauses"),
    "promises": N_("Promises"),
    "queues": N_("Queues"),
    "records": N_("Records"),
    "roles": N_("Roles"),
    "schedules": N_("Schedules"),
    "sessions": N_("Logins"),
    "store": N_("Store"),
    "tls": N_("Certificates"),
    "tuning": N_("Tuning"),
    "types": N_("Task types"),
    "work": N_("Work"),
    "workers": N_("Workers"),
}
#: what becomes of a finding
REPAIR_WORDS: Mapping[str, str] = {
    repair.DONE: N_("Mended"),
    repair.PLANNED: N_("Would be mended"),
    repair.LEFT: N_("For a person"),
    repair.UNSEEN: N_("Cannot be seen"),
}
#: through what an act was asked for
ORIGIN_WORDS: Mapping[str, str] = {
    audit.WINDOW: N_("Window"),
    audit.CLI: N_("Command line"),
    audit.REST: N_("REST"),
    audit.PYTHON: N_("Python program"),
    audit.RULE: N_("Rule"),
    audit.WORKER: N_("Worker"),
}
#: how an act ended
ACT_WORDS: Mapping[str, str] = {
    "done": N_("Done"),
    "partly": N_("Partly done"),
    "refused": N_("Refused"),
    "failed": N_("Failed"),
    "open": N_("Under way"),
    "unknown": N_("Outcome unknown"),
}
#: whether it would help to run something again
WORTH_WORDS: Mapping[str, str] = {
    cause.NOW: N_("Worth retrying now"),
    cause.UNKNOWN: N_("Unknown: try 3 first"),
    cause.WAIT: N_("Wait first"),
    cause.LOGIN: N_("Needs a login first"),
    cause.AGAIN: N_("Will fail again"),
}
#: whether it may run again
SAFETY_WORDS: Mapping[str, str] = {
    "safe": N_("Safe to run again"),
    "check": N_("Check first"),
    "would_duplicate": N_("Would duplicate"),
}


def platform(code: str) -> str:
    """The name of a platform; an unknown one is its own."""
    return _(PLATFORM_NAMES[code]) if code in PLATFORM_NAMES else code


def lane(code: str) -> str:
    """The word for a lane, within a sentence."""
    return pgettext("lane", LANE_WORDS[code]).lower() if code in LANE_WORDS else code


def severity(code: str) -> str:
    """How bad an incident is, within a sentence."""
    return _(SEVERITY_WORDS[code]).lower() if code in SEVERITY_WORDS else code


def role(code: str) -> str:
    """A role; in English as it is typed."""
    return _(ROLE_WORDS[code]) if is_chinese() and code in ROLE_WORDS else code


def gate(name: str) -> str:
    """The few words for a gate."""
    return _(GATE_WORDS[name]) if name in GATE_WORDS else name


def column(field: str) -> str:
    """The head of a column of a table or a file; in English as the file calls it."""
    return pgettext("column", field)


def columns(fields: str) -> str:
    """Heads that are parted by commas."""
    return ("、" if is_chinese() else ", ").join(map(column, fields.split(", ")))


def scope(code: str) -> str:
    """What a pause or a limit covers: ``platform:temu`` as TEMU; what is no code is said already."""
    head, colon, name = code.partition(":")
    if code == "all":
        return _("Everything")
    if not colon or head not in ("platform", "shop", "type"):
        return code
    return platform(name) if head == "platform" else task_type(name) if head == "type" else name


class _Titles:
    """Of task types, by type and language; replaced as a whole, so any thread may bring new ones."""

    def __init__(self) -> None:
        self.known: Mapping[str, Mapping[str, str]] = {}


_titles = _Titles()


def know_types(titles: Mapping[str, Mapping[str, str]]) -> None:
    """Remember what task types are called in each language."""
    _titles.known = titles


def titles_of_types() -> Mapping[str, Mapping[str, str]]:
    """What is known of them, by their codes."""
    return _titles.known


def task_type(code: str) -> str:
    """A task type as it is called in the present language; English shows the code, as messages, flows and logs do."""
    title = "" if language() == SOURCE_LANGUAGE else _titles.known.get(code, {}).get(language(), "")
    return title or code


#: parameters of sentences that are codes, several of them parted by commas
_NAMED: Mapping[str, Callable[[str], str]] = {
    "platform": platform,
    "platforms": platform,
    "lane": lane,
    "lanes": lane,
    "severity": severity,
    "type": task_type,
    "types": task_type,
}


def named(params: Mapping[str, Param]) -> dict[str, Param]:
    """What fills a sentence, with platforms, lanes, severities and task types as people call them."""
    comma = "、" if is_chinese() else ", "
    return {
        name: comma.join(map(_NAMED[name], value.split(", "))) if name in _NAMED and isinstance(value, str) else value
        for name, value in params.items()
    }
