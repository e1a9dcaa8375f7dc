"""Records as text for the clipboard. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from services.domain.text.cells import guarded
from services.i18n import _
from views.support import safe
from views.tables.column import TICK, Column

GLYPH = "glyph"


def to_tsv(columns: Sequence[Column[Any]], records: Iterable[Any]) -> str:
    """Return titles and records as tab-separated values. A glyph that has no word of its own is left out: other columns
    tell what it stands for.
    """
    shown = [one for one in columns if one.key != TICK and (one.kind != GLYPH or one.tooltip is not None)]
    lines = ["\t".join(_(one.title) or (_("State") if one.kind == GLYPH else one.key) for one in shown)]
    lines += ["\t".join(cell_text(copied(one, record)) for one in shown) for record in records]
    return "\n".join(lines) + "\n"


def copied(column: Column[Any], record: Any) -> str:
    """What is copied of a cell: what is seen there or more, of a glyph its word, not the code that it is drawn by."""
    if column.copy is not None:
        return safe.masked(column.copy(record))
    if column.kind != GLYPH or column.text is not None:
        return column.display(record)
    words = column.tooltip or column.speech
    return safe.masked(words(record)) if words is not None else ""


def cell_text(text: str) -> str:
    """Return one cell on one line; what a spreadsheet would take for a formula is quoted."""
    flat = text.replace("\t", " ").replace("\r", " ").replace("\n", " ")
    return f"'{flat}" if guarded(text) != text else flat
