"""Foreign text made safe to show, on a terminal and in a window: what reorders or hides is shown as its code."""

from __future__ import annotations

import unicodedata

_CONTROL_PICTURES = 0x2400
_DELETE_PICTURE = "\u2421"
#: controls, halves of characters, direction and zero-width marks, separators of lines and paragraphs
_CATEGORIES = frozenset({"Cc", "Cs", "Cf", "Zl", "Zp"})
#: letters and marks that nobody sees: fillers, joiners of marks, the empty Braille cell, selectors of Mongolian letters
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")

#: a space that every span of time has; Python prints no space but the plain one
_THIN = "\u202f"

#: makes one picture of the two beside it, such as a family; hides nothing there
_JOINER, _PICTURED, _SKINS = "\u200d", "\ufe0f", range(0x1F3FB, 0x1F400)
#: signs of mathematics that faces are joined with: one that shakes its head
_SHAKES = "\u2194"


def visible(text: str, *, keep_newlines: bool = False) -> str:
    """The text with control, direction and invisible characters made visible."""
    if text.replace(_THIN, " ").isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text)):
        return text  # of the categories none can be printed
    return "".join(
        char if char == _JOINER and _joins(text, at) else _visible(char, keep_newlines) for at, char in enumerate(text)
    )


def is_hidden(char: str) -> bool:
    """Whether this character shows nothing of its own, or changes how others are shown."""
    return char in _UNSEEN or unicodedata.category(char) in _CATEGORIES


def columns(text: str) -> int:
    """Columns of a terminal that a visible text takes: a Chinese character takes two, a mark over another none."""
    return sum(
        0
        if char == _JOINER or unicodedata.category(char) in ("Mn", "Me")
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def escaped(json_text: str) -> str:
    """A JSON text with the same characters written as its own escapes: nothing is lost, and nothing is disguised."""
    if json_text.isascii() and json_text.isprintable():
        return json_text
    return "".join(_escape(char) if is_hidden(char) and char not in "\n\t" else char for char in json_text)


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + ((code - 0x10000) >> 10):04x}\\u{0xDC00 + ((code - 0x10000) & 0x3FF):04x}"


def _joins(text: str, at: int) -> bool:
    return 0 < at < len(text) - 1 and _is_picture(text[at - 1]) and _is_picture(text[at + 1])


def _is_picture(char: str) -> bool:
    return char in (_PICTURED, _SHAKES) or ord(char) in _SKINS or unicodedata.category(char) == "So"


def _visible(char: str, keep_newlines: bool) -> str:
    code = ord(char)
    if keep_newlines and char in "\n\t":
        return char
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return _DELETE_PICTURE
    return f"<U+{code:04X}>" if is_hidden(char) else char
