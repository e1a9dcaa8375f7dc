"""When the next success of a shop is there: from a task that runs or waits, from a planned run, or from how regularly
successes came so far. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.domain.gates import breaker
from services.domain.gates.breaker import Breaker, Rule
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import ENOUGH, Ran, Runs
from services.domain.insight.forecast.estimate import Estimate
from services.domain.insight.forecast.outlook import Load
from services.domain.insight.forecast.outlook import forecast as outlook
from services.domain.promises.judge import Forecast
from services.domain.promises.line import Ends

#: the early end of what was played through is earlier by this share: work that will not come after all, fewer runs
MODEL = 0.2
#: where nobody knows when a run will come, it is expected so long from now
UNKNOWN_MS = 15 * 60_000
#: a run that was to be created is missing so long after its time; who fires looks every second
MISSING_MS = 35_000
#: one that nobody planned is missing so long after the latest time at which one came so far
SILENT_MS = 20_000
#: so rarely attempts of a shop begin to fail until somebody mends something; a breaker is believed to be of these from
#: a chance on. Where a network loses half of all attempts some shop soon fails five times in a row by chance.
NOT_BY_CHANCE, LASTS = 0.01, 0.9
#: what failed by chance of late is told by so long
LATE_MS = 10 * 60_000
#: of the others at least this share fails while their breaker is open: else it would not be
FLAKY = 0.5
_TRIES = 12
#: of a type of which nothing is known, one run
_UNKNOWN_S = 60.0


def running(now: int, ran_s: float, progress: int, lasts: Runs) -> Forecast:
    """The end of what runs."""
    left = lasts.left(ran_s, progress)
    if not left.known:
        return unknown(now, lasts)
    low, high = left.span_s
    return _from(now, low, left.usual_s, high)


def hanging(now: int, ended: int, lasts: Runs) -> Forecast | None:
    """The next success after what seems to hang: its time-out ends it at ``ended`` at the latest, then it is tried
    again; None where nothing ends it (0).
    """
    if not ended:
        return None
    _, usual, high = _span(lasts)
    soon = unknown(now, lasts)
    again = _from(max(now, ended), 0.0, usual, high)
    return Forecast(low=soon.low, mid=max(soon.mid, again.mid), high=max(soon.high, again.high))


def waiting(now: int, starts: Estimate, lasts: Runs) -> Forecast:
    """The end of what starts then."""
    low, usual, high = _span(lasts)
    gone = max(0, now - starts.at_ms) / 1000 if starts.at_ms else 0.0
    begin, middle, late = (max(0.0, one - gone) for one in (starts.low_s, starts.mid_s, starts.high_s))
    return _from(now, begin + low, middle + usual, late + high)


def in_line(now: int, load: Load, lasts: Runs) -> Forecast | None:
    """The end of one task behind all that wait in ``load``; None where no worker would ever get there."""
    found = outlook(load, 1)
    if found.done_s is None or found.done_low_s is None or found.done_high_s is None:
        return None
    _, usual, high = _span(lasts)
    longer = max(0.0, high - usual)
    return _from(now, found.done_low_s, found.done_s, found.done_high_s + longer)


def played(now: int, ends: Ends) -> Forecast:
    """The end of what was played through; a line that is followed so simply may be through earlier by a share of it."""
    return _from(now, ends.low_s * (1 - MODEL), ends.mid_s, ends.high_s)


def ending(now: int, ends: Ends) -> Forecast:
    """The end of what runs already, as it was played through."""
    return _from(now, ends.low_s, ends.mid_s, ends.high_s)


def by_chance(runs: Iterable[Ran]) -> float:
    """The share of attempts that fail for once, of those after which their task succeeded."""
    found = list(runs)
    return _share(sum(one.failed for one in found), len(found))


def stays_open(found: Breaker, rule: Rule, chance: float = 0.0) -> bool:
    """Whether a breaker is open for something that lasts until a person mends it, as far as its attempts tell: all of
    late have failed, where the share of those that failed by chance, here before or everywhere now (see ``by_chance``),
    says that some should have succeeded.
    """
    in_a_row, before = _failed(found, rule)
    lasting = NOT_BY_CHANCE / (1 - NOT_BY_CHANCE)
    return lasting / (lasting + max(chance, before) ** in_a_row) >= LASTS


def tried(now: int, found: Breaker, rule: Rule, lasts: Runs, chance: float = 0.0) -> Forecast | None:
    """The first success behind an open breaker, which lets one try after a while, and each time after a longer one;
    None where it stays open.
    """
    if stays_open(found, rule, chance):
        return None
    fails = max(FLAKY, _failed(found, rule)[1])
    low, usual, high = _span(lasts)
    at, left, ends = max(0, found.until - now) / 1000, 1.0, []
    for times in range(found.times, found.times + _TRIES):
        left *= fails
        ends.append((at, left))
        at += usual + breaker.cooldown_ms(rule, times + 1) / 1000
    first, middle, last = (next((one for one, rest in ends if rest <= share), at) for share in (0.9, 0.5, 0.1))
    return _from(now, first + low, middle + usual, last + high)


def _failed(found: Breaker, rule: Rule) -> tuple[int, float]:
    """How many have failed since the last success, and the share of those before; what is not remembered any more has
    succeeded.
    """
    rest = found.outcomes.lstrip("1")
    failed, of = rest.count("1"), len(rest) + max(0, rule.of - len(found.outcomes))
    return len(found.outcomes) - len(rest) + found.times - 1, _share(failed, of - failed)


def _share(failed: int, succeeded: int) -> float:
    """The share of failures, which is never quite sure."""
    return (failed + 1) / (failed + succeeded + 2)


def planned(
    now: int, at: int, spread_s: int, load: Load, shops: int, lasts: Runs, share: float = 1.0
) -> Forecast | None:
    """The end of one task of a run that is planned: its shops start over ``spread_s``, then they share the slots.
    ``share``: of its shops whose turn comes no later than that of this one.
    """
    before = max(1, round(shops * share))
    found = outlook(load, before, per_minute=60 * shops / spread_s if spread_s and shops > 1 else 0.0)
    if found.done_s is None or found.done_high_s is None:
        return None
    low, usual, high = _span(lasts)
    turn = spread_s * share
    last = max(found.done_high_s + high - usual, turn + high)
    return _from(max(now, at), low, max(usual, turn / 2 + usual, min(found.done_s, last)), last)


def usual(now: int, since: int, gaps: Runs, lasts: Runs) -> Forecast:
    """The next success by how long it took so far, from ``since`` on (the last one, or the begin of the window)."""
    if len(gaps.seconds) < ENOUGH:
        return unknown(now, lasts)
    left = gaps.left(max(0, now - since) / 1000)
    low, high = left.span_s
    return _from(now, low, left.usual_s, high)


def regular(gaps: Sequence[int]) -> Runs:
    """How long it took from one success to the next, of those that were seen."""
    return durations.measured(float(one) for one in gaps)


def missing(now: int, since: int, gaps: Runs) -> int:
    """When the run was due that nobody has created: as late as one ever came. 0 while none is missing, or where nobody
    can tell.
    """
    if len(gaps.seconds) < ENOUGH:
        return 0
    at = since + round(gaps.seconds[-1] * 1000)
    return at if now > at + SILENT_MS else 0


def unknown(now: int, lasts: Runs) -> Forecast:
    """One that nobody can tell: as long from now as a person needs to see to it."""
    low, middle, high = _span(lasts)
    return _from(now, low, UNKNOWN_MS / 1000 + middle, UNKNOWN_MS / 1000 + high)


def not_before(one: Forecast, at: int, lasts: Runs) -> Forecast:
    """The same where it cannot begin before an instant (UTC ms; 0: it can)."""
    low, middle, high = (round(seconds * 1000) for seconds in _span(lasts))
    return Forecast(low=max(one.low, at + low), mid=max(one.mid, at + middle), high=max(one.high, at + high))


def latest(one: Forecast, other: Forecast | None) -> Forecast:
    """Where both have to be over."""
    if other is None:
        return one
    return Forecast(low=max(one.low, other.low), mid=max(one.mid, other.mid), high=max(one.high, other.high))


def first(found: Sequence[Forecast | None]) -> Forecast | None:
    """Of several ways the one that comes first."""
    return min((one for one in found if one is not None), key=lambda one: one.high, default=None)


def _span(lasts: Runs) -> tuple[float, float, float]:
    known = lasts if lasts.known else durations.declared(_UNKNOWN_S)
    low, high = known.span_s
    return low, known.usual_s, high


def _from(now: int, low: float, middle: float, high: float) -> Forecast:
    low_ms, mid_ms, high_ms = (round(max(0.0, one) * 1000) for one in (low, middle, high))
    return Forecast(low=now + min(low_ms, mid_ms), mid=now + mid_ms, high=now + max(mid_ms, high_ms))
