"""How a promise stands, as the leader keeps it in the store: counts, what is not kept, the strip of a day, its breaks.

One compact document a promise: with ten thousand shops only those that are not kept have rows, and of many of them the
first; the rest is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from services.domain.insight.forecast.durations import ENOUGH
from services.domain.promises import course as courses
from services.domain.promises import forecast as forecasts
from services.domain.promises import judge as judging
from services.domain.promises.course import LEAST_MS, MOST_MS, Course, Pace
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE, Due, Forecast, Hold, Judged
from services.domain.promises.promise import AGE, Promise
from services.domain.text.message import Message, Param
from services.domain.upkeep.stored import Count, Document, Instant

HALF_HOUR_MS, STRIP = 30 * 60_000, 48
KEPT_BREAKS_MS, MOST_BREAKS = 30 * 86_400_000, 200
MOST_ROWS, MOST_CAUSES, MOST_GAPS, PAST_POINTS = 200, 20, 200, 40
#: causes with so many of their shops by name
NAMED = 5


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One shop that is not kept."""

    shop: str  #: platform:shop_id
    state: str
    break_at: Instant = 0
    done_at: Instant = 0
    low: Instant = 0  #: the forecast of its next success; 0 where nobody can tell one
    mid: Instant = 0
    high: Instant = 0
    check: str = ""
    code: str = ""
    params: Mapping[str, Param] = {}
    who: str = ""
    role: str = ""
    verb: str = ""
    target: str = ""
    task_id: str = ""
    created: bool = False

    @property
    def message(self) -> Message | None:
        """What holds it, None where nothing is known to."""
        return Message(self.code, self.params) if self.code else None


