"""Foreign text made safe to show: messages come from other programs and may hold anything."""

from __future__ import annotations

import html
import unicodedata

#: Characters that reorder or hide text; shown as their code, so that nothing can be disguised.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_INVISIBLE = frozenset("\u00ad\u180e\u200b\u2060\ufeff")
_CONTROL_PICTURES = 0x2400
_DELETE_PICTURE = "\u2421"

MAX_LINE = 400
MAX_TOOLTIP = 2_000


def visible(text: str, *, keep_newlines: bool = False) -> str:
    """Return `text` with control, direction and invisible characters made visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(char, keep_newlines) for char in text)


def _visible(char: str, keep_newlines: bool) -> str:
    code = ord(char)
    if keep_newlines and char in "\n\t":
        return char
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return _DELETE_PICTURE
    if char in _BIDI or char in _INVISIBLE or unicodedata.category(char) in ("Cc", "Cs"):
        return f"<U+{code:04X}>"
    return char


def one_line(text: object, limit: int = MAX_LINE) -> str:
    """Return the first line of a foreign text, visible and cut at `limit` characters."""
    raw = str(text)[: limit * 2].strip()
    first, _, rest = raw.partition("\n")
    shown = visible(first.rstrip("\r"))
    if len(shown) > limit:
        return shown[: limit - 1] + "…"
    return f"{shown} …" if rest.strip() else shown


def cut(text: str, limit: int) -> str:
    """Return `text` cut at `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def tooltip(text: object, limit: int = MAX_TOOLTIP) -> str:
    """Return foreign text for ``setToolTip``: escaped, so that it cannot become rich text."""
    shown = cut(visible(str(text), keep_newlines=True), limit)
    # A tool tip that looks like HTML is read as HTML; wrapping makes it so on purpose.
    body = html.escape(shown, quote=False).replace("\n", "<br>")
    return f"<qt>{body}</qt>" if shown else ""


def rich(text: object, limit: int = MAX_LINE) -> str:
    """Return foreign text for use inside rich text of our own."""
    return html.escape(cut(visible(str(text)), limit))
