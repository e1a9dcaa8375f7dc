"""The same in the registry of Windows, of this person alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
#: what somebody switched off in the task manager stays written there, and does not start
APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
LINKS = r"Software\Classes\fleetdeck"
OPEN = LINKS + r"\shell\open\command"
NAME = "Fleetdeck"


class WindowsEntries:
    """Values of ``HKEY_CURRENT_USER``; the setup writes the same, and its removal takes them away."""

    LINK = "%1"

    def written(self, words: Sequence[str]) -> str:
        """The line of a command. The link is quoted, always; what else could stand in one is no word of ours then."""
        line = subprocess.list2cmdline([word for word in words if word != self.LINK])
        return line + f' "{self.LINK}"' * (self.LINK in words)

    def login(self) -> str:
        """The command that starts at the log-in, "" for none."""
        approved = _value(APPROVED, NAME)
        if isinstance(approved, bytes) and approved[:1] and approved[0] % 2:
            return ""
        return str(_value(RUN, NAME) or "")

    def set_login(self, words: Sequence[str]) -> None:
        """Start this at the log-in; nothing for no words."""
        _set(RUN, NAME, self.written(words) if words else None)
        _set(APPROVED, NAME, None)

    def links(self) -> tuple[str, str]:
        """The command that opens links, "" for none; and never an entry that is not taken away here."""
        return str(_value(OPEN, "") or ""), ""

    def set_links(self, words: Sequence[str]) -> None:
        """Open links by this; by nothing for no words."""
        if not words:
            _delete(OPEN)
            return
        _set(LINKS, "", "URL:Fleetdeck")
        _set(LINKS, "URL Protocol", "")
        _set(OPEN, "", self.written(words))


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
