"""The readings of one text: as a person sees it, and as whoever decodes it does.

What looks for something in a text has to know one spelling only: full-width marks, signs that nobody sees, line ends of
Unicode, ``%3D``, ``\\u003d``, ``\\n`` and ``&quot;`` are gone in a reading, and each character knows where it stood.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

import msgspec

#: what is encoded more often than this stays so
_ROUNDS = 3
_SIGNS: dict[int, int | str] = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n"),
    **dict.fromkeys(map(ord, "“”„‟«»「」『』"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛"), "'"),
    **dict.fromkeys(map(ord, "﹕∶︰꞉"), ":"),
    **dict.fromkeys(map(ord, "﹦═"), "="),
    0x3000: " ",
}
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+")  # fmt: skip  # noqa: E501
_UNUSUAL = re.compile(r"[^\x00-\x7f]|[\x0b\x0c\x1c-\x1e]")
_ENCODED = re.compile(
    r"(?P<octets>(?:%[0-9A-Fa-f]{2})++)|\\u(?P<four>[0-9A-Fa-f]{4})|\\x(?P<two>[0-9A-Fa-f]{2})"
    r"|\\(?P<one>[nrt\"'\\/])"
    r"|(?P<entity>&(?:quot|amp|apos|lt|gt|colon|equals|#[0-9]{1,6}|#[xX][0-9A-Fa-f]{1,5});)"
)


_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


class Reading(msgspec.Struct, frozen=True):
    """A text, and where each of its characters begins in the original; ``places`` is None where both are alike."""

    text: str
    places: Sequence[int] | None
    length: int  #: of the original, in characters

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The same part in the original."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end] if end < len(self.places) else self.length


def readings(text: str) -> Iterator[Reading]:
    """The text as it is seen, then, where something in it is encoded, as it is once, twice, three times decoded."""
    reading = _seen(Reading(text, None, len(text)))
    yield reading
    for _ in range(_ROUNDS):
        if _ENCODED.search(reading.text) is None:
            return
        reading = _seen(_decoded(reading))
        yield reading


def seen(text: str) -> str:
    """A text as a person sees it: nothing invisible in it, marks and quotes of one form."""
    return _seen(Reading(text, None, len(text))).text


def _seen(reading: Reading) -> Reading:
    if _UNUSUAL.search(reading.text) is None:
        return reading
    text = reading.text.translate(_SIGNS)
    if _INVISIBLE.search(text) is None:
        return Reading(text, reading.places, reading.length)
    parts: list[str] = []
    places: list[int] = []
    place = 0
    for found in _INVISIBLE.finditer(text):
        _copy(reading, text, place, found.start(), parts, places)
        place = found.end()
    _copy(reading, text, place, len(text), parts, places)
    return Reading("".join(parts), places, reading.length)


def _decoded(reading: Reading) -> Reading:
    parts: list[str] = []
    places: list[int] = []
    place = 0
    for found in _ENCODED.finditer(reading.text):
        _copy(reading, reading.text, place, found.start(), parts, places)
        for char, start in _meant(found):
            parts.append(char)
            places.append(reading.places[start] if reading.places is not None else start)
        place = found.end()
    _copy(reading, reading.text, place, len(reading.text), parts, places)
    return Reading("".join(parts), places, reading.length)


def _copy(reading: Reading, text: str, start: int, end: int, parts: list[str], places: list[int]) -> None:
    parts.append(text[start:end])
    places += range(start, end) if reading.places is None else reading.places[start:end]


def _meant(found: re.Match[str]) -> Iterator[tuple[str, int]]:
    """What an encoded piece stands for, each character with the place at which it begins."""
    if found["octets"]:
        octets = bytes.fromhex(found["octets"].replace("%", ""))
        place = found.start()
        try:
            chars = octets.decode()
        except UnicodeDecodeError:
            chars = octets.decode("latin-1")
            yield from zip(chars, range(place, found.end(), 3), strict=True)
            return
        for char in chars:
            yield char, place
            place += 3 * len(char.encode())
    elif found["one"]:
        yield _ESCAPES.get(found["one"], found["one"]), found.start()
    elif found["entity"]:
        yield from ((char, found.start()) for char in html.unescape(found["entity"])[:1])
    else:
        yield chr(int(found["four"] or found["two"], 16)), found.start()
