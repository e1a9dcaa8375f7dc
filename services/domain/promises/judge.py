"""Whether a promise is kept in a shop: from its last success, when the next one is expected, and what holds that back.

At risk is said before the breach: where it is nearly sure by the forecast; from a quarter of an hour to ten minutes
before it, while there is time to act, where it is much likelier than not, or only likelier once no more time is left to
see how it goes, and so to the end where nobody has created what is needed; where nobody can tell an end; and in the
last minute where it is likelier than not. Nothing excuses: a pause or quiet hours are only named as the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.promises import promise as promises
from services.domain.promises.promise import AGE, Promise
from services.domain.task.ledger import Day, day_begins
from services.domain.text.message import Param

KEPT, AT_RISK, BROKEN, NOT_DUE = "kept", "at_risk", "broken", "not_due"
#: the worst first
STATES = (BROKEN, AT_RISK, KEPT, NOT_DUE)
CREATED, GATES, LOGIN, WORKER, PAGE = "created", "gates", "login", "worker", "page"
#: what a run passes from left to right: the first that is closed holds it
CHECKS = (CREATED, GATES, LOGIN, WORKER, PAGE)
#: so long before its end a promise that is not met yet is at risk where it is likelier to break than not
NEAR_MS, LIKELIER = 60_000, 0.5
#: from so long to so long before its end it is at risk where that is likely; earlier, and later, when who is told can
#: hardly do anything, only where it is nearly sure
LIKELY_MS, ACT_MS = 15 * 60_000, 10 * 60_000
LIKELY, NEARLY_SURE = 0.75, 0.95
#: that likely it has to be at the last moment from which on it can be believed in time
LIKELY_LAST = 0.55
#: so long a forecast has to pass the limit without a pause: each look sees it a little earlier or later
SURE_MS = 2 * 60_000
#: what was said to be at risk is well again when the forecast leaves this share of the time to its break
ROOM = 0.25
#: a shop in which the type never ran is not looked at before this last part of its first limit
FIRST_MS = 15 * 60_000
_DAY_MS = 86_400_000
_LOOK_MS = 9 * _DAY_MS  #: a weekly window is found within it


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """When the next success is there if nothing changes, UTC ms: eight of ten between ``low`` and ``high``."""

    low: int
    mid: int
    high: int

    def later_than(self, at: int) -> float:
        """How likely it is there only after an instant: between its three points as on straight lines."""
        early, late = max(1, self.mid - self.low), max(1, self.high - self.mid)
        if at < self.low:
            return min(1.0, 0.9 + 0.1 * (self.low - at) / early)
        if at < self.mid:
            return 0.9 - 0.4 * (at - self.low) / early
        if at < self.high:
            return 0.5 - 0.4 * (at - self.mid) / late
        return max(0.0, 0.1 - 0.1 * (at - self.high) / late)


class Hold(msgspec.Struct, frozen=True):
    """What holds a run back at one of the checks, and what helps."""

    check: str  #: one of ``CHECKS``
    code: str  #: its sentence
    params: Mapping[str, Param] = msgspec.field(default_factory=dict)
    who: str = ""  #: the person who closed it or looks after it, "" where only a role is known
    role: str = ""  #: code of who can act
    verb: str = ""  #: of the vocabulary of attention items
    target: str = ""  #: what the verb is about


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What was true of one shop when somebody looked; instants are UTC ms."""

    shop: str  #: platform:shop_id
    done_at: int = 0  #: its last success of the type, 0 for never
    forecast: Forecast | None = None  #: None: a person or a worker must do something first
    helped: Forecast | None = None  #: the same with what holds it done away with now; None: nobody can tell
    begins: int = 0  #: it cannot begin before this instant: a plan, the end of quiet hours
    holds: tuple[Hold, ...] = ()  #: at most one of each check
    task_id: str = ""  #: the task that will do it, "" where none was created
    created: bool = False  #: whether there is a task, or none has to be there yet


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """The window of a promise at a moment; UTC ms. ``begins`` 0: it always was; ``ends`` 0: it has no end."""

    begins: int = 0
    ends: int = 0
    next: int = 0  #: when the next one begins where none holds now, 0 for never
    over: int = 0  #: when the day of its end is over

    @property
    def holds(self) -> bool:
        """Whether there is any."""
        return not self.next


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One promise in one shop. ``break_at``: when it breaks, or broke, if no success comes; 0 where it cannot in this
    window.
    """

    shop: str
    state: str
    break_at: int = 0
    done_at: int = 0
    forecast: Forecast | None = None
    helped: Forecast | None = None  #: with what holds it done away with now; None: nobody can tell
    hold: Hold | None = None  #: the first of the checks that is closed; of those that are kept None
    task_id: str = ""
    created: bool = False
    late: bool = False  #: the forecast passes the limit, be it said or not


def due(promise: Promise, zone: str, now: int) -> Due:
    """The window that holds at an instant: for ``by`` the last one that began, else the one that it is in."""
    if promise.always:
        return Due()
    found = promises.windows(promise, zone, now - _LOOK_MS, now + _LOOK_MS)
    following = next((begins for begins, _ in found if begins > now), now + _LOOK_MS)
    begun = [one for one in found if one[0] <= now]
    if promise.kind == AGE:
        inside = next((one for one in reversed(begun) if one[1] > now), None)
        return Due(begins=inside[0], ends=inside[1]) if inside else Due(next=following)
    if not begun:
        return Due(next=following)
    begins, ends = begun[-1]
    return Due(begins=begins, ends=ends, over=max(ends, day_begins(ends - 1, zone)[1]))


def ending(found: Iterable[Promise], zone: str, now: int) -> list[tuple[Promise, int]]:
    """Those that are to be done by an hour of a window that has begun, with that instant, which is still to come."""
    known = ((one, due(one, zone, now)) for one in found if one.enabled and one.kind == promises.BY)
    return [(one, window.ends) for one, window in known if window.holds and now < window.ends]


class _Before(msgspec.Struct, frozen=True):
    """What the looks before have seen."""

    warned: int
    late: int


def judge(promise: Promise, window: Due, facts: Facts, now: int, *, warned: int = 0, late: int = 0) -> Judged:
    """One shop. ``warned``: the instant of the break that was said to be at risk before, 0 for none: that stays so
    until a success is there, or the forecast has room to spare. ``late``: since when its forecast has passed the limit
    in every look (UTC ms), 0: what this look says is believed at once.
    """
    if not window.holds:
        return _judged(facts, NOT_DUE)
    return (_age if promise.kind == AGE else _by)(promise, window, facts, now, _Before(warned, late))


def _age(promise: Promise, window: Due, facts: Facts, now: int, before: _Before) -> Judged:
    limit = promise.limit_s * 1000
    break_at = max(facts.done_at, window.begins, promise.since) + limit
    if not facts.done_at and now < break_at - min(FIRST_MS, limit // 4):
        return _judged(facts, NOT_DUE, break_at)
    if window.ends and break_at >= window.ends:  # in this window it cannot break
        return _judged(facts, KEPT)
    return _open(facts, break_at, min(NEAR_MS, limit // 4), now, before)


def _by(promise: Promise, window: Due, facts: Facts, now: int, before: _Before) -> Judged:
    if facts.done_at >= window.begins and facts.done_at:
        return _judged(facts, NOT_DUE if now >= window.over else KEPT)
    if promise.since >= window.ends:  # nobody had promised that
        return _judged(facts, NOT_DUE)
    return _open(facts, window.ends, NEAR_MS, now, before)


def _open(facts: Facts, break_at: int, near: int, now: int, before: _Before) -> Judged:
    """One of which a success is still to come."""
    if now >= break_at:
        return _judged(facts, BROKEN, break_at)
    said = before.warned == break_at
    late = _risks(facts, break_at, now, said=said)
    sure = said or facts.forecast is None or facts.begins >= break_at or now - before.late >= SURE_MS
    breaks = facts.forecast is None or facts.forecast.later_than(break_at) >= LIKELIER
    risky = (late and sure) or (breaks and now >= break_at - near)
    return replace(_judged(facts, AT_RISK if risky else KEPT, break_at), late=late)


def _risks(facts: Facts, break_at: int, now: int, *, said: bool) -> bool:
    forecast = facts.forecast
    if forecast is None:
        return True
    if said:  # it is taken back only where there is room to spare: nobody believes what comes and goes
        return forecast.high + round((break_at - now) * ROOM) > break_at
    left = break_at - now
    # what nobody has created somebody can still create
    helps = left <= LIKELY_MS and (left > ACT_MS or not facts.created)
    return forecast.later_than(break_at) >= (_likely(left) if helps else NEARLY_SURE)


def _likely(left: int) -> float:
    """How likely a break has to be that is so far ahead: the more time is left to see how it goes, the likelier."""
    last = ACT_MS + SURE_MS
    share = min(1.0, max(0.0, (left - last) / (LIKELY_MS - last)))
    return LIKELY_LAST + share * (LIKELY - LIKELY_LAST)


def _judged(facts: Facts, state: str, break_at: int = 0) -> Judged:
    told = state in (AT_RISK, BROKEN)
    return Judged(
        shop=facts.shop,
        state=state,
        break_at=break_at,
        done_at=facts.done_at,
        forecast=facts.forecast,
        helped=facts.helped,
        hold=reason(facts.holds) if told else None,
        task_id=facts.task_id,
        created=facts.created,
    )


def sure_breaks(promise: Promise, windows: Sequence[tuple[int, int]], ended: Iterable[Day], now: int) -> list[int]:
    """When a shop would have broken a promise for sure (UTC ms), by what the ledger keeps of its days: between the last
    end of one and the first of the next nothing succeeded. Before the first that is known, and between the ends of one
    day, nobody knows. ``windows``: in which it is promised, none for one that always is.
    """
    days = sorted((day for day in ended if day.succeeded), key=lambda day: day.first_at)
    gaps, last = [], 0
    for day in days:
        if last and day.first_at > last:
            gaps.append((last, day.first_at))
        last = max(last, day.last_at)
    if last:
        gaps.append((last, now))
    if promise.kind == promises.BY:
        return [end for begin, end in windows for since, until in gaps if since < begin and end < until]
    limit = promise.limit_s * 1000
    of = [(0, now)] if promise.always else windows
    breaks = ((max(since, begin) + limit, min(until, end)) for begin, end in of for since, until in gaps)
    return sorted(at for at, before in breaks if at < before)


def reason(holds: Sequence[Hold]) -> Hold | None:
    """The first that is closed."""
    return min(holds, key=lambda one: CHECKS.index(one.check), default=None)


def worst(states: Sequence[str]) -> str:
    """The worst of some states, "" for none."""
    return min(states, key=STATES.index, default="")
