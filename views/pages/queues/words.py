"""Queues in words."""

from __future__ import annotations

from datetime import timedelta

from services.domain.insight import queue as insight
from services.i18n import N_, _, ngettext
from services.messages import noted
from services.monitor.queues.board import DEAD_KIND, DELAY, LANE, SHOP, QueueNow, QueuesNow
from views.support import safe, shown, text
from views.theme.tokens import LANES

LANES_GROUP, SHOPS_GROUP, REST_GROUP = "lanes", "shops", "rest"
GROUPS = (
    (LANES_GROUP, N_("Lanes")),
    (SHOPS_GROUP, N_("Queues of single shops")),
    (REST_GROUP, N_("Back-off and dead letters")),
)
#: glyph and colour of a state (a status name), and its word
STATES: dict[str, tuple[str, str]] = {
    insight.BLOCKED: ("blocked", N_("publisher blocked")),
    insight.STUCK: ("stuck", N_("stuck")),
    insight.FILLING: ("warning", N_("fills faster than it drains")),
    insight.PAUSED: ("paused", N_("paused")),
    insight.NO_CONSUMER: ("warning", N_("no consumer")),
    insight.RUNNING: ("", N_("running")),
    insight.EMPTY: ("", N_("empty")),
    insight.UNKNOWN: ("unknown", N_("not known")),
    insight.WAITS: ("", N_("waits for the next attempt")),
    insight.TRIAGE: ("dead", N_("waits for a person")),
}
#: what each state means, and what helps
MEANINGS: dict[str, str] = {
    insight.BLOCKED: N_("The broker takes no messages now; what is recorded is sent when it does. Nothing is lost."),
    insight.STUCK: N_("Nothing has left it for minutes, and its first task waits half an hour or longer."),
    insight.FILLING: N_("More comes in than goes out: more slots help, or less that fills it."),
    insight.PAUSED: N_("Somebody has paused all of it; running tasks go on."),
    insight.NO_CONSUMER: N_("No worker takes from it: start one that serves it."),
}


def group_of(row: QueueNow) -> str:
    """The group in which it stands."""
    return {LANE: LANES_GROUP, SHOP: SHOPS_GROUP}.get(row.kind, REST_GROUP)


def look(row: QueueNow) -> tuple[str, str]:
    """Glyph and colour role of a queue."""
    if row.kind == LANE:
        token = LANES[row.lane]
        return token.glyph, token.role
    if row.kind == SHOP:
        return LANES["dedicated"].glyph, LANES["dedicated"].role
    return ("ph.arrow-clockwise-bold", "retrying") if row.kind == DELAY else ("ph.x-circle-fill", "dead")


def note(row: QueueNow) -> str:
    """What stands behind the name."""
    if row.kind == LANE:
        return _("lane {lane}").format(lane=shown.lane_word(row.lane).lower())
    if row.kind == SHOP:
        name = title(row)
        return _("{shop}, leaves it").format(shop=name) if row.leaving else name
    return _("back to its own lane") if row.kind == DELAY else _("waits for a person")


def hint(row: QueueNow) -> str:
    """The whole of a name and of what stands behind it; of a lane also where some of its tasks may be."""
    lines = [row.name, note(row)]
    if row.apart:
        lines.append(
            _("Tasks of shops with a queue of their own wait there; at gates and in the list they count here, too.")
        )
    return "\n".join(lines)


def title(row: QueueNow) -> str:
    """What the shop of a queue is called."""
    return safe.one_line(row.title or row.shop, 60)


def paused_scope(row: QueueNow, scope: str) -> str:
    """What a pause of this queue covers."""
    return title(row) if scope.startswith("shop:") else shown.scope_name(scope)


def number(value: int | None) -> str:
    """A number, a dash where there is none."""
    return "–" if value is None else text.count(value)


def rate(row: QueueNow, value: float) -> str:
    """Tasks a second, or a minute where they are few."""
    return text.rate(value) if row.flow.known and row.kind != DELAY else "–"


def trend(row: QueueNow) -> str:
    """By how much it grows."""
    if row.kind == DELAY or row.flow.known_s < insight.KNOWN_S:
        return ""
    grown = row.flow.trend
    if not grown:
        return _("steady")
    size = f"{abs(grown):.1f}" if abs(grown) < 1 else text.count(round(abs(grown)))
    return _("+{n}/min").format(n=size) if grown > 0 else _("−{n}/min").format(n=size)


def trend_tone(row: QueueNow) -> str:
    """Growing is a warning where something waits, shrinking is good."""
    grown = row.flow.trend
    if row.kind == DEAD_KIND:
        return "retrying" if grown > 0 else "text3"
    return "text3" if not grown else "retrying" if grown > 0 and row.depth else "succeeded" if grown < 0 else "text3"


def drained(row: QueueNow) -> str:
    """In how long it is empty."""
    if row.kind == DELAY:
        return _("at most {span}").format(span=text.exact(timedelta(seconds=row.delay_s)))
    if row.kind == DEAD_KIND or not row.ready:
        return ""
    if not row.drains:
        return _("not draining")
    seconds = row.drained_s
    return "" if seconds is None else text.duration(timedelta(seconds=seconds))


def oldest(row: QueueNow, now_ms: int) -> str:
    """How long the first in it waits."""
    return text.duration(shown.span(max(0, now_ms - row.oldest_at))) if row.oldest_at and row.depth else ""


def state(row: QueueNow) -> str:
    """The worst that is the matter with it."""
    if row.state == insight.TRIAGE:
        return _("Triage {n}").format(n=number(row.ready))
    return _(STATES[row.state][1])


def state_tip(row: QueueNow) -> str:
    """Everything that is the matter."""
    found = [f"{_(STATES[one][1])}: {_(MEANINGS[one])}" for one in row.wrong]
    found += [
        _("Paused: {what}, by {who}").format(what=shown.scope_name(one.scope), who=safe.one_line(noted(one.by), 60))
        for one in row.pauses
    ]
    return "\n".join(found) or state(row)


def sentence(row: QueueNow, now_ms: int) -> str:
    """The row for a screen reader."""
    parts = [row.name, note(row), _("{n} ready").format(n=number(row.ready)), state(row)]
    parts += [_("oldest {span}").format(span=old)] if (old := oldest(row, now_ms)) else []
    return text.listed(parts)


def summary(now: QueuesNow) -> str:
    """The one line of the page."""
    if not now.at_ms:
        return _("Loading…")
    if not now.told:
        return _("The broker does not answer: what waits there is not known.")
    parts = [_("{n} ready").format(n=text.count(now.ready))]
    if now.skipped:
        parts.append(_("{n} of them without a task that waits").format(n=text.count(now.skipped)))
    back = sum(row.ready or 0 for row in now.rows if row.kind == DELAY)
    parts.append(_("{n} in back-off").format(n=text.count(back)))
    parts.append(_("{n} with workers").format(n=text.count(now.held)))
    dead = next((row.ready or 0 for row in now.rows if row.kind == DEAD_KIND), 0)
    parts.append(ngettext("{n} dead letter", "{n} dead letters", dead).format(n=text.count(dead)))
    return text.listed(parts)


def facts(row: QueueNow) -> str:
    """What stands beside its name in the panel."""
    parts = [note(row)]
    if row.kind in (LANE, SHOP):
        parts.append(_("{n} at gates").format(n=text.count(row.parked)))
        parts.append(_("{n} with workers").format(n=number(row.unacked)))
        parts.append(
            ngettext("{n} consumer", "{n} consumers", row.consumers).format(n=text.count(row.consumers))
            if row.consumers is not None
            else _("consumers not known")
        )
    return text.listed(parts)
