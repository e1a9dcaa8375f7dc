"""Is work flowing: what is true of the whole fleet, when what waits will have started, and what would help. Pure.

Two words are meant the same everywhere. **In**: a task became work, by its creation (also by a republish, by a schedule
that fell due, by another program) or because a person gave a held one back. **Out**: the end of a task's work: it
succeeded, died, was held, or was cancelled while it ran. A retry is neither: the task stays work. So what waits,
runs or retries grows by In and shrinks by Out (and by what is cancelled while it waits).

An estimate follows the shops one by one: a shop runs ``concurrency`` of its tasks at once however many slots are free,
and what all shops together could run shares the slots of the workers that take tasks. Durations and arrivals are those
that were measured; where nothing was measured there is no estimate, and the reason says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from services.domain.fleet.shop import Pause
from services.domain.gates import listed
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Measured
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_, NN_

LOADING, LOST, IDLE, FINE = "loading", "lost", "idle", "fine"
DRAINING, STEADY, GROWING = "draining", "steady", "growing"
PERSON, LATER, NO_WORKER, BLOCKED = "person", "later", "no_worker", "blocked"
#: why there is no estimate
NOT_MEASURED, NEVER, NOBODY_WORKS, UNKNOWN = "not_measured", "never", "nobody_works", "unknown"
#: what would help, in the order of doing
RECONNECT, FREE_BROKER, REACH_BROKER, START_WORKER, MORE_SLOTS, SHOP_LIMIT = (
    "reconnect", "free_broker", "reach_broker", "start_worker", "more_slots", "shop_limit",
)  # fmt: skip
LOG_IN, RESUME, DECIDE, LOOK_AT_CAUSE, LOOK_AT_NEED, STOP_TASK = (
    "log_in", "resume", "decide", "look_at_cause", "look_at_need", "stop_task",
)  # fmt: skip
LONGEST_S = 7 * 86_400.0
#: so many standard deviations lie below and above the middle of an estimate
BELOW, ABOVE = 1.5, 2.0
#: with so large a share of the slots busy for ever, a short queue comes and goes: when it is empty next is chance
BUSY = 0.25
#: what the model itself may be wrong by, as a share
MODEL = 0.05
#: growth: so many tasks more than at the beginning of the window, and this share of those that came
LEAST_GROWTH, GROWTH = 3, 0.08
#: arrivals have ended where the last third of the window brought at most this share of what the others did, for no
#: less than so many seconds
QUIET, QUIET_S = 0.25, 5.0
#: parts of the window; a queue grows where tasks came in at least so many of them, and in the last quarter of it: two
#: bursts are two bursts, however much they brought
WINDOW_PARTS, ONGOING, LATEST = 6, 3, 0.25
#: a burst of at least so many has ended, too, where at its pace this many would have come since the last of them
MISSING = 4.0
#: rates are said with one decimal; those that differ by less are the same to who reads them
SAID = 0.1
#: fewer that wait are no queue: what came in may be what runs
LEAST_QUEUE = 5
#: a shop is named alone where no other at its limit has this share of its queue
BESIDE = 0.5
#: parts that a drain is followed in: with more shops several end together
PARTS = 60

SENTENCES: dict[str, str] = {
    "flow.loading": N_("Loading…"),
    "flow.lost_store": N_("The records cannot be reached; how the fleet stands is not known"),
    "flow.no_broker": N_(
        "The broker cannot be reached: nothing new starts; what is created is recorded and sent later"
    ),
    "flow.lost_broker": N_("the broker cannot be reached: none starts until it is back, then all go on"),
    "flow.silent": N_("the broker does not answer: when they start is not known"),
    "flow.silent_others": N_("the broker does not answer: when the other {n:,} start is not known"),
    "flow.no_messages": N_("The broker takes no new messages: what is created is recorded, and sent later"),
    "flow.no_writes": N_("The store takes no writes: nothing new starts, and nothing can be changed"),
    "flow.lost_writes": N_("the store takes no writes: none starts until it does, then all go on"),
    "flow.idle": N_("Nothing is waiting and nothing is running"),
    "flow.running": N_("Nothing is waiting; {n:,} running"),
    "flow.calm": N_("Nothing is waiting and nothing is running"),
    "flow.retrying": N_("{n:,} tasks failed and try again by themselves"),
    "flow.retrying.one": N_("1 task failed and tries again by itself"),
    "flow.unconfirmed": N_("of {n:,} nobody knows whether they still run: no word from their worker"),
    "flow.unconfirmed.one": N_("of 1 nobody knows whether it still runs: no word from its worker"),
    "flow.unrecorded": N_("{n:,} of them from other programs, not yet recorded"),
    "flow.unrecorded_all": N_("from other programs, not yet recorded"),
    "flow.waiting": N_("{n:,} tasks waiting"),
    "flow.waiting.one": N_("1 task waiting"),
    "flow.growing": N_("{n:,} tasks waiting and growing: in {in}, out {out}"),
    "flow.burst": N_("{n:,} tasks waiting, hardly any new ones now"),
    "flow.burst.one": N_("1 task waiting, hardly any new ones now"),
    "flow.more": N_("{n:,} tasks waiting, more came than went: in {in}, out {out}"),
    "flow.more.one": N_("1 task waiting, more came than went: in {in}, out {out}"),
    "flow.steady": N_("{n:,} tasks waiting, not growing: in {in}, out {out}"),
    "flow.steady.one": N_("1 task waiting; in {in}, out {out}"),
    "flow.clear": N_("clear in about {spread}"),
    "flow.started": N_("those start within about {spread}"),
    "flow.others": N_("the other {n:,} clear in about {spread}"),
    "flow.others_burst": N_("the other {n:,} clear in about {spread}, hardly any new ones now"),
    "flow.others.one": N_("the other one starts in about {spread}"),
    "flow.others_growing": N_("the other {n:,} grow: in {in}, out {out}"),
    "flow.others_started": N_("the other {n:,} start within about {spread}"),
    "flow.at_once": N_("they start now"),
    "flow.at_once.one": N_("it starts now"),
    "flow.others_at_once": N_("the other {n:,} start now"),
    "flow.others_at_once.one": N_("the other one starts now"),
    "flow.unmeasured": N_("how long they take was not measured yet"),
    "flow.long": N_("more than a week of work at the present pace"),
    "flow.person": N_("{n:,} of them for a person ({why})"),
    "flow.person_all": N_("all of them for a person ({why})"),
    "flow.person_all.one": N_("for a person ({why})"),
    "flow.paused": N_("{n:,} of them paused by {who} for {span}"),
    "flow.paused_why": N_("{n:,} of them paused by {who} for {span} ({reason})"),
    "flow.paused_all": N_("paused by {who} for {span}: resume when that is over"),
    "flow.paused_all_why": N_("paused by {who} for {span} ({reason}): resume when that is over"),
    "flow.pauses": N_("{pauses:,} pauses hold {n:,} of them, the largest {scope}: {most:,}, by {who} for {span}"),
    "flow.pauses_all": N_("{pauses:,} pauses hold them, the largest {scope}: {most:,}, by {who} for {span}"),
    "flow.later": N_("{n:,} of them go on later by themselves ({why})"),
    "flow.later_all": N_("all go on later by themselves ({why})"),
    "flow.later_all.one": N_("it goes on later by itself ({why})"),
    "flow.person_brief": N_("{n:,} for a person"),
    "flow.later_brief": N_("{n:,} go on by themselves"),
    "flow.later_brief.one": N_("1 goes on by itself"),
    "flow.unconfirmed_brief": N_("{n:,} not confirmed"),
    "flow.dead_brief": NN_("{n:,} dead letter", "{n:,} dead letters"),
    "flow.why_breaker": N_("{n:,} in shops that fail too often"),
    "flow.why_breaker_in": N_("{n:,} in shops that fail too often, the first tries again in {span}"),
    "flow.why_limit": N_("{n:,} at a limit"),
    "flow.why_same": N_("{n:,} behind the same work"),
    "flow.why_others": N_("{n:,} behind other tasks"),
    "flow.no_worker": N_("no worker takes tasks: start one"),
    "flow.drained": N_("{n:,} workers drain and take no more: resume one"),
    "flow.drained.one": N_("1 worker drains and takes no more: resume it"),
    "flow.cut_off": N_("{n:,} workers cannot reach the broker"),
    "flow.cut_off.one": N_("1 worker cannot reach the broker"),
    "flow.no_slot": N_("workers have no slots: give them some"),
    "flow.blocked": NN_(
        "the broker takes no new messages: {n:,} task recorded, not sent",
        "the broker takes no new messages: {n:,} tasks recorded, not sent",
    ),
    "flow.unsent": NN_("{n:,} task recorded, not sent", "{n:,} tasks recorded, not sent"),
    "flow.rates": N_("In {in}, out {out}"),
    "flow.all_busy": N_("All {slots:,} slots are busy"),
    "flow.all_busy_more": N_("All {slots:,} slots are busy; about {more:,} more would keep up"),
    "flow.all_busy.one": N_("The only slot is busy"),
    "flow.all_busy_more.one": N_("The only slot is busy; about {more:,} more would keep up"),
    "flow.full": N_("all {slots:,} slots busy"),
    "flow.full.one": N_("the only slot is busy"),
    "flow.full_more.one": N_("the only slot is busy, about {more:,} more would keep up"),
    "flow.lane_full": NN_(
        "all {slots:,} slots for the lane {lane} busy; {free:,} free one does not take it",
        "all {slots:,} slots for the lane {lane} busy; {free:,} free ones do not take it",
        by="free",
    ),
    "flow.lane_full.one": NN_(
        "the only slot for the lane {lane} is busy; {free:,} free one does not take it",
        "the only slot for the lane {lane} is busy; {free:,} free ones do not take it",
        by="free",
    ),
    "flow.lane_full_more": NN_(
        "all {slots:,} slots for the lane {lane} busy, {free:,} free one does not take it; about {more:,} more that"
        " take it would keep up",
        "all {slots:,} slots for the lane {lane} busy, {free:,} free ones do not take it; about {more:,} more that take"
        " it would keep up",
        by="free",
    ),
    "flow.lane_full_more.one": NN_(
        "the only slot for the lane {lane} is busy, {free:,} free one does not take it; about {more:,} more that take"
        " it would keep up",
        "the only slot for the lane {lane} is busy, {free:,} free ones do not take it; about {more:,} more that take it"
        " would keep up",
        by="free",
    ),
    "flow.widen": N_("give worker {worker} more slots, or start one here that takes all lanes"),
    "flow.widen_some": N_("give the workers that take it more slots, or start one here that takes all lanes"),
    "flow.full_more": N_("all {slots:,} slots busy, about {more:,} more would keep up"),
    "flow.shop_limit": N_("{free:,} of {slots:,} slots free, but {shop} runs {limit:,} at a time"),
    "flow.shop_limits": N_("{free:,} of {slots:,} slots free, but {shops:,} shops are at their own limit"),
    "flow.dead": N_("{n:,} dead letters need a person"),
    "flow.dead.one": N_("1 dead letter needs a person"),
    "flow.held": N_("{n:,} tasks to confirm (did they run?)"),
    "flow.held.one": N_("1 task to confirm (did it run?)"),
    "flow.why_login": N_("{n:,} need a login"),
    "flow.why_login.one": N_("1 needs a login"),
    "flow.why_paused": N_("{n:,} paused"),
    "flow.why_dependency": N_("{n:,} behind a task that will not succeed"),
    "flow.why_twin": N_("{n:,} behind a task to confirm"),
    "flow.why_need": N_("{n:,} that no worker can run"),
    "flow.why_home": N_("{n:,} whose machine is silent"),
    "flow.why_hung": N_("{n:,} behind a task that seems to hang"),
}
#: reasons to wait that only a person can end, in the order in which they are told
REASONS = ("login", "paused", "dependency", "twin", "need", "home", "hung")
#: gates that somebody has closed on purpose, as the flow calls them
_ON_PURPOSE = frozenset(listed.BY_NAME[name].flow for name in listed.SWITCHES)
#: and those of them that open by themselves
_BY_THEMSELVES = tuple(listed.BY_NAME[name].flow for name, switch in listed.SWITCHES.items() if not switch.verb)
#: and those that end by themselves
LATER_REASONS = (*_BY_THEMSELVES, "breaker", "limit", "same", "others")
_HELPS = {
    "login": LOG_IN, "paused": RESUME, "dependency": LOOK_AT_CAUSE, "twin": DECIDE, "need": LOOK_AT_NEED,
    "home": START_WORKER, "hung": STOP_TASK,
}  # fmt: skip


class Line(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one shop has to do by itself: nothing but slots and its own limit stands in the way."""

    shop: str
    waiting: int
    running: int = 0
    concurrency: int = 1
    took: Measured = durations.NOT_MEASURED
    arrivals_s: float = 0.0  #: new tasks a second


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks a second over ``window_s``; ``recent_in``, ``recent_out``: over its last third. ``steady_in`` leaves a
    single burst out: it is what may be expected to go on.
    """

    in_s: float = 0.0
    out_s: float = 0.0
    recent_in: float = 0.0
    recent_out: float = 0.0
    steady_in: float = 0.0
    window_s: float = 0.0  #: 0: nobody has watched yet
    quiet_s: float = 0.0  #: since the last task came in, at most the window
    parts_in: int = WINDOW_PARTS  #: of the window's six parts, those in which tasks came in


NOT_SEEN = Rates()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet when somebody asked. Waiting is what the records call so (parked, queued, and not sent yet), and what
    other programs have sent and nobody has recorded.
    """

    known: bool = True
    store: bool = True  #: answers
    broker: bool = True
    answers: bool = True  #: the broker tells what it holds, and is not only connected
    writes: bool = True  #: the store takes them
    blocked: bool = False  #: the broker holds publishers back
    waiting: int = 0
    unrecorded: int = 0  #: of these, messages of other programs without a record
    unsent: int = 0  #: of these, recorded and not sent, for longer than a moment
    running: int = 0
    retrying: int = 0
    held: int = 0
    dead: int = 0  #: open letters
    persons: tuple[tuple[str, int], ...] = ()  #: waiting tasks by a reason of ``REASONS``
    pause: Pause | None = None  #: the one pause that holds tasks, if no more do
    paused_s: int = 0  #: for so long; of several, the one that holds most
    pauses: tuple[tuple[Pause, int], ...] = ()  #: several that hold tasks, with how many, those of the most first
    scopes: frozenset[str] = frozenset()  #: of all pauses that there are
    laters: tuple[tuple[str, int], ...] = ()  #: waiting at gates that open by themselves, by ``LATER_REASONS``
    opens_s: float = 0.0  #: until the first of the shops that fail too often tries again, 0 for now or not known
    opens: tuple[tuple[str, float], ...] = ()  #: seconds until the first switch opens by itself, by reason
    unconfirmed: int = 0  #: of the running ones, those whose worker is not heard of
    workers: int = 0  #: that take tasks
    cut_off: int = 0  #: workers that are heard of and cannot reach the broker
    drained: int = 0  #: workers that finish what they hold and take no more
    slots: int = 0  #: of those workers; where ``lane`` is full, of those that take it
    busy: int = 0
    lane: str = ""  #: where nearly all that waits is in a lane whose slots are all busy while others are free: which
    elsewhere: int = 0  #: free slots that do not take that lane
    alone: str = ""  #: the one worker whose slots these are and that does not set them itself, "" where none is alone
    rates: Rates = NOT_SEEN
    lines: tuple[Line, ...] = ()

    @property
    def later(self) -> int:
        """Waiting tasks that go on by themselves, at another time."""
        return sum(count for _, count in self.laters)

    @property
    def on_purpose(self) -> bool:
        """Whether all that waits does so at a gate that somebody has closed: a pause, quiet hours."""
        held = sum(count for reason, count in (*self.persons, *self.laters) if reason in _ON_PURPOSE)
        return 0 < self.waiting <= held


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds; what happens lies between ``low_s`` and ``high_s`` four times out of five or more."""

    low_s: float
    mid_s: float
    high_s: float


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. ``estimate`` says when nothing of it waits any more, while steady when those of now have started;
    ``reason`` says why there is none.
    """

    state: str
    facts: Facts
    runnable: int = 0
    estimate: Spread | None = None
    reason: str = ""
    more_slots: int = 0  #: that would keep up, in steps
    limited: tuple[Line, ...] = ()  #: shops whose own limit holds tasks back while slots are free, the worst first
    helps: tuple[str, ...] = ()

    @property
    def for_person(self) -> int:
        """Waiting tasks that only a person can let go."""
        return sum(count for _, count in self.facts.persons)


