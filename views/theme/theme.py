"""The theme in use: colours, fonts and icons for painters, palette and style sheet for Qt.

    from views.theme import theme

    theme().color("dead")                  QColor of a role, status or lane
    theme().tint("dead", 12)               12 % of it over surface
    theme().font("card")                   QFont of a step of the type scale
    theme().icon("ph.clock", "text2")      QIcon
    theme().pixmap("ph.clock", "text2")    QPixmap, 16 px, ready to paint
    theme().changed.connect(self.restyle)  after dark/light/contrast/density/text size/language changed

One object for the process. It is a palette, not a setting: only ``console`` changes it.

The QPalette of a theme: what Fusion paints when no rule of the style sheet speaks.

Small glyphs as resources, for the few places where a style sheet wants an image by its path.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from PySide6.QtCore import QBuffer, QIODevice, QObject, Qt, Signal, Slot, qRegisterResourceData
from PySide6.QtGui import QAccessibilityHints, QColor, QFont, QGuiApplication, QIcon, QPalette, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from services import i18n
from views.theme.fonts import load_fonts, make_font
from views.theme.icons import make_icon, make_pixmap
from views.theme.qss import make_qss
from views.theme.tokens import (
    DARK,
    ICON,
    LIGHT,
    ROW_HEIGHTS,
    TEXT_SIZES,
    LaneToken,
    StatusToken,
    Tokens,
    tokens,
)

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


#: of the format that Qt's resource compiler writes
_FORMAT, _FOLDER, _NO_LANGUAGE = 3, 2, 1
#: what was registered: Qt reads where it lies and takes no copy
_REGISTERED: dict[str, tuple[bytes, bytes, bytes]] = {}


def draw_glyphs(tokens: Tokens) -> Mapping[str, str]:
    """Draw the glyphs of `tokens` and return their paths by name: resources of this process, nothing on the disk."""
    folder = f"glyphs-{tokens.name}{'-hc' if tokens.high_contrast else ''}"
    if folder not in _REGISTERED:
        pictures: dict[str, bytes] = {}
        for name, (icon, role, size) in _GLYPHS.items():
            for ratio in (1, 2, 3):
                file = f"{name}@{ratio}x.png" if ratio > 1 else f"{name}.png"
                pictures[file] = _png(make_pixmap(icon, tokens.role(role), size, float(ratio)))
        _register(folder, pictures)
    return {name: f":/{folder}/{name}.png" for name in _GLYPHS}


def _png(pixmap: QPixmap) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    pixmap.save(buffer, "PNG")
    return bytes(buffer.data().data())


def _register(folder: str, files: Mapping[str, bytes]) -> None:
    """Let `:/FOLDER/NAME` be the bytes, as if the resource compiler had written them: tree, names, contents.

    Source: format 3 of qtbase's `src/tools/rcc/rcc.cpp`, as `src/corelib/io/qresource.cpp` reads it.
    """
    names, contents = b"", b""
    places: dict[str, tuple[int, int]] = {}
    for name in (folder, *files):
        places[name] = len(names), len(contents)
        names += struct.pack(">HI", len(name), _hashed(name)) + name.encode("utf-16-be")
        if name in files:
            contents += struct.pack(">I", len(files[name])) + files[name]
    tree = struct.pack(">IHIIQ", 0, _FOLDER, 1, 1, 0) + struct.pack(">IHIIQ", 0, _FOLDER, len(files), 2, 0)
    for name in sorted(files, key=_hashed):  # Qt halves its way to one
        tree += struct.pack(">IHHHIQ", places[name][0], 0, 0, _NO_LANGUAGE, places[name][1], 0)
    _REGISTERED[folder] = (tree, names, contents)
    qRegisterResourceData(_FORMAT, tree, names, contents)


def _hashed(name: str) -> int:
    """Qt's number of a name in a resource: `qt_hash` of qtbase's `src/corelib/tools/qhash.cpp`."""
    number = 0
    for char in name:
        number = (number << 4) + ord(char)
        number ^= (number & 0xF0000000) >> 23
        number &= 0x0FFFFFFF
    return number


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


SYSTEM = "system"
MODES = (DARK, LIGHT, SYSTEM)
NORMAL, HIGH = "normal", "high"
CONTRASTS = (SYSTEM, NORMAL, HIGH)


class Theme(QObject):
    """Colours, fonts and icons of the moment.

    Signals:
        changed: everything that was painted with the old values must be painted again.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._mode = DARK
        self._contrast = SYSTEM
        self._density, self._text_size = "normal", 100
        self._app: QApplication | None = None
        self._access: QAccessibilityHints | None = None
        self._tokens = tokens(DARK)
        self._colours: dict[str, QColor] = {}

    # what is in use

    @property
    def mode(self) -> str:
        """``dark``, ``light`` or ``system``, as chosen."""
        return self._mode

    @property
    def is_dark(self) -> bool:
        """Whether dark colours are in use now."""
        return self._tokens.name == DARK

    @property
    def tokens(self) -> Tokens:
        """The tokens in use."""
        return self._tokens

    @property
    def density(self) -> str:
        """``compact``, ``normal`` or ``roomy``, as chosen."""
        return self._density

    @property
    def contrast(self) -> str:
        """``system``, ``normal`` or ``high``, as chosen."""
        return self._contrast

    @property
    def high_contrast(self) -> bool:
        """Whether lines and captions are the stronger ones."""
        return self._tokens.high_contrast

    @property
    def text_size(self) -> int:
        """Of all text, in percent of what the design has."""
        return self._text_size

    @property
    def growth(self) -> float:
        """How many times larger than in the design is what holds text: 1.0 up to a text size of 100 %."""
        return max(100, self._text_size) / 100

    @property
    def row_height(self) -> int:
        """Height of a table row at the chosen density and text size."""
        return round(ROW_HEIGHTS[self._density] * self.growth)

    # what painters ask for

    def color(self, role: str) -> QColor:
        """Return the colour of a role, status, lane or alias; it belongs to all, so who changes it takes a copy."""
        colour = self._colours.get(role)
        if colour is None:
            colour = self._colours[role] = QColor(self._tokens.role(role))
        return colour

    def tint(self, role: str, percent: float, over: str = "surface") -> QColor:
        """Return `percent` of `role` laid over another."""
        key = f"{role}:{percent}:{over}"
        colour = self._colours.get(key)
        if colour is None:
            colour = self._colours[key] = QColor(self._tokens.tint(role, percent, over))
        return colour

    def hex(self, role: str) -> str:
        """Return the colour as ``#RRGGBB``, for rich text and charts."""
        return self._tokens.role(role)

    def font(self, kind: str = "body", *, tabular: bool | None = None) -> QFont:
        """Return the font of one step of the type scale; copy it before changing it.

        `tabular` asks for figures of one width where the step has none: counters in place.
        """
        return make_font(kind, chinese=i18n.is_chinese(), tabular=tabular, percent=self._text_size)

    def icon(self, name: str, role: str = "text2") -> QIcon:
        """Return a tinted icon."""
        return make_icon(name, self._tokens.role(role), self._tokens.role("dis"))

    def pixmap(self, name: str, role: str = "text2", size: int = ICON, ratio: float | None = None) -> QPixmap:
        """Return a tinted icon as a cached pixmap of `size` logical pixels."""
        scale = _screen_ratio() if ratio is None else ratio
        return make_pixmap(name, self._tokens.role(role), size, scale)

    def status_pixmap(self, token: StatusToken | LaneToken, size: int = ICON) -> QPixmap:
        """Return the glyph of a status or lane in its own colour."""
        return self.pixmap(token.glyph, token.role, size)

    # what console changes

    def install(self, app: QApplication) -> None:
        """Load the fonts, take over the application's look and follow the system scheme."""
        self._app = app
        load_fonts()
        app.setStyle("Fusion")
        # both are kept: PySide calls what an object handed out deleted once the wrapper of that object is gone
        self._hints = app.styleHints()
        self._access = self._hints.accessibility()
        self._hints.colorSchemeChanged.connect(self._follow_system)
        self._access.contrastPreferenceChanged.connect(self._follow_system)
        self._apply()

    def set_mode(self, mode: str) -> None:
        """Choose ``dark``, ``light`` or ``system``."""
        if mode not in MODES:
            raise ValueError(f"unknown theme {mode!r}, choose one of {', '.join(MODES)}")
        if mode != self._mode:
            self._mode = mode
            self._apply()

    def set_contrast(self, name: str) -> None:
        """Swap decorative lines and captions for stronger ones: ``high``, ``normal`` for not, ``system`` to do as the
        desktop is set to. Any other word changes nothing.
        """
        if name in CONTRASTS and name != self._contrast:
            self._contrast = name
            self._apply()

    def set_text_size(self, percent: int) -> None:
        """Choose one of ``TEXT_SIZES``; any other number changes nothing."""
        if percent in TEXT_SIZES and percent != self._text_size:
            self._text_size = percent
            self._apply()

    def set_density(self, density: str) -> None:
        """Choose ``compact``, ``normal`` or ``roomy`` table rows; any other word changes nothing."""
        if density in ROW_HEIGHTS and density != self._density:
            self._density = density
            self.changed.emit()

    @contextmanager
    def lit(self, part: QWidget) -> Iterator[None]:
        """Let one part of a window look as in the light theme meanwhile, as on paper. The sheet of the program stays:
        to dress a full window anew twice would hold it for seconds.
        """
        before = self._tokens
        if before.name == LIGHT:
            yield
            return
        try:
            worn = tokens(LIGHT, before.high_contrast)
            part.setPalette(make_palette(worn))
            part.setStyleSheet(make_qss(worn, draw_glyphs(worn)))
            # then: a sheet gives widgets the fonts that they had when one dressed them first, in another text size
            self._wear(worn)
            yield
        finally:
            part.setPalette(QPalette())
            part.setStyleSheet("")
            self._wear(before)

    def _wear(self, worn: Tokens) -> None:
        self._tokens = worn
        self._colours.clear()
        self.changed.emit()

    def refresh(self) -> None:
        """Apply again, after the language changed the font sizes."""
        self._apply()

    def _resolve(self) -> str:
        if self._mode != SYSTEM or self._app is None:
            return LIGHT if self._mode == LIGHT else DARK
        scheme = self._app.styleHints().colorScheme()
        return LIGHT if scheme == Qt.ColorScheme.Light else DARK

    def _is_high(self) -> bool:
        if self._contrast != SYSTEM or self._access is None:
            return self._contrast == HIGH
        return self._access.contrastPreference() == Qt.ContrastPreference.HighContrast

    @Slot()
    def _follow_system(self) -> None:
        if SYSTEM in (self._mode, self._contrast):
            self._apply()

    def _apply(self) -> None:
        self._tokens = tokens(self._resolve(), self._is_high())
        self._colours.clear()
        if self._app is not None:
            palette: QPalette = make_palette(self._tokens)
            self._app.setPalette(palette)
            font = self.font("body")
            # what a style sheet dresses keeps the font of before until it is dressed anew
            resized = font.pixelSize() != self._app.font().pixelSize()
            self._app.setFont(font)
            sheet = make_qss(self._tokens, draw_glyphs(self._tokens))
            if resized or sheet != self._app.styleSheet():
                # 100 ms for a full window: not for a mere change of language.
                self._app.setStyleSheet(sheet)
        self.changed.emit()


def _screen_ratio() -> float:
    # The sharpest screen: a pixmap too fine is scaled down, one too coarse is blurred.
    return max((screen.devicePixelRatio() for screen in QGuiApplication.screens()), default=1.0)


@lru_cache(maxsize=1)
def theme() -> Theme:
    """Return the theme of this process."""
    return Theme()
