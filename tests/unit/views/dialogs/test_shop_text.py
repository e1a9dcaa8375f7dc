"""Pasted lists of shops."""

from __future__ import annotations

import pytest

from services.commands.sheet.shop_index import ShopIndex
from services.domain.fleet.shop import Shop
from views.dialogs.shops.picker import SUGGESTED, found, read, unknown

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


TWO = {shop.key: shop for shop in (Shop(platform="pdd", shop_id="7", name="柚子"), Shop(platform="temu", shop_id="7"))}


def test_an_id_of_two_platforms_is_asked_about() -> None:
    (entry,) = read("7", ShopIndex(TWO))
    assert (entry.shop, entry.several) == ("", 2)
    assert found(read("7", ShopIndex(TWO, "temu"))) == ("temu:7",), "the platform in view is meant"
    assert found(read("PDD:7, TEMU:7, Pinduoduo:柚子", ShopIndex(TWO))) == ("pdd:7", "temu:7")


def test_ten_thousand_shops_and_many_unknown_names_are_read_in_one_go() -> None:
    many = {shop.key: shop for shop in (Shop(platform="pdd", shop_id=f"pdd-{n:05}") for n in range(10_000))}
    entries = read("\n".join(f"pdd-{n:05}x" for n in range(0, 10_000, 10)), ShopIndex(many))
    assert len(unknown(entries)) == 1000
    assert sum(bool(entry.suggestion) for entry in entries) == SUGGESTED
