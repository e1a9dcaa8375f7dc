"""What Qt asks of a cell and of a title, answered from record and column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from services.i18n import _
from views.support import safe
from views.tables import roles
from views.tables.column import TICK, Column


class Records(Protocol):
    """What is asked of the model."""

    @property
    def tickable(self) -> bool: ...
    @property
    def sentence(self) -> Callable[[Any], str] | None: ...
    def record(self, row: int) -> Any: ...
    def column(self, section: int) -> Column[Any]: ...
    def key_at(self, row: int) -> Any: ...
    def is_ticked(self, row: int) -> bool: ...
    def is_dimmed(self, row: int) -> bool: ...


def cell(model: Records, row: int, column: Column[Any], role: int) -> Any:
    """What `role` asks of the cell of `column` in `row`; None for what nobody answers."""
    if column.key == TICK:
        return _tick(model, row, role)
    if role == roles.DISPLAY:
        return column.display(model.record(row))
    if role == roles.ALIGNMENT:
        return roles.ALIGN_RIGHT if column.to_right else roles.ALIGN_LEFT
    answer = _ANSWERS.get(role)
    return answer(model, row, column) if answer is not None else None


def title(column: Column[Any], role: int) -> Any:
    """What `role` asks of the title of `column`."""
    if role == roles.DISPLAY:
        return _(column.title)
    if role == roles.TOOLTIP and (column.title_tip or column.title):
        return _(column.title_tip or column.title)
    if role == roles.ALIGNMENT:
        return roles.ALIGN_RIGHT if column.to_right else roles.ALIGN_LEFT
    return None


def _tick(model: Records, row: int, role: int) -> Any:
    if role == roles.CHECK:
        return roles.CHECKED if model.is_ticked(row) else roles.UNCHECKED
    if role == roles.ACCESSIBLE:
        return _("selected") if model.is_ticked(row) else _("not selected")
    if role == roles.KEY:
        return model.key_at(row)
    return None


def _tooltip(model: Records, row: int, column: Column[Any]) -> str | None:
    if column.tooltip is None:
        return None
    return safe.tooltip(column.tooltip(model.record(row))) or None


def _speech(model: Records, row: int, column: Column[Any]) -> str:
    record = model.record(row)
    lead = model.column(1 if model.tickable else 0)
    if model.sentence is not None and column.key == lead.key:
        return safe.masked(model.sentence(record))
    words = safe.masked(column.speech(record)) if column.speech is not None else column.display(record)
    title = _(column.title)
    return _("{title}: {value}").format(title=title, value=words) if title else words


_ANSWERS: dict[int, Callable[[Records, int, Column[Any]], Any]] = {
    roles.TOOLTIP: _tooltip,
    roles.ACCESSIBLE: _speech,
    roles.KEY: lambda model, row, _column: model.key_at(row),
    roles.RECORD: lambda model, row, _column: model.record(row),
    roles.VALUE: lambda model, row, column: column.value(model.record(row)),
    roles.DIMMED: lambda model, row, _column: model.is_dimmed(row),
}
