"""Small glyphs as files, for the few places where a style sheet wants an image by its path."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QTemporaryDir

from views.theme.icons import make_pixmap
from views.theme.tokens import Tokens

#: name in the style sheet: icon, role, logical pixels
_GLYPHS: Mapping[str, tuple[str, str, int]] = {
    "check": ("ph.check-bold", "white", 12),
    "check-disabled": ("ph.check-bold", "dis", 12),
    "partial": ("ph.minus-bold", "white", 12),
    "down": ("ph.caret-down", "text2", 12),
    "down-disabled": ("ph.caret-down", "dis", 12),
    "up": ("ph.caret-up", "text2", 10),
    "right": ("ph.caret-right", "text2", 12),
    "close": ("ph.x", "text3", 12),
}


@lru_cache(maxsize=1)
def _folder() -> QTemporaryDir:
    # Lives as long as the process and is removed with it.
    return QTemporaryDir()


def write_glyphs(tokens: Tokens) -> Mapping[str, str]:
    """Draw the glyphs of `tokens` and return their paths by name."""
    folder = Path(_folder().path())
    suffix = f"{tokens.name}{'-hc' if tokens.high_contrast else ''}"
    paths: dict[str, str] = {}
    for name, (icon, role, size) in _GLYPHS.items():
        path = folder / f"{name}-{suffix}.png"
        if not path.exists():
            for ratio in (1, 2, 3):
                marked = path.with_stem(f"{path.stem}@{ratio}x") if ratio > 1 else path
                make_pixmap(icon, tokens.role(role), size, float(ratio)).save(str(marked))
        paths[name] = path.as_posix()
    return paths
