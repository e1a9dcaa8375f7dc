"""Shops that people add, edit, import and act on together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.sheet import shop_file
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Pause, Shop
from services.domain.insight.shop import ShopNow
from services.domain.text.said import said
from services.engine.spec import TaskSpec
from services.monitor.shops.queries import ShopsNow
from tests.support.widgets import words
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import WAIT_MS, opening
from views.dialogs import confirm
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.quiet_hours import QuietHoursDialog
from views.dialogs.shops.edit import ShopDialog
from views.dialogs.shops.importing import ShopImportDialog
from views.pages.shops.page import ShopsPage
from views.widgets.fields import NumberField

Open = Callable[[], ShopsPage]


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"s{n}", name=f"Shop {n}", group="east") for n in range(4)])

    def show(page: ShopsPage) -> None:
        page.show()
        page.activate()
        qtbot.waitUntil(lambda: page.table.records.find("pdd:s1") is not None, timeout=WAIT_MS)

    yield from opening(qtbot, lambda: ShopsPage(fleet.context), show)


def known(fleet: Fleet) -> dict[str, Shop]:
    return {shop.key: shop for shop in fleet.store.shops()}


def named_one(page: ShopsPage) -> ShopDialog:
    """The first shop while it is edited, with another name that is not saved yet."""
    row = page.table.records.find("pdd:s1")
    assert row is not None
    page.actions_of_page.edit(row)
    (edit,) = page.findChildren(ShopDialog)
    edit.name.setText("One")
    return edit


@pytest.mark.one_pair
def test_who_may_only_look_is_not_asked_to_fill_in_a_shop(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.set_acting("Only looking")
    reasons = {one.key: one.reason for one in page.commands()}
    for key in ("add", "import"):
        assert page.buttons[key].toolTip() == reasons[f"shops.{key}"] == "Only looking"
        page.buttons[key].click()
    page.buttons["quiet"].click()
    assert page.findChildren(QuietHoursDialog), "what can be looked at opens"
    assert not page.findChildren(ShopDialog)
    page.set_acting("")
    page.buttons["add"].click()
    assert page.findChildren(ShopDialog)


def test_a_shop_is_added_and_edited_and_what_is_wrong_is_named_at_its_field(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.buttons["add"].click()
    (dialog,) = page.findChildren(ShopDialog)
    assert dialog.platform.itemText(0) == "Pinduoduo · pdd", "what has shops stands first"
    dialog.platform.setCurrentText("拼夕夕")
    dialog.shop_id.setText("s9")
    assert not dialog.save_button.isEnabled()
    assert "no platform is called '拼夕夕'; write one of pdd" in words(dialog)
    dialog.platform.setCurrentText("拼多多")
    dialog.shop_id.setText("no such id")
    assert not dialog.save_button.isEnabled()
    dialog.shop_id.setText("s9")
    dialog.tags.setText("vip、 shoes，vip")
    dialog.save_button.click()
    qtbot.waitUntil(lambda: "pdd:s9" in known(fleet), timeout=WAIT_MS)
    assert known(fleet)["pdd:s9"].tags == ("vip", "shoes")
    page.filter.field.setText("tag:shoes")
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 1, timeout=WAIT_MS)
    row = page.table.records.record(0)
    page.actions_of_page.edit(row)
    edit = page.findChildren(ShopDialog)[-1]
    assert not edit.save_button.isEnabled(), "nothing is changed"
    edit.name.setText("Nine")
    edit.save_button.click()
    qtbot.waitUntil(lambda: known(fleet)["pdd:s9"].name == "Nine", timeout=WAIT_MS)


def test_shops_that_another_page_chose_stand_there_alone_and_ticked(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"t{n}", name=f"More {n}") for n in range(600)])
    fleet.engine.registry.forget()
    page = open_page()
    records = page.table.records
    page.show_request("shops of pdd:s1 pdd:t599 pdd:t7")
    qtbot.waitUntil(lambda: records.rowCount() == 3, timeout=WAIT_MS)
    assert {row.key for row in page.ticked()} == {"pdd:s1", "pdd:t599", "pdd:t7"}
    assert page.only_button.text() == "Only 3 chosen shops"
    page.bulk.buttons["group"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.verb_button.text() == "Take 3 shops out of their groups"
    dialog.reject()
    page.only_button.click()
    qtbot.waitUntil(lambda: records.rowCount() >= 200, timeout=WAIT_MS)
    assert {row.key for row in page.ticked()} == {"pdd:s1", "pdd:t599", "pdd:t7"}, "they stay ticked, and in sight"
    assert not page.only_button.isVisible()


def test_ticked_shops_are_paused_together_and_it_is_taken_back(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than are paused at once are asked for before, with room for why."""
    monkeypatch.setitem(confirm.LIMITS, False, 1)
    monkeypatch.setitem(confirm.LIMITS, True, 1)
    fleet.context.commands.fleet.pause("shop:pdd:s2", reason="moves house")
    page = open_page()
    assert not page.bulk.isVisible()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    assert page.bulk.isVisible()
    page.bulk.buttons["pause"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.verb_button.text() == "Pause 2 shops"
    dialog.note_field.setText("stock-taking")
    dialog.verb_button.click()
    both = {("shop:pdd:s1", "stock-taking"), ("shop:pdd:s2", "stock-taking")}
    qtbot.waitUntil(lambda: {(one.scope, one.reason) for one in fleet.store.pauses()} == both, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    fleet.toasts[-1].actions[0].call()
    before = [("shop:pdd:s2", "moves house")]
    qtbot.waitUntil(lambda: [(one.scope, one.reason) for one in fleet.store.pauses()] == before, timeout=WAIT_MS)


def test_that_few_shops_are_brought_back_to_the_lanes_is_asked_first_where_tasks_move_with_them(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    for key in ("pdd:s1", "pdd:s2"):
        fleet.context.commands.fleet.dedicate(key)
    spec = TaskSpec(platform="pdd", shop_id="s1", task_type="sync_order")
    fleet.context.commands.tasks.create([spec], origin="console")
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons["undedicate"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)) or bool(fleet.toasts), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.verb_button.text() == "Bring 2 shops back to the lanes"
    assert known(fleet)["pdd:s1"].dedicated, "it is asked first"


def test_who_gives_many_shops_queues_of_their_own_sees_what_moves_first(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(confirm.LIMITS, False, 1)
    monkeypatch.setitem(confirm.LIMITS, True, 1)
    spec = TaskSpec(platform="pdd", shop_id="s1", task_type="sync_order")
    fleet.context.commands.tasks.create([spec], origin="console")
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons["dedicate"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ConfirmDialog)
    assert "1 task moves to the queue of its shop." in words(dialog)
    assert dialog.verb_button.text() == "Give 2 shops queues of their own"
    dialog.reject()


def test_why_a_shop_was_paused_stays_where_many_are_paused_without_a_word(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.context.commands.fleet.pause("shop:pdd:s2", reason="moves house")
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons["pause"].click()
    assert not page.findChildren(ConfirmDialog), "Undo gives all of it back"
    both = {("shop:pdd:s1", ""), ("shop:pdd:s2", "moves house")}
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert {(one.scope, one.reason) for one in fleet.store.pauses()} == both
    fleet.toasts[-1].actions[0].call()
    before = [("shop:pdd:s2", "moves house")]
    qtbot.waitUntil(lambda: [(one.scope, one.reason) for one in fleet.store.pauses()] == before, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_of_shops_paused_before_it_is_told_that_they_stay_so_and_how_many_are_paused_is_counted_right(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.context.commands.fleet.pause("shop:pdd:s2", reason="moves house")
    page = open_page()

    def told(number: int, *keys: str) -> str:
        page.table.records.untick_all()
        page.table.records.set_ticked(keys)
        page.bulk.buttons["pause"].click()
        qtbot.waitUntil(lambda: len(fleet.toasts) == number, timeout=WAIT_MS)
        return fleet.toasts[-1].text

    assert told(1, "pdd:s2") == "1 shop was paused already; it stays so."
    assert fleet.toasts[-1].actions == (), "nothing was done that could be taken back, or has no reason"
    assert told(2, "pdd:s1", "pdd:s2") == "1 shop is paused. 1 shop was paused already; it stays so."
    fleet.toasts[-1].actions[1].call()
    (dialog,) = page.findChildren(ConfirmDialog)
    dialog.reject()
    assert fleet.toasts[2:] == fleet.toasts[1:2], "who writes nothing can still take it back"
    fleet.toasts[-1].actions[0].call()
    before = [("shop:pdd:s2", "moves house")]
    qtbot.waitUntil(lambda: [(one.scope, one.reason) for one in fleet.store.pauses()] == before, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_where_the_store_is_lost_on_the_way_what_was_done_is_told_and_taken_back(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    pause, why = fleet.context.commands.fleet.pause, said("store.replica", address="10.0.0.7:6379")

    def lost(scope: str, **more: Any) -> object:
        if scope != "shop:pdd:s0":
            raise StoreUnavailable(why)
        return pause(scope, **more)

    page = open_page()
    page.table.records.set_ticked([f"pdd:s{number}" for number in range(3)])
    ticked = [row.shop.name for row in page.ticked()]
    assert ticked == ["Shop 0", "Shop 1", "Shop 2"]
    monkeypatch.setattr(type(fleet.context.commands.fleet), "pause", lambda _self, scope, **more: lost(scope, **more))
    page.bulk.buttons["pause"].click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    told = fleet.toasts[-1]
    assert told.text == f"1 shop is paused. 2 could not: Shop 1: {why}, Shop 2: {why}"
    assert told.again is not None
    request.addfinalizer(lambda: i18n.set_language("en"))
    i18n.set_language("zh_CN")
    assert str(why) not in told.again().text
    told.actions[0].call()
    qtbot.waitUntil(lambda: not fleet.store.pauses(), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_why_few_shops_were_paused_is_written_afterwards_and_a_pause_of_others_is_asked_about(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.context.commands.fleet.pause("shop:pdd:s2", reason="moves house")
    page = open_page()

    def pauses() -> set[tuple[str, str]]:
        return {(one.scope, one.reason) for one in fleet.store.pauses()}

    def told(number: int) -> None:
        qtbot.waitUntil(lambda: len(fleet.toasts) == number, timeout=WAIT_MS)

    page.table.records.set_ticked(["pdd:s1", "pdd:s2", "pdd:s3"])
    page.bulk.buttons["pause"].click()
    told(1)
    assert [one.text for one in fleet.toasts[-1].actions] == ["Undo", "Write why"]
    fleet.toasts[-1].actions[1].call()
    (dialog,) = page.findChildren(ConfirmDialog)
    assert not dialog.verb_button.isEnabled()
    dialog.note_field.setText("stock-taking")
    dialog.verb_button.click()
    told(2)
    written = {("shop:pdd:s1", "stock-taking"), ("shop:pdd:s2", "moves house"), ("shop:pdd:s3", "stock-taking")}
    assert pauses() == written, "what was written before stays"
    fleet.toasts[-1].actions[0].call()
    told(3)
    assert pauses() == {("shop:pdd:s2", "moves house")}
    page.table.records.untick_all()
    page.table.records.set_ticked(["pdd:s1", "pdd:s3"])
    page.bulk.buttons["pause"].click()
    told(4)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    page.bulk.buttons["resume"].click()
    told(5)
    assert pauses() == {("shop:pdd:s2", "moves house")}, "pauses of one's own without a word end at once"
    page.table.records.set_ticked(["pdd:s2"])
    page.bulk.buttons["resume"].click()
    asked = page.findChildren(ConfirmDialog)[-1]
    assert asked.verb_button.text() == "Resume 3 shops"
    assert ("shop:pdd:s2", "moves house") in pauses()


@pytest.mark.one_pair
def test_why_shops_are_paused_is_kept_in_its_dialog_where_it_is_refused_of_all(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s3"])
    page.bulk.buttons["pause"].click()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 1, timeout=WAIT_MS)
    mine = {one.scope: one for one in fleet.store.pauses()}
    for scope in mine:
        fleet.store.set_pause(Pause(scope=scope, by="li@desk", at=1, reason="moves house"))
    fleet.toasts[-1].actions[1].call()
    (dialog,) = page.findChildren(ConfirmDialog)
    dialog.note_field.setText("stock-taking")
    dialog.verb_button.click()
    qtbot.waitUntil(dialog.problem.isVisible, timeout=WAIT_MS)
    assert dialog.problem.text().startswith("2 could not: Shop 1: ")
    assert dialog.note == "stock-taking"
    assert len(fleet.toasts) == 1, "it is said in one place"
    fleet.store.set_pause(mine["shop:pdd:s1"])
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2, timeout=WAIT_MS)
    written = {(one.scope, one.reason) for one in fleet.store.pauses()}
    assert written == {("shop:pdd:s1", "stock-taking"), ("shop:pdd:s3", "moves house")}


@pytest.mark.one_pair
def test_what_a_bulk_left_as_it_was_stays_so_when_it_is_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.context.commands.fleet.dedicate("pdd:s2")
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons["dedicate"].click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert known(fleet)["pdd:s1"].dedicated
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: not known(fleet)["pdd:s1"].dedicated, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2, timeout=WAIT_MS)
    assert known(fleet)["pdd:s2"].dedicated, "it had its queue before"


@pytest.mark.one_pair
def test_shops_that_go_on_are_paused_again_but_for_one_that_somebody_paused_since(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    commands = fleet.context.commands.fleet
    for key in ("pdd:s1", "pdd:s2"):
        commands.pause(f"shop:{key}", reason="stock-taking")
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons["resume"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert not fleet.store.pauses()
    commands.pause("shop:pdd:s2", reason="moves house")
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2, timeout=WAIT_MS)
    stood = {("shop:pdd:s1", "stock-taking"), ("shop:pdd:s2", "moves house")}
    assert {(one.scope, one.reason) for one in fleet.store.pauses()} == stood


@pytest.mark.one_pair
def test_a_shared_tag_that_is_taken_out_goes_and_what_else_each_has_stays(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    tags = {"pdd:s1": ("vip", "old"), "pdd:s2": ("old", "new")}
    fleet.store.put_shops([replace(known(fleet)[key], tags=some) for key, some in tags.items()])
    page = open_page()
    qtbot.waitUntil(lambda: page.table.records.find("pdd:s2") is not None, timeout=WAIT_MS)
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons["tag"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    field = next(one for one in dialog.findChildren(QLineEdit) if one.isVisibleTo(dialog))
    assert field.text() == "old"
    field.setText("shoes")
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    found = {key: known(fleet)[key].tags for key in tags}
    assert found == {"pdd:s1": ("shoes", "vip"), "pdd:s2": ("shoes", "new")}


@pytest.mark.parametrize(
    ("key", "written", "became"), [("group", "west", ("west", ())), ("tag", "vip, shoes", ("east", ("vip", "shoes")))]
)
def test_ticked_shops_get_a_group_or_tags_together(
    key: str, written: str, became: tuple[str, tuple[str, ...]], qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons[key].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    field = next(one for one in dialog.findChildren(QLineEdit) if one.isVisibleTo(dialog))
    assert dialog.focusWidget() is field, "what is typed goes there"
    field.clear()
    empty = {"group": "Take 2 shops out of their groups", "tag": "Tag 2 shops"}
    assert dialog.verb_button.text() == empty[key]
    field.setText(written)
    assert dialog.verb_button.text() != "Take 2 shops out of their groups"
    dialog.verb_button.click()
    field.clear()  # the answer was given: what becomes of the dialog means nothing any more
    qtbot.waitUntil(lambda: (known(fleet)["pdd:s2"].group, known(fleet)["pdd:s2"].tags) == became, timeout=WAIT_MS)
    done = {"group": "The groups of 2 shops are changed.", "tag": "The tags of 2 shops are changed."}
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == done[key], "two of these may stand there, each with its Undo"


@pytest.mark.parametrize("told_of_by_tasks", [False, True])
def test_a_file_is_looked_at_before_its_good_lines_are_imported(
    told_of_by_tasks: bool, qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path
) -> None:
    if told_of_by_tasks:
        fleet.store.put_shops([Shop(platform="pdd", shop_id="n1", unregistered=True)])
    file = tmp_path / "shops.csv"
    file.write_text("平台,店铺ID,店铺名称,标签\npdd,s1,One,vip\npdd,n1,New,\npdd,high,Bad,\n", encoding="gbk")
    page = open_page()
    page.actions_of_page.import_from(file)
    qtbot.waitUntil(lambda: bool(page.findChildren(ShopImportDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ShopImportDialog)
    assert dialog.save_button.text() == "Import 2 shops"
    assert "line 4, shop_id" in words(dialog)
    dialog.save_button.click()
    qtbot.waitUntil(lambda: getattr(known(fleet).get("pdd:n1"), "name", "") == "New", timeout=WAIT_MS)
    assert (known(fleet)["pdd:s1"].name, known(fleet)["pdd:s1"].tags) == ("One", ("vip",))
    assert known(fleet)["pdd:s1"].group == "east", "what the file does not tell stays"
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert not fleet.toasts[-1].actions, "a shop that is new would stay"
    before, toasts = known(fleet), len(fleet.toasts)
    file.write_text("平台,店铺ID,店铺名称\npdd,s1,Two\npdd,n1,Newer\n", encoding="gbk")
    page.actions_of_page.import_from(file)
    qtbot.waitUntil(lambda: len(page.findChildren(ShopImportDialog)) == 1, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: any(one.isVisible() for one in page.findChildren(ShopImportDialog)), timeout=WAIT_MS)
    page.findChildren(ShopImportDialog)[0].save_button.click()
    qtbot.waitUntil(lambda: len(fleet.toasts) > toasts, timeout=WAIT_MS)
    assert known(fleet)["pdd:s1"].name == "Two"
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: known(fleet) == before, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_a_platform_that_is_new_to_the_fleet_is_told_and_can_be_another(
    qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path
) -> None:
    file = tmp_path / "shops.csv"
    file.write_text("平台,店铺ID,店铺名称\n淘宝,s1,One\n拼多多,n2,Two\n", encoding="utf-8")
    page = open_page()
    page.actions_of_page.import_from(file)
    qtbot.waitUntil(lambda: bool(page.findChildren(ShopImportDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ShopImportDialog)
    assert "line 2: no shop is on the platform taobao" in dialog.unused.accessibleName()
    (field,) = dialog.platforms.values()
    assert field.currentText() == "a new platform"
    field.setCurrentIndex(field.findData("pdd"))
    field.activated.emit(field.currentIndex())
    qtbot.waitUntil(lambda: not dialog.unused.isVisible(), timeout=WAIT_MS)
    assert dialog.save_button.text() == "Import 2 shops"
    dialog.save_button.click()
    qtbot.waitUntil(lambda: known(fleet)["pdd:s1"].name == "One", timeout=WAIT_MS)
    assert known(fleet)["pdd:n2"].name == "Two"
    assert not any(key.startswith("taobao") for key in known(fleet))


@pytest.mark.one_pair
def test_an_import_that_is_refused_leaves_its_dialog_with_why(
    qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path
) -> None:
    file = tmp_path / "shops.csv"
    file.write_text("platform,shop_id,name\npdd,s1,One\n", encoding="utf-8")
    page = open_page()
    page.actions_of_page.import_from(file)
    qtbot.waitUntil(lambda: bool(page.findChildren(ShopImportDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ShopImportDialog)
    before = known(fleet)
    fleet.may_only_look()
    dialog.save_button.click()
    qtbot.waitUntil(dialog.problem.isVisible, timeout=WAIT_MS)
    assert "viewer" in dialog.problem.text()
    assert (dialog.isVisible(), fleet.toasts, known(fleet)) == (True, [], before)


@pytest.mark.parametrize("act", ["edit", "import"])
def test_what_somebody_changed_since_an_act_is_not_taken_back_with_it(
    act: str, qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path
) -> None:
    page = open_page()
    if act == "edit":
        named_one(page).save_button.click()
    else:
        file = tmp_path / "shops.csv"
        file.write_text("platform,shop_id,name\npdd,s1,One\n", encoding="utf-8")
        page.actions_of_page.import_from(file)
        qtbot.waitUntil(lambda: bool(page.findChildren(ShopImportDialog)), timeout=WAIT_MS)
        page.findChildren(ShopImportDialog)[0].save_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    fleet.store.put_shops([Shop(platform="pdd", shop_id="s1", name="One", group="west")])
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2, timeout=WAIT_MS)
    assert fleet.toasts[-1].detail == "changed again since, so left as it is: pdd:s1"
    assert known(fleet)["pdd:s1"].group == "west"


@pytest.mark.both_pairs
def test_what_somebody_changed_while_a_shop_was_edited_stays(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    edit = named_one(open_page())
    theirs = replace(known(fleet)["pdd:s1"], group="theirs")
    fleet.store.put_shops([theirs])
    edit.save_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert known(fleet)["pdd:s1"] == replace(theirs, name="One")
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: known(fleet)["pdd:s1"] == theirs, timeout=WAIT_MS)


@pytest.mark.both_pairs
@pytest.mark.parametrize("choice", ["take over", "overwrite"])
def test_an_edit_of_what_somebody_else_changed_too_keeps_what_was_typed_and_shows_what_stands_there(
    choice: str, qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    edit = named_one(page)
    edit.tags.setText("vip")
    theirs = replace(known(fleet)["pdd:s1"], name="Uno", group="west")
    fleet.store.put_shops([theirs])
    edit.save_button.click()
    assert not edit.save_button.isEnabled(), "it is being saved"
    qtbot.waitUntil(edit.changed.isVisible, timeout=WAIT_MS)
    assert (edit.name.text(), edit.tags.text(), edit.group.text()) == ("One", "vip", "west")
    assert edit.fields["name"].error() == "Now there: Uno"
    assert edit.save_button.text() == "Overwrite"
    assert [name for name, button in edit.take_over.items() if button.isVisible()] == ["name"]
    assert known(fleet)["pdd:s1"] == theirs
    assert not fleet.toasts, "it is said in the dialog"
    if choice == "take over":
        edit.take_over["name"].click()
        assert (edit.name.text(), edit.fields["name"].error()) == ("Uno", "")
        assert edit.save_button.text() == "Save"
    edit.save_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    name = "Uno" if choice == "take over" else "One"
    assert known(fleet)["pdd:s1"] == replace(theirs, name=name, tags=("vip",))
    qtbot.waitUntil(lambda: not page.findChildren(ShopDialog), timeout=WAIT_MS)
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: known(fleet)["pdd:s1"] == theirs, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_a_shop_that_is_known_already_is_not_added_and_what_was_typed_stays(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.buttons["add"].click()
    (dialog,) = page.findChildren(ShopDialog)
    dialog.platform.setCurrentText("pdd")
    dialog.shop_id.setText("s1")
    dialog.name.setText("Another")
    dialog.save_button.click()
    qtbot.waitUntil(lambda: dialog.fields["shop_id"].error() == "pdd:s1 is known already; edit it", timeout=WAIT_MS)
    dialog.shop_id.setText("s8")
    assert dialog.fields["shop_id"].error() == ""
    dialog.save_button.click()
    qtbot.waitUntil(lambda: "pdd:s8" in known(fleet), timeout=WAIT_MS)
    assert known(fleet)["pdd:s8"].name == "Another"


@pytest.mark.one_pair
@pytest.mark.parametrize("refused", [False, True])
def test_a_shop_whose_dialog_is_closed_while_it_is_saved_is_told_of(
    refused: bool, qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    edit = named_one(page)
    if refused:
        fleet.store.put_shops([replace(known(fleet)["pdd:s1"], name="Uno")])
    edit.save_button.click()
    assert edit.cancel_button.text() == "Close", "it takes nothing back"
    edit.reject()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    said = fleet.toasts[-1].text + fleet.toasts[-1].detail
    assert ("name of the shop was set to Uno" if refused else "One is changed") in said
    qtbot.waitUntil(lambda: not page.findChildren(ShopDialog), timeout=WAIT_MS)


@pytest.mark.both_pairs
@pytest.mark.parametrize("act", ["one", "many"])
def test_tasks_at_once_that_somebody_set_since_stay(act: str, qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    if act == "one":
        row = page.table.records.find("pdd:s1")
        assert row is not None
        page.actions_of_page.set_concurrency(row, 4)
    else:
        page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
        page.bulk.buttons["limit"].click()
        (dialog,) = page.findChildren(ConfirmDialog)
        dialog.findChildren(NumberField)[0].setValue(4)
        dialog.verb_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert known(fleet)["pdd:s1"].concurrency == 4
    fleet.store.put_shops([Shop(platform="pdd", shop_id="s1", name="Shop 1", concurrency=6)])
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2, timeout=WAIT_MS)
    assert "it is not as this act left it any more" in fleet.toasts[-1].text + fleet.toasts[-1].detail
    after = known(fleet)
    assert (after["pdd:s1"].concurrency, after["pdd:s2"].concurrency) == (6, 1), "the other one is taken back"


@pytest.mark.both_pairs
@pytest.mark.parametrize("when", ["while it was asked", "since"])
def test_a_group_writes_over_nothing_that_somebody_changed(
    when: str, qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.table.records.set_ticked(["pdd:s1", "pdd:s2"])
    page.bulk.buttons["group"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    next(one for one in dialog.findChildren(QLineEdit) if one.isVisibleTo(dialog)).setText("west")
    if when != "since":
        one, other = known(fleet)["pdd:s1"], known(fleet)["pdd:s2"]
        fleet.store.put_shops([replace(one, name="Theirs"), replace(other, group="north")])
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    after = known(fleet)
    if when != "since":
        assert (after["pdd:s1"].name, after["pdd:s1"].group, after["pdd:s2"].group) == ("Theirs", "west", "north")
        assert "group of the shop was set to north" in fleet.toasts[-1].text + fleet.toasts[-1].detail
        return
    assert (after["pdd:s1"].group, after["pdd:s2"].group) == ("west", "west")
    fleet.store.put_shops([replace(after["pdd:s1"], group="south")])
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2, timeout=WAIT_MS)
    assert "changed again since" in fleet.toasts[-1].text + fleet.toasts[-1].detail
    assert [known(fleet)[key].group for key in ("pdd:s1", "pdd:s2")] == ["south", "east"], "the other one is taken back"


def test_what_is_wrong_in_a_file_is_said_in_chinese(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "shops.csv"
    path.write_text("平台,编号,店长,同时执行数\n拼多多,,Ann,1\n拼多多,n1,Bo,3\n拼夕夕,n2,Cy,1\n", encoding="gbk")
    i18n.set_language("zh_CN")
    try:
        dialog = ShopImportDialog(path, shop_file.read(path), {}, "")
        qtbot.addWidget(dialog)
        said = words(dialog)
        dialog.copy_button.click()
        copied = QGuiApplication.clipboard().text()
    finally:
        i18n.set_language("en")
    assert "第 2 行，店铺编号" in said
    unused = "不采用 '店长' 这一列；可用的列为平台、店铺编号、名称、英文名、分组、标签、并发、独立队列、启用"
    assert unused in said, "the heads that a person may write, not those of programs"
    assert [line.split("\t")[0] for line in copied.splitlines()] == ["第 2 行，店铺编号", "第 4 行，平台"]
    assert "拼多多" in copied.splitlines()[1]
    assert [shop.concurrency for shop in dialog.wanted] == [3], "a column may be called what the window calls it"
    assert dialog.save_button.text() == "导入 1 家店铺"


@pytest.mark.one_pair
def test_a_fleet_too_large_for_a_cell_each_has_one_for_each_group_that_opens_and_closes(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.store.put_shops(
        [Shop(platform="temu", shop_id=f"t{n}", name=f"Shop {n}", group=f"g{n % 4}") for n in range(2600)]
    )
    page = open_page()
    heat, back = page.heat.map, page.heat.back_button
    qtbot.waitUntil(lambda: bool(heat.rows.inside), timeout=WAIT_MS)
    at = heat.rows.index_of("temu", "g2")
    assert (heat.rows.cells[at].group, sum(heat.rows.inside[at].values()), back.isVisible()) == ("g2", 650, False)
    qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, pos=heat.rect_of("temu", "g2").center().toPoint())
    assert {shop.group for shop in heat.rows.cells} == {"g2"}
    assert (len(heat.rows.cells), page.heat.group.text(), back.isVisible()) == (650, "g2", True)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    assert len(heat.rows.cells) == 650, "an answer leaves it open"
    page.resize(900, 300)
    qtbot.keyClick(heat, Qt.Key.Key_End)
    assert heat.current is not None
    last = heat.rect_of("temu", heat.current.shop_id).toRect()
    assert heat.visibleRegion().contains(last), "the map scrolls along with the keys"
    qtbot.keyClick(heat, Qt.Key.Key_Home)
    qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, pos=heat.rect_of("temu", "t6").center().toPoint())
    qtbot.waitUntil(lambda: page.table.current_key() == "temu:t6", timeout=WAIT_MS)
    heat.setFocus()
    qtbot.keyClick(heat, Qt.Key.Key_Escape)
    assert (bool(heat.rows.inside), back.isVisible()) == (True, False)
    while heat.current is None or heat.current.group != "g3":
        qtbot.keyClick(heat, Qt.Key.Key_Right)
    qtbot.keyClick(heat, Qt.Key.Key_Return)
    assert page.heat.group.text() == "g3"
    assert heat.current is not None
    assert heat.current.shop_id == "t3", "the keys go on at its first shop"
    qtbot.keyClick(heat, Qt.Key.Key_Escape)
    assert heat.current is not None
    assert heat.current.group == "g3", "and come back to it"
    qtbot.keyClick(heat, Qt.Key.Key_Space)
    assert not heat.rows.inside
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert (bool(heat.rows.inside), back.isVisible()) == (True, False)


@pytest.mark.one_pair
def test_what_is_chosen_in_the_map_is_ticked_in_the_table_and_the_other_way_round(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.store.put_shops([Shop(platform="temu", shop_id=f"t{n:03d}", name=f"More {n}") for n in range(600)])
    fleet.engine.registry.forget()
    page = open_page()
    heat, left, ctrl = page.heat.map, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier

    def at(key: str) -> QPoint:
        return heat.rect_of(*key.split(":")).center().toPoint()

    def ticked() -> set[str]:
        return {row.key for row in page.ticked()}

    qtbot.mousePress(heat, left, ctrl, at("pdd:s0"))
    QTest.mouseMove(heat, at("pdd:s1"))
    QTest.mouseMove(heat, at("pdd:s2"))
    qtbot.mouseRelease(heat, left, ctrl, at("pdd:s2"))
    assert ticked() == {"pdd:s0", "pdd:s1", "pdd:s2"}
    qtbot.mouseClick(heat, left, ctrl, at("pdd:s1"))
    assert ticked() == {"pdd:s0", "pdd:s2"}
    page.table.records.set_ticked(["pdd:s3"])
    assert heat.chosen == ("pdd:s0", "pdd:s2", "pdd:s3")
    last = "temu:t599"
    assert page.table.records.find(last) is None, "it is beyond the rows that are loaded"
    qtbot.mouseClick(heat, left, ctrl, at(last))
    qtbot.waitUntil(lambda: ticked() == {"pdd:s0", "pdd:s2", "pdd:s3", last}, timeout=WAIT_MS)
    page.bulk.buttons["group"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.verb_button.text() == "Take 4 shops out of their groups"
    dialog.reject()
    # what the filter leaves out is neither in sight nor acted on
    page.filter.field.setText("More")
    qtbot.waitUntil(lambda: heat.chosen == (last,), timeout=WAIT_MS)
    qtbot.mouseClick(heat, left, ctrl, at("pdd:s1"))
    assert ticked() == {last}
    page.filter.field.clear()
    qtbot.waitUntil(lambda: ticked() == {"pdd:s0", "pdd:s2", "pdd:s3", last}, timeout=WAIT_MS)
    heat.setFocus()
    qtbot.keyClick(heat, Qt.Key.Key_Escape)
    assert page.table.records.ticked() == frozenset()
    assert not page.bulk.isVisible()


@pytest.mark.one_pair
def test_a_shop_chosen_in_the_map_comes_to_the_rows_that_one_has_scrolled_to(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.store.put_shops([Shop(platform="temu", shop_id=f"t{n:03d}") for n in range(600)])
    fleet.engine.registry.forget()
    page = open_page()
    records, bar, last = page.table.records, page.table.verticalScrollBar(), "temu:t599"
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: records.rowCount() >= 400, timeout=WAIT_MS)
    before = [records.key_at(place) for place in range(records.rowCount())]
    assert last not in before
    place = page.heat.map.rect_of(*last.split(":")).center().toPoint()
    qtbot.mouseClick(page.heat.map, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place)
    qtbot.waitUntil(lambda: records.find(last) is not None, timeout=WAIT_MS)
    there = [records.key_at(place) for place in range(records.rowCount())]
    assert [key for key in there if key != last] == before


class Counted(tuple[ShopNow, ...]):
    """All shops, noting each thread that goes through them."""

    readers: ClassVar[list[threading.Thread]] = []

    def __iter__(self) -> Iterator[ShopNow]:
        self.readers.append(threading.current_thread())
        return super().__iter__()


@pytest.mark.one_pair
def test_a_tick_in_a_large_fleet_does_not_go_through_all_shops(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.store.put_shops([Shop(platform="temu", shop_id=f"t{n}", group=f"g{n % 4}") for n in range(2600)])
    kept = fleet.context.limits.shops

    def counted(*args: Any, **options: Any) -> ShopsNow:
        found = kept(*args, **options)
        return replace(found, every=Counted(found.every))

    monkeypatch.setattr(fleet.context.limits, "shops", counted)
    page = open_page()
    heat = page.heat.map
    qtbot.waitUntil(lambda: bool(heat.rows.inside), timeout=WAIT_MS)
    group = [f"temu:t{n}" for n in range(1, 2600, 4)]
    page.table.records.set_ticked(group[:1])
    Counted.readers.clear()
    page.table.records.set_ticked(group)
    assert heat.chosen == ("temu:g1",)
    assert Counted.readers == []


@pytest.mark.one_pair
def test_the_groups_of_a_large_fleet_are_chosen_counted_and_lead_to_their_tasks(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    made = [Shop(platform="temu", shop_id=f"t{n}", group=f"g{n % 4}" if n < 2596 else "") for n in range(2600)]
    fleet.store.put_shops(made)
    page = open_page()
    heat, shift, ctrl = page.heat.map, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
    qtbot.waitUntil(lambda: bool(heat.rows.inside), timeout=WAIT_MS)

    def press(group: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        at = heat.rect_of("temu", group).center().toPoint()
        qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, keys, at)

    def ticked(*groups: str) -> bool:
        wanted = {shop.key for shop in made if shop.group in groups}
        return {row.key for row in page.ticked()} == wanted and set(heat.chosen) == {f"temu:{one}" for one in groups}

    press("g1", ctrl)
    qtbot.waitUntil(lambda: ticked("g1"), timeout=WAIT_MS)
    press("g3", shift)
    qtbot.waitUntil(lambda: ticked("g1", "g2", "g3"), timeout=WAIT_MS)
    press("g2", ctrl)
    qtbot.waitUntil(lambda: ticked("g1", "g3"), timeout=WAIT_MS)
    heat.setFocus()
    qtbot.keyClick(heat, Qt.Key.Key_Home)
    while heat.current is None or heat.current.group != "g0":
        qtbot.keyClick(heat, Qt.Key.Key_Right)
    qtbot.keyClick(heat, Qt.Key.Key_Right, shift)
    qtbot.waitUntil(lambda: ticked("g0", "g1", "g3"), timeout=WAIT_MS)

    idle = page.heat.legend.item("idle")
    assert int(idle.accessibleName().removeprefix("Idle ").replace(",", "")) >= len(made)
    assert page.heat.tasks_button.isHidden()
    press("g2")
    assert (idle.accessibleName(), len(heat.rows.cells)) == ("Idle 649", 649), "what is not shown is not counted"
    with qtbot.waitSignal(page.navigate) as heard:
        page.heat.tasks_button.click()
    assert heard.args == ["tasks", "platform:temu group:g2"]
    qtbot.keyClick(heat, Qt.Key.Key_Escape)
    for group, text in (("g3", "platform:temu group:g3"), ("", "platform:temu -group:*")):
        menu = QMenu()
        heat.group_menu_filled.emit(menu, "temu", group)
        with qtbot.waitSignal(page.navigate) as heard:
            next(one for one in menu.actions() if one.text() == "Tasks of this group").trigger()
        assert heard.args == ["tasks", text]
    row = page.table.records.find("pdd:s1")
    assert row is not None
    menu = QMenu()
    page.table.menu_requested.emit(menu, row.key)
    with qtbot.waitSignal(page.navigate) as heard:
        next(one for one in menu.actions() if one.text() == "Show tasks of its group").trigger()
    assert heard.args == ["tasks", "group:east"]
