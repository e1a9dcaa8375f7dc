"""The QPalette of a theme: what Fusion paints when no rule of the style sheet speaks."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette

from views.theme.tokens import Tokens

_ROLES = {
    QPalette.ColorRole.Window: "bg",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "input",
    QPalette.ColorRole.AlternateBase: "raised",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.PlaceholderText: "text3",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "dead",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.Highlight: "sel",
    QPalette.ColorRole.HighlightedText: "text",
    QPalette.ColorRole.Light: "hover",
    QPalette.ColorRole.Midlight: "raised",
    QPalette.ColorRole.Mid: "line",
    QPalette.ColorRole.Dark: "line2",
    QPalette.ColorRole.Shadow: "rail",
    QPalette.ColorRole.Accent: "accentbg",
}
_DISABLED = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
    QPalette.ColorRole.HighlightedText,
)


def make_palette(tokens: Tokens) -> QPalette:
    """Return the palette of `tokens`."""
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, QColor(tokens.role(name)))
    for role in _DISABLED:
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.role("dis")))
    return palette
