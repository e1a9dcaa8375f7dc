"""When a condition becomes an incident, who hears of it, and how often: a document of the fleet, every version kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

import msgspec

from services.domain.errors import UsageError
from services.domain.text.message import Param
from services.domain.text.said import said_of
from services.domain.text.sentences import N_
from services.domain.upkeep.stored import Count, Document, Instant, Measure

KIND = "alert_rule"  #: of the store's documents, by name of the rule; one that nobody changed has none
VERSIONS = "alert_rule_version"  #: those of before, by ``name@version``
KEPT = 50  #: as many of those of one rule
CRITICAL, WARNING, NOTE = "critical", "warning", "note"
SEVERITIES = (CRITICAL, WARNING, NOTE)
DUTY, LEAD = "duty", "lead"  #: groups of channels: who is told first, and whom an unanswered incident escalates to
#: what a rule may do by itself: ``pause:SCOPE`` (``pause`` alone: the scope of its incident) closes a scope for new
#: starts, ``mark`` writes the id of the incident into the note of the cause of dead letters, ``run:NAME`` runs a
#: command that the settings of the machine that leads know by this name: what is run never stands in the store
PAUSE, MARK, RUN = "pause", "mark", "run"
LONGEST_S = 7 * 86_400
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_SCOPE = re.compile(r"(all|platform:[^\s:]{1,64}|type:[A-Za-z0-9_-]{1,64}|shop:[^\s:]{1,64}:\S{1,200})\Z")

Seconds = Count


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """``measure`` names the condition, ``limits`` its own numbers (``minutes``, ``percent`` …); spans are seconds.

    ``channels`` and ``escalate_to`` name channels or groups of them.
    """

    name: str
    measure: str
    limits: Mapping[str, Measure] = {}
    for_s: Seconds = 0  #: it must hold that long before anybody is told
    calm_s: Seconds = 60  #: it must be gone that long before it counts as resolved
    again_s: Seconds = 1800  #: told again after that long until somebody answers, 0 never
    escalate_s: Seconds = 1800  #: told to ``escalate_to`` after that long without an answer, 0 never
    severity: str = WARNING
    channels: tuple[str, ...] = (DUTY,)
    escalate_to: tuple[str, ...] = (LEAD,)
    enabled: bool = True
    action: str = ""  #: ``pause:SCOPE``, ``mark``, ``run:NAME``, or "" for none
    version: int = 1  #: rises with each change
    by: str = ""  #: who changed it last, "" for a default
    at: Instant = 0

    def limit(self, name: str) -> float:
        """One of its own numbers; 0 where it has none of this name."""
        return float(self.limits.get(name, 0.0))


def check(rule: Rule, known: Mapping[str, Rule] | None = None) -> None:
    """``known``: a default rule for each measure, which says what limits it has; None leaves that open.

    Raises:
        UsageError: a rule cannot be like this.
    """
    if not _NAME.match(rule.name):
        _refuse("alert.bad_name", "name", value=rule.name[:80] or '""')
    if rule.severity not in SEVERITIES:
        _refuse("alert.bad_severity", "severity", value=rule.severity[:80], known=", ".join(SEVERITIES))
    for field in ("for_s", "calm_s", "again_s", "escalate_s"):
        if getattr(rule, field) > LONGEST_S:
            _refuse("alert.bad_span", field, name=field, most=LONGEST_S)
    if not _is_action(rule.action):
        _refuse("alert.bad_action", "action", value=rule.action[:80])
    for name in filter(lambda one: not _NAME.match(one), (*rule.channels, *rule.escalate_to)):
        _refuse("alert.bad_name", "channels", value=name[:80])
    if known is not None:
        _check_measure(rule, known)


def _is_action(action: str) -> bool:
    head, apart, what = action.partition(":")
    if head == RUN:
        return _NAME.match(what) is not None
    return action in ("", PAUSE, MARK) or (head == PAUSE and bool(apart) and _SCOPE.match(what) is not None)


def _check_measure(rule: Rule, known: Mapping[str, Rule]) -> None:
    of_measure = {one.measure: one for one in known.values()}
    if rule.measure not in of_measure:
        _refuse("alert.bad_measure", "measure", value=rule.measure[:80], known=", ".join(sorted(of_measure)))
    allowed = of_measure[rule.measure].limits
    for limit in rule.limits:
        if limit not in allowed:
            _refuse("alert.bad_limit", "limits", value=limit[:80], known=", ".join(sorted(allowed)) or "-")


DOCUMENT = Document(Rule, check)


def known(defaults: Iterable[Rule], stored: Mapping[str, str]) -> dict[str, Rule]:
    """All rules by name: the defaults, and what people made of them or added. What cannot be read leaves the default:
    a spoiled document must not silence an alert, and the doctor names it.
    """
    found = {one.name: one for one in defaults}
    return found | {name: rule for name, rule in DOCUMENT.readable(stored).items() if rule.name == name}


def _refuse(code: str, field: str, **params: Param) -> NoReturn:
    raise refusal(code, field, **params)


def refusal(code: str, field: str, **params: Param) -> UsageError:
    """The error of one of the sentences below."""
    return UsageError(said_of(SENTENCES, code, params), field=field)


def no_channel(name: str, known: Iterable[str], field: str) -> UsageError:
    """The error of a channel, or a group of channels, that is not among the known ones."""
    return refusal(
        "alert.no_channel",
        field,
        value=name[:80],
        known=", ".join(sorted(known)) or said_of(SENTENCES, "alert.none_yet", {}),
    )


SENTENCES: Mapping[str, str] = {
    "alert.bad_name": N_("a name has 1 to 64 letters, digits, _ and -, not {value}"),
    "alert.bad_severity": N_("there is no severity {value}; there are {known}"),
    "alert.bad_span": N_("{name} may be at most {most} seconds"),
    "alert.bad_action": N_(
        "a rule can do pause, pause:SCOPE (all, platform:P, shop:P:ID, type:T), mark or run:NAME (a command of [alerts]"
        " in the settings), not {value}"
    ),
    "alert.bad_measure": N_("no rule measures {value}; there are {known}"),
    "alert.bad_limit": N_("its measure has no limit {value}; it has {known}"),
    "alert.rule_known": N_("there is a rule {value} already: choose another name, or change that one"),
    "alert.other_measure": N_("the rule {value} looks at {measure}, which stays: add another one for another measure"),
    "alert.no_rule": N_("there is no rule {value}; there are {known}"),
    "alert.no_channel": N_("there is no channel {value}; there are {known}"),
    "alert.none_yet": N_("none yet"),
    "alert.no_receiver": N_("no channel and no group of channels is called {value}; there are {known}"),
    "alert.no_incident": N_("there is no open incident {value}"),
    "alert.bad_kind": N_("there is no kind of channel {value}; there are {known}"),
    "alert.bad_option": N_("a channel of this kind has no option {value}; it has {known}"),
    "alert.bad_mail": N_("{value} is no address of mail, such as boss@example.com; several stand with commas between"),
    "alert.bad_language": N_("a channel speaks {known}, not {value}"),
    "alert.bad_rate": N_("a channel takes 1 to {most} messages a minute"),
    "alert.secret_inside": N_(
        "an address or a secret is never kept in the store: name it, and set {variable} on the machines that lead"
    ),
    "alert.bad_until": N_("the end of a mute must lie ahead, within a year"),
    "alert.needs_reason": N_("say why in 1 to {most} characters"),
}
