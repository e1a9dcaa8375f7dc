"""What is true of one shop: its state, why and since when, what a person can do, and whether a new try makes sense."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from services.domain.fleet.shop import SCOPE_ALL, Pause, Shop
from services.domain.gates import listed
from services.domain.gates import paused as pausing
from services.domain.gates.breaker import Breaker
from services.domain.gates.session import ClosedSession
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.status import WAITING as WAITS
from services.domain.task.status import Status
from services.domain.text.counting import left_s
from services.domain.text.message import Message, Param
from services.domain.text.ordering import Order, as_read
from services.domain.text.sentences import N_, NP_

HELD, LOGIN, DEAD, STUCK, BREAKER, UNKNOWN, RETRYING, RUNNING, WAITING, PAUSED_TYPE, HEALTHY, IDLE, PAUSED = (
    "held", "login", "dead", "stuck", "breaker", "unknown",
    "retrying", "running", "waiting", "paused_type", "healthy", "idle", pausing.GATE,
)  # fmt: skip
#: switches, the last one that is tested first: a shop that several cover is in the state of the first
SWITCHED = tuple(reversed(tuple(listed.SWITCHES)))
#: The worst first by what a person must do: decide, log in, look at what failed; then what waits for itself, what
#: nobody can know, what works. A closed switch was somebody's wish and covers all but the two that it cannot mend; its
#: state is called as its gate. A pause of a type is told where nothing else waits.
STATES = (
    *(HELD, LOGIN, DEAD, STUCK, BREAKER, UNKNOWN, RETRYING, RUNNING, WAITING, PAUSED_TYPE, HEALTHY, IDLE),
    *SWITCHED,
)
GOOD = 0.95  #: a shop of whose tasks a smaller part ended well stands out
#: a person must do something about a shop in one of these
FLAGGED = frozenset({HELD, LOGIN, DEAD, STUCK, BREAKER})
#: states that lie over another one, which goes on beneath
COVERS = (UNKNOWN, *SWITCHED)

#: What is lost, so that nobody can know how a shop does, or nothing goes on there.
NO_WORKER, NO_BROKER, NO_STORE, NO_WORD = "workers", "broker", "store", "word"
STUCK_MS, HEALTHY_MS = 30 * 60_000, 86_400_000
FOREVER_MS = 2**63 - 1

#: Whether somebody is logged in there, as far as its own tasks tell.
LOGGED_IN, LOGGED_OUT, CAPTCHA, OFF, TRYING, NOT_KNOWN = (
    "logged_in", "logged_out", "captcha", "off", "trying", "not_known",
)  # fmt: skip
#: a person must act in the shop before anything can succeed there
CLOSED = frozenset({LOGGED_OUT, CAPTCHA})
_DOORS = {classify.LOGIN_EXPIRED: LOGGED_OUT, classify.CAPTCHA: CAPTCHA}

#: the word of each state, the same in the heat map, its legend, tables, cards, lists and commands
WORDS: dict[str, str] = {
    HELD: NP_("shop", "To decide"),
    LOGIN: NP_("shop", "Needs login"),
    DEAD: NP_("shop", "Dead letters"),
    STUCK: NP_("shop", "Stuck"),
    BREAKER: NP_("shop", "Fails too often"),
    UNKNOWN: NP_("shop", "Unknown"),
    RETRYING: NP_("shop", "Retrying"),
    RUNNING: NP_("shop", "Running"),
    WAITING: NP_("shop", "Waiting"),
    PAUSED_TYPE: NP_("shop", "Type paused"),
    HEALTHY: NP_("shop", "Healthy"),
    IDLE: NP_("shop", "Idle"),
    **{gate: switch.state for gate, switch in listed.SWITCHES.items()},
}

SENTENCES: dict[str, str] = {
    "shop.held": N_("{count} to decide: nobody knows how they ended"),
    "shop.held_since": N_("{count} to decide, for {span} now: nobody knows how they ended"),
    "shop.login": N_("Must be logged in, for {span} now"),
    "shop.captcha": N_("A captcha waits for a person, for {span} now"),
    "shop.dead": N_("{count} dead, not looked at yet"),
    "shop.stuck": N_("Has work and finished nothing for {span}"),
    "shop.hung": N_("What runs there seems to hang, for {span} now"),
    "shop.breaker": N_("{failed} of the last {of} attempts failed, next try in {span}"),
    "shop.breaker_now": N_("{failed} of the last {of} attempts failed, one task may try now"),
    "shop.unknown_workers": N_("No worker takes tasks: nobody works on those of this shop"),
    "shop.unknown_word": N_("No word from the worker that runs its task"),
    "shop.unknown_store": N_("The store does not answer: nobody knows"),
    "shop.retrying": N_("{count} failed, tried again automatically"),
    "shop.running": N_("{running} running, {waiting} waiting"),
    "shop.waiting": N_("{waiting} waiting, none running"),
    "shop.waiting_workers": N_("{waiting} waiting: no worker takes tasks"),
    "shop.waiting_broker": N_("{waiting} waiting: the broker does not answer"),
    "shop.healthy": N_("Last success {span} ago"),
    "shop.idle": N_("Nothing to do"),
    "shop.off": N_("Switched off: schedules and promises leave it out"),
    "shop.paused_all": N_("Everything is paused by {who} for {span}"),
    "shop.paused_all_why": N_("Everything is paused by {who} for {span}: {why}"),
    "shop.paused_platform": N_("All of {platform} is paused by {who} for {span}"),
    "shop.paused_platform_why": N_("All of {platform} is paused by {who} for {span}: {why}"),
    "shop.paused_shop": N_("The shop is paused by {who} for {span}"),
    "shop.paused_shop_why": N_("The shop is paused by {who} for {span}: {why}"),
    "shop.paused_type": N_("{type} is paused by {who} for {span}"),
    "shop.paused_type_why": N_("{type} is paused by {who} for {span}: {why}"),
}


class ShopFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one shop at one moment; instants in UTC ms, 0 for never or not known."""

    shop: Shop
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)  #: active tasks by status, and open dead letters
    pauses: tuple[Pause, ...] = ()  #: every closed switch of the fleet
    paused_types: Collection[str] = ()  #: types whose switch keeps tasks of this shop waiting
    paused_waiting: int = 0  #: so many tasks behind a pause of their type
    session: ClosedSession | None = None
    breaker: Breaker | None = None
    success_at: int = 0
    login_at: int = 0
    held_at: int = 0  #: since when the oldest of its held tasks is held
    waits_at: int = 0  #: since when it has had something to do and has finished nothing
    hangs_at: int = 0  #: since when a task runs there that seems to hang
    ended: tuple[int, int] = (0, 0)  #: tasks that ended in the last 24 hours, and those of them that succeeded
    moves: bool = False  #: something runs there no longer than such tasks do, or got further of late
    lost: str = ""  #: NO_WORKER, NO_BROKER, NO_STORE, or NO_WORD: only what it runs is unconfirmed
    tasks: tuple[Task, ...] = ()  #: some of its newest, where the evidence of a login is wanted


