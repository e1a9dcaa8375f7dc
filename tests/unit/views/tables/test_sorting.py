"""The order of a table."""

from __future__ import annotations

import pytest

from services import i18n
from views.tables.record_model import next_sorts, sorted_rows


@pytest.mark.parametrize(
    ("now", "key", "down", "add", "then"),
    [
        ((), "age", False, False, (("age", False),)),
        ((), "age", True, False, (("age", True),)),
        ((("age", False),), "age", False, False, (("age", True),)),
        ((("age", False),), "type", False, False, (("type", False),)),
        ((("age", False),), "type", False, True, (("age", False), ("type", False))),
        ((("age", False), ("type", False)), "age", False, True, (("type", False), ("age", True))),
    ],
)
def test_clicks(now: tuple[tuple[str, bool], ...], key: str, down: bool, add: bool, then: object) -> None:
    assert next_sorts(now, key, descending_first=down, add=add) == then


def test_rows_are_ordered_by_all_keys() -> None:
    rows = [("b", 2), ("A", None), ("a", 1), ("B", 1)]
    places = {"name": 0, "number": 1}
    ordered = sorted_rows(rows, (("name", False), ("number", True)), lambda key: lambda row: row[places[key]])
    assert ordered == [("a", 1), ("A", None), ("b", 2), ("B", 1)]


def test_numbers_in_texts_are_ordered_as_numbers() -> None:
    rows = ["shop 10", "Shop 2", "shop 02b", "shop", "10", "9", "店铺 11", "店铺 1", "7" * 5000]
    ordered = sorted_rows(rows, (("name", False),), lambda _key: lambda row: row)
    assert ordered == ["9", "10", "7" * 5000, "shop", "Shop 2", "shop 02b", "shop 10", "店铺 1", "店铺 11"]


def test_chinese_names_stand_in_the_order_of_their_pinyin_and_of_their_numbers() -> None:
    i18n.set_language("zh_CN")
    rows = ["柚子数码", "微光数码 10", "北屿童装", "珠海旗舰店", "微光数码 9", "安家家居", None, "北岛 2", "北岛 10"]
    ordered = sorted_rows(rows, (("name", False),), lambda _key: lambda row: row)
    assert ordered == [
        *(None, "安家家居", "北岛 2", "北岛 10", "北屿童装", "微光数码 9", "微光数码 10", "柚子数码", "珠海旗舰店")
    ]
    assert sorted_rows(rows, (("name", True),), lambda _key: lambda row: row) == ordered[::-1]
