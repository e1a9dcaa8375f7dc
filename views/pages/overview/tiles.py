"""The seven numbers: what each one says, its curve, and where a click on it leads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import msgspec
import numpy as np

from services.domain.task.status import WAITING as STATUS_WAITING
from services.domain.task.status import Status
from services.i18n import N_, _, ngettext, pgettext
from services.monitor.overview import DUE, RETRIES, OverviewNow
from views.charts.series import EMPTY, Frame, Numbers, filled, success
from views.pages.overview.limits import TileLimits
from views.support import elide, safe, shown, text
from views.widgets.kpi_tile import Kpi

SUCCESS_WINDOW_S = 300
#: that nothing changed in a few seconds says nothing
LEAST_CHANGE_S = 60
#: delays that are told; of more than this the longest are one number
DELAYS = 4


class Sight(msgspec.Struct, frozen=True):
    """All a tile needs: now, the curves of the range, the limits."""

    now: OverviewNow
    curves: Frame = EMPTY
    limits: TileLimits = msgspec.field(default_factory=TileLimits)
    at_ms: int = 0  #: the instant that ages are counted to (UTC ms), 0: that of the numbers


class Curve(msgspec.Struct, frozen=True):
    """Numbers of a sparkline, with a limit and the value it should at least reach down to."""

    values: Numbers
    limit: float | None = None
    base: float | None = None


class TileSpec(msgspec.Struct, frozen=True):
    """One tile as data; ``opens`` is a filter, or ``dead`` or ``workers`` for those pages; ``limit`` can be set;
    ``measure``: what rules of alerts look at that concerns it.
    """

    key: str
    label: str
    glyph: str
    role: str
    alarm_role: str
    opens: str
    measure: str
    kpi: Callable[[Sight], Kpi]
    curve: Callable[[Sight], Curve]
    limit: str = ""
    tip: str = ""  #: one sentence, with the broker's word for it
    no_limit: str = ""  #: why none can be set, source text
    counts_on: bool = False  #: it tells an age


def waiting(now: OverviewNow) -> int:
    """Tasks that the records call waiting, as the list behind the tile: in queues, at gates, recorded only."""
    return sum(now.status_counts.get(status, 0) for status in STATUS_WAITING)


def unacked(now: OverviewNow) -> int:
    """Deliveries held by consumers. The broker's count may be seconds old: who is heard of and runs a task has one."""
    held, facts = sum(lane.unacked for lane in now.lanes), now.flow.facts
    return held if facts.cut_off else max(held, now.running - facts.unconfirmed)


def _change(curves: Frame, name: str, now: float) -> tuple[float, str]:
    """How much a number changed over the range in sight to what it is told to be ``now``, which the curve may have left
    behind, and how long that was.
    """
    if len(curves) < 2:
        return 0.0, ""
    seconds = float(curves.at[-1] - curves.at[0])
    # 59 min 58 s of samples are the hour that was asked for
    seconds = round(seconds / 60) * 60
    if seconds < LEAST_CHANGE_S:
        return 0.0, ""
    return now - float(curves[name][0]), text.coarse(timedelta(seconds=seconds))


def ready_kpi(sight: Sight) -> Kpi:
    """What waits, in queues and at gates."""
    total = waiting(sight.now)
    parked = min(total, sight.now.status_counts.get(Status.BLOCKED, 0))
    unsent = min(total - parked, sight.now.flow.facts.unsent)
    alarm = total > sight.limits.waiting
    parts = [_("limit {n}").format(n=text.count(sight.limits.waiting))] if alarm else []
    if unsent:
        parts.append(_("{n} recorded, not sent").format(n=text.count(unsent)))
    if parked:
        parts.append(
            _("{blocked} held up · {ready} in queues").format(
                ready=text.count(total - parked - unsent), blocked=text.count(parked)
            )
        )
    elif not alarm and not unsent:
        parts.append(_peak(sight.curves, total))
    context = " · ".join(part for part in parts if part)
    above = _("above limit {n}").format(n=text.count(sight.limits.waiting)) if alarm else ""
    return Kpi(
        value=text.count(total),
        context=context,
        alarm=alarm,
        sentence=_say(_("Waiting"), text.count(total), above, context),
    )


