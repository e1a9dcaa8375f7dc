"""What a worker's heartbeat tells: its state in words, its load, its slots. Pure but for the language."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from services import messages
from services.domain.fleet import autoscale
from services.domain.fleet.autoscale import Range
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.forecast.durations import NOTHING, Runs
from services.domain.insight.worker import WorkerNow
from services.domain.task.lane import LANES
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.types.task_type import TaskType
from services.i18n import _, ngettext
from views.support import safe, shown, text
from views.support.words import shop, type_names

CPU_HIGH = 90.0
#: so many tasks are named by the filter behind a number
DOOR_TASKS = 50
TYPES_NAMED = 12


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of ids: what shops and task types are called, and how long such tasks run."""

    shops: Mapping[str, Shop]
    types: Mapping[str, TaskType]
    usual: Mapping[tuple[str, str], Runs] = {}  #: how long a type runs on a platform

    def shop(self, key: str) -> str:
        """The name of a shop, else its id."""
        return shop.name_of(key, self.shops)

    def once_only(self, task_type: str) -> bool:
        """Whether tasks of this type are held when they are interrupted, because they must not run twice."""
        found = self.types.get(task_type)
        return found is not None and not found.idempotent


NO_NAMES = Names(shops={}, types={})


GLYPHS = {
    insight.FINE: "healthy",
    insight.DRAINING: "draining",
    insight.STOPPING: "paused",
    insight.STOPPED: "paused",
    insight.GONE: "unconfirmed",
}


def glyph(one: WorkerNow) -> str:
    """The status name of the worker."""
    return GLYPHS.get(one.state, "warning")


def silence_ms(one: WorkerNow, now_ms: int) -> int:
    """How long ago it was heard of. Of one that is missing it is counted to the instant (UTC ms) of all that is on
    screen, for its age stands in other places too.
    """
    return max(0, now_ms - one.info.seen_at) if one.missing and now_ms else one.silence_ms


def heartbeat(one: WorkerNow, now_ms: int = 0) -> tuple[str, str]:
    """How long ago it was heard, and the tone of it."""
    words = _("heartbeat {age}").format(age=text.age(shown.span(silence_ms(one, now_ms))))
    return words, "retrying" if one.missing else "text3"


def note(one: WorkerNow) -> tuple[str, str]:
    """What a person should know in a few words, else what it runs on."""
    info, remark = one.info, one.remark
    if remark is not None:
        return shown.told(remark), "retrying" if one.missing or one.state == insight.CUT_OFF else "scheduled"
    if info.link.blocked_at:
        return _("its messages are held back"), "retrying"
    if info.closed:
        shut = ngettext("may not read lane {lanes}", "may not read lanes {lanes}", len(info.closed))
        return safe.one_line(shut.format(lanes=_lane_words(info.closed)), 60), "retrying"
    if info.lacks:
        return _("{program} is not found here").format(program=safe.one_line(min(info.lacks.values()), 40)), "retrying"
    if info.declines:
        refused = ngettext("refuses {n} type", "refuses {n} types", len(info.declines))
        return refused.format(n=len(info.declines)), "scheduled"
    if info.cpu >= CPU_HIGH:
        return _("one core is full"), "retrying"
    running = (
        ngettext("{n} browser", "{n} browsers", info.browsers).format(n=info.browsers) if info.browsers > 0 else ""
    )
    lanes = ""
    if info.lanes and set(info.lanes) != set(LANES):
        lanes = ngettext("only lane {lanes}", "only lanes {lanes}", len(info.lanes)).format(
            lanes=_lane_words(info.lanes)
        )
    machine = "" if info.worker.startswith(info.node) else info.node  # causes and homes name the machine
    told = (machine, lanes, auto_words(info), running, info.system, info.version)
    return safe.one_line(text.listed(part for part in told if part), 60), "text3"


def _lane_words(lanes: tuple[str, ...]) -> str:
    return text.listed(shown.lane_word(lane).lower() for lane in lanes)


