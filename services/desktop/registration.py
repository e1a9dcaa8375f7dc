"""Whether this program opens ``fleetdeck://`` links, and whether it starts when this person logs in.

Asked of the desktop each time, since others change it too: its own settings, a setup, another copy of this program. All
calls block; none needs an administrator.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import msgspec

from services import home_folder
from services.domain.errors import OperatorError
from services.domain.text.said import said
from services.settings.environment import default_home, desktop_folders

MAIN = Path(__file__).resolve().parents[2] / "main.py"
#: what starts at the log-in
NOTHING, WINDOW, WORKER, OTHER = "nothing", "window", "worker", "other"
_NAME = "fleetdeck"
_LINKS = "fleetdeck-links.desktop"
#: what the package for Debian brings
_COMMAND = Path("/usr/bin/fleetdeck")
_INSTALLED = Path("/usr/lib/fleetdeck/app/main.py")
_ASK_S = 10.0
#: in the registry of Windows, below HKEY_CURRENT_USER
_RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
#: what somebody switched off in the task manager stays written there, and does not start
_APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
_LINK_KEY = r"Software\Classes\fleetdeck"
_OPEN_KEY = _LINK_KEY + r"\shell\open\command"
_VALUE = "Fleetdeck"


class Registered(msgspec.Struct, frozen=True):
    """How it stands. ``others``: the command that somebody else registered in our name, "" for none; ``kept``: the
    entry that opens links and is not taken away here, as that of a package, "" for none.
    """

    login: str = NOTHING
    links: bool = False
    others: str = ""
    kept: str = ""


class Registration:
    """Of one home and connection."""

    def __init__(self, home: Path, profile: str) -> None:
        self._home, self._profile = home, profile
        self._own = WindowsEntries() if sys.platform == "win32" else _FreeDesktop()

    def look(self) -> Registered:
        """What the desktop says now.

        Raises:
            OSError: it cannot be asked.
        """
        command = self._own.login()
        try:
            window, worker, link = (self._own.written(self.command(kind)) for kind in (WINDOW, WORKER, "link"))
        except OperatorError:  # whatever is registered, it is not this home
            window = worker = link = ""
        login = {window: WINDOW, worker: WORKER}.get(command, OTHER) if command else NOTHING
        opened, kept = self._own.links()
        links = bool(opened) and opened == link
        others = command if login == OTHER else "" if links else opened
        return Registered(login=login, links=links, others=others, kept=kept if links else "")

    def start_at_login(self, kind: str) -> None:
        """Let the desktop start the window, a worker for this connection, or nothing.

        Raises:
            OperatorError: this home is known to this run alone.
            OSError: it cannot be written.
        """
        self._own.set_login(self.command(kind) if kind != NOTHING else ())

    def open_links(self, on: bool) -> None:
        """Let this program open links, or no longer.

        Raises:
            OperatorError: the desktop has no tool for that or is silent, or this home is known to this run alone.
            OSError: it cannot be written.
        """
        self._own.set_links(self.command("link") if on else ())

    def command(self, kind: str) -> tuple[str, ...]:
        """The words by which the desktop starts it.

        Raises:
            OperatorError: Windows could not name this home.
        """
        installed = MAIN == _INSTALLED and _COMMAND.exists()
        words: tuple[str, ...] = (str(_COMMAND),) if installed else (_python(), str(MAIN))
        if self._home != default_home(asked=False):
            if sys.platform == "win32":
                raise OperatorError(said("desktop.home"), field="FLEETDECK_HOME")
            words = ("env", f"FLEETDECK_HOME={self._home}", *words)
        tail = {WINDOW: (), WORKER: ("worker", "--profile", self._profile), "link": (self._own.LINK,)}
        return (*words, *tail[kind])


def _python() -> str:
    """The Python of this run; on Windows the one that opens no console."""
    quiet = Path(sys.executable).with_name("pythonw.exe")
    return str(quiet) if sys.platform == "win32" and quiet.exists() else sys.executable


class _FreeDesktop:
    """By the files of freedesktop.org, in the person's own folders."""

    LINK = "%u"

    def __init__(self) -> None:
        config, data = desktop_folders()
        self._autostart = config / "autostart" / f"{_NAME}.desktop"
        self._entry = data / "applications" / _LINKS

    def written(self, words: Sequence[str]) -> str:
        """The line of an entry."""
        return " ".join(word if word == self.LINK else _quoted(word) for word in words)

    def login(self) -> str:
        entry = _read(self._autostart)
        off = entry.get("Hidden") == "true" or entry.get("X-GNOME-Autostart-enabled") == "false"
        return "" if off else entry.get("Exec", "")

    def set_login(self, words: Sequence[str]) -> None:
        self._put(self._autostart, words, "X-GNOME-Autostart-enabled=true\n")

    def links(self) -> tuple[str, str]:
        """The command of the entry that opens them, and the entry where it is not ours."""
        name = _asked("query", "default", f"x-scheme-handler/{_NAME}")
        if not name:
            return "", ""
        _config, data = desktop_folders()
        for folder in (data, Path("/usr/local/share"), Path("/usr/share")):
            entry = folder / "applications" / name
            if command := _read(entry).get("Exec", ""):
                return command, "" if entry == self._entry else str(entry)
        return "", ""

    def set_links(self, words: Sequence[str]) -> None:
        self._put(self._entry, words, f"NoDisplay=true\nMimeType=x-scheme-handler/{_NAME};\n")
        if words:
            _asked("default", _LINKS, f"x-scheme-handler/{_NAME}", needed=True)

    def _put(self, file: Path, words: Sequence[str], more: str) -> None:
        if not words:
            file.unlink(missing_ok=True)
            return
        lines = f"[Desktop Entry]\nType=Application\nName=Fleetdeck\nIcon={_NAME}\nExec={self.written(words)}\n{more}"
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".part")
        home_folder.keep_private(draft)
        draft.write_text(lines, encoding="utf-8")
        draft.replace(file)


