"""Columns that say the same of a task in every table: its type, shop, platform and lane."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Protocol, TypeVar

from services.domain.task.record import Task
from services.i18n import N_
from views.support.words import type_names
from views.tables.column import Column

#: the key of a row that holds a task; computed in C, for it is asked of thousands of rows with every answer
task_id = attrgetter("task.task_id")


class OfTask(Protocol):
    """A row that stands for one task."""

    @property
    def task(self) -> Task: ...
    @property
    def shop_name(self) -> str: ...
    @property
    def key(self) -> str: ...


R = TypeVar("R", bound=OfTask)


def type_column(width: int = 130, **more: Any) -> Column[R]:
    """The name of the type; its code and the task id are the tool tip."""
    return Column(
        key="type",
        title=N_("Type"),
        value=lambda row: row.task.task_type,
        text=lambda row: type_names.name(row.task.task_type),
        kind="strong",
        width=width,
        tooltip=lambda row: f"{row.task.task_type}\n{row.key}",
        **more,
    )


def shop_column(**more: Any) -> Column[R]:
    """The name of the shop, else its id; the key is the tool tip."""
    return Column(
        key="shop",
        title=N_("Shop"),
        value=lambda row: row.shop_name or row.task.shop_id,
        names=True,
        tooltip=lambda row: f"{row.shop_name}\n{row.task.shop}" if row.shop_name else row.task.shop,
        **more,
    )


def platform_column(**more: Any) -> Column[R]:
    """The badge of the platform."""
    return Column(key="platform", title=N_("Plat."), value=lambda row: row.task.platform, kind="badge", **more)


def lane_column(**more: Any) -> Column[R]:
    """Glyph and word of the lane."""
    return Column(key="lane", title=N_("Lane"), value=lambda row: row.task.lane, kind="lane", **more)