def _peak(curves: Frame, total_now: int) -> str:
    """The most that waited in sight, which the curve may not have reached yet."""
    if len(curves) < 2:
        return ""
    total = np.nan_to_num(curves["waiting"])
    at = int(np.argmax(total))
    if total[at] <= 0:
        return ""
    when = shown.minute(round(curves.at[at] * 1000), round(curves.at[-1] * 1000))
    if round(float(total[at])) <= total_now:
        return _("never more in this span")
    return _("peak {n} at {time}").format(n=text.count(round(float(total[at]))), time=when)


def unacked_kpi(sight: Sight) -> Kpi:
    """What consumers hold: running, and fetched ahead."""
    unsettled = unacked(sight.now)
    if sight.now.broker_old:
        # it takes back what it had handed out, so its last number would be told beside tasks that ended since
        lost = not sight.now.flow.facts.broker
        context = _("not known while the broker is lost") if lost else _("the broker does not answer")
        return Kpi(value="–", context=context, sentence=_say(_("With workers"), "", "", context))
    context = _("{running} running · {ahead} fetched ahead").format(
        running=text.count(sight.now.running), ahead=text.count(sight.now.ahead)
    )
    if unconfirmed := sight.now.flow.facts.unconfirmed:
        # what the broker has taken back already is not among those held
        apart = unsettled + unconfirmed <= sight.now.running
        said = _("{n} more not confirmed") if apart else _("{n} not confirmed")
        context = said.format(n=text.count(unconfirmed))
    elif not unsettled:
        context = _("workers hold nothing")
    return Kpi(
        value=text.count(unsettled),
        context=context,
        sentence=_say(_("With workers"), text.count(unsettled), "", context),
    )


def running_kpi(sight: Sight) -> Kpi:
    """What runs, of how many slots."""
    now = sight.now
    unconfirmed = now.flow.facts.unconfirmed
    if unconfirmed and now.slots_total:
        slots = ngettext("{busy} of {n} slot busy", "{busy} of {n} slots busy", now.slots_total)
        busy = slots.format(
            busy=text.count(min(now.slots_busy, now.running - unconfirmed)), n=text.count(now.slots_total)
        )
        context = " · ".join((_("{n} not confirmed").format(n=text.count(unconfirmed)), busy))
    elif now.slots_total:
        slots = ngettext("of {n} slot", "of {n} slots", now.slots_total).format(n=text.count(now.slots_total))
        context = f"{slots} · {text.percent(min(1.0, now.running / now.slots_total))}"
    elif now.flow.facts.cut_off:
        context = _("cut off from the broker")
    else:
        context = _("no worker takes tasks")
    return Kpi(
        value=text.count(now.running),
        context=context,
        sentence=_say(_("Running"), text.count(now.running), "", context),
    )


def retrying_kpi(sight: Sight) -> Kpi:
    """What failed and waits for another try, by delay."""
    now = sight.now
    total = sum(lane.retrying for lane in now.lanes) or sum(count for _seconds, count in now.retry_levels)
    total = now.status_counts.get("retrying", total)
    whole = sum(count for _seconds, count in now.retry_levels) < RETRIES  #: all of them were looked at
    last = []
    if now.retry_last:
        words = _("{n} for the last time") if whole else _("at least {n} for the last time")
        last.append(words.format(n=text.count(now.retry_last)))
    context = " · ".join([*last, *_delays(now, total, whole=whole)]) or _("none waits to retry")
    sentence = _say(_("Retrying"), text.count(total), "", context)
    return Kpi(value=text.count(total), context=context, sentence=sentence, calm=not total)


def _delays(now: OverviewNow, total: int, *, whole: bool) -> list[str]:
    every = now.retry_levels
    told = every if len(every) <= DELAYS else every[: DELAYS - 1]
    parts = [
        _("{n} after {span}").format(n=text.count(count), span=text.join(str(seconds), pgettext("unit", "s")))
        if seconds != DUE
        else _("{n} due, in their lanes").format(n=text.count(count))
        for seconds, count in told
    ]
    more = total - sum(count for _seconds, count in told)
    if more > 0 and not (whole and told == every):
        parts.append(ngettext("{n} more", "{n} more", more).format(n=text.count(more)))
    return parts


