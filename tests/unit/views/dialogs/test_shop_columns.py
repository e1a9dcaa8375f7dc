"""Which columns of a file count."""

from __future__ import annotations

import pytest

from services.commands.sheet.shop_index import ShopIndex
from services.commands.sheet.table import Row, Table
from services.domain.shop import Shop
from views.dialogs.shop_columns import guess, lines

INDEX = ShopIndex({shop.key: shop for shop in (Shop(platform="pdd", shop_id="a1", name="Lumo, Home"),)})


def table(columns: str, *rows: str) -> Table:
    cells = (Row(number=2 + n, cells=tuple(row.split("|"))) for n, row in enumerate(rows))
    return Table(name="x.csv", columns=tuple(columns.split("|")), rows=tuple(cells))


@pytest.mark.parametrize(
    ("given", "columns"),
    [
        (table("no|code|where", "1|a1|pdd"), (1, -1)),
        (table("平台|no|code", "PDD|1|a1"), (2, 0)),
        (table("no|shop_id|platform", "1|unknown|pdd"), (1, 2)),
        (table("x|y", "1|2"), (0, -1)),
    ],
)
def test_columns_are_recognised_by_what_stands_in_them_then_by_their_titles(
    given: Table, columns: tuple[int, int]
) -> None:
    assert guess(given, INDEX) == columns


def test_a_cell_is_one_name_with_its_platform() -> None:
    given = table("shop|platform", "a1|pdd", "temu:b|pdd", "Lumo, Home|", "|pdd")
    assert lines(given, 0, 1) == ["pdd:a1", "temu:b", "Lumo Home", ""]
    assert lines(given, 0, -1) == ["a1", "temu:b", "Lumo Home", ""]


def test_a_name_with_a_comma_is_found() -> None:
    (line,) = lines(table("shop", "Lumo, Home"), 0, -1)
    assert INDEX.find(line) == "pdd:a1"
