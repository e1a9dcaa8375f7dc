"""The order in which people look for texts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from services.domain.insight.shop import ShopNow, rank
from services.domain.text.ordering import as_read


def test_numbers_compare_as_numbers_and_letters_without_their_case() -> None:
    names = ["s10", "S2", "s02b", "s", "", "10", "9", "店铺 11", "店铺 1", "9" * 400]
    assert sorted(names, key=as_read) == ["", "9", "10", "9" * 400, "s", "S2", "s02b", "s10", "店铺 1", "店铺 11"]


NAMES = st.text(st.sampled_from("aBß019 -_é店٣:."), max_size=10)


@given(NAMES, NAMES)
def test_any_two_names_stand_as_their_parts_do_one_after_the_other(one: str, other: str) -> None:
    def parts(text: str) -> list[tuple[int, str] | str]:
        found = re.split(r"([0-9]+)", text.casefold())
        numbers = [part.lstrip("0") for part in found[1::2]]
        return [(len(numbers[n // 2]), numbers[n // 2]) if n % 2 else part for n, part in enumerate(found)]

    assert (as_read(one) < as_read(other), as_read(one) == as_read(other)) == (
        parts(one) < parts(other),
        parts(one) == parts(other),
    )


def test_shops_in_the_same_state_stand_in_that_order() -> None:
    shops = [ShopNow(platform="pdd", shop_id=f"s{n}", state="idle") for n in (1, 10, 11, 2)]
    assert [one.shop_id for one in sorted(shops, key=rank)] == ["s1", "s2", "s10", "s11"]
