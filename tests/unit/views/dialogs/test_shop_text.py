"""Pasted lists of shops."""

from __future__ import annotations

import pytest

from services.domain.shop import Shop
from views.dialogs.shop_text import ShopIndex, found, read, unknown

SHOPS = {
    shop.key: shop
    for shop in (
        Shop(platform="pdd", shop_id="pdd-10093", name="微光数码专卖店", name_en="Weiguang Digital"),
        Shop(platform="temu", shop_id="temu-1", name="Lumo Home"),
        Shop(platform="tiktok", shop_id="tts-7", name="柚子家纺"),
    )
}
INDEX = ShopIndex(SHOPS)


@pytest.mark.parametrize(
    "text",
    [
        "pdd-10093\ntemu-1\ntts-7",
        "pdd-10093, temu-1; tts-7",
        "微光数码专卖店、Lumo Home，柚子家纺",
        "PDD-10093\tlumo home\t柚子家纺",
        "pdd-10093 temu-1 tts-7",
        '"pdd-10093"\n“Lumo Home”\npdd:pdd-10093 tiktok:tts-7',
        "Weiguang Digital|temu:temu-1|tts-7",
    ],
)
def test_ids_and_names_with_any_separator(text: str) -> None:
    entries = read(text, INDEX)
    assert set(found(entries)) == set(SHOPS)
    assert unknown(entries) == []


def test_a_shop_named_twice_counts_once() -> None:
    assert found(read("pdd-10093\n微光数码专卖店", INDEX)) == ("pdd:pdd-10093",)


def test_unknown_lines_stay_with_what_may_be_meant() -> None:
    entries = read("pdd-1093\n\n小满百货\nqqq", INDEX)
    lost = unknown(entries)
    assert [(entry.line, entry.text, entry.suggestion) for entry in lost] == [
        (1, "pdd-1093", "pdd:pdd-10093"),
        (3, "小满百货", ""),
        (4, "qqq", ""),
    ]


def test_nothing_is_found_in_nothing() -> None:
    assert read(" \n ,, \n", INDEX) == []
