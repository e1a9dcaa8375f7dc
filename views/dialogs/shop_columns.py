"""Which column of a file names the shops, which one their platform, and the lines that come of it. Pure."""

from __future__ import annotations

from services.commands.sheet.shop_index import ShopIndex, one_name
from services.commands.sheet.table import Table

SAMPLE = 200  #: rows that are tried
_SHOP_TITLES = (
    "shop_id",
    "shopid",
    "shop",
    "shop id",
    "id",
    "name",
    "店铺id",
    "店铺编号",
    "店铺",
    "店铺名称",
    "店铺名",
)
_PLATFORM_TITLES = ("platform", "平台")


def guess(table: Table, index: ShopIndex) -> tuple[int, int]:
    """Places of the shop column and of the platform column (-1 for none)."""
    titles = [title.strip().casefold() for title in table.columns]
    platform = next((titles.index(title) for title in _PLATFORM_TITLES if title in titles), -1)
    hits = [_hits(table, at, platform, index) if at != platform else -1 for at in range(len(titles))]
    best = max(range(len(hits)), key=hits.__getitem__, default=-1)
    if best >= 0 and hits[best] > 0:
        return best, platform
    named = next((titles.index(title) for title in _SHOP_TITLES if title in titles), max(0, best))
    return named, platform


def lines(table: Table, shop: int, platform: int) -> list[str]:
    """One name a line, with its platform where a column tells it; commas of a cell do not part it."""
    names = [one_name(cell) for cell in table.column(shop)]
    if platform < 0:
        return names
    return [_whole(name, place) for name, place in zip(names, table.column(platform), strict=True)]


def _hits(table: Table, shop: int, platform: int, index: ShopIndex) -> int:
    return sum(bool(index.candidates(line)) for line in lines(table, shop, platform)[:SAMPLE])


def _whole(name: str, platform: str) -> str:
    return f"{platform.strip()}:{name}" if name and platform.strip() and ":" not in name else name
