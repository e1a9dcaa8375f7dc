"""The only reader of this process's environment."""

from __future__ import annotations

import json
import locale
import os
import stat
import sys
from pathlib import Path
from typing import Any

import platformdirs

from services.domain.errors import UsageError
from services.domain.text.said import said
from services.settings.values import LANGUAGES

PREFIX = "FLEETDECK_"
_MAX_LEVELS = 10
NOT_SETTINGS = ("FLEETDECK_SECRET__", "FLEETDECK_SAMPLE_", "FLEETDECK_TEST_")


def default_home(*, asked: bool = True) -> Path:
    """``FLEETDECK_HOME``, where it is ``asked``, or the user's data folder."""
    named = os.environ.get("FLEETDECK_HOME", "") if asked else ""
    return Path(named).expanduser() if named else Path(platformdirs.user_data_dir("fleetdeck", appauthor=False))


def desktop_folders() -> tuple[Path, Path]:
    """Where a desktop of freedesktop.org keeps the entries of this person: configuration, data."""
    return platformdirs.user_config_path(), platformdirs.user_data_path()


def child_environment() -> dict[str, str]:
    """This process's environment, for the allow-list of the executors."""
    return dict(os.environ)


def console_environment() -> dict[str, str]:
    """What the console asks of its surroundings: display, platform plug-in, continuous integration."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "CI", "LANG", "LC_ALL", "LC_MESSAGES", "USERNAME", "USER")
    return {name: os.environ.get(name, "") for name in names}


def launched() -> bool:
    """Whether a click started this program: an icon, a menu or a link, whose desktop shows nobody what is written.

    All that a terminal or an editor runs that was opened so inherits the same marks: they are believed where they name
    this process, or where nothing else may read or show what it writes.
    """
    if any(map(os.isatty, (1, 2))):
        return False
    if meant := os.environ.get("GIO_LAUNCHED_DESKTOP_FILE_PID"):
        return meant == str(os.getpid())
    if not any(os.environ.get(name) for name in ("DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN")):
        return False
    read = any(stat.S_ISREG(mode) or stat.S_ISFIFO(mode) for mode in map(_mode, (1, 2)))
    return not read and not _of_terminal()


def _mode(number: int) -> int:
    """What kind of file an output of this process is, 0 where it has none."""
    try:
        return os.fstat(number).st_mode
    except OSError:
        return 0


def _of_terminal() -> bool:
    """Whether a terminal started this process, wherever it writes."""
    try:
        Path("/dev/tty").open("rb", buffering=0).close()
    except OSError:
        return False
    return True


def language_asked_for() -> str:
    """``FLEETDECK_LANGUAGE`` of this run, "" where it is not set; it beats what somebody chose in the window before."""
    named = os.environ.get(f"{PREFIX}LANGUAGE", "").strip()
    return named if named in LANGUAGES else ""


def system_language() -> str:
    """The language of whoever is logged in here, as the system has it: ``zh_CN``, or ``en`` for everything else."""
    around = console_environment()
    words = around["LC_ALL"] or around["LC_MESSAGES"] or around["LANG"]
    if not words and is_windows():
        words = locale.getlocale()[0] or ""
    return "zh_CN" if words.lower().startswith(("zh", "chinese")) else "en"


def names_connection() -> bool:
    """Whether a variable of this run says where to connect."""
    return names_servers() or bool(os.environ.get(f"{PREFIX}PROFILE"))


def names_servers() -> bool:
    """Whether a variable of this run says where broker or store are."""
    return any(os.environ.get(f"{PREFIX}{name}") for name in ("BROKER__URL", "STORE__URL"))


def use_offscreen() -> None:
    """Make Qt paint into memory; must be called before Qt is loaded."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"


def is_windows() -> bool:
    """Whether this is Windows."""
    return sys.platform == "win32"


def variables() -> dict[str, Any]:
    """What the ``FLEETDECK_…`` variables set, as the tables of config.toml.

    Raises:
        UsageError: two variables exclude each other.
    """
    found: dict[str, Any] = {}
    for name, text in sorted(os.environ.items()):
        if not name.startswith(PREFIX) or name.startswith(NOT_SETTINGS) or name == "FLEETDECK_HOME":
            continue
        node: Any = found
        *levels, last = name[len(PREFIX) :].lower().split("__")
        if len(levels) > _MAX_LEVELS:
            raise UsageError(said("settings.levels", name=f"{name:.60}", count=len(levels)), field=name)
        for level in levels:
            node = node.setdefault(level, {})
            if not isinstance(node, dict):
                shorter = PREFIX + "__".join(levels[: levels.index(level) + 1]).upper()
                raise UsageError(said("settings.exclude", one=shorter, other=name), field=name)
        node[last] = _value(text)
    return found


def variable_of(setting: str) -> str:
    """The variable of this run that goes over a setting (``worker.slots``), "" where none does."""
    levels = setting.upper().split(".")
    names = [PREFIX + "__".join(levels[:depth]) for depth in range(len(levels), 0, -1)]
    beneath = [name for name in os.environ if name.startswith(f"{names[0]}__")]
    return next((name for name in (*names, *beneath) if name in os.environ), "")


def _value(text: str) -> Any:
    stripped = text.strip()
    if stripped[:1] in "[{" and stripped:
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            return text
    return text
