"""The pinned packages of the project as Windows wants them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.markers import Marker

#: what markers in the list of pins ask for
WINDOWS = {
    "sys_platform": "win32",
    "platform_system": "Windows",
    "os_name": "nt",
    "platform_machine": "AMD64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "python_version": "3.11",
    "python_full_version": "3.11.9",
}
#: of the packages for development those that tests need which run there
TESTING = frozenset(
    ["execnet", "hypothesis", "iniconfig", "pluggy", "pytest", "pytest-qt", "pytest-timeout", "sortedcontainers"]
)
_HEAD = re.compile(r"(?P<name>[\w.-]+)(?P<pin>[^;\\]+?)\s*(?:;\s*(?P<marker>.*?))?\s*(?P<more>\\?)\n?")


def pinned(root: Path, *, testing: bool = True, where: Mapping[str, str] = WINDOWS) -> str:
    """One list with hashes: what the program needs on a system (by its markers), and what its tests do."""
    tests = _of(root / "requirements-dev.txt", TESTING, where) if testing else ()
    return "".join([*_of(root / "requirements.txt", None, where), *tests])


def _of(file: Path, wanted: frozenset[str] | None, where: Mapping[str, str]) -> Iterator[str]:
    """pip reads markers for the machine that it runs on, so those that hold there are taken off here."""
    kept = False
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        if line[0].isspace():
            if kept:
                yield line
            continue
        head = _HEAD.fullmatch(line)
        kept = (
            head is not None
            and (wanted is None or head["name"] in wanted)
            and (not head["marker"] or Marker(head["marker"]).evaluate(dict(where)))
        )
        if head is not None and kept:
            yield f"{head['name']}{head['pin']} {head['more']}\n"
