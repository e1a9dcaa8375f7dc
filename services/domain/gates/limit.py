"""Limits of platforms and task types: how many of their tasks may run at once, and how many may start in a minute."""

from __future__ import annotations

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet import shop
from services.domain.task import ids
from services.domain.task.lane import MAX_PRIORITY
from services.domain.task.record import Task
from services.domain.text.said import said

GATE = "quota"
PLATFORM, TYPE = "platform", "type"
MAX_CONCURRENCY, MAX_PER_MINUTE = 10_000, 100_000
#: starts are counted by second, and each of them for so many: never less than a whole minute
SECONDS = 61
_CLASS = 2**43


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """``scope``: ``platform:pdd`` or ``type:sync_order``. 0 is no limit."""

    scope: str
    concurrency: int = 0  #: tasks that may run at once
    per_minute: int = 0  #: starts within any 60 s

    @property
    def limits(self) -> bool:
        """Whether it limits anything."""
        return bool(self.concurrency or self.per_minute)


class LimitNow(msgspec.Struct, frozen=True, kw_only=True):
    """A limit and how far it is used."""

    limit: Limit
    running: int = 0
    promised: int = 0  #: slots kept for released tasks that have not started yet
    started: int = 0  #: starts that still count
    resets_at: int = 0  #: UTC ms at which the next of them stops to count, 0 for none
    waiting: int = 0  #: lots (shop and type) that may start but for this limit

    @property
    def full(self) -> bool:
        """Whether a task without a promise has to wait."""
        busy, spent = self.running + self.promised, self.started + self.promised
        return 0 < self.limit.concurrency <= busy or 0 < self.limit.per_minute <= spent

    @property
    def used_up(self) -> bool:
        """Whether also a task with a promise would have to wait."""
        return 0 < self.limit.concurrency <= self.running or 0 < self.limit.per_minute <= self.started

    @property
    def opens_by_itself(self) -> bool:
        """Whether somebody waits for nothing but the next minute."""
        return bool(self.waiting) and 0 < self.limit.per_minute <= self.started + self.promised


class Room(msgspec.Struct):
    """A limit with its numbers, as a step of the store follows them."""

    scope: str
    slots: int = 0
    starts: int = 0
    running: int = 0
    promised: set[str] = msgspec.field(default_factory=set)  #: tasks for which a place is kept
    seconds: dict[int, int] = msgspec.field(default_factory=dict)  #: starts that count, by second
    shut: bool = False  #: nobody can read how many may run: nobody starts

    @property
    def left(self) -> float:
        """How many more may start, promises counted."""
        if self.shut:
            return 0
        taken = len(self.promised)
        left = float("inf")
        if self.slots:
            left = self.slots - self.running - taken
        if self.starts:
            left = min(left, self.starts - sum(self.seconds.values()) - taken)
        return left


def scopes(task: Task) -> tuple[str, str]:
    """The scopes whose limits a task counts for, in the order in which they are tested."""
    return f"{PLATFORM}:{task.platform}", f"{TYPE}:{task.task_type}"


def rank(task: Task) -> int:
    """The order of parked tasks as one number, the best one least: higher priority first, then older."""
    return rank_of(task.priority, task.created_at)


def rank_of(priority: int, created_at: int) -> int:
    """The same of one that is still to come."""
    return (MAX_PRIORITY - priority) * _CLASS + created_at


def check(limit: Limit) -> None:
    """Refuse a limit that cannot be.

    Raises:
        UsageError: ``field`` names what to change.
    """
    head, _, name = limit.scope.partition(":")
    if not (head == PLATFORM and shop.valid_word(name)) and not (head == TYPE and ids.valid_task_type(name)):
        raise UsageError(said("limit.scope", scope=f"{limit.scope!r:.80}"), field="scope")
    for name, number, most in (
        ("concurrency", limit.concurrency, MAX_CONCURRENCY),
        ("per_minute", limit.per_minute, MAX_PER_MINUTE),
    ):
        if not 0 <= number <= most:
            raise UsageError(said("limit.range", name=name, most=most, number=number), field=name)
