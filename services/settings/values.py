"""Everything that can be set, with its defaults."""

from __future__ import annotations

import hashlib
import urllib.parse
from pathlib import Path

import msgspec

from services.broker import listed as brokers
from services.domain.task.mapping import QueueMapping
from services.settings.browser import BrowserSettings
from services.settings.http import HttpSettings

BROKER_PROFILES = ("single", "cluster")
#: what becomes of a message of another program whose work waits or runs already: it runs in its turn, or waits for a
#: person
RUN, HOLD = "run", "hold"
FOREIGN_DUPLICATES = (RUN, HOLD)
LANGUAGES, THEMES = ("", "en", "zh_CN"), ("system", "dark", "light")
#: what is filled in where it stands in braces in a command of ``rpa``
PLACES = ("platform", "task_type", "shop_id", "task_id", "profile_id", "debug_port", "param", "timeout")
DEFAULT_COMMAND = (
    "youdao_rpa_cli", "run", "--flow", "{platform}_{task_type}", "--param", "{param}", "--timeout", "{timeout}",
)  # fmt: skip


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of other programs' questions is answered; where it listens is said on its command line."""

    requests_per_minute: int = 1200  #: of each token, and of all who ask without one together
    streams: int = 32  #: streams of events at once, each of which keeps a connection open


class BrokerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the broker is; an empty url means the embedded engine."""

    url: str = ""
    management_url: str = ""
    insecure_tls: bool = False  #: TLS without a check of the server's certificate: who stands between reads along
    lifo_lanes: tuple[str, ...] = ()  #: the youngest task of a priority goes first; embedded engine only
    profile: str = "single"  #: single: classic lanes with priorities | cluster: quorum lanes


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the store is; an empty url means the embedded engine."""

    url: str = ""
    insecure_tls: bool = False  #: rediss:// without a check of the server's certificate


class RetrySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Delays between attempts: base * 2^n seconds, at most cap."""

    base_seconds: int = 30
    cap_seconds: int = 120
    max_retries: int = 3


class ConfirmSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """On how many tasks at once the window acts without having their number typed."""

    production: int = 50
    other: int = 500


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many days the leader keeps what has ended, since its last change; 0 keeps it for ever."""

    finished_days: float = 3.0  #: succeeded and cancelled tasks
    finished_count: int = 1_000_000  #: and at most so many of each; 0 for no limit
    tombstone_days: float = 30.0  #: how long a removed task is still known by its id
    open_days: float = 0.0  #: dead letters that nobody has decided about
    republished_days: float = 90.0
    archived_days: float = 90.0
    ignored_days: float = 30.0


class LeaseSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a silent worker keeps its claim."""

    seconds: float = 60.0


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How this machine works on tasks."""

    slots: int = 5
    auto_slots: str = ""  #: "auto" or "auto:2-16": the number of slots follows what waits and what the machine has left
    refuse_types: tuple[str, ...] = ()  #: task types that this worker does not start
    lanes: tuple[str, ...] = ("high", "normal", "low")
    strict_types: bool = False
    name: str = ""
    node: str = (
        ""  #: name of this machine, where the profiles of its shops live; "" made once and kept beside config.toml
    )
    handlers: tuple[str, ...] = ()
    installed_handlers: bool = True  #: also those of packages that have entry points ``fleetdeck.handlers``
    grace_seconds: float = 30.0
    lane_slots: dict[str, str | int] = {}  #: by lane: slots kept for it, and how many it may use: "1", "1-3", "-3"
    preemptions: int = 3  #: how often a task of a preemptible type may be stopped for an urgent one; 0 never


class RpaSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the ``rpa`` executor starts a flow; never taken from a message."""

    command: tuple[str, ...] = DEFAULT_COMMAND
    commands: dict[str, tuple[str, ...]] = {}  #: of task types that have one of their own
    environment: dict[str, str] = {}
    pass_environment: tuple[str, ...] = ()  #: more names of this process's own that a flow gets, with ``*``
    cwd: str = ""
    encoding: str = "utf-8"  #: of what flows print; what is not in it is tried as GB18030
    browser_types: tuple[str, ...] = ()  #: task types whose flows attach to the shop's browser at ``debug_port``
    exit_codes: dict[str, str] = {}  #: kind of failure by exit code: { 10 = "login_expired" }
    log_lines: int = 5_000  #: of one attempt that are kept: the first ones, and the newest 500
    log_kb: int = 1_000
    kill_grace_seconds: float = 50.0
    cancel_grace_seconds: float = 10.0


class AlertSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What rules of alerts may run on this machine, while it watches."""

    commands: dict[str, tuple[str, ...]] = {}  #: words of a command by the name that rules call it
    command_seconds: float = 60.0  #: a command that takes longer is ended


class ExecutorSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Execution half of the task types: this worker's own configuration."""

    rpa: RpaSettings = RpaSettings()
    http: HttpSettings = HttpSettings()
    browser: BrowserSettings = BrowserSettings()


class ArtifactSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the files of tasks lie and how many; they are removed with the records of their tasks. 0 for no limit."""

    place: str = ""  #: a folder, s3://bucket/folder, or off; "" for a folder of data beside config.toml
    file_mb: float = 50.0
    task_mb: float = 200.0
    attempt_files: int = 200
    free_mb: float = 500.0  #: so much of the disk is left to others


class ProfileSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fleet to connect to by name."""

    broker: str = ""
    redis: str = ""
    management: str = ""
    broker_profile: str = ""  #: single | cluster, "" for ``broker.profile``
    insecure_tls: bool = False  #: of its broker and store, as their settings of this name
    environment: str = ""  #: production asks twice; staging, test or any word is only a tag
    read_only: bool = False  #: nothing is changed through it


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    profile: str = "local"
    environment: str = ""  #: of what is opened; where a profile is, that one's
    read_only: bool = False  #: of what is opened; a profile or a word may set it, nothing takes it back
    home: str = ""
    language: str = ""  #: en | zh_CN, "" follows the system
    theme: str = "system"  #: system | dark | light
    time_zone: str = ""  #: "" = this machine's
    strict_shops: bool = False
    foreign_consumers: bool = False  #: others take tasks and record nothing: what vanished is held for a person
    foreign_duplicates: str = RUN  #: run | hold: what becomes of a foreign message whose work waits or runs already
    foreign_queues: dict[str, QueueMapping] = {}  #: plain work queues of other programs, by name: what they mean
    broker: BrokerSettings = BrokerSettings()
    store: StoreSettings = StoreSettings()
    retry: RetrySettings = RetrySettings()
    lease: LeaseSettings = LeaseSettings()
    confirm: ConfirmSettings = ConfirmSettings()
    retention: RetentionSettings = RetentionSettings()
    worker: WorkerSettings = WorkerSettings()
    executors: ExecutorSettings = ExecutorSettings()
    artifacts: ArtifactSettings = ArtifactSettings()
    api: ApiSettings = ApiSettings()
    alerts: AlertSettings = AlertSettings()
    profiles: dict[str, ProfileSettings] = {}

    @property
    def embedded(self) -> bool:
        """Whether everything runs on this machine's own file."""
        return not self.broker.url and not self.store.url

    @property
    def unverified(self) -> tuple[str, ...]:
        """Which servers are believed without their certificate being checked, by name."""
        asked = brokers.secured(self.broker.url) or self.broker.management_url.strip().startswith("https:")
        broker = brokers.of(self.broker.url).name if self.broker.insecure_tls and asked else ""
        store = "Redis" if self.store.insecure_tls and self.store.url.startswith("rediss:") else ""
        return tuple(name for name in (broker, store) if name)

    @property
    def home_path(self) -> Path:
        """Folder of configuration, data and logs."""
        return Path(self.home)

    @property
    def database(self) -> Path:
        """File of the embedded engine for this profile."""
        return self.home_path / f"{self.profile}.sqlite"

    @property
    def store_mark(self) -> str:
        """The same for all programs of this machine that use one store, whatever user and password they have."""
        at = urllib.parse.urlsplit(self.store.url)
        number = "".join(urllib.parse.parse_qs(at.query).get("db", []))
        named = f"{at.hostname}:{at.port}{at.path}?{number}" if self.store.url else str(self.database.resolve())
        return hashlib.sha256(named.encode(errors="surrogateescape")).hexdigest()[:12]

    @property
    def delays(self) -> tuple[int, ...]:
        """Delay levels of the broker in seconds, ascending."""
        out, step = [], max(1, self.retry.base_seconds)
        while step < self.retry.cap_seconds:
            out.append(step)
            step *= 2
        return (*out, max(1, self.retry.cap_seconds))