class SharedCause(msgspec.Struct, frozen=True, kw_only=True):
    """Shops that are not kept for one cause; those without a row count too."""

    check: str
    code: str
    params: Mapping[str, Param] = {}
    who: str = ""
    role: str = ""
    verb: str = ""
    target: str = ""
    shops: Count = 0
    broken: Count = 0
    first_at: Instant = 0  #: when the first of them breaks, or broke
    named: tuple[str, ...] = ()

    @property
    def message(self) -> Message:
        """What holds them."""
        return Message(self.code, self.params)


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """A time in which a promise was broken in some shops."""

    at: Instant  #: of the first of them
    until: Instant = 0  #: 0 while it lasts
    shops: Count = 0  #: at most at once
    first: str = ""  #: a shop of them
    code: str = ""  #: what held most of them when it began
    params: Mapping[str, Param] = {}
    warned_at: Instant = 0  #: since when it was said to be at risk without a pause, 0 where nobody had said it


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How one promise stands."""

    name: str
    version: Count = 0  #: of the promise that was judged
    judged_at: Instant = 0
    by: str = ""  #: who judged: a leader
    total: Count = 0
    kept: Count = 0
    at_risk: Count = 0
    broken: Count = 0
    not_due: Count = 0
    begins: Instant = 0  #: the window that holds, 0 for none or one without an end
    ends: Instant = 0
    next: Instant = 0  #: when it holds next, where it does not now
    first_break: Instant = 0  #: of those that are at risk
    first_shops: Count = 0  #: those that break then, or within the minute behind it
    risk_since: Instant = 0  #: since when some shop is at risk or broken
    worst_at: Instant = 0  #: from where the limit counts of the one whose forecast stands here
    worst_break: Instant = 0
    low: Instant = 0
    mid: Instant = 0
    high: Instant = 0
    causes: tuple[SharedCause, ...] = ()
    rows: tuple[Row, ...] = ()  #: broken ones first, then by their break
    strip: tuple[tuple[Instant, str], ...] = ()  #: half hours by their begin, with the worst state in them
    breaks: tuple[Break, ...] = ()
    course: Course | None = None  #: how the worst goes on, where some shop is at risk or broken
    past: tuple[tuple[Instant, Count], ...] = ()  #: the worst as it was: seconds of age, or shops
    gaps: tuple[Count, ...] = ()  #: seconds from the last success, or the begin of a window, to the next: the last ones

    @property
    def state(self) -> str:
        """The worst of its shops; not due where nothing is due, or where it has no shop."""
        if self.broken or self.at_risk:
            return BROKEN if self.broken else AT_RISK
        return KEPT if self.kept else NOT_DUE


DOCUMENT = Document(Standing)


def renewed(before: Standing) -> Standing:
    """What is left of it when something else is promised: its strip and its breaks."""
    return Standing(name=before.name, strip=before.strip, breaks=before.breaks)


def after(
    promise: Promise,
    window: Due,
    found: Sequence[Judged],
    before: Standing | None,
    *,
    now: int,
    by: str,
    gaps: Iterable[int] = (),
) -> Standing:
    """How it stands after one look at all of its shops. ``gaps``: seconds between successes that were seen since."""
    before = before or Standing(name=promise.name)
    states = Counter(one.state for one in found)
    bad = sorted((one for one in found if one.state in (BROKEN, AT_RISK)), key=_urgency)
    risky = [one for one in bad if one.state == AT_RISK]
    first = min((one.break_at for one in risky), default=0)
    state = judging.worst(list(states)) or NOT_DUE
    causes = _causes(bad)
    risk_since = (before.risk_since or now) if bad else 0
    worst = bad[0] if bad else _nearest(found)
    known_gaps = (*before.gaps, *gaps)[-MOST_GAPS:]
    return Standing(
        name=promise.name,
        version=promise.version,
        judged_at=now,
        by=by,
        total=len(found),
        kept=states[KEPT],
        at_risk=states[AT_RISK],
        broken=states[BROKEN],
        not_due=states[NOT_DUE],
        begins=window.begins,
        ends=window.ends,
        next=window.next,
        first_break=first,
        first_shops=sum(1 for one in risky if one.break_at < first + judging.NEAR_MS),
        risk_since=risk_since,
        worst_at=_counts_from(promise, window, worst) if worst else 0,
        worst_break=worst.break_at if worst else 0,
        **_ends(worst.forecast if worst else None),
        causes=causes[:MOST_CAUSES],
        rows=tuple(_row(one) for one in bad[:MOST_ROWS]),
        strip=_strip(before.strip, state, now),
        course=courses.course(promise, window, found, now, _pace(known_gaps)),
        past=_past(promise, before.past, courses.oldest(promise, found, now), now),
        breaks=_breaks(before, [one for one in bad if one.state == BROKEN], causes, now),
        gaps=known_gaps,
    )


def _pace(gaps: Sequence[int]) -> Pace:
    runs = forecasts.regular(gaps)
    if len(runs.seconds) < ENOUGH:
        return ()
    low, high = runs.span_s
    return round(low * 1000), round(runs.usual_s * 1000), round(high * 1000)


def past_step(promise: Promise) -> int:
    """How far apart the instants are of which it is kept how old the oldest was, ms."""
    span = promise.limit_s * 1000 if promise.kind == AGE else MOST_MS
    return min(MOST_MS, max(LEAST_MS, span)) // PAST_POINTS


def _past(
    promise: Promise, before: Sequence[tuple[int, int]], value: int | None, now: int
) -> tuple[tuple[int, int], ...]:
    step = past_step(promise)
    kept = [(at, one) for at, one in before if now - step * PAST_POINTS <= at < now]
    if value is not None and (not kept or now - kept[-1][0] >= step):
        kept.append((now, value))
    return tuple(kept)


def _urgency(one: Judged) -> tuple[int, int, str]:
    return judging.STATES.index(one.state), one.break_at, one.shop


def _nearest(found: Sequence[Judged]) -> Judged | None:
    """Of those that are kept the one whose forecast leaves least."""
    open_ = [one for one in found if one.forecast is not None and one.break_at and one.state == KEPT]
    return min(open_, key=lambda one: one.break_at - (one.forecast.high if one.forecast else 0), default=None)


def _counts_from(promise: Promise, window: Due, one: Judged) -> int:
    if not one.break_at:
        return 0
    return one.break_at - promise.limit_s * 1000 if promise.kind == AGE else window.begins


def _ends(forecast: Forecast | None) -> dict[str, Any]:
    return {} if forecast is None else {"low": forecast.low, "mid": forecast.mid, "high": forecast.high}


def _row(one: Judged) -> Row:
    hold = one.hold
    return Row(
        shop=one.shop,
        state=one.state,
        break_at=one.break_at,
        done_at=one.done_at,
        **_ends(one.forecast),
        **(_of(hold) if hold is not None else {}),
        task_id=one.task_id,
        created=one.created,
    )


def _of(hold: Hold) -> dict[str, Any]:
    return {name: getattr(hold, name) for name in ("check", "code", "params", "who", "role", "verb", "target")}


#: what differs from shop to shop for one and the same cause
_OWN = frozenset({"seconds", "since", "usual_s", "n"})
#: verbs about one shop or one of its tasks: the same for many shops is no one thing
_SINGLE = frozenset({"open_task", "login_shop", "open_shop"})


def _causes(bad: Sequence[Judged]) -> tuple[SharedCause, ...]:
    """One for each thing that would help, the one that most shops wait for first."""
    groups: dict[object, list[Judged]] = {}
    for one in bad:
        if one.hold is not None:
            params = tuple(sorted((key, value) for key, value in one.hold.params.items() if key not in _OWN))
            target = "" if one.hold.verb in _SINGLE else one.hold.target
            groups.setdefault((one.hold.code, params, target), []).append(one)
    found = []
    for of_it in groups.values():
        hold = of_it[0].hold
        if hold is None:
            continue
        found.append(
            SharedCause(
                **_of(hold),
                shops=len(of_it),
                broken=sum(1 for one in of_it if one.state == BROKEN),
                first_at=min(one.break_at for one in of_it),
                named=tuple(one.shop for one in of_it[:NAMED]),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.shops, one.first_at, one.code)))


def _strip(strip: Sequence[tuple[int, str]], state: str, now: int) -> tuple[tuple[int, str], ...]:
    """Half hours in which nobody judged stay out."""
    begin = now - now % HALF_HOUR_MS
    kept = [one for one in strip if begin - STRIP * HALF_HOUR_MS < one[0] < begin]
    same = next((one[1] for one in strip if one[0] == begin), "")
    return (*kept, (begin, judging.worst([one for one in (same, state) if one])))


def _breaks(before: Standing, broken: Sequence[Judged], causes: Sequence[SharedCause], now: int) -> tuple[Break, ...]:
    kept = [one for one in before.breaks if (one.until or now) > now - KEPT_BREAKS_MS]
    last = kept[-1] if kept and not kept[-1].until else None
    if last is not None and broken:
        kept[-1] = msgspec.structs.replace(last, shops=max(last.shops, len(broken)))
    elif last is not None:
        kept[-1] = msgspec.structs.replace(last, until=now)
    elif broken:
        most = max(causes, key=lambda one: one.broken, default=None)
        kept.append(
            Break(
                at=min(one.break_at for one in broken),
                shops=len(broken),
                first=broken[0].shop,
                code=most.code if most else "",
                params=most.params if most else {},
                warned_at=before.risk_since,
            )
        )
    return tuple(kept[-MOST_BREAKS:])
