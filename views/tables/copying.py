"""Records as text for the clipboard. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from services.domain.text.cells import guarded
from services.i18n import _
from views.tables.column import TICK, Column


def to_tsv(columns: Sequence[Column[Any]], records: Iterable[Any]) -> str:
    """Return titles and records as tab-separated values."""
    shown = [column for column in columns if column.key != TICK]
    lines = ["\t".join(_(column.title) or column.key for column in shown)]
    lines += ["\t".join(cell_text(column.display(record)) for column in shown) for record in records]
    return "\n".join(lines) + "\n"


def cell_text(text: str) -> str:
    """Return one cell on one line; what a spreadsheet would take for a formula is quoted."""
    flat = text.replace("\t", " ").replace("\r", " ").replace("\n", " ")
    return f"'{flat}" if guarded(text) != text else flat
