"""Shops, pauses, task types and orders to workers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from services import i18n, messages
from services.commands.fleet import ShopChanged, platform_of
from services.domain.change import Claim
from services.domain.errors import NotAllowed, UsageError
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"platform": "p.d"}, "platform"), ({"shop_id": "#"}, "shop_id"), ({"concurrency": 0}, "concurrency")],
)
def test_a_bad_shop_spoils_the_whole_import(room: Room, desk: Desk, fields: dict[str, Any], field: str) -> None:
    base: dict[str, Any] = {"platform": "pdd", "shop_id": "s2"}
    with pytest.raises(UsageError) as caught:
        desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1"), Shop(**(base | fields))])
    assert caught.value.field == field
    assert room.store.shops() == []


def test_imported_shops_are_known_at_once(room: Room, desk: Desk) -> None:
    room.registry.shops()
    assert desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1", name="一号店")]) == 1
    assert room.registry.shops()["pdd:s1"].name == "一号店"


def test_taking_an_import_back_leaves_what_somebody_changed_since(room: Room, desk: Desk) -> None:
    old = [Shop(platform="pdd", shop_id=f"s{n}", name=f"Old {n}") for n in range(7)]
    new = [msgspec.structs.replace(one, name=f"New {one.shop_id}") for one in old]
    desk.fleet.import_shops(old)
    before = desk.fleet.replace_shops(new)
    assert list(before.values()) == old
    desk.fleet.import_shops([msgspec.structs.replace(new[1], group="west")])
    with pytest.raises(UsageError, match=r"left as it is: pdd:s1; what else was changed is taken back") as caught:
        desk.fleet.put_back_shops(new, before)
    assert caught.value.field == "shop_id"
    stand = {shop.key: shop for shop in room.store.shops()}
    assert stand.pop("pdd:s1") == msgspec.structs.replace(new[1], group="west")
    assert set(stand.values()) == {*old[:1], *old[2:]}
    (entry,) = room.store.audit(1)
    assert (entry.action, entry.outcome.partition(":")[0]) == ("shop.import", "partly")
    with pytest.raises(UsageError, match=r"left as it is: pdd:s0, pdd:s1, pdd:s2, pdd:s3, pdd:s4, …$"):
        desk.fleet.put_back_shops(new, before)
    assert {shop.key: shop for shop in room.store.shops()} == stand | {"pdd:s1": room.registry.shops()["pdd:s1"]}
    with pytest.raises(NotAllowed):
        desk_of(room, "viewer").fleet.put_back_shops(old, before)


def test_an_import_that_nobody_touched_is_taken_back_whole(room: Room, desk: Desk) -> None:
    old = [Shop(platform="pdd", shop_id=f"s{n}", dedicated=n == 0) for n in range(2)]
    new = [Shop(platform="pdd", shop_id=f"s{n}", name="New") for n in range(2)]
    desk.fleet.import_shops(old)
    assert desk.fleet.put_back_shops(new, desk.fleet.replace_shops(new)) == 2
    assert sorted(room.store.shops(), key=lambda shop: shop.key) == old


def test_a_pause_in_the_place_of_one_writes_over_nobodys_that_came_in_between(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, theirs = room.store.swap_pause, Pause(scope="shop:pdd:s1", by="bob@desk", at=room.store.now_ms())

    def meanwhile(scope: str, instead: str, pause: Pause | None) -> bool:
        room.store.set_pause(theirs)
        return real(scope, instead, pause)

    monkeypatch.setattr(room.store, "swap_pause", meanwhile)
    with pytest.raises(UsageError):
        desk.fleet.pause("shop:pdd:s1", instead="")
    assert list(room.store.pauses()) == [theirs]


def test_a_shop_that_an_import_gives_no_queue_any_more_is_served_by_the_lanes(room: Room, desk: Desk) -> None:
    desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1", dedicated=True)])
    task = room.create()
    assert room.task(task.task_id).queue != ""
    desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1")])
    assert room.task(task.task_id).queue == ""


def test_no_more_tasks_at_once_than_a_shop_has_browser_profiles(room: Room, desk: Desk) -> None:
    shop = Shop(platform="pdd", shop_id="s1", name="One", concurrency=3)
    desk.fleet.import_shops([shop, Shop(platform="pdd", shop_id="s2")])
    room.store.put_home("pdd:s1", "desk-01")
    four = msgspec.structs.replace(shop, concurrency=4)
    for raised in (
        lambda: desk.fleet.set_concurrency("pdd:s1", 4),
        lambda: desk.fleet.edit_shop(shop, four),
        lambda: desk.fleet.import_shops([four]),
    ):
        with pytest.raises(UsageError, match="pdd:s1 has one browser profile, on desk-01") as caught:
            raised()
        assert caught.value.field == "concurrency"
    assert room.store.shops() == [shop, Shop(platform="pdd", shop_id="s2")]
    desk.fleet.edit_shop(shop, msgspec.structs.replace(shop, name="First"))  # what stood before its home may stay
    assert desk.fleet.set_concurrency("pdd:s1", 1) == 3
    desk.fleet.set_concurrency("pdd:s1", 3, instead=1)
    assert desk.fleet.set_concurrency("pdd:s2", 4) == 1, "it is at home nowhere: none of its tasks needs a profile"


def test_an_edit_writes_only_what_it_changed(room: Room, desk: Desk) -> None:
    opened = Shop(platform="pdd", shop_id="s1", name="One", group="east", concurrency=2)
    meanwhile = msgspec.structs.replace(opened, group="west", concurrency=7, enabled=False)
    room.registry.shops()
    room.store.put_shops([meanwhile])
    wanted = msgspec.structs.replace(opened, name="First", tags=("vip",), concurrency=7)
    became = msgspec.structs.replace(meanwhile, name="First", tags=("vip",))
    assert desk.fleet.edit_shop(opened, wanted) == (meanwhile, became), "both want seven"
    assert room.store.shops() == [became]
    assert room.registry.shops()["pdd:s1"] == became
    assert desk.fleet.put_back_shops([became], {"pdd:s1": meanwhile}) == 1
    assert room.store.shops() == [meanwhile]
    with pytest.raises(NotAllowed):
        desk_of(room, "viewer").fleet.edit_shop(opened, wanted)


@pytest.mark.parametrize(
    ("field", "mine", "theirs", "english", "chinese"),
    [
        ("name", "First", "Uno", "name of the shop was set to Uno meanwhile", "Uno"),
        ("concurrency", 5, 9, "concurrency of the shop was set to 9 meanwhile", "9"),
        ("tags", ("vip",), ("a", "b"), "tags of the shop was set to a, b meanwhile", "a, b"),
        ("group", "west", "", "group of the shop was emptied meanwhile", "清空"),
    ],
)
def test_an_edit_of_what_somebody_else_changed_writes_nothing(
    room: Room, desk: Desk, field: str, mine: Any, theirs: Any, english: str, chinese: str
) -> None:
    opened = Shop(platform="pdd", shop_id="s1", name="One", group="east", concurrency=2)
    meanwhile = msgspec.structs.replace(opened, **{field: theirs})
    room.store.put_shops([meanwhile])
    wanted = msgspec.structs.replace(opened, name_en="Other", **{field: mine})
    with pytest.raises(ShopChanged, match=f"{english} by somebody else, so nothing is saved; edit the shop") as caught:
        desk.fleet.edit_shop(opened, wanted)
    assert (caught.value.field, caught.value.now) == (field, meanwhile)
    assert room.store.shops() == [meanwhile]
    with i18n.speaking("zh_CN"):
        told = messages.told(caught.value)
    assert chinese in told
    assert field not in told


def test_a_shop_that_only_its_tasks_told_of_is_written_by_its_edit(room: Room, desk: Desk) -> None:
    opened = Shop(platform="pdd", shop_id="s1", unregistered=True)
    wanted = Shop(platform="pdd", shop_id="s1", name="One")
    assert desk.fleet.edit_shop(opened, wanted) == (opened, wanted)
    assert room.store.shops() == [wanted]


@pytest.mark.parametrize(
    "scope", ["", "everything", "all:x", "platform:", "platform:a:b", "shop:pdd", "shop:pdd:s#1", "type:os.system"]
)
def test_a_scope_that_is_none_is_refused(room: Room, desk: Desk, scope: str) -> None:
    for act in (desk.fleet.pause, desk.fleet.resume):
        with pytest.raises(UsageError) as caught:
            act(scope)
        assert caught.value.field == "scope"
    assert room.store.pauses() == []


@pytest.mark.parametrize("scope", ["all", "platform:pdd", "shop:pdd:s1", "type:work"])
def test_what_waits_behind_a_pause_is_released_by_its_end(room: Room, desk: Desk, scope: str) -> None:
    desk.fleet.pause(scope, reason="night")
    (pause,) = room.store.pauses()
    assert (pause.scope, pause.by, pause.reason) == (scope, "ann@desk", "night")
    task = room.create()
    room.take()
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)
    assert room.ask(claim).code == "blocked"
    assert desk.fleet.resume(scope) is True
    assert (room.task(task.task_id).status, room.ready()) == ("queued", 1)
    assert desk.fleet.resume(scope) is False


def test_more_concurrency_releases_at_once(room: Room, desk: Desk) -> None:
    desk.fleet.import_shops([Shop(platform="pdd", shop_id="s1")])
    room.running()
    task = room.create()
    room.take()
    assert (
        room.ask(Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#2", worker="w", lease_ms=1)).code == "blocked"
    )
    desk.fleet.set_concurrency("pdd:s1", 2)
    assert (room.task(task.task_id).status, room.ready()) == ("queued", 1)
    for key, number, field in (("pdd:s9", 2, "shop"), ("pdd:s1", 0, "concurrency"), ("pdd:s1", 65, "concurrency")):
        with pytest.raises(UsageError) as caught:
            desk.fleet.set_concurrency(key, number)
        assert caught.value.field == field


def test_a_number_of_tasks_at_once_is_taken_back_only_where_nobody_set_another(room: Room, desk: Desk) -> None:
    shop = Shop(platform="pdd", shop_id="s1", concurrency=2)
    desk.fleet.import_shops([shop])
    assert desk.fleet.set_concurrency("pdd:s1", 5) == 2
    assert room.registry.shops()["pdd:s1"].concurrency == 5
    others = msgspec.structs.replace(shop, concurrency=9, group="west")
    room.store.put_shops([others])  # by another program: nothing here has heard of it
    with pytest.raises(UsageError, match="not as this act left it") as caught:
        desk.fleet.set_concurrency("pdd:s1", 2, instead=5)
    assert caught.value.field == "concurrency"
    assert room.store.shops() == [others]
    assert room.registry.shops()["pdd:s1"] == others
    room.store.put_shops([msgspec.structs.replace(others, name="West 1")])
    assert desk.fleet.set_concurrency("pdd:s1", 2, instead=9) == 9
    assert room.store.shops() == [msgspec.structs.replace(others, name="West 1", concurrency=2)]


def test_task_types_are_an_admins(room: Room, desk: Desk) -> None:
    (made,) = desk.fleet.import_types(['{"name": "work", "timeout_s": 5}'])
    assert (made.kind.name, made.what, made.kind.version) == ("work", "created", 1)
    assert room.registry.task_type("work").timeout_s == 5
    for body in (
        "no json",
        '{"name": "work", "timeout": 5}',
        '{"name": "os.system"}',
        '{"name": "work", "timeout_s": 0}',
    ):
        with pytest.raises(UsageError):
            desk.fleet.import_types([body])
    with pytest.raises(NotAllowed):
        desk_of(room, "operator").fleet.import_types(['{"name": "work"}'])


@pytest.mark.parametrize("order", ["dance", "slots", "slots=0", "slots=many", "slots=513", "drain=1", "cancel=t1"])
def test_an_order_that_is_none_is_refused(room: Room, desk: Desk, order: str) -> None:
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1))
    with pytest.raises(UsageError):
        desk.fleet.tell_worker("w1", order)
    assert room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1)).orders == ()


def test_an_order_reaches_the_worker_once(room: Room, desk: Desk) -> None:
    info = WorkerInfo(worker="w1", host="h", pid=1)
    room.store.heartbeat(info)
    desk.fleet.tell_worker("w1", "slots=4")
    desk.fleet.tell_worker("w1", "drain")
    assert room.store.heartbeat(info).orders == ("slots=4", "drain")
    assert room.store.heartbeat(info).orders == ()
    with pytest.raises(UsageError, match="no worker"):
        desk.fleet.tell_worker("w2", "drain")


def test_a_pause_is_taken_back_to_what_stood_before_but_not_that_of_somebody_else(room: Room, desk: Desk) -> None:
    cleo = desk_of(room, name="cleo@desk-03")
    assert desk.fleet.pause("platform:pdd") is None
    before = cleo.fleet.pause("platform:pdd", reason="stock-taking until six")
    with pytest.raises(UsageError, match="not as this act left it"):
        desk.fleet.take_back_pause("platform:pdd", None)
    (stands,) = room.store.pauses()
    assert (stands.by, stands.reason) == ("cleo@desk-03", "stock-taking until six")
    cleo.fleet.take_back_pause("platform:pdd", before)
    assert room.store.pauses() == [before]
    assert before is not None
    assert before.by == "ann@desk"
    desk.fleet.take_back_pause("platform:pdd", None)
    assert room.store.pauses() == []


def test_the_limit_of_a_type_is_taken_back_only_where_nobody_set_another(room: Room, desk: Desk) -> None:
    desk.fleet.import_types(['{"name": "work", "concurrency": 4}'])
    old = desk.fleet.limit_type("work", concurrency=2, per_minute=9)
    desk.fleet.limit_type("work", concurrency=3, per_minute=9)
    mine = msgspec.structs.replace(old, concurrency=2, per_minute=9)
    with pytest.raises(UsageError, match="not as this act left it"):
        desk.fleet.limit_type("work", concurrency=4, per_minute=0, instead=mine)
    assert (old.concurrency, old.per_minute) == (4, 0)
    assert desk.fleet.limit_type("work", concurrency=4, per_minute=0).concurrency == 3


def test_a_platform_is_meant_by_its_code_or_its_name_and_an_unknown_word_stays_what_it_is() -> None:
    known = {"temu"}
    assert [platform_of(word, known) for word in ("temu", "拼多多", "shopee")] == ["temu", "pdd", "shopee"]
    with pytest.raises(UsageError, match="temu"):
        platform_of("没有的", known)
