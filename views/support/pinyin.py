"""First letters of the pinyin of Chinese names, so that ``wgsm`` finds 微光数码.

GB 2312 orders its 3,755 common characters by pinyin, so the place of a character tells its first letter and no
dictionary is needed. Rarer characters are not ordered so and stay unknown; a character with two readings has the
more common one, but for 重, which in what this program does is *again*.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

_LETTERS = "abcdefghjklmnopqrstwxyz"
_STARTS = (
    *(0xB0A1, 0xB0C5, 0xB2C1, 0xB4EE, 0xB6EA, 0xB7A2, 0xB8C1, 0xB9FE, 0xBBF7, 0xBFA6, 0xC0AC, 0xC2E8),
    *(0xC4C3, 0xC5B6, 0xC5BE, 0xC6DA, 0xC8BB, 0xC8F6, 0xCBFA, 0xCDDA, 0xCEF4, 0xD1B9, 0xD4D1),
)
_END = 0xD7F9
UNKNOWN = "·"
_OTHERWISE = {"重": "c"}


@lru_cache(maxsize=20_000)
def initials(text: str) -> str:
    """Return one letter for each character: of the pinyin, the character itself in lower case, ``·`` if unknown."""
    return "".join(_initial(char) for char in text)


def _initial(char: str) -> str:
    if char.isascii():
        return char.lower()
    if char in _OTHERWISE:
        return _OTHERWISE[char]
    code = int.from_bytes(char.encode("gb2312", errors="ignore"), "big")
    return _LETTERS[bisect_right(_STARTS, code) - 1] if _STARTS[0] <= code <= _END else UNKNOWN
