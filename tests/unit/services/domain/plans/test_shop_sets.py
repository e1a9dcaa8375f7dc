"""Sets of shops as bits: what is in them is what ``fitting`` says, choice by choice."""

from __future__ import annotations

import pytest

from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Schedule
from services.domain.plans.shop_sets import ShopSets

SHOPS = {
    shop.key: shop
    for shop in (
        Shop(
            platform=("pdd", "temu", "shein")[number % 3],
            shop_id=f"s{number}",
            group=("vip", "", "new", "old")[number % 4],
            enabled=number % 5 != 0,
            unregistered=number % 7 == 0,
        )
        for number in range(61)
    )
}
CHOICES = (
    {"all_shops": True},
    {"platforms": ("pdd",)},
    {"platforms": ("pdd", "shein")},
    {"platforms": ("nobody",)},
    {"groups": ("vip", "old")},
    {"platforms": ("temu",), "groups": ("new",)},
    {"shops": ("pdd:s0", "temu:s7", "shein:s8", "pdd:s9", "pdd:gone")},
)


def plan(choice: dict[str, object]) -> Schedule:
    return Schedule(name="p", task_type="work", **choice)  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_set_holds_what_the_choice_takes(choice: dict[str, object]) -> None:
    sets, wanted = ShopSets(SHOPS), schedules.fitting(plan(choice), SHOPS.values())
    found = sets.of(plan(choice))
    assert list(sets.shops(found)) == wanted
    assert found.bit_count() == len(wanted)
    platforms = sorted({shop.platform for shop in wanted})
    assert sets.counts(found) == {name: sum(shop.platform == name for shop in wanted) for name in platforms}


def test_sets_of_two_choices_have_their_shops_in_common() -> None:
    sets = ShopSets(SHOPS)
    some, others = (
        {shop.key for shop in schedules.fitting(plan(choice), SHOPS.values())} for choice in (CHOICES[2], CHOICES[4])
    )
    both = sets.of(plan(CHOICES[2])) & sets.of(plan(CHOICES[4]))
    assert {shop.key for shop in sets.shops(both)} == some & others


@pytest.mark.parametrize(
    ("scope", "keys"),
    [
        ("all", set(SHOPS)),
        ("platform:temu", {key for key in SHOPS if key.startswith("temu:")}),
        ("platform:nobody", set()),
        ("shop:pdd:s9", {"pdd:s9"}),
        ("shop:pdd:gone", set()),
        ("type:work", set()),
    ],
)
def test_the_shops_of_a_scope(scope: str, keys: set[str]) -> None:
    sets = ShopSets(SHOPS)
    assert {shop.key for shop in sets.shops(sets.scope(scope))} == keys


def test_without_shops_nothing_is_in_any_set() -> None:
    sets = ShopSets({})
    assert [sets.of(plan(choice)) for choice in CHOICES] == [0] * len(CHOICES)
    assert sets.scope("all") == 0
