"""What is typed into *Did it run?*, and which works it means."""

from __future__ import annotations

import pytest

from services.domain.fleet.shop import Shop
from services.domain.types.task_type import TaskType
from views.dialogs.work.asking import Directory, directory, understand

SHOPS = (
    Shop(platform="pdd", shop_id="s1", name="微光数码专卖店"),
    Shop(platform="pdd", shop_id="s10", name="柚子数码专卖店"),
    Shop(platform="temu", shop_id="t7", name="Lumo Home"),
)
ALL = ("refresh_goods", "sync_full", "sync_order")


@pytest.fixture(scope="module")
def known() -> Directory:
    types = {
        name: TaskType(name=name, title={"en": name, "zh_CN": "同步订单" * (name == "sync_order")}) for name in ALL
    }
    return directory({shop.key: shop for shop in SHOPS}, types)


@pytest.mark.parametrize(
    ("typed", "shops", "types", "day"),
    [
        ("did pdd:s1 sync_order", ("pdd:s1",), ("sync_order",), "today"),
        ("s1 sync yesterday", ("pdd:s1",), ("sync_full", "sync_order"), "yesterday"),
        ("数码 sync_order", ("pdd:s1", "pdd:s10"), ("sync_order",), "today"),
        ("昨天 wgsm 同步", ("pdd:s1",), ("sync_order",), "yesterday"),
        ("Lumo Home refresh 2026-11-20", ("temu:t7",), ("refresh_goods",), "2026-11-20"),
        ("temu", ("temu:t7",), ALL, "today"),
        ("sync_order", ("pdd:s1", "pdd:s10", "temu:t7"), ("sync_order",), "today"),
        ("did pdd:s1 sync_order today?", ("pdd:s1",), ("sync_order",), "today"),
        ("did wgsm 同步 昨天？", ("pdd:s1",), ("sync_order",), "yesterday"),
        ("has pdd:s1 sync_order run yet?", ("pdd:s1",), ("sync_order",), "today"),
        ("did it run s1 sync_order", ("pdd:s1",), ("sync_order",), "today"),
        ("微光数码专卖店同步订单了吗", ("pdd:s1",), ("sync_order",), "today"),
        ("微光昨天同步了吗？", ("pdd:s1",), ("sync_order",), "yesterday"),
        ("昨天微光店的同步订单跑过没有", ("pdd:s1",), ("sync_order",), "yesterday"),
        ("微光跑了吗", ("pdd:s1",), ALL, "today"),
        ("s1今天同步了没", ("pdd:s1",), ("sync_order",), "today"),
        ("数码同步了吗", ("pdd:s1", "pdd:s10"), ("sync_order",), "today"),
        ("同步订单跑了吗", ("pdd:s1", "pdd:s10", "temu:t7"), ("sync_order",), "today"),
        ("没有这家店", (), (), "today"),
        ("Lumo Home ?", ("temu:t7",), ALL, "today"),
        ("s1 nothing", ("pdd:s1",), (), "today"),
        ("nobody sync", (), (), "today"),
        ("", (), (), "today"),
    ],
)
def test_words_name_shops_then_types_and_a_day_anywhere(
    known: Directory, typed: str, shops: tuple[str, ...], types: tuple[str, ...], day: str
) -> None:
    found = understand(typed, known)
    assert (found.shops, found.types, found.day) == (shops, types, day)


def test_what_was_not_understood_is_named_by_its_words(known: Directory) -> None:
    assert understand("s1 nothing", known).type_words == "nothing"
    assert understand("nobody sync", known).shop_words == "nobody sync"
    assert understand("did today", known).nothing
    assert understand("did?", known).nothing