class ShopNow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The one answer about a shop; instants in UTC ms, 0 for never or not known."""

    platform: str = ""
    shop_id: str = ""
    name: str = ""
    group: str = ""
    enabled: bool = True  #: schedules and promises leave it out otherwise, also where a pause covers that
    state: str = IDLE  #: one of ``STATES``
    under: str = ""  #: what goes on beneath a state of ``COVERS``
    since_ms: int = 0  #: since when it is so
    waiting: int = 0
    running: int = 0
    retrying: int = 0
    held: int = 0
    dead: int = 0
    pauses: tuple[Pause, ...] = ()  #: those that hold it, the widest first
    session: ClosedSession | None = None
    breaker: Breaker | None = None
    hangs_at: int = 0  #: it is stuck for no other reason than a task that seems to hang: since when that runs
    lost: str = ""
    access: str = NOT_KNOWN  #: whether somebody is logged in: ``LOGGED_IN`` …, or why nobody tries: ``PAUSED``, ``OFF``
    success_at: int = 0  #: end of the last task that succeeded
    failure_at: int = 0  #: end of the last attempt that failed, as far as its tasks were looked at
    failure_kind: str = ""
    ended: int = 0  #: tasks that ended in the last 24 hours; 0 also where nobody has asked for it
    ended_well: int = 0  #: those of them that succeeded

    @property
    def success_share(self) -> float | None:
        """The part of what ended in the last 24 hours that succeeded; None where nothing did."""
        return self.ended_well / self.ended if self.ended else None

    @property
    def key(self) -> str:
        """``platform:shop_id``."""
        return f"{self.platform}:{self.shop_id}"

    @property
    def paused(self) -> bool:
        """Whether it is paused as a whole, and not only some type of its tasks."""
        return bool(self.pauses) and PAUSED in _whole(self.pauses)

    @property
    def held_by_pause(self) -> bool:
        """Whether a pause holds it, or some of its tasks: of everything, its platform, itself, or a type of task."""
        return bool(self.pauses) and any(pause.gate == PAUSED for pause in self.pauses)

    @property
    def closed(self) -> bool:
        """Whether trying again would fail until a person has acted."""
        return self.access in CLOSED


def judge(facts: ShopFacts, now_ms: int) -> ShopNow:
    """Say what is true of a shop.

    A success or a login after the last closed door says that somebody has opened it again. An attempt that runs says
    nothing yet.
    """
    ended = [task.ended_at for task in facts.tasks if task.status == Status.SUCCEEDED]
    facts = replace(facts, success_at=max(ended)) if ended and max(ended) > facts.success_at else facts
    shop, counts = facts.shop, facts.counts
    pauses = holding(shop, facts.pauses, facts.paused_types)
    own = _own_state(facts, now_ms)
    waiting = sum(counts.get(status, 0) for status in WAITS)
    if own == WAITING and facts.paused_waiting >= waiting:
        own = PAUSED_TYPE
    state, under = own, ""
    # what waits only is known to wait, and a worker without its broker still records what it runs
    if facts.lost == NO_STORE or (facts.lost in (NO_WORD, NO_WORKER) and own == RUNNING):
        state, under = UNKNOWN, own
    covering = _whole(pauses)
    if covering and state not in (HELD, LOGIN):
        state, under = next(gate for gate in listed.SWITCHES if gate in covering), own
    access, failure_at, failure_kind = _access(facts, pauses)
    return ShopNow(
        platform=shop.platform,
        shop_id=shop.shop_id,
        name=shop.called,
        group=shop.group,
        enabled=shop.enabled,
        state=state,
        under=under,
        since_ms=_since(facts, state, pauses, now_ms),
        waiting=waiting,
        running=counts.get(Status.RUNNING, 0),
        retrying=counts.get(Status.RETRYING, 0),
        held=counts.get(Status.HELD, 0),
        dead=counts.get(Status.DEAD, 0),
        pauses=pauses,
        session=facts.session,
        breaker=facts.breaker,
        hangs_at=0 if _finishes_nothing(facts, now_ms) else facts.hangs_at,
        lost=facts.lost,
        access=access,
        success_at=facts.success_at,
        failure_at=failure_at,
        failure_kind=failure_kind,
        ended=facts.ended[0],
        ended_well=facts.ended[1],
    )


def stands_until(facts: ShopFacts, now_ms: int) -> int:
    """The last instant (UTC ms) at which ``judge`` says the same of these facts, at the earliest now: it asks what time
    it is to see whether nothing is finished for too long, and whether the last success is of late.
    """
    ends = [max(facts.waits_at, facts.success_at) + STUCK_MS] if facts.waits_at else []
    if facts.success_at:
        ends.append(facts.success_at + HEALTHY_MS - 1)
    return min((end for end in ends if end >= now_ms), default=FOREVER_MS)


def _whole(pauses: Iterable[Pause]) -> Collection[str]:
    """Gates of which a switch is closed for all that the shop does."""
    return {pause.gate for pause in pauses if not pause.scope.startswith("type:")}


def unknown(now: ShopNow, lost: str) -> ShopNow:
    """The same shop once nobody can know any more how it does; ``lost``: what does not answer."""
    if now.state == UNKNOWN:
        return replace(now, lost=lost)
    return replace(now, state=UNKNOWN, under=now.under if now.state in COVERS else now.state, since_ms=0, lost=lost)


def holding(shop: Shop, pauses: Iterable[Pause], types: Collection[str] = ()) -> tuple[Pause, ...]:
    """The pauses that keep a shop's tasks waiting, the widest first; of types only those named."""
    scopes = [SCOPE_ALL, f"platform:{shop.platform}", f"shop:{shop.key}", *(f"type:{name}" for name in types)]
    found = [pause for pause in pauses if pause.scope in scopes]
    return tuple(sorted(found, key=lambda pause: scopes.index(pause.scope)))


