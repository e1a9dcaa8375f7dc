"""The only reader of the environment and of config.toml: one frozen value, made once at start."""

from __future__ import annotations

import json
import os
import sys
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from services import addresses, home_folder
from services.domain.errors import UsageError
from services.domain.lane import LANES

PREFIX = "FLEETDECK_"
LANGUAGES, THEMES = ("", "en", "zh_CN"), ("system", "dark", "light")
DAY_S = 86_400
NOT_SETTINGS = ("FLEETDECK_SECRET__", "FLEETDECK_SAMPLE_", "FLEETDECK_TEST_")
DEFAULT_COMMAND = (
    "youdao_rpa_cli", "run", "--flow", "{platform}_{task_type}", "--param", "{param}", "--timeout", "{timeout}",
)  # fmt: skip


class BrokerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the broker is; an empty url means the embedded engine."""

    url: str = ""
    management_url: str = ""


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the store is; an empty url means the embedded engine."""

    url: str = ""


class RetrySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Delays between attempts: base * 2^n seconds, at most cap."""

    base_seconds: int = 30
    cap_seconds: int = 120
    max_retries: int = 3


class LeaseSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a silent worker keeps its claim."""

    seconds: float = 60.0


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How this machine works on tasks."""

    slots: int = 5
    lanes: tuple[str, ...] = ("high", "normal", "low")
    strict_types: bool = False
    name: str = ""
    handlers: tuple[str, ...] = ()
    grace_seconds: float = 30.0


class RpaSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the ``rpa`` executor starts a flow; never taken from a message."""

    command: tuple[str, ...] = DEFAULT_COMMAND
    commands: dict[str, tuple[str, ...]] = {}  #: of task types that have one of their own
    environment: dict[str, str] = {}
    cwd: str = ""
    kill_grace_seconds: float = 50.0
    cancel_grace_seconds: float = 10.0


class ExecutorSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Execution half of the task types: this worker's own configuration."""

    rpa: RpaSettings = RpaSettings()


class ProfileSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fleet to connect to by name."""

    broker: str = ""
    redis: str = ""
    management: str = ""
    environment: str = ""  #: PROD asks twice


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    profile: str = "local"
    home: str = ""
    language: str = ""  #: en | zh_CN, "" follows the system
    theme: str = "system"  #: system | dark | light
    time_zone: str = ""  #: "" = this machine's
    strict_shops: bool = False
    foreign_consumers: bool = False  #: others take tasks and record nothing: what vanished is held for a person
    broker: BrokerSettings = BrokerSettings()
    store: StoreSettings = StoreSettings()
    retry: RetrySettings = RetrySettings()
    lease: LeaseSettings = LeaseSettings()
    worker: WorkerSettings = WorkerSettings()
    executors: ExecutorSettings = ExecutorSettings()
    profiles: dict[str, ProfileSettings] = {}

    @property
    def embedded(self) -> bool:
        """Whether everything runs on this machine's own file."""
        return not self.broker.url and not self.store.url

    @property
    def home_path(self) -> Path:
        """Folder of configuration, data and logs."""
        return Path(self.home)

    @property
    def database(self) -> Path:
        """File of the embedded engine for this profile."""
        return self.home_path / f"{self.profile}.sqlite"

    @property
    def delays(self) -> tuple[int, ...]:
        """Delay levels of the broker in seconds, ascending."""
        out, step = [], max(1, self.retry.base_seconds)
        while step < self.retry.cap_seconds:
            out.append(step)
            step *= 2
        return (*out, max(1, self.retry.cap_seconds))


def default_home() -> Path:
    """``FLEETDECK_HOME`` or the user's data folder."""
    named = os.environ.get("FLEETDECK_HOME", "")
    return Path(named).expanduser() if named else Path(platformdirs.user_data_dir("fleetdeck", appauthor=False))


def load(*, profile: str = "", broker: str = "", redis: str = "", home: Path | None = None) -> Settings:
    """Read config.toml, lay ``FLEETDECK_…`` over it, then the command line's words.

    Raises:
        UsageError: a value has the wrong type or name; the text says which and what is wanted.
    """
    folder = home or default_home()
    home_folder.check(folder)
    data = home_folder.read_config(folder / "config.toml")
    _merge(data, _environment())
    data["home"] = str(folder)
    if profile:
        data["profile"] = profile
    settings = _convert(data, folder / "config.toml")
    broker_field, store_field = "broker.url", "store.url"
    if settings.profile != "local" and not settings.broker.url:
        broker_field, store_field = (f"profiles.{settings.profile}.{name}" for name in ("broker", "redis"))
    settings = _with_profile(settings)
    if bool(broker) != bool(redis):
        missing = "--redis" if broker else "--broker"
        raise UsageError(f"--broker and --redis belong together: add {missing}", field=missing)
    if broker:
        broker_field, store_field = "--broker", "--redis"
        settings = msgspec.structs.replace(
            settings,
            profile=profile or "fleet",
            broker=BrokerSettings(url=broker, management_url=settings.broker.management_url),
            store=StoreSettings(url=redis),
        )
    if bool(settings.broker.url) != bool(settings.store.url):
        raise UsageError(
            "broker.url and store.url belong together: set both, or neither to run on this machine", field="broker.url"
        )
    if not settings.embedded:
        addresses.check_broker(settings.broker.url, broker_field)
        addresses.check_store(settings.store.url, store_field)
    return settings


