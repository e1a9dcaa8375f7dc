"""What a decision reads and writes. Everything read agrees with what was written through the same view before."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from services.domain.change import Annotate
from services.domain.gates.breaker import Breaker, Rule
from services.domain.gates.limit import Room
from services.domain.gates.passing import Pass
from services.domain.gates.session import ClosedSession
from services.domain.task.ledger import Done
from services.domain.task.notes import Suppressed
from services.domain.task.record import Task
from services.domain.task.tombstone import Tombstone


class Mark(Enum):
    """What becomes of the outbox mark of a record."""

    KEEP = "keep"
    CLEAR = "clear"
    SET = "set"  #: as of now, also where there was one


class Standing(NamedTuple):
    """How an active task stands among those that hold its uniqueness key."""

    status: str
    gate: str
    created_at: int


class Seen(Protocol):
    """A shop as it stands."""

    @property
    def counted(self) -> Mapping[str, int]:
        """Its tasks that are running, blocked, pending or queued, by status."""

    @property
    def slots(self) -> int | None:
        """How many may run at once; None where nobody knows the shop."""

    @property
    def promised(self) -> Collection[str]:
        """The tasks for which one of its slots is kept."""


class Shops(Protocol):
    """Shops by ``platform:shop_id``: what runs, waits and is promised there."""

    def whole(self, shop: str) -> Seen:
        """All of a shop; who wants only a count asks for that."""

    def count(self, shop: str, status: str) -> int:
        """Its tasks that are running, blocked, pending or queued."""

    def under_way(self, shop: str, priority: int = 0) -> int:
        """Its tasks that a message is under way for, of those at least so urgent."""

    def register(self, shop: str) -> None:
        """Make an unknown shop known."""

    def promise(self, task: Task, until: int) -> None:
        """Keep a slot for a task until an instant."""

    def take_back(self, task: Task) -> None:
        """Keep it no longer."""

    def lot(self, shop: str, without: Collection[str]) -> Iterator[tuple[str, str]]:
        """(task id, ``Task.guard``) of its parked tasks, in their order, but for those of some types."""

    def lot_of_type(self, shop: str, kind: str) -> Iterator[tuple[str, str]]:
        """Those of one type."""


class Limits(Protocol):
    """The limits of platforms and types by scope, with who waits there: lots (``shop|type``) by rank."""

    @property
    def some(self) -> bool:
        """Whether anybody has set one."""

    def of(self, task: Task) -> Iterable[Room]:
        """Those that a task counts for, in the order in which they are tested."""

    def room(self, scope: str) -> Room:
        """One of them; where there is none, one that lets everything pass."""

    def started(self, task: Task) -> None:
        """Count a start."""

    def promise(self, task: Task, until: int) -> None:
        """Keep a place of each of its limits for a task."""

    def take_back(self, task: Task) -> None:
        """Keep them no longer."""

    def best(self, scope: str) -> tuple[str, int] | None:
        """The lot that goes next, and the rank it waits with."""

    def wait(self, scope: str, lot: str, rank: int) -> None:
        """Let a lot wait; it keeps its place if that is the better one."""

    def move(self, scope: str, lot: str, rank: int | None) -> None:
        """Give a waiting lot another place, or none."""


class Breakers(Protocol):
    """What is remembered of shops that fail."""

    def of(self, shop: str) -> Breaker | None:
        """None where nothing is."""

    def put(self, shop: str, found: Breaker | None) -> None:
        """Remember, or forget."""

    def rule(self) -> Rule:
        """When they open."""


class Logins(Protocol):
    """Shops that wait for a person, and who logged them in."""

    def is_closed(self, shop: str) -> bool:
        """Whether a shop waits for a person."""

    def logged_in_at(self, shop: str) -> int:
        """When somebody logged it in last, UTC ms; 0 where nobody knows."""

    def close(self, closed: ClosedSession) -> None:
        """From now on it waits."""

    def open(self, shop: str, by: str) -> None:
        """Somebody has logged it in now."""


class Homes(Protocol):
    """Where shops are at home."""

    def of(self, shop: str) -> str | None:
        """The node of a shop, "" where it has none; None where it has one and nobody can read which."""

    def settle(self, shop: str, node: str) -> None:
        """Make a node the home of a shop that has none."""


class Passes(Protocol):
    """Those that somebody lets through, by task, the first to be let through first."""

    def all(self) -> Mapping[str, Pass]:
        """Those that can be read."""

    @property
    def asked(self) -> bool:
        """Whether anybody has looked at them in this step."""

    def put(self, task_id: str, one: Pass) -> None:
        """Give one; it goes last."""

    def drop(self, task_id: str) -> None:
        """Take it away."""


class Needs(Protocol):
    """Who waits for whom: ids as ``depends_on`` names them."""

    @property
    def some(self) -> bool:
        """Whether any task waits for another one."""

    def noted(self, task_id: str) -> set[tuple[str, bool]]:
        """What a task waits for, each with whether a failure ends it."""

    def note(self, task_id: str, names: Iterable[str], *, cancels: bool) -> None:
        """Remember what it waits for."""

    def waits(self, task_id: str) -> bool:
        """Whether it waits for anything."""

    def forget(self, task_id: str) -> None:
        """It waits for nothing more."""

    def strike(self, task_id: str, name: str) -> None:
        """It waits for this one no more."""

    def dependants(self, name: str, most: int, *, cancelling: bool) -> list[str]:
        """Tasks that wait for a name, so many at most: those that stay where it fails first. ``cancelling``: the others
        alone.
        """

    def is_needed(self, task_id: str) -> bool:
        """Whether somebody waits for it, or is yet to be told how it ended."""

    def postpone(self, task_id: str) -> None:
        """Its dependants are to be told later."""

    def told(self, task_id: str) -> None:
        """They have been told, or are about to be."""


class Works(Protocol):
    """The ledger of what was done."""

    @property
    def won(self) -> Sequence[tuple[str, Task]]:
        """What succeeded since the last question and may have overtaken something."""

    def done(self, task: Task, since: int) -> Done | None:
        """What another task has done of its work since an instant; 0: nobody asks. ``ledger.UNREADABLE`` where that is
        not known.
        """

    def overtaken(self) -> list[tuple[str, Task]]:
        """Ids of what is held or open, each with the task that has done its work since the last question."""

    def forget(self, task: Task, until: int) -> None:
        """The record of a task goes; what is known of it is known until then, 0: no longer."""


class Stones(Protocol):
    """What is left of removed records."""

    def get(self, task_id: str) -> Tombstone | None:
        """None where nothing is."""

    def put(self, stone: Tombstone, until: int, batch: str) -> None:
        """Leave one, and count it for its batch."""

    def remove(self, task_id: str) -> None:
        """Take one away."""


class Annotations(Protocol):
    """What is said beside the records."""

    def annotate(self, op: Annotate) -> bool:
        """Keep a note; False where it is kept already."""

    def suppress(self, entry: Suppressed) -> None:
        """Count and list a task that met another one with the same work; once, however often it is said."""


class View(Protocol):
    """One step of the store as its operations see it."""

    @property
    def now(self) -> int:
        """The instant of the step, UTC ms."""

    @property
    def lifo(self) -> Container[str]:
        """Lanes in which the youngest task of a priority goes first."""

    @property
    def shops(self) -> Shops: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def breakers(self) -> Breakers: ...
    @property
    def logins(self) -> Logins: ...
    @property
    def homes(self) -> Homes: ...
    @property
    def passes(self) -> Passes: ...
    @property
    def needs(self) -> Needs: ...
    @property
    def works(self) -> Works: ...
    @property
    def stones(self) -> Stones: ...
    @property
    def annotations(self) -> Annotations: ...

    tell_left: int  #: dependants that may still be told in this step
    dropped: list[Task]  #: cancelled by the present operation over a task that they depend on

    def get(self, task_id: str) -> Task | None:
        """A record as it stands."""

    def put(self, task: Task, mark: Mark = Mark.KEEP) -> Task:
        """Store a record; a new transition becomes an event, counters and indexes follow."""

    def is_marked(self, task_id: str) -> bool:
        """Whether it has an outbox mark."""

    def tell(self, task: Task) -> None:
        """Let people look at a record again that stays as it is."""

    def remove(self, task: Task) -> None:
        """Take out the record of an ended task and the papers that belong to it; an event says so."""

    def delivered(self, task: Task) -> None:
        """The message of a queued task came out of its queue: move the watermark."""

    def note_deadline(self, task: Task) -> None:
        """Somebody is to look at it when its deadline has passed."""

    def switches(self) -> Mapping[str, frozenset[str]]:
        """The scopes that are closed by a switch now, by the gate of that; no gate without any."""

    def holders(self, uniq: str) -> Mapping[str, Standing]:
        """The active tasks that hold a uniqueness key, by id."""
