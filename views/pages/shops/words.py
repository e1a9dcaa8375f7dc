"""Limits, pauses and breakers in words. Pure but for the language."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from zoneinfo import ZoneInfo

from services import messages
from services.commands.quiet import QuietNow
from services.domain.fleet.shop import SCOPE_ALL
from services.domain.gates import limit
from services.domain.gates.breaker import Breaker, Rule
from services.domain.gates.limit import LimitNow
from services.domain.gates.session import ClosedSession
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.i18n import N_, _, ngettext
from services.monitor.shops.queries import ALL, BREAKER, PAUSED, SESSION, ScopeRow, ShopRow, ShopsNow
from services.monitor.works import TypeRow
from views.support import safe, shown, text
from views.support.words import kinds, shop, type_names
from views.support.words.shop import platform_name

NOT_COUNTED = -1


def name(row: ShopRow) -> str:
    """The name of a shop, else its id."""
    return safe.one_line(row.shop.called, 80)


def failures(one: Breaker) -> str:
    """How many of the last attempts failed."""
    return _("{failed} of {of} failed").format(failed=one.failed, of=len(one.outcomes))


def next_try(one: Breaker, now_ms: int) -> str:
    """When a task may try whether the shop works again."""
    if one.until <= now_ms:
        return _("one task may try now")
    return _("next try {when}").format(when=text.until(shown.span(one.until - now_ms)))


def last_failure(one: Breaker) -> str:
    """Why the last attempt failed, and how often the breaker opened in a row."""
    times = ngettext("stopped once", "stopped {n} times in a row", one.times).format(n=one.times)
    return text.listed([part for part in (kinds.title(one.kind) or one.kind, times) if part])


def rule(found: Rule) -> str:
    """When breakers open."""
    if not found.failures:
        return _("Breakers are off: a shop that fails goes on trying.")
    return _("A shop waits when {failures} of its last {of} attempts failed; it tries again after {span}.").format(
        failures=found.failures, of=found.of, span=text.seconds(shown.span(found.cooldown_s * 1000))
    )


def is_paused(row: ShopRow) -> bool:
    """Whether its own pause switch is closed; those of its platform or of everything are others."""
    return any((pause.gate, pause.scope) == (PAUSED, f"shop:{row.key}") for pause in row.now.pauses)


def paused_scope(row: ShopRow, scope: str) -> str:
    """What a pause of this shop covers."""
    return name(row) if scope.startswith("shop:") else shown.scope_name(scope)


def asks_for(now: ShopNow, at_ms: int) -> str:
    """What a shop waits for and how long already."""
    return next((shop.said(one) for one in insight.reasons(now, at_ms) if one.code in insight.ASKS), "")


def told_by(one: ClosedSession) -> str:
    """Who or what said that somebody must log in."""
    if one.by:
        who = _("said by {who}").format(who=safe.one_line(messages.noted(one.by), 60))
        return text.listed([part for part in (who, safe.one_line(messages.noted(one.note), 120)) if part])
    return _("told by {task}").format(task=one.task_id) if one.task_id else ""


def login_age(row: ShopRow, now_ms: int) -> str:
    """How long ago somebody logged it in, "" where that is not known."""
    return since(row.login.at, now_ms) if row.login is not None else ""


def since(at_ms: int, now_ms: int) -> str:
    """How long ago, "" for never."""
    return _("{span} ago").format(span=text.coarse(shown.span(max(0, now_ms - at_ms)))) if at_ms else ""


def share(row: ShopRow) -> str:
    """How much of what ended in a day succeeded, "" where nothing ended."""
    found = row.now.success_share
    return "" if found is None else text.percent(found)


def ends(row: ShopRow) -> str:
    """How many ended in a day, and how many well."""
    said = ngettext("{well} of {n} that ended succeeded", "{well} of {n} that ended succeeded", row.now.ended)
    return said.format(well=text.count(row.now.ended_well), n=text.count(row.now.ended)) if row.now.ended else ""


def next_run(row: ShopRow, now_ms: int) -> str:
    """When something planned comes, "" where nothing is planned."""
    if row.next is None:
        return ""
    soon = text.until(shown.span(max(0, row.next.at - now_ms)))
    return _("later than {when}").format(when=soon) if row.next.later else soon


def next_told(row: ShopRow, now_ms: int) -> str:
    """When, what, and by which schedule."""
    if row.next is None or row.next.later:
        return ""
    at, kind, schedule, _later = row.next
    when = shown.minute(at, now_ms)
    return text.listed([part for part in (when, type_names.name(kind), safe.one_line(schedule, 60)) if part])


def ran(row: TypeRow, now_ms: int) -> str:
    """When a type of a shop succeeded last and by whom, when it failed last, and when it would run next."""
    parts: list[str] = []
    if row.done is not None:
        parts.append(_("ran {when} by {who}").format(when=since(row.done.at, now_ms), who=messages.noted(row.done.by)))
    if row.failed is not None:
        parts.append(_("failed {when}").format(when=since(row.failed.at, now_ms)))
    if row.planned is not None:
        parts.append(_("next {when}").format(when=text.until(shown.span(max(0, row.planned.at - now_ms)))))
    return text.listed(parts)


#: what nobody has to be told in words: its numbers stand beside it
_CALM = frozenset({insight.RUNNING, insight.WAITING, insight.HEALTHY, insight.IDLE})


def reason(row: ShopRow, now_ms: int) -> str:
    """What keeps its tasks from running or needs a person, the decisive first; "" for a shop that works."""
    told = insight.reasons(row.now, now_ms)
    if row.now.state in _CALM and told[0].code != "shop.off":
        told = told[1:]
    return text.listed(messages.in_one(told, shop.said), ";")


def used(running: int, most: int) -> str:
    """``3 / 5``, without a limit the number alone, and nothing where nobody counts."""
    if running == NOT_COUNTED:
        return "–"
    return f"{text.count(running)} / {text.count(most)}" if most else text.count(running)


def scope_name(row: ScopeRow) -> str:
    """The name of a platform or of a task type."""
    head, _colon, found = row.key.partition(":")
    if head == limit.TYPE:
        return type_names.name(found)
    return platform_name(found)


def scope_kind(row: ScopeRow) -> str:
    """What it is."""
    return _("Task type") if row.key.startswith(f"{limit.TYPE}:") else _("Platform")


def rules(
    row: ShopRow, types: Collection[str], limits: Iterable[ScopeRow], quiet: Iterable[QuietNow], zone: str, now_ms: int
) -> list[tuple[str, str]]:
    """What holds for a shop and these types of it besides its own number: each limit, and each quiet hours, which are
    meant in ``zone``.
    """
    platform = f"{limit.PLATFORM}:{row.shop.platform}"
    of_types = {f"{limit.TYPE}:{name}" for name in types}
    own, found = f"shop:{row.key}", list[tuple[str, str]]()
    for one in limits:
        if one.key in {platform, *of_types}:
            found += _limits(one)
    for hours in quiet:
        scope = hours.hours.scope
        if scope == own:
            found.append((_("Quiet hours of this shop"), _quiet_times(hours, zone, now_ms)))
        elif scope in {platform, SCOPE_ALL, *of_types}:
            name = _("Quiet hours, {name}").format(name=shown.scope_name(scope))
            found.append((name, _quiet_times(hours, zone, now_ms)))
    if not any(hours.hours.scope == own for hours in quiet):
        found.append((_("Quiet hours of this shop"), _("none")))
    return found


def _limits(one: ScopeRow) -> Iterator[tuple[str, str]]:
    set_, name = one.now.limit, scope_name(one)
    if set_.concurrency:
        yield _("{name}, at once").format(name=name), used(one.now.running, set_.concurrency)
    if set_.per_minute:
        yield _("{name}, a minute").format(name=name), used(one.now.started, set_.per_minute)


def _quiet_times(one: QuietNow, zone: str, now_ms: int) -> str:
    """When they hold, and until when where that is now; in their own zone, which is named where it is another one."""
    there, now = ZoneInfo(zone), shown.moment(now_ms)
    begin_end = ((part.start, part.end) for part in one.hours.once if part.end > now_ms)
    when = [text.weekly(part.days, part.start, part.end) for part in one.hours.weekly]
    when += [" – ".join(text.minute(shown.moment(at), now, there) for at in both) for both in begin_end]
    if one.holds or 0 < one.begins <= now_ms < one.ends:
        when.insert(0, _("now, until {time}").format(time=text.minute(shown.moment(one.ends), now, there)))
    said = text.listed(when, ";") or _("over")
    return said if str(shown.zone()) == zone else f"{said} ({zone})"


def resets(row: ScopeRow, now_ms: int) -> str:
    """When the next start is free again, "" where one is free now, or would be of no use: nothing of it may start."""
    found = row.now
    spent = 0 < found.limit.per_minute <= found.started + found.promised
    if not spent or not found.resets_at or row.pause is not None or row.quiet is not None:
        return ""
    return text.until(shown.span(found.resets_at - now_ms))


def at_gate(found: LimitNow) -> str:
    """How many shops and types wait at this limit."""
    if not found.waiting:
        return ""
    return ngettext("{n} shop waits", "{n} shops wait", found.waiting).format(n=text.count(found.waiting))


def moves_back(number: int) -> str:
    """What becomes of so many tasks of shops that give their queues up."""
    said = ngettext(
        "{n} task moves back to its lane, where it waits with those of other shops.",
        "{n} tasks move back to their lanes, where they wait with those of other shops.",
        number,
    )
    return said.format(n=text.count(number))


def moves_there(number: int) -> str:
    """What becomes of so many tasks of shops that get queues of their own."""
    said = ngettext("{n} task moves to the queue of its shop.", "{n} tasks move to the queues of their shops.", number)
    return said.format(n=text.count(number))


def only(number: int) -> str:
    """So many shops are looked at, which were chosen elsewhere; a click shows all again."""
    return ngettext("Only {n} chosen shop", "Only {n} chosen shops", number).format(n=text.count(number))


def summary(found: ShopsNow, loaded: int) -> str:
    """The page's line over the shops, of which the table has loaded so many."""
    number = found.numbers.get(ALL, 0)
    parts = [ngettext("{n} shop", "{n} shops", number).format(n=text.count(number))]
    if found.fitting is not None:
        words = ngettext("{n} of {total} shop matches", "{n} of {total} shops match", number)
        parts = [words.format(n=text.count(len(found.rows)), total=text.count(number))]
    if asking := found.numbers.get(SESSION, 0):
        parts.append(ngettext("{n} needs a login", "{n} need a login", asking).format(n=text.count(asking)))
    if held := found.numbers.get(BREAKER, 0):
        parts.append(ngettext("{n} fails too often", "{n} fail too often", held).format(n=text.count(held)))
    if paused := found.paused:
        parts.append(ngettext("{n} paused", "{n} paused", paused).format(n=text.count(paused)))
    for pause, waiting in found.types:
        words = ngettext("{n} waits: {type} is paused by {who}", "{n} wait: {type} is paused by {who}", waiting)
        kind = type_names.name(pause.scope.partition(":")[2])
        parts.append(words.format(n=text.count(waiting), type=kind, who=safe.one_line(pause.by, 60)))
    if loaded < len(found.rows):
        parts.append(_("the first {n} loaded").format(n=text.count(loaded)))
    return text.listed(parts)


def scopes_summary(rows: tuple[ScopeRow, ...]) -> str:
    """The page's line over the limits."""
    limited = sum(row.now.limit.limits for row in rows)
    full = sum(row.now.full for row in rows)
    if not limited:
        return _("No limit is set")
    told = [ngettext("{n} limit set", "{n} limits set", limited).format(n=limited)]
    if full:
        told.append(ngettext("{n} reached", "{n} reached", full).format(n=full))
    return text.listed(told)


def sentence(row: ShopRow) -> str:
    """A shop for a screen reader."""
    waits = ngettext("{n} waiting", "{n} waiting", row.now.waiting).format(n=row.now.waiting)
    return text.listed((name(row), platform_name(row.shop.platform), shop.state(row.now), waits))


def scope_sentence(row: ScopeRow) -> str:
    """A limit for a screen reader."""
    runs = used(row.now.running, row.now.limit.concurrency)
    held = [_(source) for one, source in ((row.pause, N_("Paused")), (row.quiet, N_("Quiet hours"))) if one is not None]
    return text.listed((scope_kind(row), scope_name(row), *held, runs, at_gate(row.now)))
