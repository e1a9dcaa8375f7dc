"""Fusion gets the colours of the design."""

from __future__ import annotations

from PySide6.QtGui import QPalette

from views.theme.theme import make_palette
from views.theme.tokens import tokens


def test_roles_and_disabled_text() -> None:
    palette, dark = make_palette(tokens("dark")), tokens("dark")
    assert palette.color(QPalette.ColorRole.Window).name().upper() == dark.role("bg")
    disabled = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert disabled.name().upper() == dark.role("dis")