#: sentences that say what a shop waits for a person with
ASKS = frozenset({"shop.login", "shop.captcha"})


def reasons(now: ShopNow, at_ms: int) -> tuple[Message, ...]:
    """Why a shop is in its state, the decisive sentence first; a pause on two levels is told on both."""
    told = [paused(pause, at_ms) for pause in now.pauses]
    covered = now.state in listed.SWITCHES
    own = now.under if covered else now.state
    by_pause = own == PAUSED_TYPE or (covered and own not in FLAGGED)
    first = [] if by_pause else [_reason(now, own, at_ms)]
    if now.session is not None and own != LOGIN:
        first.append(_reason(now, LOGIN, at_ms))
    if now.breaker is not None and own != BREAKER:
        first.append(_reason(now, BREAKER, at_ms))
    if not now.enabled and all(one.code != "shop.off" for one in first):  # whatever it still does
        first.append(Message("shop.off"))
    return (*told, *first) if covered or now.state == PAUSED_TYPE else (*first, *told)


def acts(now: ShopNow) -> tuple[tuple[str, str], ...]:
    """What a person can do about a shop, the most useful first: a verb and what it is about."""
    found: list[tuple[str, str]] = []
    if now.held:
        found.append(("open_tasks", f"shop:{now.key} status:held"))
    if now.session is not None:
        found += [("login_shop", now.key), ("open_session", now.key)]
    found += [(verb, pause.scope) for pause in now.pauses if (verb := listed.SWITCHES[pause.gate].verb)]
    if now.dead:
        found.append(("open_tasks", f"shop:{now.key} status:dead triage:open"))
    if now.breaker is not None:
        found.append(("close_breaker", now.key))
    if now.lost == NO_WORKER and now.waiting:
        found.append(("start_worker", ""))
    return tuple(found)