class Clause(msgspec.Struct, frozen=True):
    """One statement of the headline; ``why`` fills its list."""

    message: Message
    why: tuple[Message, ...] = ()


def judge(facts: Facts) -> Flow:
    """What is true of the fleet."""
    if not facts.known:
        return Flow(state=LOADING, facts=facts, reason=UNKNOWN)
    if not facts.store:
        return Flow(state=LOST, facts=facts, reason=UNKNOWN, helps=(RECONNECT,))
    persons = sum(count for _, count in facts.persons)
    runnable = max(0, facts.waiting - persons - facts.later - _on_no_way(facts))
    found = replace(_of_work(facts, runnable), runnable=runnable)
    if not facts.answers:
        found = replace(found, estimate=None, reason=UNKNOWN)
    return replace(found, helps=_helps(facts, found))


def _on_no_way(facts: Facts) -> int:
    """Of what waits for nothing else, what no worker can get yet; of a broker that takes nothing more is said."""
    return min(facts.unsent, facts.waiting) if facts.broker and not facts.blocked else 0


def again(flow: Flow, facts: Facts) -> Flow:
    """The same judgement with the newer numbers of a moment later; it is judged anew where it cannot hold any more."""
    of_lane = {name: getattr(flow.facts, name) for name in ("lane", "elsewhere", "alone", "slots", "busy")}
    then = flow.facts
    kept = replace(
        facts, persons=then.persons, laters=then.laters, lines=then.lines, opens_s=then.opens_s, opens=then.opens
    )
    kept = replace(kept, **of_lane) if flow.facts.lane else kept
    paused_s = facts.paused_s or then.paused_s
    kept = _resumed(replace(kept, pause=then.pause, pauses=then.pauses, paused_s=paused_s), then.scopes)
    bound = sum(count for _, count in kept.persons) + flow.facts.later + _on_no_way(kept)
    before = flow.facts
    same = (facts.store, facts.writes, facts.broker, facts.answers, facts.blocked, facts.cut_off) == (
        before.store, before.writes, before.broker, before.answers, before.blocked, before.cut_off,
    )  # fmt: skip
    # and that is not so any more
    told = flow.state == DRAINING and not drains(facts.rates)
    told = told or (flow.state == GROWING and facts.waiting - bound < LEAST_QUEUE)
    gone = facts.waiting < bound or not (facts.waiting and flow.facts.waiting)
    if flow.state in (LOADING, LOST) or not same or gone or told or kept.persons != then.persons:
        trimmed = replace(kept, persons=(), laters=()) if facts.waiting < bound else kept
        return judge(trimmed)
    return replace(flow, facts=kept, runnable=facts.waiting - bound)


