"""Some promises of the sample fleet, so that there is something to be seen of them: kept, at risk and soon broken."""

from __future__ import annotations

from collections.abc import Container

from services.commands.promises import PromiseCommands
from services.domain.gates.quiet_hours import Weekly
from services.domain.promises.promise import BY, Promise

_DAILY = tuple(range(7))
#: the trickle brings orders of each shop every few minutes, replies more seldom and shop fronts hardly ever
PROMISES: tuple[Promise, ...] = (
    Promise(name="orders", task_type="sync_order", limit_s=3600, all_shops=True, owner="ops"),
    Promise(name="replies-pdd", task_type="batch_reply", limit_s=300, platforms=("pdd",), note="buyers wait"),
    Promise(name="content-temu", task_type="get_content", limit_s=60, platforms=("temu",)),
    Promise(
        name="goods-by-eight", task_type="refresh_goods", kind=BY, all_shops=True,
        window=Weekly(days=_DAILY, start=0, end=8 * 60),
    ),
    Promise(
        name="shop-fronts", task_type="screenshot", kind=BY, all_shops=True,
        window=Weekly(days=tuple(range(5)), start=6 * 60, end=12 * 60),
    ),
)  # fmt: skip


def make(commands: PromiseCommands, platforms: Container[str]) -> None:
    """Promise those whose platforms are there.

    Raises:
        StoreUnavailable: they cannot be recorded now.
    """
    for one in PROMISES:
        if all(platform in platforms for platform in one.platforms):
            commands.set(one)
