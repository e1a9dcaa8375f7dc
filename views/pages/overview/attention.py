"""Attention items in words: a title, a sentence, the names of their verbs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from services import messages
from services.domain.message import Message
from services.i18n import N_, _, fill, ngettext
from services.monitor.overview import Attention, OverviewNow
from views.charts.plot import Marker
from views.support import shown, text
from views.widgets.attention_list import AttentionRow
from views.widgets.heat_map import platform_name

FINE_UNTIL = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Words:
    """Source texts of one kind of item."""

    title: str
    sentence: str = ""


WORDS: dict[str, Words] = {
    "attention.worker_silent": Words(N_("Worker {worker} is silent"), N_("{tasks_n} unconfirmed")),
    "attention.no_workers": Words(N_("No worker is running"), N_("{tasks_n} waiting for one")),
    "attention.publisher_blocked": Words(
        N_("The broker holds publishers back"), N_("{tasks_n} recorded and not sent yet; nothing is lost")
    ),
    "attention.no_leader": Words(
        N_("Nobody reconciles the fleet"), N_("Schedules and repairs rest until a worker is started")
    ),
    "attention.shops_stuck": Words(N_("{shops_n} finished nothing for 30 min"), "{names}"),
    "attention.cause_shop": Words("{headline}", N_("{count_n}, all in one shop")),
    "attention.cause_platform": Words("{headline}", N_("{count_n} in {shops_n}, all on {platform}")),
    "attention.cause_all": Words("{headline}", N_("{count_n} in {shops_n}, on every platform")),
    "attention.cause_some": Words("{headline}", N_("{count_n} in {shops_n}")),
}
VERBS: dict[str, str] = {
    "triage": N_("Triage"),
    "open_tasks": N_("Show tasks"),
    "open_worker": N_("Open worker"),
    "open_workers": N_("Open workers"),
    "open_queue": N_("Open queue"),
    "show_shops": N_("Show shops"),
    "pause": N_("Pause"),
    "requeue": N_("Requeue now"),
    "start_worker": N_("Start a worker"),
    "why": N_("Why?"),
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
        verbs=tuple((verb, target, _(VERBS.get(verb, verb))) for verb, target in item.verbs),
    )


def _texts(item: Attention) -> tuple[str, str]:
    words = WORDS.get(item.code)
    if words is None:
        return messages.render(Message(item.code, dict(item.params))), ""
    params = {name: _param(name, value) for name, value in item.params.items()}
    params |= {f"{name}_n": _counted(name, value) for name, value in item.params.items() if isinstance(value, int)}
    # A bare place-holder is the same in every language and in no catalogue.
    title = words.title if words.title.startswith("{") and words.title.endswith("}") else _(words.title)
    return fill(title, params), fill(_(words.sentence), params)


def _param(name: str, value: str | int | float) -> str | float:
    """Numbers with thousands, platforms by their names."""
    if name == "platform":
        return text.listed(platform_name(platform.strip()) for platform in str(value).split(","))
    return f"{value:,}" if isinstance(value, int) else value


def _counted(name: str, number: int) -> str:
    """A number with its noun: ``58 dead letters``."""
    said = {
        "tasks": ngettext("{n} task", "{n} tasks", number),
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
    """Instants worth a line in the chart: since when a worker is silent or the broker blocks."""
    return tuple(_marked(now.attention))


def _marked(items: Iterable[Attention]) -> Iterable[Marker]:
    for item in items:
        if item.code == "attention.worker_silent" and item.since_ms:
            yield Marker(item.since_ms, fill(_("{worker} silent"), dict(item.params)), "retrying")
        elif item.code == "attention.publisher_blocked" and item.since_ms:
            yield Marker(item.since_ms, _("publishers blocked"), "retrying")
