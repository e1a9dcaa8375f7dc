"""What a page is given: questions, commands, the live feed and a few doors, all as values and protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from services.commands.back.ways import Commands as ReversingCommands
from services.commands.batches import BatchCommands
from services.commands.bulk.republish import BulkRepublish
from services.commands.operator import Operator
from services.commands.queues import QueueCommands
from services.commands.records import RecordCommands
from services.commands.settings import SettingCommands
from services.domain.fleet.shop import Shop
from services.domain.promises.promise import Promise
from services.domain.promises.standing import Standing
from services.domain.types.task_type import TaskType
from services.domain.upkeep.health import Finding
from services.domain.upkeep.repair import Mend, Told
from services.monitor.alerts.queries import AlertQueries
from services.monitor.artifacts import ArtifactQueries
from services.monitor.audit import AuditQueries
from services.monitor.batches import BatchQueries
from services.monitor.handover import HandoverQueries
from services.monitor.letters.beside import LetterQueries
from services.monitor.letters.causes import CauseQueries
from services.monitor.log_files import LogQueries
from services.monitor.overview import OverviewSource
from services.monitor.past.queries import PastQueries
from services.monitor.promises import PromiseQueries
from services.monitor.queues.board import QueueBoard
from services.monitor.remote import RemoteQueries
from services.monitor.roles import RoleQueries
from services.monitor.schedules import ScheduleQueries
from services.monitor.shops.queries import ShopQueries
from services.monitor.tasks import TaskQueries
from services.monitor.types import TypeQueries
from services.profiles.known import titled
from views.support.acting import AboutToHappen
from views.support.feed import Feed
from views.support.memory import Memory, ShortMemory
from views.widgets.toast import ToastSpec


class CommandSet(ReversingCommands, Protocol):
    """What the present operator may do; every call blocks, so pages call it through an ``Operation``."""

    @property
    def operator(self) -> Operator: ...
    @property
    def bulk(self) -> BulkRepublish: ...
    @property
    def queues(self) -> QueueCommands: ...
    @property
    def batches(self) -> BatchCommands: ...
    @property
    def settings(self) -> SettingCommands: ...
    @property
    def records(self) -> RecordCommands: ...


class LocalControl(Protocol):
    """The workers inside this program. ``start`` and ``stop`` block."""

    def start(self, slots: int, lanes: tuple[str, ...] = ("high", "normal", "low")) -> object: ...
    def stop(self, grace_s: float | None = None) -> bool: ...

    @property
    def slots(self) -> int:
        """Of what starts here now, as the settings say."""

    @property
    def name(self) -> str:
        """Name of the local worker in the list of workers, "" while none runs."""


class LoginControl(Protocol):
    """The browsers of shops for a person to log in. Both block, ``log_in`` until the person has closed the browser."""

    def elsewhere(self, shop: str) -> str:
        """The node on which the shop's profile lives, "" where it is opened here."""

    def log_in(self, shop: str) -> bool:
        """Open it here; whether the shop is logged in now."""


class DoctorControl(Protocol):
    """A look at what the fleet stands on, and its repair. All block, for minutes where there are very many records."""

    def examine(self, *, deep: bool = False) -> Sequence[Finding]:
        """Every finding; ``deep``: all records are compared with what is derived from them."""

    def plan(self, *, from_stream: bool = False, told: Told = ...) -> Sequence[Mend]:
        """What a repair would do; changes nothing. ``told``: at which step it is, of how many."""

    def repair(self, *, from_stream: bool = False, told: Told = ...) -> Sequence[Mend]:
        """Mend all that can be mended: audited, for admins. ``told``: as of ``plan``."""


class SampleControl(Protocol):
    """The sample fleet: its shops, storefront and trickle of tasks. ``load`` and ``stop`` block.

    ``stop`` tells how many waiting tasks it cancelled.
    """

    @property
    def loaded(self) -> bool: ...
    def load(self) -> None: ...
    def stop(self) -> int: ...


class PageContext(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a page may use; pages never look for each other or for the window."""

    tasks: TaskQueries
    causes: CauseQueries
    schedules: ScheduleQueries
    queues: QueueBoard
    batches: BatchQueries
    promises: PromiseQueries
    policies: TypeQueries
    promise_tried: Callable[[Promise], Standing]  #: how one would stand that nobody has kept; blocking
    limits: ShopQueries
    artifacts: ArtifactQueries
    letters: LetterQueries
    roles: RoleQueries
    audit: AuditQueries
    past: PastQueries
    handover: HandoverQueries
    logs: LogQueries
    remote: RemoteQueries
    alerts: AlertQueries
    overview: OverviewSource
    commands: CommandSet
    feed: Feed
    local: LocalControl
    logins: LoginControl
    doctor: DoctorControl
    sample: SampleControl
    types: Callable[[], Mapping[str, TaskType]]  #: blocking
    shops: Callable[[], Mapping[str, Shop]]  #: blocking
    toast: Callable[[ToastSpec], None]
    new_task: Callable[[Mapping[str, object]], None]  #: opens the New task dialog with these fields filled
    way_out: Callable[[str, str], None] = lambda _verb, _target: None  #: does what an answer offers: a verb, about what
    profile: str = "local"
    role_now: Callable[[], str] = lambda: ""  #: "" where nobody watches it
    environment: str = ""  #: as it was named; production asks twice
    embedded: bool = True
    dead_log: bool = False  #: the broker keeps a second copy of dead letters
    pending: AboutToHappen = msgspec.field(default_factory=AboutToHappen)  #: what is held with Undo, on any page
    memory: Memory = msgspec.field(default_factory=ShortMemory)  #: what this user's pages remember between starts

    @property
    def title(self) -> str:
        """What the connection is called, in the language of the moment."""
        return titled(self.profile, local=self.embedded)

    def own(self, name: str) -> str:
        """Under which name something is remembered of this connection alone."""
        return f"{name}.{self.profile}"

    @property
    def role(self) -> str:
        """The role that this person has now; the commands ask again before each act."""
        return self.role_now() or self.commands.operator.role
