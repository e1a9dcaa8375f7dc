"""Look of the application; start with ``from views.theme import theme``."""

from __future__ import annotations

from views.theme.theme import Theme, theme

__all__ = ["Theme", "theme"]
