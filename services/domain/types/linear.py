"""Patterns that people and documents bring: matched in a time linear in the text, or refused before they are used.

Python's own engine needs years for ``^(\\w+\\s?)*$`` and one unlucky text, and holds the whole process meanwhile. RE2
knows no look-around and no back-references, which is its price; its classes are widened to the scripts of the world.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from services.domain.errors import UsageError
from services.domain.text.said import said

#: instructions of a compiled pattern; what has more costs too much for each character
MAX_PROGRAM = 50_000
MAX_PATTERN = 10_000
_SHOWN = 60
#: letters, their marks and figures of all scripts in few ranges: by the categories it would be twenty times as large
_WORD = (
    r"0-9A-Z_a-z\x{aa}\x{b5}\x{ba}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1fff}\x{2070}-\x{209f}\x{2100}-\x{218f}\x{2c00}-\x{2dff}\x{3005}-\x{3007}"
    r"\x{3021}-\x{302f}\x{3031}-\x{d7ff}\x{f900}-\x{feff}\x{ff10}-\x{ff19}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}"
    r"\x{ff66}-\x{ffdc}\x{10000}-\x{1efff}\x{20000}-\x{3ffff}"
)
_NO_WORD = (
    r"\x00-/:-@\[-\^`{-\x{a9}\x{ab}-\x{b4}\x{b6}-\x{b9}\x{bb}-\x{bf}\x{d7}\x{f7}\x{2000}-\x{206f}\x{20a0}-\x{20ff}\x{2190}-\x{2bff}\x{2e00}-\x{3004}"
    r"\x{3008}-\x{3020}\x{3030}\x{d800}-\x{f8ff}\x{ff00}-\x{ff0f}\x{ff1a}-\x{ff20}\x{ff3b}-\x{ff40}\x{ff5b}-\x{ff65}"
    r"\x{ffdd}-\x{ffff}\x{1f000}-\x{1ffff}\x{40000}-\x{10ffff}"
)
_BLANK = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_NO_BLANK = (
    r"\x00-\x08\x0e-\x1b\x21-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}"
    r"\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}"
)
_CLASSES = {"d": r"\p{Nd}", "D": r"\P{Nd}", "w": _WORD, "W": _NO_WORD, "s": _BLANK, "S": _NO_BLANK}
_ESCAPE = re.compile(
    r"\\(?:u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u(?P<four>[0-9a-fA-F]{4})"
    r"|u\{(?P<braced>[0-9a-fA-F]{1,6})\}|U(?P<eight>[0-9a-fA-F]{8})|c(?P<control>[A-Za-z])|(?P<one>.))",
    re.DOTALL,
)
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")


class Unmatchable(UsageError):
    """This pattern cannot be matched here; the text says why and what to write instead."""


class Pattern:
    """A pattern ready for use; safe to share between threads."""

    __slots__ = ("_engine", "size")

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.size = int(engine.programsize)  #: steps that one character of a text costs at most

    def search(self, text: str) -> bool:
        """Whether it matches somewhere in the text; other threads go on meanwhile."""
        return self._engine.search(text.encode("utf-8", "replace")) is not None


@functools.lru_cache(maxsize=1024)
def compiled(pattern: str, *, ignore_case: bool = False) -> Pattern:
    """The pattern, with the meaning that it has in Python and JSON Schema: letters of every script are letters.

    Raises:
        Unmatchable: it is no regular expression, needs more than a time linear in the text, or is too large.
    """
    # Imported where it is used: most programs never meet a pattern.
    import re2

    if len(pattern) > MAX_PATTERN:
        raise _refused("pattern.large", pattern)
    options = re2.Options()
    options.log_errors, options.case_sensitive = False, not ignore_case
    try:
        made = Pattern(re2.compile(_translated(pattern), options=options))
    except re2.error as exc:
        raise _explained(pattern, exc) from exc
    except UnicodeEncodeError as exc:
        raise _refused("pattern.wrong", pattern, why="half a character (a lone surrogate)") from exc
    if made.size > MAX_PROGRAM:
        raise _refused("pattern.large", pattern)
    return made


def problem_of(pattern: str) -> str:
    """Why a pattern cannot be used, "" if it can."""
    try:
        compiled(pattern)
    except Unmatchable as exc:
        return str(exc)
    return ""


def _translated(pattern: str) -> str:
    """The same for RE2: what Python and JavaScript write differently, and ``\\w``, ``\\d``, ``\\s`` of all scripts."""
    out: list[str] = []
    place, inside = 0, False
    while place < len(pattern):
        char = pattern[place]
        found = _ESCAPE.match(pattern, place) if char == "\\" else None
        if found is not None:
            out.append(_escaped(found, inside=inside))
            place = found.end()
            continue
        if inside:
            inside = char != "]"
        elif char == "[":
            inside = True
            opening = re.compile(r"\[\^?\]?").match(pattern, place)
            char = opening[0] if opening else char
        elif char == "{" and re.compile(r"\{,\d+\}").match(pattern, place):
            char = "{0"
        out.append(char)
        place += len(char) if char != "{0" else 1
    return "".join(out)


def _escaped(found: re.Match[str], *, inside: bool) -> str:
    if found["pair"]:
        high, low = int(found["pair"][:4], 16), int(found["pair"][-4:], 16)
        return rf"\x{{{0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00:x}}}"
    if code := found["four"] or found["braced"] or found["eight"]:
        return rf"\x{{{int(code, 16):x}}}"
    if found["control"]:
        return rf"\x{{{ord(found['control']) % 32:x}}}"
    one = found["one"]
    if one in _CLASSES:
        return _CLASSES[one] if inside else f"[{_CLASSES[one]}]"
    if one == "Z" and not inside:
        return r"\z"
    if inside and one == "b":  # in brackets it is the backspace
        return r"\x08"
    if one in "CQE":  # of RE2 alone: half a character, and a quotation that is none elsewhere
        return r"\y"
    return one if ord(one) > 127 else f"\\{one}"


def _explained(pattern: str, error: Exception) -> Unmatchable:
    raw = error.args[0] if error.args else b""
    why = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    if any(look in pattern for look in _LOOKS) and "perl operator" in why:
        return _refused("pattern.look", pattern)
    if re.search(r"\\[1-9]|\\k|\(\?P=", pattern) and ("escape sequence" in why or "(?P" in why):
        return _refused("pattern.back", pattern)
    if "too large" in why or "repetition size" in why:
        return _refused("pattern.large", pattern)
    return _refused("pattern.wrong", pattern, why=why[:_SHOWN])


def _refused(code: str, pattern: str, **params: str) -> Unmatchable:
    shown = pattern if len(pattern) <= _SHOWN else pattern[: _SHOWN - 1] + "…"
    return Unmatchable(said(code, pattern=shown.encode("utf-8", "replace").decode(), **params), field="pattern")
