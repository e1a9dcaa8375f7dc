"""Texts in the cells of a spreadsheet: none of them is run as a formula, and each comes back as it was."""

from __future__ import annotations

import re

#: A spreadsheet would run a cell that begins so; foreign text must not get that far. A text that looks guarded already
#: gets a quote, too: the reader takes one away.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_GUARDED = re.compile(r"'(?='*[=+\-@\t\r\n＝＋－＠])")
_NUMBER = re.compile(r"[+-]?[\d,]*\.?\d*(?:[eE][+-]?\d{1,3})?%?\Z", re.ASCII)


def guarded(text: str) -> str:
    """The text, with a quote before what a spreadsheet would take for a formula; a number stays one."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


def bared(text: str) -> str:
    """The text of a cell without the quote that ``guarded`` puts before it."""
    return text[1:] if _GUARDED.match(text) else text
