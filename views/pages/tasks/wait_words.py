"""Where a task waits in the few words of a table cell, whole as a tool tip, and which verb can help it there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from services.domain.gates import breaker, listed
from services.domain.insight import attempts, gates
from services.domain.insight.forecast import estimate
from services.domain.insight.wait import GateView
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.i18n import N_, _
from services.monitor.waits.waiting import Wait
from services.spans import between
from views.support import shown, text
from views.tables.column import Progress

_CODES: Mapping[str, str] = {
    "gate.dependency_dead": N_("its task failed"),
    "gate.dependency_cancelled": N_("its task was cancelled"),
    "gate.dependency_gone": N_("its task is gone"),
    "gate.session_captcha": N_("captcha waits"),
    "gate.twin_held": N_("its twin is held"),
    "gate.home_gone": N_("its machine is off"),
    "gate.home_silent": N_("its machine is silent"),
    "gate.home_rests": N_("its machine rests"),
    "gate.fetched": N_("waits for a slot"),
    "gate.needs_handler": N_("no able worker"),
    "gate.needs_program": N_("no able worker"),
    "gate.needs_setting": N_("no able worker"),
    "gate.needs_executor": N_("no able worker"),
    "gate.needs_willing": N_("workers refuse it"),
    "gate.opened": N_("next free slot"),
    "gate.twin_running": N_("same work runs"),
    "gate.twin_running_done": N_("same work runs"),
    "gate.twin_hung": N_("same work hangs"),
    "gate.shop_hung": N_("shop hangs"),
    "gate.shop_hung_line": N_("shop hangs"),
    "gate.workers_cut_off": N_("workers miss the broker"),
    "gate.unsent_lost": N_("not sent: broker lost"),
    "gate.unsent_disk": N_("not sent: broker out of disk"),
    "gate.unsent_memory": N_("not sent: broker out of memory"),
    "gate.unsent_held": N_("not sent: broker takes none"),
}
_LIMITS: Mapping[str, str] = {"platform": N_("platform at limit"), "type": N_("type at limit")}
#: somebody has to do something before it goes on
_PERSON = frozenset(gate.name for gate in listed.ORDER if gate.person)
#: whoever sees it may act, also where it goes on by itself
_WARNS = _PERSON | {breaker.GATE}
_PERSON_CODES = frozenset(
    {
        *("gate.dependency_dead", "gate.dependency_cancelled", "gate.dependency_gone", "gate.twin_held"),
        *("gate.home_gone", "gate.home_silent", "gate.home_rests", "gate.overdue"),
        *("gate.twin_hung", "gate.shop_hung", "gate.shop_hung_line"),
        *("gate.unsent_lost", "gate.unsent_disk", "gate.unsent_memory", "gate.unsent_held"),
    }
)
#: why moving it to the front does not start it
_NO_HELP: Mapping[str, str] = {gate.name: gate.no_help for gate in listed.ORDER if gate.no_help}
#: the same where the sentence tells more than the gate
_NO_HELP_CODES: Mapping[str, str] = {
    "gate.workers_cut_off": N_("Its workers cannot reach the broker"),
    "gate.unsent_lost": N_("The broker does not answer"),
    "gate.unsent_disk": N_("The broker takes no new messages"),
    "gate.unsent_memory": N_("The broker takes no new messages"),
    "gate.unsent_held": N_("The broker takes no new messages"),
}


def cell(task: Task, gate: str, wait: Wait | None, now_ms: int) -> Progress:
    """The words for a waiting task; ``wait`` says more than the gate, where it is known."""
    if gate == gates.NOT_DUE:
        return _not_due(task, now_ms)
    view = wait.gate if wait is not None else None
    role = "retrying" if gate in _WARNS or (view is not None and view.code in _PERSON_CODES) else "text2"
    said = words(gate, view)
    starts = wait.starts if wait is not None else None
    if starts is None:
        return Progress(text=said, role=role)
    if starts.at_once:
        return Progress(text=_("starts now") if gate == gates.LANE_ORDER else said, role=role)
    low, high = starts.left_s(now_ms)
    # with the words of the sentence in the panel
    span = text.seconds(timedelta(seconds=high)) if starts.basis == estimate.INSTANT else between(low, high)
    when = _("{what} · {span}").format(what=said, span=span)
    return Progress(text=when, role=role)


def needs_person(view: GateView) -> bool:
    """Whether it goes on only after a person has done something: of a pause its end, of a lost server a message."""
    return view.name in (*_PERSON, gates.PAUSED) or view.code in _PERSON_CODES


def tip(wait: Wait | None) -> str:
    """The whole sentence, and when it starts."""
    if wait is None:
        return ""
    lines = [shown.say(wait.gate.message)]
    if wait.starts is not None:
        lines.append(shown.say(estimate.sentence(wait.starts)))
    return "\n".join(lines)


def no_help(view: GateView | None) -> str:
    """Why *Run now* would not start a task, "" where it may."""
    if view is None or (view.name == gates.SHOP_BUSY and int(view.params.get("ahead", 0)) > 0):
        return ""
    words = _NO_HELP_CODES.get(view.code) or _NO_HELP.get(view.name, "")
    return _(words) if words else ""


def _not_due(task: Task, now_ms: int) -> Progress:
    left = shown.span(task.due_at - now_ms)
    if task.due_at > now_ms:
        when = text.until(left)
        if task.status == Status.RETRYING and attempts.last(task) is not None:
            when = _("last try {when}").format(when=when)
        return Progress(text=when, role="retrying" if task.status == Status.RETRYING else "text2")
    late = shown.span(now_ms - task.due_at)
    if task.status == Status.SCHEDULED and late.total_seconds() >= 1:
        return Progress(text=_("late by {span}").format(span=text.coarse(late)), role="retrying")
    return Progress(text=_("due"), role="text2")


def words(gate: str, view: GateView | None) -> str:
    """Where it waits in the fewest words, the decisive ones first; ``view`` says more than the gate."""
    if view is None:
        return shown.gate_word(gate)
    if view.code in _CODES:
        return _(_CODES[view.code])
    if gate == gates.LANE_ORDER and "ahead" in view.params:
        return _("#{n} in lane").format(n=text.count(int(view.params["ahead"]) + 1))
    scope = str(view.params.get("scope", "")).partition(":")[0]
    if gate == gates.QUOTA and scope in _LIMITS:
        return _(_LIMITS[scope])
    return shown.gate_word(gate)