def _quoted(word: str) -> str:
    """As the specification of entries wants it.

    Raises:
        OperatorError: it would be more than a word of its line.
    """
    if any(unicodedata.category(char) == "Cc" for char in word):
        raise OperatorError(said("desktop.control", word=f"{word!r:.200}"), field="FLEETDECK_HOME")
    if word and all(char.isalnum() or char in "-_./:=@+" for char in word):
        return word
    for char in '\\"`$':
        word = word.replace(char, f"\\{char}")
    return f'"{word}"'.replace("\\", "\\\\").replace("%", "%%")


def _read(file: Path) -> dict[str, str]:
    """The keys of an entry; nothing where there is none."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    heads = [place for place, line in enumerate(lines) if line.startswith("[")]
    first = lines[: heads[1]] if heads[1:] else lines  # what stands behind it are actions of its own
    pairs = (line.partition("=") for line in first if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _equals, value in pairs}


def _asked(*words: str, needed: bool = False) -> str:
    try:
        done = subprocess.run(
            ["xdg-mime", *words], capture_output=True, text=True, timeout=_ASK_S, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError as exc:
        if needed:
            raise OperatorError(said("desktop.xdg"), field="links") from exc
        return ""
    except subprocess.TimeoutExpired as exc:
        if needed:
            raise OperatorError(said("desktop.late", seconds=f"{_ASK_S:g}"), field="links") from exc
        return ""
    if needed and done.returncode:
        raise OSError(None, done.stderr.strip() or shlex.join(["xdg-mime", *words]))
    return done.stdout.strip()


class WindowsEntries:
    """The same in the registry of Windows; the setup writes there too, and its removal takes that away."""

    LINK = "%1"

    def written(self, words: Sequence[str]) -> str:
        """The line of a command. The link is quoted, always; what else could stand in one is no word of ours then."""
        line = subprocess.list2cmdline([word for word in words if word != self.LINK])
        return line + f' "{self.LINK}"' * (self.LINK in words)

    def login(self) -> str:
        """The command that starts at the log-in, "" for none."""
        approved = _value(_APPROVED, _VALUE)
        if isinstance(approved, bytes) and approved[:1] and approved[0] % 2:
            return ""
        return str(_value(_RUN, _VALUE) or "")

    def set_login(self, words: Sequence[str]) -> None:
        """Start this at the log-in; nothing for no words."""
        _set(_RUN, _VALUE, self.written(words) if words else None)
        _set(_APPROVED, _VALUE, None)

    def links(self) -> tuple[str, str]:
        """The command that opens links, "" for none; and never an entry that is not taken away here."""
        return str(_value(_OPEN_KEY, "") or ""), ""

    def set_links(self, words: Sequence[str]) -> None:
        """Open links by this; by nothing for no words."""
        if not words:
            _delete(_OPEN_KEY)
            return
        _set(_LINK_KEY, "", "URL:Fleetdeck")
        _set(_LINK_KEY, "URL Protocol", "")
        _set(_OPEN_KEY, "", self.written(words))


def _value(key: str, name: str) -> object:
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
                return winreg.QueryValueEx(opened, name)[0]
        except FileNotFoundError:
            return None
    return None


def _set(key: str, name: str, value: str | None) -> None:
    if sys.platform == "win32":
        import winreg

        if value is not None:
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:
                winreg.SetValueEx(opened, name, 0, winreg.REG_SZ, value)
            return
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key, 0, winreg.KEY_SET_VALUE) as opened:
                winreg.DeleteValue(opened, name)
        except FileNotFoundError:
            return


def _delete(key: str) -> None:
    if sys.platform == "win32":
        import winreg

        try:
            winreg.DeleteKey(winreg.HKEY_CURRENT_USER, key)
        except FileNotFoundError:
            return
