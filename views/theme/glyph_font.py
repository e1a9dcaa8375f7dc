"""The Phosphor font that comes with QtAwesome, drawn as icons.

QtAwesome itself is loaded only for a glyph that this font lacks: it makes every class of Qt and reads eleven
fonts, which takes a third of a second.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap

PREFIX = "ph."
#: part of an icon's height that its letter takes
_SHARE = 0.875


class _Engine(QIconEngine):
    """Draws one letter, in another colour while disabled."""

    def __init__(self, letter: str, colour: str, disabled: str) -> None:
        super().__init__()
        self._letter, self._colour, self._disabled = letter, QColor(colour), QColor(disabled)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        """Draw in the middle of ``rect``."""
        painter.save()
        font = QFont(_family())
        font.setPixelSize(max(1, round(_SHARE * rect.height())))
        painter.setFont(font)
        painter.setPen(self._disabled if mode == QIcon.Mode.Disabled else self._colour)
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), self._letter)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Draw on nothing."""
        picture = QPixmap(size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return picture


def phosphor_icon(name: str, colour: str, disabled: str) -> QIcon | None:
    """The icon ``name`` (``ph.clock``), None when the font lacks it. Colours are hex."""
    letter = _letters().get(name.removeprefix(PREFIX), "") if name.startswith(PREFIX) and _family() else ""
    return QIcon(_Engine(letter, colour, disabled)) if letter else None


def _file(pattern: str) -> Path | None:
    spec = find_spec("qtawesome")
    places = spec.submodule_search_locations if spec is not None else None
    found = sorted(Path(places[0], "fonts").glob(pattern)) if places else []
    return found[-1] if found else None


@lru_cache(maxsize=1)
def _family() -> str:
    """Name of the font, "" where it cannot be loaded."""
    path = _file("phosphor-[0-9]*.ttf")
    number = QFontDatabase.addApplicationFontFromData(path.read_bytes()) if path is not None else -1
    families = QFontDatabase.applicationFontFamilies(number) if number >= 0 else []
    return families[0] if families else ""


@lru_cache(maxsize=1)
def _letters() -> dict[str, str]:
    path = _file("phosphor-charmap-*.json")
    return {name: chr(int(code, 16)) for name, code in json.loads(path.read_text("utf-8")).items()} if path else {}