def rank(now: ShopNow) -> tuple[int, int, int, Order]:
    """Sorts shops: the worst state first, then what died, then what waits."""
    return STATES.index(now.state), -now.dead, -now.waiting, as_read(now.key)


def _own_state(facts: ShopFacts, now_ms: int) -> str:
    counts = facts.counts
    true = {
        HELD: counts.get(Status.HELD, 0),
        LOGIN: facts.session is not None,
        DEAD: counts.get(Status.DEAD, 0),
        STUCK: (facts.hangs_at and counts.get(Status.RUNNING, 0)) or _finishes_nothing(facts, now_ms),
        BREAKER: facts.breaker is not None,
        RETRYING: counts.get(Status.RETRYING, 0),
        RUNNING: counts.get(Status.RUNNING, 0),
        WAITING: any(counts.get(status, 0) for status in WAITS),
        HEALTHY: facts.success_at and now_ms - facts.success_at < HEALTHY_MS,
    }
    return next((state for state in STATES if true.get(state)), IDLE)


def _finishes_nothing(facts: ShopFacts, now_ms: int) -> bool:
    if facts.breaker is not None or facts.moves or not facts.waits_at:
        return False
    due = max(facts.waits_at, facts.success_at) + STUCK_MS
    return now_ms > due and not _was_paused(facts, due)


def _was_paused(facts: ShopFacts, at_ms: int) -> bool:
    """Whether a switch that holds all of the shop was closed at that moment."""
    pauses = holding(facts.shop, facts.pauses, facts.paused_types)
    return any(pause.at <= at_ms for pause in pauses if _whole((pause,)))


def _since(facts: ShopFacts, state: str, pauses: tuple[Pause, ...], now_ms: int) -> int:
    if state in (*listed.SWITCHES, PAUSED_TYPE):
        gate = PAUSED if state == PAUSED_TYPE else state
        return min((pause.at for pause in pauses if pause.at and pause.gate == gate), default=0)
    if state == LOGIN and facts.session is not None:
        return facts.session.since
    if state == BREAKER and facts.breaker is not None:
        return facts.breaker.since
    if state == STUCK and facts.hangs_at and not _finishes_nothing(facts, now_ms):
        return facts.hangs_at
    return {
        HELD: facts.held_at,
        STUCK: max(facts.waits_at, facts.success_at),
        WAITING: facts.waits_at,
        HEALTHY: facts.success_at,
    }.get(state, 0)


