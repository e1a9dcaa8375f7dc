"""Every icon that a line of the program names is in the icon font."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from views.theme.icons import phosphor_icon

ROOT = Path(__file__).resolve().parents[4]
NAMED = re.compile(r"[\"'](ph\.[a-z][a-z0-9-]*)[\"']")


def named() -> dict[str, str]:
    """Each icon, and the first file that names it."""
    found: dict[str, str] = {}
    for package in ("console", "services", "views"):
        for file in sorted((ROOT / package).rglob("*.py")):
            for name in NAMED.findall(file.read_text(encoding="utf-8")):
                found.setdefault(name, str(file.relative_to(ROOT)))
    return found


@pytest.mark.parametrize(("name", "file"), sorted(named().items()))
def test_the_font_has_it(name: str, file: str, qapp: QApplication) -> None:
    assert phosphor_icon(name, "#123456", "#123456") is not None, f"{file} names {name}"