def dead_kpi(sight: Sight) -> Kpi:
    """Dead letters nobody has handled."""
    dead, limit = sight.now.dead_open, sight.limits.dead
    alarm = dead > limit
    change, span = _change(sight.curves, "dead", dead)
    moved = _moved(round(change), span)
    parts = [_("limit {n}").format(n=text.count(limit)) if alarm else "", moved]
    above = _("above limit {n}").format(n=text.count(limit)) if alarm else ""
    return Kpi(
        value=text.count(dead),
        calm=not dead,
        context=" · ".join(part for part in parts if part),
        alarm=alarm,
        sentence=_say(_("Dead letters"), text.count(dead), above, moved),
    )


def _moved(change: int, span: str) -> str:
    if not span:
        return ""
    if change > 0:
        return _("up {n} in {span}").format(n=text.count(change), span=span)
    if change < 0:
        return _("down {n} in {span}").format(n=text.count(-change), span=span)
    return _("unchanged in {span}").format(span=span)


def success_kpi(sight: Sight) -> Kpi:
    """The share of good ends in the last hour."""
    good, bad = sight.now.succeeded_1h, sight.now.failed_1h
    target = text.percent(sight.limits.success)
    if not good + bad:
        return Kpi(
            value="–",
            context=_("nothing ended in 1 h"),
            sentence=_say(_("Success rate, 1 h"), "", "", _("nothing ended in 1 h")),
        )
    share = good / (good + bad)
    value, _space, unit = text.percent(share).partition(text.THIN)
    alarm = share < sight.limits.success
    done = ngettext("{n} ended", "{n} ended", good + bad).format(n=text.count(good + bad))
    if since := sight.now.ended_since_ms:  # of a busy fleet this program has not seen all of the hour yet
        done = _("since {at}").format(at=shown.minute(since, sight.now.at_ms))
    context = " · ".join((_("target {share}").format(share=target), done))
    below = _("below target {share}").format(share=target) if alarm else ""
    return Kpi(
        value=value,
        unit=unit,
        context=context,
        alarm=alarm,
        sentence=_say(_("Success rate, 1 h"), value + unit, below, done),
    )


def oldest_kpi(sight: Sight) -> Kpi:
    """How long the oldest task has waited, and whose it is."""
    waited = sight.now.oldest_waiting_ms
    if waited is not None and sight.at_ms:
        waited = max(0, waited + sight.at_ms - sight.now.at_ms)
    if waited is None:
        return Kpi(
            value="–", context=_("nothing waits"), sentence=_say(_("Oldest waiting"), "", "", _("nothing waits"))
        )
    span = shown.span(waited)
    on_purpose = sight.now.flow.facts.on_purpose
    alarm = not on_purpose and span.total_seconds() > sight.limits.oldest_s
    limit = plain = _("limit {n}").format(n=_limit_span(sight.limits.oldest_s))
    ahead = sight.now.flow.estimate
    if on_purpose:
        limit = _("held on purpose")
    elif not alarm and ahead is not None and ahead.low_s > sight.limits.oldest_s:  # the last of them waits so long
        limit = _("limit {n}, will be passed").format(n=_limit_span(sight.limits.oldest_s))
    shop = safe.one_line(sight.now.oldest_waiting_shop or "", 60)
    parts = [limit, elide.middle(shop, 16)]
    value = text.duration(span)
    above = _("above limit {n}").format(n=_limit_span(sight.limits.oldest_s)) if alarm else ""
    context = " · ".join(part for part in parts if part)
    told = above or (limit if limit != plain else "")
    return Kpi(value=value, context=context, alarm=alarm, sentence=_say(_("Oldest waiting"), value, told, shop))


def _limit_span(seconds: int) -> str:
    return text.coarse(timedelta(seconds=seconds))