def _reason(now: ShopNow, state: str, at_ms: int) -> Message:
    """The sentence of one state, which may be the one beneath."""
    since_ms = now.since_ms if now.state == state else 0
    if state == LOGIN and now.session is not None:
        captcha = now.session.kind == classify.CAPTCHA
        return Message("shop.captcha" if captcha else "shop.login", _for(now.session.since, at_ms))
    if state == BREAKER and now.breaker is not None:
        return _breaker(now.breaker, at_ms)
    if state == HELD:
        return Message("shop.held_since" if since_ms else "shop.held", {"count": now.held, **_for(since_ms, at_ms)})
    if state == HEALTHY or (state == STUCK and now.hangs_at):
        return Message(*_for_itself(now, state, at_ms))
    counts: dict[str, Mapping[str, Param]] = {
        DEAD: {"count": now.dead},
        RETRYING: {"count": now.retrying},
        RUNNING: {"running": now.running, "waiting": now.waiting},
        WAITING: {"waiting": now.waiting},
        STUCK: _for(since_ms or at_ms - STUCK_MS, at_ms),
    }
    if state == WAITING and now.lost in (NO_WORKER, NO_BROKER):
        return Message(f"shop.waiting_{now.lost}", counts[state])
    if state in counts:
        return Message(f"shop.{state}", counts[state])
    if state == UNKNOWN:
        return Message(f"shop.unknown_{now.lost or NO_WORKER}")
    return Message("shop.off" if not now.enabled else "shop.idle")


def _for_itself(now: ShopNow, state: str, at_ms: int) -> tuple[str, Mapping[str, Param]]:
    if state == STUCK:
        return "shop.hung", _for(now.hangs_at, at_ms)
    return "shop.healthy", _for(now.success_at, at_ms)


def _breaker(found: Breaker, at_ms: int) -> Message:
    tries = {"failed": found.failed, "of": len(found.outcomes)}
    left_ms = found.until - at_ms
    if left_ms > 0:
        return Message("shop.breaker", {**tries, "seconds": left_s(found.until, at_ms), "until": found.until})
    return Message("shop.breaker_now", tries)


def paused(pause: Pause, at_ms: int) -> Message:
    """Who closed a switch, since when and why."""
    head, _colon, name = pause.scope.partition(":")
    what = {head: name} if head in ("platform", "type") else {}
    params: dict[str, Param] = {**what, **pause.told, "who": pause.by, **_for(pause.at or at_ms, at_ms)}
    if pause.until:
        params |= {"until": pause.until, "seconds": left_s(pause.until, at_ms)}
    if pause.unread:
        return Message(f"shop.{pause.gate}_unread", params)
    if pause.reason:
        return Message(f"shop.{pause.gate}_{head}_why", {**params, "why": pause.reason})
    return Message(f"shop.{pause.gate}_{head}", params)


def _for(since_ms: int, at_ms: int) -> dict[str, Param]:
    return {"seconds": max(0, at_ms - since_ms) // 1000, "since": since_ms}


def _access(facts: ShopFacts, pauses: tuple[Pause, ...]) -> tuple[str, int, str]:
    """Whether somebody is logged in, and the last failure that its tasks tell of."""
    nothing = (0, "")
    failures = [failure for task in facts.tasks for failure in _failures(task)]
    failure_at, failure_kind = max(failures, default=nothing)
    door_at, door = max((failure for failure in failures if failure[1] in _DOORS), default=nothing)
    opened_at = max(facts.success_at, facts.login_at)
    session = facts.session
    if session is not None:
        door_at, door = max(session.since, opened_at + 1), session.kind
        failure_at, failure_kind = max((failure_at, failure_kind), (session.since, session.kind))
    if PAUSED in _whole(pauses):
        access = PAUSED
    elif not facts.shop.enabled:
        access = OFF
    elif door_at > opened_at:
        access = _DOORS[door]
    elif opened_at:
        access = LOGGED_IN
    else:
        access = TRYING if facts.counts.get(Status.RUNNING, 0) else NOT_KNOWN
    return access, failure_at, failure_kind


def _failures(task: Task) -> Iterator[tuple[int, str]]:
    """End and kind of each failure that the record knows."""
    for attempt in task.attempts:
        if attempt.error_kind:
            yield attempt.ended_at, attempt.error_kind
    if task.status == Status.DEAD and task.error_kind:
        yield task.ended_at, task.error_kind
