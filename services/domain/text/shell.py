"""Command lines for a person's terminal, quoted as the shell of this system reads them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence

WINDOWS = sys.platform == "win32"
#: what cmd.exe obeys, some of it within quotation marks too: JSON has another way to write each of them
_OBEYED = re.compile(r"[&|<>^%!()'`$]")
_PLAIN = re.compile(r"[\w@+=:,./\\~-]+")


def line(words: Sequence[str], *, windows: bool = WINDOWS) -> str:
    """One line of these words; on Windows for cmd.exe, where a payload must not become a command of its own."""
    if not windows:
        return shlex.join(words)
    return " ".join(_for_cmd(_harmless(word) if word.startswith("{") else word) for word in words)


def written(command: str, *, windows: bool = WINDOWS) -> str:
    """The same command line as the shell of this system reads it, of one that is written for that of others."""
    if not windows:
        return command
    return " ".join(word if word in (">", "|") else line([word], windows=True) for word in shlex.split(command))


def variable(name: str, *, windows: bool = WINDOWS) -> str:
    """What the shell puts the value of a variable for."""
    return f"%{name}%" if windows else f"${name}"


def _for_cmd(word: str) -> str:
    import subprocess  # every command would load it for the few of Windows

    quoted = subprocess.list2cmdline([word])
    return quoted if quoted.startswith('"') or _PLAIN.fullmatch(word) else f'"{quoted}"'


def _harmless(json_text: str) -> str:
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)