def child_environment() -> dict[str, str]:
    """This process's environment, for the allow-list of the executors."""
    return dict(os.environ)


def console_environment() -> dict[str, str]:
    """What the console asks of its surroundings: display, platform plug-in, continuous integration."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "CI", "LANG", "LC_ALL", "LC_MESSAGES", "USERNAME", "USER")
    return {name: os.environ.get(name, "") for name in names}


def language_asked_for() -> str:
    """``FLEETDECK_LANGUAGE`` of this run, "" where it is not set; it beats what somebody chose in the window before."""
    named = os.environ.get(f"{PREFIX}LANGUAGE", "").strip()
    return named if named in LANGUAGES else ""


def use_offscreen() -> None:
    """Make Qt paint into memory; must be called before Qt is loaded."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"


def is_windows() -> bool:
    """Whether this is Windows."""
    return sys.platform == "win32"


def _environment() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in sorted(os.environ.items()):
        if not name.startswith(PREFIX) or name.startswith(NOT_SETTINGS) or name == "FLEETDECK_HOME":
            continue
        node: Any = found
        *levels, last = name[len(PREFIX) :].lower().split("__")
        for level in levels:
            node = node.setdefault(level, {})
            if not isinstance(node, dict):
                shorter = PREFIX + "__".join(levels[: levels.index(level) + 1]).upper()
                raise UsageError(f"{shorter} and {name} exclude each other: unset one of them", field=name)
        node[last] = _value(text)
    return found


def _value(text: str) -> Any:
    stripped = text.strip()
    if stripped[:1] in "[{" and stripped:
        try:
            return json.loads(stripped)
        except ValueError:
            return text
    return text


def _merge(base: dict[str, Any], over: dict[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = value


def _convert(data: dict[str, Any], path: Path) -> Settings:
    worker = data.get("worker")
    for name in ("lanes", "handlers"):  # a variable may name several with commas
        if isinstance(worker, dict) and isinstance(worker.get(name), str):
            worker[name] = [word.strip() for word in worker[name].split(",") if word.strip()]
    try:
        settings = msgspec.convert(data, Settings, strict=False)
    except msgspec.ValidationError as exc:
        field = str(exc).rpartition("`$.")[2].rstrip("`")
        raise UsageError(f"{path.name} or FLEETDECK_… variables: {exc}", field=field) from exc
    for field, good, wanted in _checks(settings):
        if not good:
            raise UsageError(f"{path.name} or FLEETDECK_… variables: {field} must be {wanted}", field=field)
    return settings


def _checks(settings: Settings) -> Iterator[tuple[str, bool, str]]:
    """Field, whether its value can be, and what it should be."""
    worker, retry, rpa = settings.worker, settings.retry, settings.executors.rpa
    yield "worker.slots", 1 <= worker.slots <= 512, "1 to 512"
    yield "worker.lanes", bool(worker.lanes) and set(worker.lanes) <= set(LANES), "some of high, normal and low"
    yield "worker.grace_seconds", 0 <= worker.grace_seconds <= DAY_S, "0 to 86400"
    yield "executors.rpa.kill_grace_seconds", 0 <= rpa.kill_grace_seconds <= DAY_S, "0 to 86400"
    yield "executors.rpa.cancel_grace_seconds", 0 <= rpa.cancel_grace_seconds <= DAY_S, "0 to 86400"
    yield "retry.base_seconds", 1 <= retry.base_seconds <= retry.cap_seconds, "at least 1 and not above cap_seconds"
    yield "retry.cap_seconds", retry.cap_seconds <= DAY_S, "at most 86400"
    yield "retry.max_retries", 0 <= retry.max_retries <= 20, "0 to 20"
    yield "lease.seconds", 1 <= settings.lease.seconds <= DAY_S, "1 to 86400"
    yield "language", settings.language in LANGUAGES, "en, zh_CN or empty"
    yield "theme", settings.theme in THEMES, "system, dark or light"
    yield "time_zone", _known_zone(settings.time_zone), "a name such as Asia/Shanghai"


def _known_zone(name: str) -> bool:
    try:
        return not name or bool(zoneinfo.ZoneInfo(name))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False


def _with_profile(settings: Settings) -> Settings:
    if settings.profile == "local" or settings.broker.url:
        return settings
    chosen = settings.profiles.get(settings.profile)
    if chosen is None:
        known = ", ".join(["local", *settings.profiles])
        raise UsageError(f"there is no profile {settings.profile!r}; known: {known}", field="--profile")
    return msgspec.structs.replace(
        settings,
        broker=BrokerSettings(url=chosen.broker, management_url=chosen.management),
        store=StoreSettings(url=chosen.redis),
    )
