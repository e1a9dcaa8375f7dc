"""What is true of one queue: how fast it drains, where it is going, and the worst that is the matter with it. Pure."""

from __future__ import annotations

import msgspec

BLOCKED, STUCK, FILLING, PAUSED, NO_CONSUMER = "blocked", "stuck", "filling", "paused", "no_consumer"
RUNNING, EMPTY, UNKNOWN, WAITS, TRIAGE = "running", "empty", "unknown", "waits", "triage"
#: what may be the matter, the worst first
WRONG = (BLOCKED, STUCK, FILLING, PAUSED, NO_CONSUMER)
#: of those what does not end by itself, the worst first
NEEDS = (STUCK, BLOCKED, NO_CONSUMER, FILLING)
STUCK_S = 1800
#: so many come in for each that goes, and so many wait at least, before one speaks of filling
FILLS, FILLS_FROM = 1.25, 10
#: a rate of 0 says something once it was looked for so long
KNOWN_S = 60.0
#: where tasks go seldom, nothing goes any more only once none went for so many times as long as from one to the next
MISSED = 3.0
#: tasks a minute, and a share of all that moves, below which depth counts as steady
STEADY, STEADY_SHARE = 0.1, 0.05


class Flow(msgspec.Struct, frozen=True):
    """What came and went a second, of the last ``known_s`` seconds."""

    in_s: float = 0.0
    out_s: float = 0.0
    known_s: float = 0.0
    idle_s: float = 0.0  #: since the last that went; 0 where nobody knows

    @property
    def known(self) -> bool:
        """Whether it was looked at long enough to say anything."""
        return self.known_s > 0

    @property
    def trend(self) -> float:
        """By how many tasks a minute it grows; 0 where it is steady."""
        net = (self.in_s - self.out_s) * 60
        return 0.0 if abs(net) < max(STEADY, STEADY_SHARE * (self.in_s + self.out_s) * 60) else net


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one queue of work."""

    waiting: int | None  #: with their message or at a gate; None: nobody knows
    ready: int = 0  #: of those the ones a worker could take
    consumers: int | None = None
    occupied: bool = False  #: no worker that serves it has a slot for it: then they take their consumers back
    flow: Flow = msgspec.field(default_factory=Flow)
    oldest_s: float = 0.0  #: how long the first in it waits
    blocked: bool = False  #: the broker takes no messages
    paused: bool = False  #: a switch holds all of it


def drained_s(ready: int, flow: Flow) -> float | None:
    """Seconds until what is ready now has gone, at the pace of late; None where nothing goes, or nobody knows."""
    if not ready:
        return 0.0
    return ready / flow.out_s if flow.out_s > 0 else None


def drains(ready: int, flow: Flow) -> bool:
    """False once nothing has gone for a minute although something is there."""
    if not ready or flow.known_s < KNOWN_S:
        return True
    return flow.out_s > 0 and flow.idle_s < max(KNOWN_S, MISSED / flow.out_s)


def still(flow: Flow) -> bool:
    """Whether nothing goes, and that was looked for long enough to be said."""
    return flow.known_s >= KNOWN_S and not flow.out_s


def wrong(facts: Facts) -> tuple[str, ...]:
    """Everything that is the matter, the worst first. What somebody paused is neither stuck nor filling; where all of
    it is at gates the queue is not stuck: what holds it is said of the shops.
    """
    if not facts.waiting:
        return (BLOCKED,) if facts.blocked else ()
    flow = facts.flow
    found = {
        BLOCKED: facts.blocked,
        STUCK: not facts.paused and facts.ready > 0 and facts.oldest_s >= STUCK_S and still(flow),
        FILLING: not facts.paused
        and facts.waiting >= FILLS_FROM
        and flow.known_s >= KNOWN_S
        and flow.trend > 0
        and flow.in_s >= FILLS * flow.out_s,
        PAUSED: facts.paused,
        NO_CONSUMER: facts.consumers == 0 and not facts.occupied,
    }
    return tuple(one for one in WRONG if found[one])


def state(facts: Facts) -> str:
    """The worst of that, else whether it runs."""
    if facts.waiting is None:
        return UNKNOWN
    return next(iter(wrong(facts)), RUNNING if facts.waiting else EMPTY)