def _resumed(facts: Facts, before: frozenset[str]) -> Facts:
    """Without what was held by pauses that have ended since; a new one holds what the next look counts."""
    over = before - facts.scopes
    if not over:
        return facts
    alone = facts.pause is not None and facts.pause.scope in over
    left = tuple((pause, count) for pause, count in facts.pauses if pause.scope not in over)
    freed = sum(count for pause, count in facts.pauses if pause.scope in over)
    paused = 0 if alone or not facts.scopes else max(0, dict(facts.persons).get("paused", 0) - freed)
    persons = tuple(
        (reason, paused if reason == "paused" else count)
        for reason, count in facts.persons
        if reason != "paused" or paused
    )
    one = left[0][0] if len(left) == 1 else None if alone else facts.pause
    return replace(facts, persons=persons, pause=one, pauses=left if len(left) > 1 else ())


def _of_work(facts: Facts, runnable: int) -> Flow:
    if facts.blocked or not (facts.broker and facts.writes):
        return Flow(state=BLOCKED if facts.broker else LOST, facts=facts, reason=UNKNOWN)
    if not facts.waiting:
        return Flow(state=FINE if facts.running or facts.retrying else IDLE, facts=facts)
    if not runnable:
        persons = sum(count for _, count in facts.persons)
        return Flow(state=PERSON if persons else LATER, facts=facts, reason=NEVER if persons else UNKNOWN)
    if not facts.slots:
        return Flow(state=NO_WORKER, facts=facts, reason=NOBODY_WORKS)
    return _moving(facts, runnable)


