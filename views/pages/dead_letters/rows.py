"""What the table of dead letters shows of a record."""

from __future__ import annotations

from dataclasses import dataclass

from services.clock import SystemClock
from services.domain.task import Task
from services.i18n import N_, _
from views.pages.dead_letters.words import minute
from views.support import shown
from views.tables.column import Column

_CLOCK = SystemClock()


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterRow:
    """A dead task and the name of its shop."""

    task: Task
    shop_name: str = ""

    @property
    def key(self) -> str:
        """The task id."""
        return self.task.task_id


def sentence(row: LetterRow) -> str:
    """The row for a screen reader."""
    shop = row.shop_name or row.task.shop_id
    return _("Dead letter, {type}, shop {shop}").format(type=row.task.task_type, shop=shop)


COLUMNS: tuple[Column[LetterRow], ...] = (
    Column(
        key="type",
        title=N_("Type"),
        value=lambda row: row.task.task_type,
        kind="strong",
        width=116,
        tooltip=lambda row: row.key,
    ),
    Column(
        key="shop",
        title=N_("Shop"),
        value=lambda row: row.shop_name or row.task.shop_id,
        width=140,
        stretch=True,
        tooltip=lambda row: row.task.shop,
    ),
    Column(key="platform", title=N_("Plat."), value=lambda row: row.task.platform, kind="badge", width=58, hide_rank=2),
    Column(key="lane", title=N_("Lane"), value=lambda row: row.task.lane, kind="lane", width=92, hide_rank=1),
    Column(
        key="updated",
        title=N_("Died"),
        value=lambda row: row.task.ended_at,
        text=lambda row: minute(row.task.ended_at, _CLOCK.now_ms()),
        width=84,
        align="right",
        sortable=True,
        descending_first=True,
        tooltip=lambda row: shown.clock(row.task.ended_at, _CLOCK.now_ms()),
    ),
)