def _say(label: str, value: str, *rest: str) -> str:
    """One sentence for screen readers."""
    return text.listed(part for part in (f"{label} {value}".strip(), *rest) if part)


def _column(name: str) -> Callable[[Sight], Curve]:
    def curve(sight: Sight) -> Curve:
        return Curve(sight.curves[name], base=0.0)

    return curve


def ready_curve(sight: Sight) -> Curve:
    """What the tile counts: also what is recorded and not sent, and while the broker tells nothing."""
    return Curve(sight.curves["waiting"], limit=sight.limits.waiting, base=0.0)


def unacked_curve(sight: Sight) -> Curve:
    """Held deliveries against the slots."""
    return Curve(sight.curves["unacked"], limit=float(sight.now.slots_total) or None, base=0.0)


def dead_curve(sight: Sight) -> Curve:
    """Open dead letters."""
    return Curve(sight.curves["dead"], limit=sight.limits.dead, base=0.0)


def success_curve(sight: Sight) -> Curve:
    """The share of good ends in the five minutes before each point."""
    return Curve(filled(success(sight.curves, SUCCESS_WINDOW_S)), limit=sight.limits.success)


def oldest_curve(sight: Sight) -> Curve:
    """The age of the oldest task in seconds."""
    return Curve(sight.curves["oldest_waiting_s"], limit=sight.limits.oldest_s, base=0.0)


WAITING = "status:waiting"
SLOTS = N_("Its limit is the number of slots, which is set on Workers")
TILES: tuple[TileSpec, ...] = (
    TileSpec(
        "ready",
        N_("Waiting"),
        "ph.circle-dashed",
        "waiting",
        "retrying",
        WAITING,
        "lane_depth",
        ready_kpi,
        ready_curve,
        "waiting",
        N_(
            "Tasks that have not begun, by their records: in queues (broker: ready), parked at a gate, or recorded and"
            " not sent yet. The curves below are counted by the broker, at another moment."
        ),
    ),
    TileSpec(
        "unacked",
        N_("With workers"),
        "ph.tray",
        "running",
        "running",
        "workers",
        "unacked_age",
        unacked_kpi,
        unacked_curve,
        tip=N_(
            "Messages that workers hold and have not settled (broker: unacked); fetched ahead is what the broker calls"
            " prefetched."
        ),
        no_limit=SLOTS,
    ),
    TileSpec(
        "running",
        N_("Running"),
        "ph.play-circle-fill",
        "running",
        "running",
        "status:running",
        "running_long",
        running_kpi,
        _column("running"),
        tip=N_("Tasks that a worker is at work on now, each in one of its slots."),
        no_limit=SLOTS,
    ),
    TileSpec(
        "retrying",
        N_("Retrying"),
        "ph.arrow-clockwise-bold",
        "retrying",
        "retrying",
        "status:retrying",
        "failure_rate",
        retrying_kpi,
        _column("retrying"),
        tip=N_("Tasks that failed and wait for their next attempt, by the length of that wait (broker: delay queues)."),
        no_limit=N_("How many may fail is a limit of Success rate"),
    ),
    TileSpec(
        "dead",
        N_("Dead letters"),
        "ph.x-circle-fill",
        "dead",
        "dead",
        "dead",
        "dead_letters",
        dead_kpi,
        dead_curve,
        "dead",
        N_("Tasks that are out of attempts and wait for a person (broker: dead-letter queue)."),
    ),
    TileSpec(
        "success",
        N_("Success rate, 1 h"),
        "ph.check-circle",
        "succeeded",
        "retrying",
        "ended",
        "failure_rate",
        success_kpi,
        success_curve,
        "success",
        N_("Of the tasks that ended in the last hour, the share that succeeded."),
    ),
    TileSpec(
        "oldest",
        N_("Oldest waiting"),
        "ph.hourglass-medium",
        "waiting",
        "retrying",
        WAITING,
        "oldest_wait",
        oldest_kpi,
        oldest_curve,
        "oldest_s",
        N_("How long the oldest task has waited that has not begun."),
        counts_on=True,
    ),
)
