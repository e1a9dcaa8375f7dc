"""Records as text for the clipboard. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from services.i18n import _
from views.tables.column import TICK, Column

#: A spreadsheet would run a cell that begins so as a formula; foreign text must not get that far.
_FORMULA = re.compile(r"^[=+\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"^[+-]?[\d,]+(\.\d+)?$")


def to_tsv(columns: Sequence[Column[Any]], records: Iterable[Any]) -> str:
    """Return titles and records as tab-separated values."""
    shown = [column for column in columns if column.key != TICK]
    lines = ["\t".join(_(column.title) or column.key for column in shown)]
    lines += ["\t".join(cell_text(column.display(record)) for column in shown) for record in records]
    return "\n".join(lines) + "\n"


def cell_text(text: str) -> str:
    """Return one cell on one line; what a spreadsheet would take for a formula is quoted."""
    flat = text.replace("\t", " ").replace("\r", " ").replace("\n", " ")
    return f"'{flat}" if _FORMULA.match(text) and not _NUMBER.match(flat) else flat
