"""Attention items in words: a title, a sentence, the names of their verbs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from services import messages
from services.domain.message import Message
from services.i18n import N_, NP_, _, fill, ngettext, pgettext
from services.monitor.overview import Attention, OverviewNow
from views.charts.named import Marker
from views.support import kinds, safe, shown, text, type_names
from views.widgets.attention_list import AttentionRow
from views.widgets.heat_map import platform_name

FINE_UNTIL = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Words:
    """Source texts of one kind of item."""

    title: str
    sentence: str = ""


WORDS: dict[str, Words] = {
    "attention.worker_late": Words(N_("Worker {worker} is late")),
    "attention.worker_silent": Words(N_("Worker {worker} is silent")),
    "attention.worker_gone": Words(N_("Worker {worker} is gone")),
    "attention.no_takers": Words(
        N_("No worker takes tasks"), N_("{tasks_n} waiting; every worker is draining, stopping or not heard of")
    ),
    "attention.schedule_late": Words(N_("Schedule {name} is {late} late")),
    "attention.schedules_late": Words(N_("{count} schedules are late: {names}")),
    "attention.no_workers": Words(N_("No worker is running"), N_("{tasks_n} waiting for one")),
    "attention.lane_unserved": Words(
        N_("No worker takes the {lane} lane"), N_("{tasks_n} waiting there until a worker serves it")
    ),
    "attention.needs_handler": Words(
        N_("No worker can run {type}"), N_("{tasks_n} waiting for a worker with a handler of this name")
    ),
    "attention.needs_program": Words(
        N_("No worker can run {type}"), N_("{tasks_n} waiting for a worker that has the program {need}")
    ),
    "attention.needs_executor": Words(
        N_("No worker can run {type}"), N_("{tasks_n} waiting for a worker with the executor {need}")
    ),
    "attention.needs_willing": Words(
        N_("No worker takes {type}"), N_("{tasks_n} waiting; the workers that could run it were told to refuse it")
    ),
    "attention.home_silent": Words(
        N_("No worker runs on {node}"),
        N_("{tasks_n} waiting for it: the browser profiles of their shops live there"),
    ),
    "attention.publisher_blocked": Words(N_("Nothing is sent: {tasks_n} recorded, none lost")),
    "attention.publisher_silent": Words(N_("The broker does not confirm what is sent")),
    "attention.no_leader": Words(
        N_("Nobody looks after the fleet"),
        N_("No worker leads: schedules, retries that were lost and tasks of dead workers rest until one is started"),
    ),
    "attention.shops_stuck": Words(N_("{shops_n} finished nothing for 30 min"), "{names}"),
    "attention.shops_stuck_more": Words(N_("{shops_n} finished nothing for 30 min"), N_("{names} and {more} more")),
    "attention.session_login": Words(N_("{shop} must be logged in again"), N_("{waiting_n} waiting for it")),
    "attention.session_captcha": Words(N_("{shop} shows a captcha"), N_("{waiting_n} waiting for it")),
    "attention.sessions": Words(N_("{shops_n} must be logged in again"), N_("{names} and {more} more")),
    "attention.breaker": Words(
        N_("{shop} fails too often"), N_("{failed} of the last {of} attempts failed; next try in {left}")
    ),
    "attention.breakers": Words(N_("{shops_n} fail too often"), N_("{names} and {more} more")),
    "attention.held": Words(N_("{tasks_n} to confirm"), N_("Nobody knows how they ended; look before they run again")),
    "attention.dead_shop": Words("{cause}", N_("{count_n}, all in {shop}")),
    "attention.dead_platform": Words("{cause}", N_("{count_n} in {shops_n}, all on {platform}")),
    "attention.dead_all": Words("{cause}", N_("{count_n} in {shops_n}, on every platform")),
    "attention.dead_some": Words("{cause}", N_("{count_n} in {shops_n}")),
    "attention.paused_all": Words(N_("Everything is paused"), N_("by {who}")),
    "attention.paused_platform": Words(N_("{platform} is paused"), N_("by {who}")),
    "attention.paused_type": Words(N_("{which} is paused"), N_("by {who}")),
}
VERBS: dict[str, str] = {
    "triage": NP_("verb", "Handle"),
    "open_tasks": N_("Show tasks"),
    "open_shop": N_("Open shop"),
    "open_shops": N_("Open shops"),
    "open_worker": N_("Open worker"),
    "open_workers": N_("Open workers"),
    "open_session": N_("Logged in elsewhere: go on"),
    "login_shop": N_("Open this shop's browser"),
    "pause": N_("Pause {what}"),
    "resume": N_("Resume {what}"),
    "start_worker": N_("Start a worker"),
    "forget_worker": N_("Forget"),
    "open_schedule": N_("Open schedules"),
}


def row_of(item: Attention, now_ms: int) -> AttentionRow:
    """An item in the language of the moment."""
    title, sentence = _texts(item)
    return AttentionRow(
        key=item.key,
        severity=item.severity,
        title=title,
        sentence=sentence,
        age=_age(item.since_ms, now_ms),
        since_ms=item.since_ms,
        verbs=tuple((verb, target, _verb(verb, target)) for verb, target in item.verbs),
        state=item.state,
    )


def _verb(verb: str, target: str) -> str:
    source = VERBS.get(verb, verb)
    words = pgettext("verb", source) if verb == "triage" else _(source)
    kind, _colon, what = target.partition(":")
    what = {"platform": platform_name(what), "type": type_names.name(what), "all": _("everything")}.get(kind, what)
    return fill(words, {"what": what})


def _texts(item: Attention) -> tuple[str, str]:
    words = WORDS.get(item.code)
    if words is None:
        return messages.render(Message(item.code, dict(item.params))), ""
    params: dict[str, object] = {name: _param(name, value) for name, value in item.params.items()}
    params |= {f"{name}_n": _counted(name, value) for name, value in item.params.items() if isinstance(value, int)}
    params["cause"] = _cause(item)
    if "left_ms" in item.params:
        params["left"] = text.coarse(shown.span(int(item.params["left_ms"])))
    if "seconds" in item.params:
        params["late"] = text.coarse(timedelta(seconds=int(item.params["seconds"])))
    sentence = fill(_said(words.sentence), params)
    if item.facts:
        sentence = text.sentences((sentence, *map(messages.render, item.facts)))
    reason = safe.one_line(str(item.params.get("reason", "")), 120)
    return fill(_said(words.title), params), _("{name}: {value}").format(
        name=sentence, value=reason
    ) if reason else sentence


def _said(words: str) -> str:
    """A bare place-holder is the same in every language and in no catalogue."""
    return words if words.startswith("{") and words.endswith("}") and words.count("{") == 1 else _(words)


def _cause(item: Attention) -> str:
    """What failed, as the page of dead letters calls it, and in which flow where that matters."""
    name = kinds.title(str(item.params.get("kind", "")))
    name = name or safe.one_line(str(item.params.get("headline", "")), 80) or _("Unknown error")
    flow = str(item.params.get("type", ""))
    return _("{cause} in {flow}").format(cause=name, flow=type_names.name(flow)) if flow else name


def _param(name: str, value: str | int | float) -> str | float:
    """Numbers with thousands, platforms by their names, lanes by their words, names as a list."""
    if name == "platform":
        return text.listed(platform_name(platform.strip()) for platform in str(value).split(","))
    if name == "type":
        return type_names.name(str(value))
    if name == "lane":
        return shown.lane_word(str(value)).lower()
    if name == "names":
        return text.listed(safe.one_line(one, 40) for one in str(value).split("\n"))
    return f"{value:,}" if isinstance(value, int) else safe.one_line(str(value), 80)


def _counted(name: str, number: int) -> str:
    """A number with its noun: ``58 dead letters``."""
    said = {
        "tasks": ngettext("{n} task", "{n} tasks", number),
        "waiting": ngettext("{n} task", "{n} tasks", number),
        "shops": ngettext("{n} shop", "{n} shops", number),
        "count": ngettext("{n} dead letter", "{n} dead letters", number),
    }
    return said.get(name, "{n}").format(n=f"{number:,}")


def _age(since_ms: int, now_ms: int) -> str:
    if not since_ms:
        return ""
    span = shown.span(now_ms - since_ms)
    return text.duration(span) if timedelta(seconds=10) <= span < FINE_UNTIL else text.coarse(span)


def markers(now: OverviewNow) -> tuple[Marker, ...]:
    """Instants worth a line in the chart: a worker fell silent, the broker blocks, something was paused."""
    return tuple(_marked(now.attention))


def _marked(items: Iterable[Attention]) -> Iterable[Marker]:
    for item in items:
        if not item.since_ms:
            continue
        if item.key.startswith("silent:"):
            yield Marker(item.since_ms, fill(_("{worker} silent"), dict(item.params)), "retrying")
        elif item.code == "attention.publisher_blocked":
            yield Marker(item.since_ms, _("publishers blocked"), "retrying")
        elif item.code.startswith("attention.paused_"):
            yield Marker(item.since_ms, _texts(item)[0], "text2")
