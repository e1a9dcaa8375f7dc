"""The fonts of the application, from PyPI packages, so that every machine draws the same pixels."""

from __future__ import annotations

import logging
import math
from functools import lru_cache
from importlib import resources

from PySide6.QtGui import QFont, QFontDatabase

from views.theme.tokens import MONO_FAMILIES, MONO_KINDS, SANS_FAMILIES, TYPE

log = logging.getLogger(__name__)

#: Each font with its sources, best first: package and file inside it.
FONT_SOURCES = (
    (("fontpkg_inter", "files/Inter[opsz,wght].ttf"),),
    (("fontpkg_jetbrains_mono", "files/JetBrainsMono[wght].ttf"),),
    (
        # TrueType with a weight axis: real medium and semi-bold Chinese.
        ("justmytype_intl_cjk", "fonts/ofl/notosanssc/NotoSansSC[wght].ttf"),
        # CFF, one weight: Qt darkens its stems on Linux, so that regular looks bold.
        ("pylopdf_fonts_zh_cn", "NotoSansSC-Regular.otf"),
    ),
)

_TABULAR = QFont.Tag("tnum")
_WEIGHT_AXIS = QFont.Tag("wght")
_OPTICAL_AXIS = QFont.Tag("opsz")


@lru_cache(maxsize=1)
def load_fonts() -> tuple[str, ...]:
    """Register the bundled fonts once; return the families found. Needs a QGuiApplication."""
    families: list[str] = []
    for sources in FONT_SOURCES:
        number = next((n for n in map(_register, sources) if n >= 0), -1)
        if number < 0:
            # The window still works with the system's fonts: worth a line, not a stop.
            log.warning("bundled font is missing: %s", sources[0][1])
        else:
            families += QFontDatabase.applicationFontFamilies(number)
    return tuple(families)


def _register(source: tuple[str, str]) -> int:
    package, name = source
    try:
        with resources.as_file(resources.files(package) / name) as path:
            return QFontDatabase.addApplicationFont(str(path)) if path.is_file() else -1
    except (ModuleNotFoundError, FileNotFoundError):
        return -1


@lru_cache(maxsize=256)
def make_font(kind: str, *, chinese: bool = False, tabular: bool | None = None, percent: int = 100) -> QFont:
    """Return the font of one step of the type scale (a key of ``tokens.TYPE``), at a percentage of its size."""
    step = TYPE[kind]
    px = (max(step.px, step.zh_px) if chinese else step.px) * percent / 100
    font = QFont()
    font.setFamilies(list(MONO_FAMILIES if kind in MONO_KINDS else SANS_FAMILIES))
    # Qt takes whole pixels only; halves go up, as the design asks.
    font.setPixelSize(max(1, math.floor(px + 0.5)))
    font.setWeight(_weight(step.weight))
    # Both fonts are variable; Qt knows one face of them and needs the axis spelled out.
    font.setVariableAxis(_WEIGHT_AXIS, float(step.weight))
    font.setVariableAxis(_OPTICAL_AXIS, float(min(32, max(14, px))))
    if step.tabular if tabular is None else tabular:
        font.setFeature(_TABULAR, 1)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setStyleStrategy(QFont.StyleStrategy.PreferAntialias)
    return font


def _weight(value: int) -> QFont.Weight:
    if value >= 600:
        return QFont.Weight.DemiBold
    return QFont.Weight.Medium if value >= 500 else QFont.Weight.Normal
