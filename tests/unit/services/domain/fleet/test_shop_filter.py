"""Which shops a text means."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.errors import UsageError
from services.domain.fleet import shop_filter
from services.domain.fleet.shop import Pause, Shop
from services.domain.gates.breaker import Breaker
from services.domain.insight.shop import ShopNow
from services.domain.task.search import filter


def shop(key: str, **more: Any) -> dict[str, Any]:
    platform, _, shop_id = key.partition(":")
    row = {
        "platform": platform,
        "shop_id": shop_id,
        "name": "",
        "name_en": "",
        "group": "",
        "home": "",
        "state": "idle",
    }
    numbers = {"active": 0, "dead": 0, "concurrency": 1}
    return row | numbers | dict.fromkeys(shop_filter.TRUTHS, False) | more


SHOPS = [
    shop("pdd:s1", name="旗舰店", group="east", dead=3, state="dead"),
    shop("pdd:s2", group="west", paused=True, state="paused", active=7),
    shop("temu:s1", name="Berlin Shop", name_en="flagship", dedicated=True, home="desk-02", active=2),
    shop("temu:9", group="east-2", concurrency=4, state="login", tags=("vip",), gates=("session",)),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "pdd:s1 pdd:s2 temu:s1 temu:9"),
        ("platform:temu", "temu:s1 temu:9"),
        ("-platform:temu", "pdd:s1 pdd:s2"),
        ("platform:pdd,temu dead>0", "pdd:s1"),
        ("shop:s1", "pdd:s1 temu:s1"),
        ("shop:pdd:s1", "pdd:s1"),
        ("shop:pdd:*", "pdd:s1 pdd:s2"),
        ("group:east", "pdd:s1"),
        ("group:east*", "pdd:s1 temu:9"),
        ("group~ST", "pdd:s1 pdd:s2 temu:9"),
        ("state:login,dead", "pdd:s1 temu:9"),
        ("active>=2 active<7", "temu:s1"),
        ("concurrency:4", "temu:9"),
        ("paused:yes", "pdd:s2"),
        ("paused:no dedicated:yes", "temu:s1"),
        ("home:desk-02", "temu:s1"),
        ("旗舰", "pdd:s1"),
        ("flag", "temu:s1"),
        ("name:旗舰店", "pdd:s1"),
        ("platform：temu", "temu:s1 temu:9"),
        ('"Berlin Shop"', "temu:s1"),
        ("状态:login", "temu:9"),
        ("状态:登录", "temu:9"),
        ("状态:需登录", "temu:9"),
        ("暂停:是", "pdd:s2"),
        ("平台：pdd -分组：east", "pdd:s2"),
        ("归属节点:desk-02", "temu:s1"),
        ("死信>0", "pdd:s1"),
        ("暂停：yes", "pdd:s2"),
        ("专用队列:yes 店铺:s1", "temu:s1"),
        ("tag:vip", "temu:9"),
        ("gate:session", "temu:9"),
        ("关卡:需登录", "temu:9"),
        ("state:flagged", "pdd:s1 temu:9"),
        ("状态:需处理", "pdd:s1 temu:9"),
        ("pdd:s1", "pdd:s1"),
        ("pdd:s", "pdd:s1 pdd:s2"),
        ("pdd:s1*", "pdd:s1"),
        ("pdd:*", "pdd:s1 pdd:s2"),
        ("-pdd:s2 group:east,west", "pdd:s1"),
        ('pdd:"s1*"', ""),
    ],
)
def test_shops_are_found(text: str, found: str) -> None:
    wanted = shop_filter.parse(text, ("pdd", "temu"))
    assert [f"{one['platform']}:{one['shop_id']}" for one in SHOPS if wanted(one)] == found.split()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("status:dead", "platform"),
        ("east platform:", "platform needs a value"),
        ("平台： pdd", "平台 needs a value"),
        ("指纹:9ac1", "platform"),
        ("state:gone", "login"),
        ("gate:quota", "breaker"),
        ("shein:s1", "platform"),
        ("状态:没了", "需登录"),
        ("dead>many", "dead>0"),
        ("dead~1", "dead>0"),
        ("paused:perhaps", "yes or no"),
        ("platform>a", "`:` or `~`"),
        ('name:"', "name"),
        ("x" * 30_000, "characters"),
    ],
)
def test_what_is_no_filter_is_refused_with_what_there_is(text: str, named: str) -> None:
    with pytest.raises(UsageError, match=named) as told:
        shop_filter.parse(text)
    assert told.value.field == "filter"


def test_of_a_shop_only_what_a_filter_asks_is_read() -> None:
    class Never(dict[str, int]):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    shop = Shop(platform="pdd", shop_id="s1", group="east")
    row = shop_filter.Row(shop, ShopNow(platform="pdd", shop_id="s1", state="dead"), Never(), "desk-02")
    assert shop_filter.parse("group:e* state:dead paused:no home:desk-02 s1")(row)
    told = dict(shop_filter.Row(shop, ShopNow(), {"dead": 2, "running": 3, "queued": 1}, ""))
    assert (told["active"], told["dead"], told["group"], told["gates"]) == (4, 2, "east", ())


def told(shop: Shop, now: ShopNow) -> shop_filter.Row:
    return shop_filter.Row(shop, now, {}, "")


def test_a_pause_of_everything_is_no_pause_of_a_shop_itself() -> None:
    shop = Shop(platform="pdd", shop_id="s1")
    own, wide = (
        ShopNow(platform="pdd", shop_id="s1", pauses=(Pause(scope=scope, by="ann"),))
        for scope in ("shop:pdd:s1", "platform:pdd")
    )
    paused, waits = shop_filter.parse("paused:yes"), shop_filter.parse("gate:paused")
    assert [paused(told(shop, now)) for now in (own, wide)] == [True, False]
    assert [waits(told(shop, now)) for now in (own, wide)] == [True, True]


def test_a_shop_that_fails_too_often_is_found_by_that_gate_alone() -> None:
    shop = Shop(platform="pdd", shop_id="s1")
    now = ShopNow(platform="pdd", shop_id="s1", breaker=Breaker(shop="pdd:s1", until=9))
    assert shop_filter.parse("gate:breaker")(told(shop, now))
    assert not shop_filter.parse("gate:session")(told(shop, now))


def test_a_share_is_compared_as_it_is_shown_and_where_nothing_ended_there_is_none() -> None:
    shop = Shop(platform="pdd", shop_id="s1")
    none, most = ShopNow(), ShopNow(ended=4, ended_well=3)
    for text, found in (("success<90", [False, True]), ("success<90%", [False, True]), ("success>80%", [False, False])):
        wanted = shop_filter.parse(text)
        assert (text, [wanted(told(shop, now)) for now in (none, most)]) == (text, found)


def test_a_platform_that_is_called_as_a_field_leaves_the_field_as_it_is() -> None:
    wanted = shop_filter.parse("group:east", ("group",))
    assert [f"{one['platform']}:{one['shop_id']}" for one in SHOPS if wanted(one)] == ["pdd:s1"]


def test_a_filter_may_be_as_long_as_is_said() -> None:
    most = filter.MAX_TEXT
    assert not shop_filter.parse("x" * most)(SHOPS[0])
    with pytest.raises(UsageError, match="characters"):
        shop_filter.parse("x" * (most + 1))
