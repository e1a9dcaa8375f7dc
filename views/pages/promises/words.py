"""Promises in words: what is promised, how it stands, what holds it and who can act. Pure but for the language."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from services import messages
from services.called import PROMISE_WORDS
from services.domain.promises import promise as promises
from services.domain.promises.holds import short
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE, WORKER
from services.domain.promises.promise import AGE, Promise
from services.domain.promises.standing import Break, Row, SharedCause, Standing
from services.domain.text.message import Message, Param
from services.i18n import N_, _, ngettext
from services.monitor.promises import DISABLED, ORDER, UNJUDGED, MatrixRow, PromiseRow, PromisesNow
from views.dialogs.record import ALL, NAMED, SOME
from views.support import safe, shown, text
from views.support.words import type_names, way
from views.support.words.shop import platform_name
from views.tables.record_model import Heading, parted

#: so far away a time of day needs no day beside it
NEAR_MS = 12 * 3_600_000
#: the status whose glyph and colour a state has
GLYPHS: Mapping[str, str] = {
    BROKEN: "dead",
    AT_RISK: "warning",
    KEPT: "succeeded",
    NOT_DUE: "waiting",
    UNJUDGED: "unconfirmed",
    DISABLED: "paused",
}
CHECKS: Mapping[str, str] = {
    "created": N_("Created"),
    "gates": N_("Gates"),
    "login": N_("Login"),
    "worker": N_("Worker"),
    "page": N_("Page"),
}
#: shops that break so near to the first one are one group with it, and with the first of all
TOGETHER_MS, FIRST_MS = 15 * 60_000, 60_000
#: causes that a row of the list names
MOST_NAMED = 3


class Two(NamedTuple):
    """Two lines of a cell, each with its tone."""

    first: str
    second: str = ""
    tone: str = "text"
    tone2: str = "text3"

    @property
    def line(self) -> str:
        """Both as one line, for copies and screen readers."""
        return text.listed([part for part in (self.first, self.second) if part])


# ------------------------------------------------------------------------------------------------- what is promised
def say(message: Message) -> str:
    """A sentence of the services, with types, platforms and days as people call them."""
    params: dict[str, Param] = dict(message.params)
    if "type" in params:
        params["type"] = type_names.name(str(params["type"]))
    if "platforms" in params:
        params["platforms"] = text.listed(platform_name(one) for one in str(params["platforms"]).split(", "))
    if "days" in params:
        params["days"] = text.days(promises.days(str(params["days"])))
    for name in ("by", "reason"):
        if name in params and message.code.startswith(("promise.paused", "promise.quiet")):
            params[name] = safe.one_line(messages.noted(str(params[name])), 80)
    return shown.say(Message(message.code, params))


def sentence(promise: Promise) -> str:
    """What is promised, of whom, and when, in one line."""
    return text.listed(say(part) for part in promises.sentence(promise))


def in_fields(kind: str, choice: str, *, new: bool) -> tuple[str, ...]:
    """The same as sentences, each part of it in braces: where its field stands. ``choice``: of shops."""
    ages = kind == AGE
    whom = {
        ALL: _("In {choice}"),
        SOME: _("In {choice} of {platform} in {group}"),
        NAMED: _("In {choice}: {shop}"),
    }
    return (
        _("Call it {name}") if new else _("It is called {name}"),
        whom[choice],
        _("{type} shall be {kind} {limit}") if ages else _("{type} shall be {kind} {by}"),
        _("It holds {hours} on {days}") if ages else _("What is done counts from {from} on {days}"),
        _("{owner} answers for it, with the note {note}"),
    )


def two(row: PromiseRow) -> Two:
    """What is promised, and below it of whom and when, its name, how many shops that is, and who answers for it."""
    what, *whom = map(say, promises.sentence(row.promise))
    return Two(what, text.listed([*whom, about(row)]))


def about(row: PromiseRow) -> str:
    """Its name, how many shops it is made for, and who answers for it."""
    parts = [row.name]
    if row.standing is not None:
        parts.append(shops(row.standing.total))
    parts += [safe.one_line(row.promise.owner, 40)] if row.promise.owner else []
    return text.listed(parts)


def shops(number: int) -> str:
    """``7 shops``."""
    return ngettext("{n} shop", "{n} shops", number).format(n=text.count(number))


# ---------------------------------------------------------------------------------------------------- how it stands
def state(name: str) -> str:
    """One of ``PROMISE_WORDS``."""
    return _(PROMISE_WORDS[name])


def rank(row: PromiseRow) -> tuple[int, int, str]:
    """The worst first, then what breaks first."""
    found = row.standing
    return ORDER.index(row.state), found.worst_break if found is not None else 0, row.name


def minute(at: int, now_ms: int) -> str:
    """``14:58``, with the day where it is another one."""
    return shown.minute(at, now_ms) if at else ""


def near(at: int, now_ms: int) -> str:
    """The same, without the day where that can be no other one: a break of the next hours must not be cut off."""
    if at and abs(at - now_ms) < NEAR_MS:
        return f"{shown.moment(at).astimezone(shown.zone()):%H:%M}"
    return minute(at, now_ms)


def span(milliseconds: float) -> str:
    """How long."""
    return text.coarse(shown.span(milliseconds))


def spread(found: Standing) -> str:
    """How far the forecast may be off."""
    return _("± {span}").format(span=text.coarse(max(timedelta(minutes=1), shown.span((found.high - found.low) / 2))))


def when(row: PromiseRow, now_ms: int) -> Two:
    """When it breaks or broke, or how near the limit it comes."""
    found = row.standing
    if row.state == DISABLED:
        return Two(state(DISABLED), tone="text3")
    if found is None:
        return Two(state(UNJUDGED), tone="text3")
    if row.stale:
        return Two(judged(row, now_ms), tone="retrying")
    if found.broken and found.rows:
        broken = _("broken {time}").format(time=near(found.rows[0].break_at, now_ms))
        return Two(broken, _age_of(row, found.rows[0].done_at, now_ms), "dead")
    if found.first_break:
        parts = [spread(found)] if found.mid else []
        at = _("breaks {time}").format(time=near(found.first_break, now_ms))
        return Two(at, text.listed([*parts, shops(found.first_shops)]), "retrying")
    return _calm_when(row, found, now_ms)


def _calm_when(row: PromiseRow, found: Standing, now_ms: int) -> Two:
    if not found.total:
        return Two(_("for no shop"), "", "retrying")
    if found.state == NOT_DUE:
        following = _("next {time}").format(time=minute(found.next, now_ms)) if found.next else ""
        return Two(_("not due now"), following, "text3")
    if found.mid and row.promise.kind == AGE and found.worst_at:
        limit = span(row.promise.limit_s * 1000)
        off = _("{spread} of {limit}").format(spread=spread(found), limit=limit)
        # said to be at risk only once it has stayed so for a while
        late = found.mid - found.worst_at > row.promise.limit_s * 1000
        return Two(span(found.mid - found.worst_at), off, "retrying" if late else "text")
    if found.mid:
        return Two(_("done {time}").format(time=near(found.mid, now_ms)), spread(found))
    return Two(_("met")) if row.promise.kind != AGE else Two("")


def _age_of(row: PromiseRow, done_at: int, now_ms: int) -> str:
    if row.promise.kind != AGE or not done_at:
        return ""
    limit = span(row.promise.limit_s * 1000)
    return _("{age} of {limit}").format(age=span(now_ms - done_at), limit=limit)


def judged(row: PromiseRow, now_ms: int) -> str:
    """How old the judgement is; of one that is too old when it was made."""
    found = row.standing
    if found is None:
        return state(row.state)
    if row.stale:
        return _("judged at {time}").format(time=shown.clock(found.judged_at, now_ms))
    return _("judged {span} ago").format(span=text.seconds(shown.span(max(0, now_ms - found.judged_at))))


def strip(found: Standing) -> str:
    """The strip of a day in words."""
    broken = sum(state == BROKEN for _at, state in found.strip)
    risky = sum(state == AT_RISK for _at, state in found.strip)
    parts = []
    if broken:
        parts.append(ngettext("broken in {n} half hour", "broken in {n} half hours", broken).format(n=broken))
    if risky:
        parts.append(ngettext("at risk in {n} half hour", "at risk in {n} half hours", risky).format(n=risky))
    return text.listed(parts) or _("never at risk or broken in the last 24 hours")


# ---------------------------------------------------------------------------------------------------- what holds it
def holds(row: PromiseRow) -> Two:
    """What holds most of its shops, several in a few words each, and who can act."""
    if row.stale or not row.holds:
        return Two("")
    first = row.holds[0]
    alone = len(row.holds) == 1
    told = [
        _("{n} × {what}").format(n=text.count(one.shops), what=say(one.message if alone else short(one.message)))
        for one in row.holds[:MOST_NAMED]
    ]
    more = len(row.holds) - MOST_NAMED
    if more > 0:
        told.append(ngettext("{n} more cause", "{n} more causes", more).format(n=more))
    return Two(text.listed(told, ";"), who(first))


def holds_whole(row: PromiseRow) -> str:
    """All that holds its shops, a line each with who can act."""
    if row.stale:
        return ""
    each = _("{n} × {what}")
    lines = (each.format(n=text.count(one.shops), what=text.listed([say(one.message), who(one)])) for one in row.holds)
    return "\n".join(lines)


def who(one: SharedCause | Row) -> str:
    """Who can act: a person, else a role."""
    if one.who:
        return safe.one_line(messages.noted(one.who), 60)
    return shown.told(Message(one.role)) if one.role else ""


def verb(one: SharedCause | Row) -> str:
    """What helps, "" for nothing; for whom a report is stands beside it."""
    if one.verb.startswith("copy_"):
        return _("Copy report")
    return way.label(one.verb, one.target) if one.verb else ""


def held_by(one: MatrixRow) -> str:
    """What holds a shop."""
    return say(one.held_by) if one.held_by is not None else ""


def groups(rows: Sequence[MatrixRow]) -> dict[str, int]:
    """Which shops break together: those of one number, by shop."""
    found: dict[str, int] = {}
    begin = rows[0].row if rows else None
    number = 0
    for one in rows:
        # the first to break are those of the headline
        within = TOGETHER_MS if number else FIRST_MS
        if begin is not None and (begin.state != one.row.state or abs(one.row.break_at - begin.break_at) >= within):
            begin, number = one.row, number + 1
        found[one.row.shop] = number
    return found


def headings(rows: Sequence[MatrixRow], together: Mapping[str, int], now_ms: int) -> dict[Hashable, Heading]:
    """What stands above the first of each group, by its shop; nothing where all are one."""
    parts = parted(rows, lambda one: one.row.shop, together)
    return {part[0].row.shop: _heading(part, now_ms) for part in parts} if len(parts) > 1 else {}


def _heading(part: Sequence[MatrixRow], now_ms: int) -> Heading:
    times = [one.row.break_at for one in part]
    begin, end = near(min(times), now_ms), near(max(times), now_ms)
    states, held = {one.row.state for one in part}, {held_by(one) for one in part}
    broken = states == {BROKEN}
    if begin == end:
        title = (_("Broken since {time}") if broken else _("Breaks at {time}")).format(time=begin)
    else:
        span_ = _("Broken since {begin} to {end}") if broken else _("Break from {begin} to {end}")
        title = span_.format(begin=begin, end=end)
    told = [shops(len(part))]
    if len(part) > 1 and len(held) == 1 and (what := held.pop()):
        told.append(_("all held by: {what}").format(what=what))
    return Heading(title, text.listed(told))


def headline(row: PromiseRow, now_ms: int) -> str:
    """What comes, or has come, and when."""
    found = row.standing
    if found is None or row.stale:
        return ""
    if found.broken and found.rows:
        told = _("Broken since {time} in {shops}, held by")
        if found.at_risk:  # what follows counts those as well
            told = _("Broken since {time} in {shops}, at risk in {n} more, held by")
        since, more = minute(found.rows[0].break_at, now_ms), text.count(found.at_risk)
        return told.format(time=since, shops=shops(found.broken), n=more)
    if found.first_break:
        told = _("Breaks at {time} in {shops}, in {span}, held by")
        left = shown.span(max(0, found.first_break - now_ms))
        at = minute(found.first_break, now_ms)
        return told.format(time=at, shops=shops(found.first_shops), span=text.seconds(left))
    return ""


def calm(row: PromiseRow, now_ms: int) -> str:
    """What there is to say of one that nothing threatens."""
    found = row.standing
    if row.state == DISABLED:
        return _("It is switched off: nobody judges it.")
    if found is None:
        return _("It was made or changed a moment ago; it is judged every 15 seconds by whoever leads.")
    if row.stale:
        return unjudged(found, now_ms)
    if not found.total:
        return _("No shop that is enabled fits it.")
    if found.state == NOT_DUE:
        if not found.next:
            return _("Nothing is due now.")
        return _("Nothing is due now; next {time}.").format(time=minute(found.next, now_ms))
    return _("Kept in {shops}.").format(shops=shops(found.kept))


def unjudged(found: Standing, now_ms: int) -> str:
    """Since when nobody judges it."""
    return _("Nobody has judged it since {time}: no worker leads.").format(time=shown.clock(found.judged_at, now_ms))


def broke(one: Break, now_ms: int) -> tuple[str, str, str]:
    """One break: when, in how many shops for how long, and its tone; what held it stands behind."""
    until = one.until or now_ms
    parts = [shops(one.shops), span(until - one.at) if one.until else _("still")]
    if one.code:
        parts.append(say(Message(one.code, one.params)))
    if one.warned_at and one.warned_at < one.at:
        parts.append(_("said {span} before").format(span=span(one.at - one.warned_at)))
    return minute(one.at, now_ms), text.listed(parts), "text2" if one.until else "dead"


def kept(found: Standing, since_ms: int, now_ms: int) -> str:
    """How often and how long it was broken since then, as far as that is recorded."""
    broken = [one for one in found.breaks if (one.until or now_ms) > since_ms]
    if not broken:
        return _("No break is recorded in this time.")
    number = ngettext("{n} break", "{n} breaks", len(broken)).format(n=text.count(len(broken)))
    lasted = sum((one.until or now_ms) - max(one.at, since_ms) for one in broken)
    most = shops(max(one.shops for one in broken))
    return _("{breaks}, {span} in all, at most {shops} at once").format(breaks=number, span=span(lasted), shops=most)


def measure(promise: Promise) -> tuple[int, str]:
    """Of the chart of what comes: what a number of its axis counts (seconds, or 1), and the words for it."""
    if promise.kind != AGE:
        return 1, _("Shops in which it is still to be done")
    if promise.limit_s >= 6 * 3600:
        return 3600, _("Age of the oldest success, hours")
    if promise.limit_s >= 300:
        return 60, _("Age of the oldest success, minutes")
    return 1, _("Age of the oldest success, seconds")


def ahead(found: Standing, now_ms: int) -> str:
    """What comes of it with what helps done now."""
    course = found.course
    if course is None:
        return _("No shop is at risk or broken: there is nothing to be done.")
    told = []
    if course.untold:
        untold = ngettext(
            "how soon {n} shop is done nobody can tell",
            "how soon {n} shops are done nobody can tell",
            course.untold,
        )
        told.append(untold.format(n=text.count(course.untold)))
    if not course.helped:
        if not told and any(one.check == WORKER for one in found.causes):
            told = [_("a worker brings it sooner, by how much nobody can tell")]
        told = told or [_("nothing that can be done at once brings it sooner")]
    elif course.breaks:
        late = ngettext(
            "with these done {n} shop still breaks, at {time}",
            "with these done {n} shops still break, the first at {time}",
            course.breaks,
        )
        told.append(late.format(n=text.count(course.breaks), time=near(course.breaks_at, now_ms)))
    elif course.kept_at:
        told.append(_("with these done it is kept in all shops by {time}").format(time=near(course.kept_at, now_ms)))
    if course.beyond:
        every = _("after that one comes every {span}, as it did so far").format(span=span(course.every_s * 1000))
        told.append(every if course.every_s else _("how soon one comes after that nobody can tell yet"))
    return text.listed(told, ";")


# ------------------------------------------------------------------------------------------------------ of the page
def summary(now: PromisesNow) -> str:
    """The page's line, with the first break."""
    if not now.rows:
        return _("Nothing is promised.")
    told: list[str] = []
    broken = sum(row.standing.broken for row in now.rows if row.standing is not None and not row.stale)
    if number := now.counts.get(BROKEN, 0):
        words = _("{n} broken in {shops}") if broken else _("{n} broken")
        told.append(words.format(n=text.count(number), shops=shops(broken)))
    for name, words in (
        (AT_RISK, _("{n} at risk")),
        (KEPT, _("{n} kept")),
        (NOT_DUE, _("{n} not due")),
        (UNJUDGED, _("{n} not judged yet")),
        (DISABLED, _("{n} disabled")),
    ):
        if number := now.counts.get(name, 0):
            told.append(words.format(n=text.count(number)))
    first = now.first_break
    if first is None or first.standing is None:
        return text.listed(told)
    found = first.standing
    breaks = _("the first to break at {time}: {shops} of {name}")
    at = minute(found.first_break, now.at_ms)
    told_first = breaks.format(time=at, shops=shops(found.first_shops), name=first.name)
    return text.listed([text.listed(told), told_first], ";")


def row_sentence(row: PromiseRow) -> str:
    """A promise for a screen reader."""
    return text.listed((sentence(row.promise), state(row.state), holds(row).line))


def matrix_sentence(row: MatrixRow) -> str:
    """A shop for a screen reader."""
    return text.listed((row.name, state(row.row.state), held_by(row)))


def cell(check: str, value: str, row: MatrixRow) -> str:
    """A cell of the matrix in words."""
    name = _(CHECKS[check])
    if value == "holds":
        return _("{name}: {value}").format(name=name, value=held_by(row))
    return _("{name}: {value}").format(name=name, value=_("passed") if value else _("not reached"))
