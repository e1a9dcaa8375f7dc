"""Which request goes wrong and how: persistent for some shops, passing for a share of task runs, by the seed alone."""

from __future__ import annotations

import enum
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from sample_storefront.catalogue import fraction


class Trouble(enum.StrEnum):
    """How a request is answered."""

    NONE = "none"  #: as asked
    SLOW = "slow"  #: right, but late
    HANG = "hang"  #: not within any sensible time
    RATE_LIMITED = "rate_limited"  #: 429 with Retry-After
    UNAVAILABLE = "unavailable"  #: 503
    LOGIN_EXPIRED = "login_expired"  #: redirect to /login
    CAPTCHA = "captcha"  #: a slider page in place of what was asked
    RISK_CONTROL = "risk_control"  #: 403, the account is restricted
    SELECTOR = "selector"  #: the page lacks what flows look for
    RESET = "reset"  #: the connection breaks
    EMPTY = "empty"  #: the list of orders has lost its rows: the page looks well, and nothing is on it
    POISON_PAGE = "poison_page"  #: one order's row cannot be read, everything else works
    FLAKY = "flaky"  #: every second task run goes wrong once


PASSING = (
    *[Trouble.RATE_LIMITED] * 3,
    *[Trouble.UNAVAILABLE] * 3,
    *[Trouble.SELECTOR] * 2,
    Trouble.RESET,
    Trouble.HANG,
)

_MEMORY = 100_000  #: task runs whose requests are counted; a demo that runs for days must not grow

#: what is wrong with a shop until somebody heals it
LASTING: Mapping[tuple[str, str], Trouble] = {
    ("pdd", "pdd-10093"): Trouble.LOGIN_EXPIRED,
    ("tiktok", "tts-30117"): Trouble.LOGIN_EXPIRED,
    ("pdd", "pdd-10180"): Trouble.CAPTCHA,
    ("pdd", "pdd-10139"): Trouble.POISON_PAGE,
    ("temu", "temu-20355"): Trouble.FLAKY,
    ("pdd", "pdd-10388"): Trouble.SLOW,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much goes wrong on the whole."""

    passing: float  #: share of task runs that fail once or twice and then pass
    slow: float  #: share of requests that are right but late
    lasting: bool  #: whether the shops of ``LASTING`` are in trouble from the start


PROFILES: Mapping[str, Profile] = {
    "healthy": Profile(passing=0.0, slow=0.0, lasting=False),
    "usual": Profile(passing=0.06, slow=0.03, lasting=True),
    "storm": Profile(passing=0.30, slow=0.10, lasting=True),
}


@dataclass(slots=True)
class _Victim:
    """A task run that is to go wrong: in ``left`` attempts, each at its ``at``-th request."""

    kind: Trouble
    left: int
    at: int
    seen: int = 0


class TroubleBook:
    """Decides for each request; thread-safe.

    A task run is known by the task id that the flow sends along. A passing trouble hits the first or second request of
    an attempt, before any flow has posted something, so that the retry is the whole story.
    """

    def __init__(self, seed: int, profile: Profile) -> None:
        self._seed = seed
        self._profile = profile
        self._lock = threading.Lock()
        self._victims: dict[str, _Victim] = {}
        self._visits: dict[str, int] = {}
        self._set: dict[str, Trouble] = (
            {f"{p}:{s}": kind for (p, s), kind in LASTING.items()} if profile.lasting else {}
        )
        self._hits: dict[str, int] = {}

    def put(self, scope: str, kind: Trouble) -> None:
        """Set what is wrong with ``platform:shop``, ``platform`` or ``*``; the narrowest scope that is set counts."""
        with self._lock:
            self._set[scope] = kind

    def lasting(self, platform: str, shop: str) -> Trouble:
        """What is wrong with the shop until somebody heals it."""
        for scope in (f"{platform}:{shop}", platform, "*"):
            if scope in self._set:
                return self._set[scope]
        return Trouble.NONE

    def decide(self, platform: str, shop: str, task_id: str, *, page: bool) -> Trouble:
        """How to answer the next request of this shop and task run; ``page`` tells pages from data."""
        with self._lock:
            kind = self.lasting(platform, shop)
            rate = 0.5 if kind is Trouble.FLAKY else self._profile.passing
            if kind in (Trouble.NONE, Trouble.FLAKY, Trouble.SLOW):
                passing = (
                    self._passing(task_id, rate) if task_id else self._passing_visit(f"{platform}:{shop}", rate, page)
                )
                kind = passing if passing is not Trouble.NONE or kind is Trouble.FLAKY else kind
            if kind is not Trouble.NONE:
                self._hits[kind] = self._hits.get(kind, 0) + 1
            return kind

    def state(self) -> dict[str, object]:
        """For ``/_control``: what is set and how often each trouble has struck."""
        with self._lock:
            return {"set": {scope: str(kind) for scope, kind in self._set.items()}, "hits": dict(self._hits)}

    def _passing_visit(self, shop: str, rate: float, page: bool) -> Trouble:
        """A visitor without a task id: each page view stands for itself, and data comes or it does not."""
        visit = self._visit(shop)
        if fraction(self._seed, "slow", shop, visit) < self._profile.slow:
            return Trouble.SLOW
        return self._kind(shop, visit) if page and self._chance(shop, visit) < rate else Trouble.NONE

    def _passing(self, run: str, rate: float) -> Trouble:
        if fraction(self._seed, "slow", run, self._visit(run)) < self._profile.slow:
            return Trouble.SLOW
        if self._chance(run) >= rate:
            return Trouble.NONE
        victim = self._victims.get(run)
        if victim is None:
            twice = fraction(self._seed, "twice", run) < 1 / 6
            at = int(2 * fraction(self._seed, "at", run))
            victim = self._victims[run] = _Victim(self._kind(run), 2 if twice else 1, at)
        return self._strike(victim)

    @staticmethod
    def _strike(victim: _Victim) -> Trouble:
        if victim.left == 0:
            return Trouble.NONE
        # what a flow looks for is on its first page; later requests are for data
        due = victim.seen >= (0 if victim.kind is Trouble.SELECTOR else victim.at)
        victim.seen = 0 if due else victim.seen + 1
        victim.left -= due
        return victim.kind if due else Trouble.NONE

    def _visit(self, run: str) -> int:
        if len(self._visits) > _MEMORY and run not in self._visits:
            self._visits.clear()
        self._visits[run] = self._visits.get(run, 0) + 1
        return self._visits[run]

    def _chance(self, *run: object) -> float:
        return fraction(self._seed, "victim", *run)

    def _kind(self, *run: object) -> Trouble:
        return PASSING[int(len(PASSING) * fraction(self._seed, "kind", *run))]