def facts(one: WorkerNow, now_ms: int = 0) -> tuple[tuple[str, str, str], ...]:
    """What becomes of what a missing worker held, and what a person does about it: words, tone, and the filter of the
    tasks behind it.
    """
    do = insight.remedy(one)
    if do is None:
        return ()
    held = tuple(
        (
            shown.told(fact.message, now_ms),
            fact.tone,
            filter.format_terms((equals("id", *fact.tasks[:DOOR_TASKS]),)) if fact.tasks else "",
        )
        for fact in one.facts
        if fact.message.code != "worker.idle" or one.state == insight.GONE  # else the note above has said it
    )
    return (*held, (shown.told(do, now_ms), "text2", ""))


def auto_words(info: WorkerInfo) -> str:
    """Within which bounds it sets the number of its slots by itself, "" where it does not."""
    try:
        bounds = autoscale.parse(info.auto) if info.auto else None
    except ValueError:  # of a newer program
        bounds = Range()
    if bounds is None:
        return ""
    if not bounds.most:
        return _("slots automatic")
    return _("slots automatic, {least} to {most}").format(least=bounds.least, most=bounds.most)


def abilities(info: WorkerInfo) -> str:
    """What its connections meet, what it can run and what it lacks, as lines of a tool tip."""
    met = [safe.one_line(messages.told(info.link.error), 200)] if info.link.error else []
    if not info.executors and not info.lacks and not info.declines:
        return "\n".join(met)
    lines = [*met, _("Runs: {names}").format(names=text.listed(info.executors) or "–")]
    types = sorted({*info.handlers, *info.commands})
    if types:
        more = [] if len(types) <= TYPES_NAMED else ["…"]
        lines.append(_("Types of its own: {names}").format(names=text.listed([*types[:TYPES_NAMED], *more])))
    lines += [_("{program} is not found here").format(program=safe.one_line(one, 60)) for one in {*info.lacks.values()}]
    if info.declines:
        lines.append(_("Refuses: {names}").format(names=text.listed(map(type_names.name, info.declines))))
    if info.node:
        lines.append(_("Machine: {name}").format(name=safe.one_line(info.node, 64)))
    if info.auto:
        lines.append(_("Sets the number of its slots by itself."))
    if info.browsers >= 0:
        lines.append(ngettext("{n} browser runs", "{n} browsers run", info.browsers).format(n=info.browsers))
    return "\n".join(lines)


def is_slow(slot: SlotState, names: Names, now_ms: int) -> bool:
    """Whether a task runs past the 95th percentile of its type on its platform, as its details say it."""
    usual = names.usual.get(kind_of(slot), NOTHING)
    return slot.since > 0 and usual.is_long((now_ms - slot.since) / 1000)


def kind_of(slot: SlotState) -> tuple[str, str]:
    """Type and platform, by which it is told how long such tasks run."""
    return slot.task_type, slot.shop.partition(":")[0]


def slot_words(slot: SlotState, names: Names, now_ms: int, *, missing: bool = False) -> str:
    """One slot as lines of a tool tip."""
    if not slot.task_id:
        return _("No task") if missing else _("Free slot")
    lines = [_("Unconfirmed: its worker is not heard of")] if missing else []
    lines += [
        text.listed((type_names.name(slot.task_type), names.shop(slot.shop))),
        _("attempt {n}, for {span}").format(n=slot.attempt, span=text.duration(shown.span(now_ms - slot.since))),
    ]
    if slot.progress >= 0:
        lines.append(_("progress {percent}").format(percent=text.percent(slot.progress / 100)))
    if is_slow(slot, names, now_ms):
        nearly = names.usual[kind_of(slot)].nearly_all_s
        said = _("takes longer than 95 of 100 of its type, {span}")
        lines.append(said.format(span=text.duration(timedelta(seconds=nearly))))
    return "\n".join([*lines, slot.task_id])


def _interrupted(slot: SlotState, names: Names, now_ms: int) -> list[str]:
    ran = text.duration(shown.span(now_ms - slot.since))
    return [ran, _("would be held")] if names.once_only(slot.task_type) else [ran]


def running_rows(info: WorkerInfo, names: Names, now_ms: int) -> tuple[tuple[str, str], ...]:
    """The tasks that a stop would interrupt."""
    return tuple(
        (
            f"{type_names.name(slot.task_type)}  {names.shop(slot.shop)}",
            text.listed(_interrupted(slot, names, now_ms)),
        )
        for slot in info.slots
        if slot.task_id
    )
