"""Icons from the Phosphor font, tinted by token and cached; the application's own mark."""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QLinearGradient, QPainter, QPixmap

from views.theme.tokens import LANES, STATUSES, tokens

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


log = logging.getLogger(__name__)

_FALLBACKS = {token.glyph: token.fallback for token in STATUSES.values()}
_FALLBACKS |= {token.glyph: token.fallback for token in LANES.values()}
_LAST_RESORT = "mdi6.square-outline"


@lru_cache(maxsize=2048)
def make_icon(name: str, colour: str, disabled: str = "") -> QIcon:
    """Return the icon `name` (``ph.clock``) in `colour` (hex)."""
    for candidate in (name, _FALLBACKS.get(name, ""), _LAST_RESORT):
        if not candidate:
            continue
        if (drawn := phosphor_icon(candidate, colour, disabled or colour)) is not None:
            return drawn
        import qtawesome

        try:
            # A non-empty second colour: Qt would otherwise grey the pixmap itself.
            icon: QIcon = qtawesome.icon(candidate, color=QColor(colour), color_disabled=QColor(disabled or colour))
        except Exception:  # noqa: BLE001  (qtawesome raises bare Exception for an unknown name)
            log.warning("icon %s is unknown", candidate)
            continue
        return icon
    return QIcon()


@lru_cache(maxsize=4096)
def make_pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """Return `name` drawn once at `size` logical pixels for a screen of `ratio`."""
    return make_icon(name, colour).pixmap(QSize(size, size), ratio)


@lru_cache(maxsize=16)
def app_pixmap(size: int, ratio: float = 1.0) -> QPixmap:
    """Paint the mark: a rounded blue square with four tiles, one of them lit."""
    pixels = round(size * ratio)
    pixmap = QPixmap(pixels, pixels)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    dark = tokens("dark")
    shade = QLinearGradient(0, 0, pixels, pixels)
    shade.setColorAt(0, QColor(dark.role("lane.normal")))
    shade.setColorAt(1, QColor(dark.role("accentbg")))
    painter.setBrush(shade)
    painter.drawRoundedRect(QRectF(0, 0, pixels, pixels), pixels * 0.24, pixels * 0.24)
    side, gap = pixels * 0.25, pixels * 0.07
    start = (pixels - 2 * side - gap) / 2
    for number, opacity in enumerate((1.0, 0.6, 0.6, 0.95)):
        tile = QColor(dark.role("white"))
        tile.setAlphaF(opacity)
        painter.setBrush(tile)
        x = start + (number % 2) * (side + gap)
        y = start + (number // 2) * (side + gap)
        painter.drawRoundedRect(QRectF(x, y, side, side), side * 0.28, side * 0.28)
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def app_icon() -> QIcon:
    """Return the mark in the sizes window managers ask for."""
    icon = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        icon.addPixmap(app_pixmap(size))
    return icon
