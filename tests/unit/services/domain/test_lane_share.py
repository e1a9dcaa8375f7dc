"""Which lane a free slot goes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.gates.lane_share import Share, Sharing, check, parse_share, parse_slots, spelled

LANES = ("high", "normal", "low")


@pytest.mark.parametrize(
    ("text", "share"),
    [("1", Share(1)), ("1-3", Share(1, 3)), ("-3", Share(0, 3)), (" 0-2 ", Share(0, 2)), (2, Share(2)), ("0", Share())],
)
def test_a_share_is_read_as_it_is_written(text: object, share: Share) -> None:
    assert parse_share(text) == share
    assert parse_share(str(share)) == share


@pytest.mark.parametrize("text", ["", "-", "1-", "-0", "1-0", "3-2", "many", "1-2-3", "513", "-1.5", "１"])
def test_what_is_no_share_is_refused_with_what_would_be(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be|keeps"):
        parse_share(text)


def test_slots_and_shares_are_written_in_one_word() -> None:
    assert parse_slots("8") == (8, {})
    assert parse_slots("8, low=1-3,high=-6") == (8, {"low": Share(1, 3), "high": Share(0, 6)})
    assert spelled({"low": Share(1), "high": Share(0, 6)}) == [("high", "0-6"), ("low", "1")]


@pytest.mark.parametrize(
    ("text", "word"),
    [("0", "1 to 512"), ("", "1 to 512"), ("8,low", "LANE="), ("8,urgent=1", "LANE="), ("8,low=x", "low must"),
     ("2,low=3", "3 slots"), ("3,low=2,high=2", "4 slots")],
)  # fmt: skip
def test_a_wrong_word_is_named(text: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        parse_slots(text)


def test_urgent_lanes_go_first_and_the_low_one_is_never_shut_out() -> None:
    sharing = Sharing(LANES, 4, {})
    assert sharing.plan(4, {}) == [("low", 1), ("high", 4), ("normal", 4), ("low", 3)]
    assert sharing.plan(1, {"high": 3}) == [("low", 1), ("high", 1), ("normal", 1)]
    assert sharing.plan(1, {"high": 2, "low": 1}) == [("high", 1), ("normal", 1), ("low", 1)]
    assert sharing.plan(0, {}) == []


def test_a_bounded_lane_leaves_slots_for_what_may_come() -> None:
    sharing = Sharing(LANES, 4, {"low": Share(1, 3), "normal": Share(0, 2)})
    assert sharing.plan(1, {"low": 3}) == [("high", 1), ("normal", 1)]
    assert sharing.plan(64, {"low": 1}) == [("high", 64), ("normal", 2), ("low", 2)], "also ahead of the slots"
    alone = Sharing(("low",), 4, {"low": Share(0, 1)})
    assert alone.plan(3, {"low": 1}) == []


def test_too_few_slots_keep_what_they_can_and_one_keeps_nothing() -> None:
    assert Sharing(LANES, 1, {}).plan(1, {}) == [("high", 1), ("normal", 1), ("low", 1)]
    assert Sharing(("low",), 5, {}).shares() == {"low": Share(0, 5)}
    kept = Sharing(LANES, 8, {"high": Share(2), "low": Share(2)}).changed(3, {"normal": Share(0, 6)}).shares()
    assert kept == {"high": Share(2, 3), "normal": Share(0, 3), "low": Share(1, 3)}


def test_what_is_beyond_the_share_may_make_way() -> None:
    sharing = Sharing(LANES, 3, {"high": Share(0, 1)})
    assert sharing.spare("low", {"low": 2}) == 1
    assert (sharing.admits("high", {"low": 3}), sharing.admits("high", {"high": 1})) == (True, False)
    assert Sharing(("low",), 3, {}).admits("high", {}) is False


_SHARES = st.dictionaries(
    st.sampled_from(LANES), st.tuples(st.integers(0, 3), st.integers(0, 5)).map(lambda two: Share(two[0], sum(two)))
)


@given(st.integers(1, 12), _SHARES, st.lists(st.sampled_from(LANES), max_size=12), st.integers(0, 70))
def test_a_plan_holds_every_bound(slots: int, shares: dict[str, Share], hand: list[str], room: int) -> None:
    sharing = Sharing(LANES, slots, shares)
    claimed = {lane: hand.count(lane) for lane in LANES}
    plan = sharing.plan(room, claimed)
    assert all(0 < most <= room for _, most in plan)
    for lane, share in sharing.shares().items():
        wanted = sum(most for name, most in plan if name == lane)
        assert wanted <= room
        assert share.most == slots or wanted + claimed[lane] <= max(share.most, claimed[lane])
        if room and claimed[lane] < min(share.least, share.most):
            assert plan[0][0] in {name for name, kept in sharing.shares().items() if claimed[name] < kept.least}
    check(slots, sharing.shares())