def _arriving(facts: Facts) -> float:
    """Slots that what comes in would keep busy; a shop of which nothing was measured yet is like the others."""
    known = [line.took.mean_s for line in facts.lines if line.took.known]
    usual = math.fsum(known) / len(known) if known else 0.0
    return math.fsum(line.arrivals_s * (line.took.mean_s if line.took.known else usual) for line in facts.lines)


def _stepped(more: int) -> int:
    """At least one, and in steps, so that sentence and verb do not change with every look: 1, 2, 4, 8, 12 …"""
    return max(1, more) if more <= 2 else -(-more // 4) * 4


def _moving(facts: Facts, runnable: int) -> Flow:
    whole, now = cleared(facts), started(facts)
    limited = _limited(facts)
    if grows(facts, runnable):
        work = _arriving(facts)
        more = _stepped(math.ceil(work * 1.05) - facts.slots) if work > facts.slots and not limited else 0
        return Flow(state=GROWING, facts=facts, reason=NEVER, more_slots=more, limited=limited)
    if now is None:
        return Flow(state=STEADY, facts=facts, reason=NOT_MEASURED, limited=limited)
    few = facts.waiting <= 2 * facts.slots and _arriving(facts) > BUSY * facts.slots
    if whole is None or few or whole.mid_s > 1.5 * now.mid_s + 1 or not drains(facts.rates):
        return Flow(state=STEADY, facts=facts, estimate=now, limited=limited)
    return Flow(state=DRAINING, facts=facts, estimate=whole, limited=limited)


def grows(facts: Facts, runnable: int) -> bool:
    """Whether more comes in than goes out, and still does, and nobody has room for it. ``runnable``: of what waits,
    the tasks that nothing holds; the rates count all, and what came to a pause or a login is no growth of these.
    """
    rates = facts.rates
    came, went = rates.in_s * rates.window_s, rates.out_s * rates.window_s
    more = came - went >= max(LEAST_GROWTH, GROWTH * came) and runnable >= LEAST_QUEUE
    if runnable < facts.waiting:
        more = more and came - went <= runnable + facts.running
    lasts = rates.recent_in > rates.recent_out and rates.steady_in > rates.out_s
    lasts = lasts and rates.parts_in >= ONGOING and rates.quiet_s <= LATEST * rates.window_s
    return more and lasts and (facts.busy >= facts.slots or bool(_limited(facts)))


def drains(rates: Rates) -> bool:
    """Whether an end of the queue may be told at all: less comes in than goes out, as both are said, or what came has
    ended. Nobody believes a time beside an In that is higher than the Out.
    """
    return _less(rates.in_s, rates.out_s) or burst_over(rates)


def steady(parts: Sequence[int], width_s: float) -> float:
    """What comes in a second without the one part of a time in which far more came than in all others. ``width_s``: of
    a part.
    """
    most, others = max(parts), sum(parts) - max(parts)
    if most > 3 * others / (len(parts) - 1) + 3:
        return others / (width_s * (len(parts) - 1))
    return sum(parts) / (width_s * len(parts))


def lasting(rates: Rates) -> float:
    """Tasks a second that may be expected to go on coming."""
    if _stopped(rates):
        return 0.0
    return min(rates.steady_in, rates.recent_in) if burst_over(rates) else rates.steady_in


def burst_over(rates: Rates) -> bool:
    """Whether what came in has ended: the last third of the window brought hardly anything, and not by chance."""
    if _stopped(rates):
        return True
    third = rates.window_s / 3
    usual, came = rates.in_s * third, rates.recent_in * third
    ended = third >= QUIET_S and came <= QUIET * usual and usual - came >= 2 * math.sqrt(usual)
    return ended and usual > 0 and _less(rates.recent_in, rates.recent_out)


def _stopped(rates: Rates) -> bool:
    """Whether all that came was a burst or two, and since then nothing, for longer than chance explains."""
    if not 0 < rates.parts_in < ONGOING or rates.quiet_s < QUIET_S or rates.in_s * rates.window_s < MISSING:
        return False
    return rates.in_s * WINDOW_PARTS / rates.parts_in * rates.quiet_s >= MISSING


def _ended_burst(rates: Rates) -> bool:
    """Whether both rates would contradict an end that is told rightly, so that it has to be said why."""
    return not _less(rates.in_s, rates.out_s) and burst_over(rates)


def _less(came: float, went: float) -> bool:
    """Whether the first of two rates is lower, as both are said; nothing is lower than any."""
    per = 60.0 if min((one for one in (came, went) if one > 0), default=1.0) < 0.1 else 1.0
    return came <= 0 or (went - came) * per >= SAID


def cleared(facts: Facts) -> Spread | None:
    """Until nothing waits any more while new tasks go on arriving; None where that never comes or cannot be told."""
    return _spread(facts.lines, facts.slots, facts.busy, arriving=True, window_s=facts.rates.window_s)


def started(facts: Facts) -> Spread | None:
    """Until the last of those that wait now has started; later ones stand behind them."""
    return _spread(facts.lines, facts.slots, facts.busy, arriving=False, window_s=facts.rates.window_s)


def ended(lines: Sequence[Line], slots: int, busy: int = 0) -> Spread | None:
    """Until the last of these has ended, with nothing else to do."""
    found = _spread(lines, slots, busy, arriving=False, window_s=0.0)
    last = max((line.took.mean_s for line in lines if line.waiting or line.running), default=0.0)
    dev = max((line.took.deviation_s for line in lines if line.waiting or line.running), default=0.0)
    if found is None:
        return None
    return Spread(
        low_s=found.low_s + max(0.0, last - dev), mid_s=found.mid_s + last, high_s=found.high_s + last + 1.5 * dev
    )


def _spread(lines: Sequence[Line], slots: int, busy: int, *, arriving: bool, window_s: float) -> Spread | None:
    kept = [line for line in lines if line.waiting or line.arrivals_s]
    if any(line.waiting and not line.took.known for line in kept) or slots <= 0:
        return None
    kept = [line for line in kept if line.took.known]
    left = _begun(kept, max(0, slots - busy))
    if not any(left):
        return Spread(low_s=0.0, mid_s=0.0, high_s=1.0)
    arrivals = [line.arrivals_s if arriving else 0.0 for line in kept]
    found = _drained(kept, left, slots, arrivals)
    if found is None:
        return None
    mid, last = found
    return _widened(kept, left, slots, arrivals, mid, last, window_s)


def _begun(lines: Sequence[Line], free: int) -> list[float]:
    """What still waits after the free slots were given out, one to each shop in turn."""
    left = [line.waiting for line in lines]
    room = [max(0, line.concurrency - line.running) for line in lines]
    open_ = [at for at, waiting in enumerate(left) if waiting and room[at]]
    while free > 0 and open_:
        for at in open_[:free]:
            left[at] -= 1
            room[at] -= 1
        free -= min(free, len(open_))
        open_ = [at for at in open_ if left[at] and room[at]]
    return [float(waiting) for waiting in left]


def _drained(
    lines: Sequence[Line], left: Sequence[float], slots: int, arrivals: Sequence[float]
) -> tuple[float, int] | None:
    """Seconds until nothing is left and the place of the shop that was last, followed from one end to the next."""
    spent, last = 0.0, 0
    mean_s = [max(1e-3, line.took.mean_s) for line in lines]
    places = [line.concurrency for line in lines]
    calm = [min(places[at], arrivals[at] * mean_s[at]) for at in range(len(lines))]
    waiting = {at: amount for at, amount in enumerate(left) if amount > 1e-9}
    others = math.fsum(calm) - math.fsum(calm[at] for at in waiting)
    while waiting:
        wanted = others + sum([places[at] for at in waiting])
        share = min(1.0, slots / max(1e-9, wanted))
        moves = {at: arrivals[at] - share * places[at] / mean_s[at] for at in waiting}
        ends = sorted([amount / -moves[at] for at, amount in waiting.items() if moves[at] < -1e-9])
        if not ends:
            return None
        step = ends[min(len(ends) - 1, len(ends) // PARTS)]
        spent += step
        if spent > 100 * LONGEST_S:
            return None
        last = max(waiting)
        left_over = {at: amount + moves[at] * step for at, amount in waiting.items()}
        others += math.fsum(calm[at] for at, amount in left_over.items() if amount <= 1e-9)
        waiting = {at: amount for at, amount in left_over.items() if amount > 1e-9}
    return spent, last


def _widened(
    lines: Sequence[Line], left: Sequence[float], slots: int, arrivals: Sequence[float], mid: float, last: int,
    window_s: float,
) -> Spread:  # fmt: skip
    """How far off it may be: by the tasks' own deviation, by arrivals, and by how well both are known."""
    alone = left[last] * lines[last].took.mean_s / lines[last].concurrency
    path = [last] if alone >= 0.6 * mid and lines[last].concurrency < slots else list(range(len(lines)))
    room = float(lines[last].concurrency if path == [last] else slots)
    variance, load, unsure = 0.0, 0.0, 0.0
    for at in path:
        took, rate = lines[at].took, arrivals[at]
        number = left[at] + rate * mid
        variance += number * took.deviation_s**2 + rate * mid * took.mean_s**2
        unsure += number * took.deviation_s / math.sqrt(max(1, took.count))
        load += rate * took.mean_s
        if window_s and rate:
            variance += (mid * took.mean_s) ** 2 * rate / window_s
    net = max(0.1 * room, room - load)
    first = lines[last].took.mean_s / 2
    off = math.sqrt(variance + unsure**2 + first**2) / net + MODEL * mid
    return Spread(low_s=max(0.0, mid - BELOW * off), mid_s=mid, high_s=mid + ABOVE * off)


def _limited(facts: Facts) -> tuple[Line, ...]:
    """The shops with tasks behind their own limit, where slots are free that these may not use."""
    if facts.busy >= facts.slots:
        return ()
    stuck = (line for line in facts.lines if line.waiting and line.running >= line.concurrency)
    return tuple(sorted(stuck, key=lambda line: -line.waiting * line.took.mean_s / line.concurrency))


def _helps(facts: Facts, flow: Flow) -> tuple[str, ...]:
    found = [RECONNECT] if not facts.broker else [FREE_BROKER] if facts.blocked else []
    if flow.state == NO_WORKER:
        found.append(START_WORKER if facts.workers or not facts.cut_off else REACH_BROKER)
    if flow.state == GROWING and not flow.limited:
        found.append(MORE_SLOTS)
    if flow.limited and flow.state in (GROWING, STEADY):
        found.append(SHOP_LIMIT)
    found += [_HELPS[reason] for reason, count in facts.persons if count]
    if facts.held:
        found.append(DECIDE)
    if facts.dead:
        found.append(LOOK_AT_CAUSE)
    return tuple(dict.fromkeys(found))


# ------------------------------------------------------------------- in words


def headline(flow: Flow) -> tuple[Clause, ...]:
    """The answer as statements, the decisive one first; they are joined by semicolons."""
    facts = flow.facts
    if flow.state == LOADING:
        return (_said("flow.loading"),)
    if flow.state == LOST and not facts.store:
        return (_said("flow.lost_store"),)
    return (*_of_waiting(flow), *_of_the_rest(flow))


#: statements of several reasons, or of more than a number, and what those come to
_BRIEF = {
    "flow.person": "flow.person_brief", "flow.person_all": "flow.person_brief", "flow.later": "flow.later_brief",
    "flow.later_all": "flow.later_brief", "flow.pauses": "flow.why_paused", "flow.dead": "flow.dead_brief",
    "flow.dead.one": "flow.dead_brief", "flow.unconfirmed": "flow.unconfirmed_brief",
    "flow.unconfirmed.one": "flow.unconfirmed_brief",
}  # fmt: skip


def in_brief(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The same statements on a line: one reason instead of what it comes to, and of several only that."""
    return tuple(
        Clause(one.why[0])
        if len(one.why) == 1
        else _counted(_BRIEF[one.message.code], int(str(one.message.params["n"])))
        if one.message.code in _BRIEF
        else one
        for one in clauses
    )


def growth(flow: Flow) -> tuple[Message, ...]:
    """What an item about a growing queue says: the rates of the headline, and what holds the slots."""
    facts, found = flow.facts, [Message("flow.rates", _rates(flow))]
    one = ".one" if facts.slots == 1 else ""
    if facts.lane or (flow.limited and not flow.more_slots):
        found += [clause.message for clause in _of_slots(flow)]
        if facts.lane:
            found.append(Message("flow.widen" if facts.alone else "flow.widen_some", {"worker": facts.alone}))
    elif flow.more_slots:
        found.append(Message(f"flow.all_busy_more{one}", {"slots": facts.slots, "more": flow.more_slots}))
    elif facts.slots and facts.busy >= facts.slots:
        found.append(Message(f"flow.all_busy{one}", {"slots": facts.slots}))
    return tuple(found)


def _of_nothing(facts: Facts) -> list[Clause]:
    lost = [_said("flow.no_writes")] if not facts.writes else [_said("flow.no_broker")] if not facts.broker else []
    lost = lost or ([_said("flow.no_messages")] if facts.blocked else [])
    tries = [_counted("flow.retrying", facts.retrying)] if facts.retrying else []
    if facts.running:
        return [*lost, _said("flow.running", n=facts.running), *tries]
    if tries:
        return [*(lost or [_said("flow.calm")]), *tries]
    return lost or [_said("flow.idle")]


def _of_waiting(flow: Flow) -> list[Clause]:
    facts, rates = flow.facts, _rates(flow)
    if not facts.waiting:
        return _of_nothing(facts)
    if flow.state == GROWING and flow.runnable == facts.waiting:
        growing = _said("flow.growing", n=facts.waiting, **rates)
        return [growing, *_of_unrecorded(facts), *_of_slots(flow)]
    found = [_how_many(flow), *_of_unrecorded(facts)]
    if not facts.writes:
        return [*found, _said("flow.lost_writes")]
    if not facts.broker:
        return [*found, _said("flow.lost_broker")]
    if facts.blocked:
        return [*found, _said("flow.blocked", n=facts.unsent)]
    return [*found, *_of_gates(flow), *_of_unsent(facts), *_of_no_gate(flow)]


def _of_unsent(facts: Facts) -> list[Clause]:
    return [_said("flow.unsent", n=facts.unsent)] if _on_no_way(facts) else []


def _of_no_gate(flow: Flow) -> list[Clause]:
    """Of those that nothing holds back; a broker that is silent may hand out none of them."""
    if not flow.runnable:
        return []
    if flow.facts.answers:
        return _of_runnable(flow)
    whole = flow.runnable == flow.facts.waiting
    return [_said("flow.silent") if whole else _said("flow.silent_others", n=flow.runnable)]


def _of_unrecorded(facts: Facts) -> list[Clause]:
    if not facts.unrecorded:
        return []
    everything = facts.unrecorded >= facts.waiting
    return [_said("flow.unrecorded_all" if everything else "flow.unrecorded", n=facts.unrecorded)]


def _how_many(flow: Flow) -> Clause:
    """What waits, with both rates where these say more than a time does, and never "not growing" beside a higher In."""
    facts, rates = flow.facts, flow.facts.rates
    if flow.state not in (STEADY, DRAINING) or flow.runnable < facts.waiting or not rates.in_s:
        return _counted("flow.waiting", facts.waiting)
    if _ended_burst(rates):
        return _counted("flow.burst", facts.waiting)
    if flow.state == DRAINING or flow.estimate is None:
        return _counted("flow.waiting", facts.waiting)
    level = rates.in_s <= rates.out_s * (1 + GROWTH)
    return _counted("flow.steady" if level else "flow.more", facts.waiting, **_rates(flow))


def _of_gates(flow: Flow) -> list[Clause]:
    facts, found = flow.facts, []
    paused = dict(facts.persons).get("paused", 0) if facts.pause is not None or facts.pauses else 0
    if for_person := flow.for_person - paused:
        told = [(reason, count) for reason, count in facts.persons if count and not (paused and reason == "paused")]
        why = tuple(_counted(f"flow.why_{reason}", count).message for reason, count in told)
        everyone = for_person >= facts.waiting
        code = "flow.person_all" if everyone else "flow.person"
        found.append(Clause(_counted(code, for_person).message, why))
    if paused and facts.pause is not None:
        found.append(_of_pause(paused, facts.pause, facts))
    elif paused:
        found.append(_of_pauses(paused, facts))
    if facts.later:
        why = tuple(_why_later(reason, count, facts) for reason, count in facts.laters if count)
        code = "flow.later_all" if facts.later >= facts.waiting else "flow.later"
        found.append(Clause(_counted(code, facts.later).message, why))
    return found


def _why_later(reason: str, count: int, facts: Facts) -> Message:
    opens_s = facts.opens_s if reason == "breaker" else dict(facts.opens).get(reason, 0.0)
    if opens_s > 0:  # a count-down goes by whole seconds, and says no "in 0.0 s"
        return Message(f"flow.why_{reason}_in", {"n": count, "seconds": math.ceil(opens_s)})
    return Message(f"flow.why_{reason}", {"n": count})


def _of_pause(number: int, pause: Pause, facts: Facts) -> Clause:
    """A pause was somebody's wish: nothing is wrong, and who it was knows when it is over."""
    code = "flow.paused_all" if number >= facts.waiting else "flow.paused"
    params: dict[str, Param] = {"who": pause.by, "seconds": facts.paused_s, "since": pause.at}
    if pause.reason:
        return _said(f"{code}_why", n=number, **params, reason=pause.reason)
    return _said(code, n=number, **params)


def _of_pauses(number: int, facts: Facts) -> Clause:
    """Of several pauses how many they are, and who made the one that holds most."""
    first, most = facts.pauses[0]
    params: dict[str, Param] = {
        "pauses": len(facts.pauses), "scope": first.scope, "most": min(most, number), "who": first.by,
        "seconds": facts.paused_s, "since": first.at,
    }  # fmt: skip
    return _said("flow.pauses_all" if number >= facts.waiting else "flow.pauses", n=number, **params)


def _of_runnable(flow: Flow) -> list[Clause]:
    facts, spread, rates = flow.facts, flow.estimate, _rates(flow)
    whole = flow.runnable == facts.waiting
    if flow.state == NO_WORKER:
        return _of_nobody(facts)
    if flow.state == GROWING:
        return [_said("flow.others_growing", n=flow.runnable, **rates), *_of_slots(flow)]
    if spread is None:
        behind = _of_slots(flow) if flow.limited else []
        return [*behind, _said("flow.unmeasured")] if flow.reason == NOT_MEASURED else behind
    if spread.mid_s > LONGEST_S:
        return [_said("flow.long"), *_of_slots(flow)]
    if spread.high_s <= 1.0:
        return [_counted("flow.at_once", flow.runnable) if whole else _counted("flow.others_at_once", flow.runnable)]
    span = {"low_s": spread.low_s, "high_s": spread.high_s}
    if not whole:
        return [_counted(_others(flow), flow.runnable, **span)]
    if flow.state == STEADY:
        return [_said("flow.started", **span), *_of_slots(flow)]
    return [_said("flow.clear", **span), *(_of_slots(flow) if flow.limited else ())]


def _of_nobody(facts: Facts) -> list[Clause]:
    """Why no slot is there; of workers that cannot reach the broker the rest of the headline says it."""
    if facts.workers:
        return [_said("flow.no_slot")]
    if facts.cut_off:
        return []
    return [_counted("flow.drained", facts.drained) if facts.drained else _said("flow.no_worker")]


def _others(flow: Flow) -> str:
    """What is said of those that no gate holds back; of a single one it is the same in any case."""
    if flow.state == STEADY and flow.runnable > 1:
        return "flow.others_started"
    return "flow.others_burst" if flow.runnable > 1 and _ended_burst(flow.facts.rates) else "flow.others"


def _of_slots(flow: Flow) -> list[Clause]:
    facts = flow.facts
    if flow.limited and facts.busy < facts.slots:
        worst, behind = flow.limited[0], sum(line.waiting for line in flow.limited)
        room: dict[str, Param] = {"free": facts.slots - facts.busy, "slots": facts.slots}
        alone = all(line.waiting < BESIDE * worst.waiting for line in flow.limited[1:])
        if alone and 2 * worst.waiting >= behind:
            return [_said("flow.shop_limit", shop=worst.shop, limit=worst.concurrency, **room)]
        return [_said("flow.shop_limits", shops=len(flow.limited), **room)]
    if not facts.slots or facts.busy < facts.slots:
        return []
    more = "_more" if flow.more_slots else ""
    params: dict[str, Param] = {"slots": facts.slots, "more": flow.more_slots}
    one = ".one" if facts.slots == 1 else ""
    if not facts.lane:
        return [_said(f"flow.full{more}{one}", **params)]
    return [_said(f"flow.lane_full{more}{one}", lane=facts.lane, free=facts.elsewhere, **params)]


def _of_the_rest(flow: Flow) -> list[Clause]:
    facts = flow.facts
    found = [_counted("flow.cut_off", facts.cut_off)] if facts.cut_off and facts.broker else []
    found += [_counted("flow.unconfirmed", facts.unconfirmed)] if facts.unconfirmed else []
    if facts.held:
        found.append(_counted("flow.held", facts.held))
    if facts.dead:
        found.append(_counted("flow.dead", facts.dead))
    return found


def _rates(flow: Flow) -> dict[str, Param]:
    return {"in_per_s": flow.facts.rates.in_s, "out_per_s": flow.facts.rates.out_s}


def _said(code: str, **params: Param) -> Clause:
    return Clause(Message(code, params))


def _counted(code: str, number: int, **params: Param) -> Clause:
    one = f"{code}.one"
    return Clause(Message(one if number == 1 and one in SENTENCES else code, {"n": number, **params}))
