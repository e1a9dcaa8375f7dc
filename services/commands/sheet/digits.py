"""Numbers in cells that may have lost digits before anybody read them: kept apart, so that no id is rounded unseen."""

from __future__ import annotations

import math
from decimal import Decimal

#: from here on a spreadsheet keeps no more digits of a number, nor does one that has a point or an exponent
MOST = 1e15
#: longer ones Python does not read as a number
_READABLE = 4300


class Rounded:
    """A number whose last digits may be others than were written."""

    def __init__(self, digits: str) -> None:
        self._digits = digits

    def __str__(self) -> str:
        return self._digits

    def __repr__(self) -> str:
        return f"Rounded({self._digits!r})"


def of_sheet(value: object) -> object:
    """The value of a cell of a workbook, which keeps 15 digits."""
    if isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) < MOST:
        return Rounded(plain(value))
    return value


def of_text(text: str) -> int | float | Rounded:
    """A number of a JSON text: whole ones are exact there, those with a point or an exponent are not."""
    if text.removeprefix("-").isdigit():
        return int(text) if len(text) <= _READABLE else Rounded(text)
    value = float(text)
    return value if abs(value) < MOST else Rounded(text)


def plain(value: float) -> str:
    """A number in plain digits, never as 1.2e+17."""
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")
