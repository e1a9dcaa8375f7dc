"""The Shops page over a real engine: what holds shops, the limits, and every act as its audited command."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.change import Claim
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Pause, Shop
from services.domain.gates import quiet_hours
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import Once, QuietHours
from services.domain.insight import shop
from services.domain.insight.shop import ShopNow
from services.domain.task.status import Status
from services.monitor.shops.queries import ShopsNow
from services.settings import Settings
from tests.support.held import held
from tests.support.widgets import find, in_chinese, words
from tests.unit.views.pages.fleet_rig import LOGIN, Fleet, Logins, open_fleet
from tests.unit.views.pages.opening import WAIT_MS, opening
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.quiet_hours import QuietHoursDialog
from views.dialogs.work.dialog import WorkDialog
from views.kit.list_source import ListSource
from views.pages.shops.page import ShopsMap, ShopsPage, lay_out
from views.pages.shops.verbs import RuleDialog
from views.support import shown, text
from views.support.memory import ShortMemory
from views.theme import theme
from views.widgets.filter.bar import ValuePopup
from views.widgets.heat_map.map import AGGREGATE_ABOVE
from views.widgets.segmented import Segmented

pytestmark = pytest.mark.both_pairs

Open = Callable[[], ShopsPage]
SHOP, OTHER = "pdd:pdd-10021", "pdd:pdd-10025"


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: ShopsPage(fleet.context), size=(1400, 700))


def trip(fleet: Fleet, key: str = SHOP) -> None:
    """Let the breaker of a shop open, and one task wait behind it."""
    fleet.context.commands.breakers.set_rule(Rule(failures=2, of=4))
    platform, _colon, shop_id = key.partition(":")
    for number in range(3):
        spec = TaskSpec(
            platform=platform,
            shop_id=shop_id,
            task_type="refresh_goods",
            payload={"page_size": number + 1},
            max_retries=0,
        )
        made = fleet.context.commands.tasks.create([spec], origin="cli").created[0]
        if number < 2:
            fleet.finish(made.task_id, to=Status.DEAD, error=LOGIN)
    assert [one.shop for one in fleet.store.breakers()] == [key]


def row(page: ShopsPage, key: str) -> dict[str, str]:
    """What the row of a shop or of a limit says."""
    model = page.table.records if page.table.records.find(key) is not None else page.limits.records
    found = model.find(key)
    assert found is not None, key
    return {column.key: column.display(found) for column in model.columns}


def after(qtbot: QtBot, page: ShopsPage, act: Callable[[], object]) -> None:
    """Act, and wait until the page has asked again."""
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        act()
    # an answer that was under way may be one of before
    asking = page.findChild(ListSource)
    qtbot.waitUntil(lambda: not asking.busy, timeout=WAIT_MS)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()


def about_breaker(fleet: Fleet, open_page: Open) -> tuple[ShopsPage, ConfirmDialog]:
    """The question whether a shop that fails too often may run again."""
    trip(fleet)
    page = open_page()
    page.shop.buttons["close"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    return page, dialog


def test_a_shop_that_fails_too_often_stands_first_and_says_when_it_tries_again(fleet: Fleet, open_page: Open) -> None:
    trip(fleet)
    fleet.store.put_home(SHOP, "desk-01")
    page = open_page()
    assert page.table.records.key_at(0) == SHOP
    assert row(page, SHOP)["state"] == "Dead letters"
    dead, breaker = row(page, SHOP)["reason"].split("; ")
    assert dead == "2 dead, not looked at yet"
    assert breaker.startswith("2 of the last 2 attempts failed, next try in ")
    assert page.header.summary() == "60 shops, 1 fails too often"
    assert page.shop.isVisibleTo(page)
    said = words(page.shop)
    assert "微光数码专卖店" in said
    assert page.shop.facts.values()["Home node"] == "desk-01"
    assert "2 of 2 failed" in said
    assert "Seller login expired, stopped once" in said
    i18n.set_language("zh_CN")
    assert "最近 2 次执行失败 2 次" in row(page, SHOP)["reason"]
    assert "让店铺恢复执行" in {button.text() for button in (page.shop.buttons["close"],)}


def test_a_shop_that_is_switched_off_says_so_whatever_it_still_does(fleet: Fleet, open_page: Open) -> None:
    """What waits there goes on; a person who looks for its runs tomorrow is told why there are none."""
    off = [replace(one, enabled=False) for one in fleet.store.shops() if one.key in (SHOP, OTHER)]
    spec = TaskSpec(platform="pdd", shop_id="pdd-10025", task_type="refresh_goods", payload={})
    (made,) = fleet.context.commands.tasks.create([spec], origin="cli").created
    fleet.finish(made.task_id, to=Status.DEAD, error=LOGIN)
    fleet.context.commands.fleet.import_shops(off)
    page = open_page()
    said = "Switched off: schedules and promises leave it out"
    assert row(page, SHOP)["reason"] == said
    assert row(page, OTHER)["reason"] == f"1 dead, not looked at yet; {said[0].lower()}{said[1:]}"
    page.table.set_current_key(OTHER)
    assert page.shop.facts.values()["Switched off"] == "schedules and promises leave it out"


@pytest.mark.parametrize("speaks", ["en", "zh_CN"])
def test_what_holds_a_shop_says_how_many_before_anything_that_may_be_cut(qapp: QApplication, speaks: str) -> None:
    i18n.set_language(speaks)
    counted = {code: i18n._(source) for code, source in shop.SENTENCES.items() if "{count}" in source}
    assert {"shop.dead", "shop.retrying", "shop.held"} <= set(counted)
    assert [sentence for sentence in counted.values() if "{count}" not in sentence[:12]] == []


def test_a_switch_that_somebody_closes_elsewhere_is_shown_before_the_page_asks_by_itself(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    asking = page.findChild(ListSource)
    qtbot.waitUntil(lambda: not asking.busy, timeout=WAIT_MS)
    asking.ask_every(10 * WAIT_MS)
    fleet.store.set_pause(Pause(scope=f"shop:{SHOP}", by="anna"))
    qtbot.waitUntil(lambda: row(page, SHOP)["state"] == "Paused", timeout=WAIT_MS)


def test_a_breaker_that_closed_while_it_was_looked_at_is_not_said_to_be_closed_by_hand(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page, dialog = about_breaker(fleet, open_page)
    fleet.context.commands.breakers.close(SHOP)
    after(qtbot, page, dialog.verb_button.click)
    assert fleet.toasts[-1].text == "微光数码专卖店 was not stopped any more; nothing was changed."


def test_what_is_asked_about_a_breaker_follows_what_is_known_of_its_shop(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    _page, dialog = about_breaker(fleet, open_page)
    waiting = int(dialog.question.rows[1][1])
    assert dialog.verb_button.isEnabled()
    spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="refresh_goods", payload={"page_size": 99})
    fleet.context.commands.tasks.create([spec], origin="cli")
    qtbot.waitUntil(lambda: dialog.question.rows[1][1] == str(waiting + 1), timeout=WAIT_MS)
    fleet.context.commands.breakers.close(SHOP)
    qtbot.waitUntil(lambda: not dialog.verb_button.isEnabled(), timeout=WAIT_MS)
    assert dialog.question.barred == "It runs again already"
    dialog.reject()


def test_a_breaker_is_closed_after_a_look_and_its_tasks_go_on(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page, dialog = about_breaker(fleet, open_page)
    assert "2 of 2 failed" in words(dialog)
    dialog.note_field.setText("logged in again")
    after(qtbot, page, dialog.verb_button.click)
    assert fleet.store.breakers() == []
    assert fleet.toasts[-1].text == "微光数码专卖店 runs again."
    assert row(page, SHOP)["reason"] == "2 dead, not looked at yet"
    (entry,) = fleet.store.audit(1)
    assert (entry.action, entry.target) == ("breaker.close", (SHOP,))
    assert "logged in again" in entry.detail


def test_the_rule_is_changed_switched_off_and_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.buttons["rule"].click()
    (dialog,) = page.findChildren(RuleDialog)
    assert dialog.save_button.toolTip() == "Nothing was changed yet"
    assert dialog.focusWidget() is dialog.on, "what is changed comes before what leaves"
    dialog.failures.setValue(20)
    assert dialog._failures.error() == "At most as many as are looked at"
    assert not dialog.save_button.isEnabled()
    dialog.on.setChecked(False)
    after(qtbot, page, dialog.save_button.click)
    assert fleet.context.commands.breakers.rule().failures == 0
    assert fleet.toasts[-1].text == "Breakers are off: a shop that fails goes on trying."
    after(qtbot, page, fleet.toasts[-1].actions[0].call)
    assert fleet.context.commands.breakers.rule() == Rule()


def test_the_numbers_of_a_shop_are_changed_and_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.table.set_current_key(OTHER)
    before = fleet.context.shops()[OTHER].concurrency
    after(qtbot, page, lambda: page.shop.at_once.step(2))
    assert row(page, OTHER)["running"] == f"0 / {before + 2}"
    after(qtbot, page, fleet.toasts[-1].actions[0].call)
    assert fleet.context.shops()[OTHER].concurrency == before
    after(qtbot, page, page.shop.buttons["pause"].click)
    assert row(page, OTHER)["state"] == "Paused"
    assert row(page, OTHER)["reason"].startswith("The shop is paused by ")
    assert page.shop.buttons["pause"].text() == "Resume shop"
    dedicated = fleet.context.shops()[OTHER].dedicated
    after(qtbot, page, page.shop.dedicated.click)
    assert fleet.context.shops()[OTHER].dedicated is not dedicated


def test_pauses_and_queues_of_a_shop_are_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.table.set_current_key(OTHER)

    def undone() -> None:
        undo = fleet.toasts[-1].actions[0]
        assert undo.text == "Undo"
        after(qtbot, page, undo.call)

    after(qtbot, page, page.shop.buttons["pause"].click)
    undone()
    assert fleet.store.pauses() == []
    fleet.context.commands.fleet.pause(f"shop:{OTHER}", reason="stock-taking")
    page.refresh()
    qtbot.waitUntil(lambda: page.shop.buttons["pause"].text() == "Resume shop", timeout=WAIT_MS)
    page.shop.buttons["pause"].click()
    (asked,) = page.findChildren(ConfirmDialog)
    after(qtbot, page, asked.confirmed.emit)
    assert fleet.store.pauses() == []
    undone()
    assert [(one.scope, one.reason) for one in fleet.store.pauses()] == [(f"shop:{OTHER}", "stock-taking")]
    for _way in ("dedicate", "undedicate"):
        before = fleet.context.shops()[OTHER].dedicated
        after(qtbot, page, page.shop.dedicated.click)
        assert fleet.context.shops()[OTHER].dedicated is not before
        undone()
        assert fleet.context.shops()[OTHER].dedicated is before
        after(qtbot, page, page.shop.dedicated.click)


@pytest.mark.one_pair
def test_a_fleet_without_shops_says_so_and_what_to_do(place: Settings, qtbot: QtBot) -> None:
    with open_fleet(place) as fleet:
        page = ShopsPage(fleet.context)
        qtbot.addWidget(page)
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.show()
            page.activate()
        qtbot.waitUntil(page.empty.isVisible, timeout=WAIT_MS)
        assert page.empty.accessibleName().startswith("No shops yet Add one or import a list above")
        assert not page.empty.button.isVisible(), "nothing hides any"
        assert not page.shop.isVisible(), "there is none to stand beside"
        fleet.seed_shops()
        page.refresh()
        qtbot.waitUntil(page.table.isVisible, timeout=WAIT_MS)
        qtbot.waitUntil(page.shop.isVisible, timeout=WAIT_MS)
        page.filter.field.setText("no such shop")
        qtbot.waitUntil(page.empty.isVisible, timeout=WAIT_MS)
        assert page.empty.accessibleName().startswith("No shop matches.")
        assert page.empty.button.isVisible()
        page.deactivate()


@pytest.mark.one_pair
def test_shops_are_found_by_name_id_and_by_what_holds_them(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    trip(fleet)
    page = open_page()
    page.show_request("breaker")
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 1, timeout=WAIT_MS)
    page.show_request(OTHER)
    qtbot.waitUntil(lambda: page.table.current_key() == OTHER, timeout=WAIT_MS)
    assert page.table.records.rowCount() == 60, "the others have not vanished"
    page.filter.field.setText("no such shop")
    qtbot.waitUntil(lambda: page.empty.isVisible(), timeout=WAIT_MS)
    page.empty.button.click()
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 60, timeout=WAIT_MS)
    page.show_request("limits of platform:pdd")
    qtbot.waitUntil(lambda: page.limits.current_key() == "platform:pdd", timeout=WAIT_MS)
    assert page.limits.isVisible()
    page.show_request("limits:s1")  # a shop, of a platform of that name
    qtbot.waitUntil(lambda: page.table.isVisible(), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_a_shop_in_trouble_comes_to_the_top_unless_a_person_is_at_work_there(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    first = page.table.records.key_at(0)
    assert first != OTHER
    trip(fleet, OTHER)
    page.refresh()
    qtbot.waitUntil(lambda: page.table.records.key_at(0) == OTHER, timeout=WAIT_MS)
    assert page.table.current_key() == first  # the card must not change under a hand

    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=page.table.viewport().rect().center())
    fleet.context.commands.breakers.close(OTHER)
    fleet.context.commands.fleet.pause(f"shop:{SHOP}", reason="stock-taking")
    page.refresh()
    qtbot.waitUntil(lambda: row(page, SHOP)["state"] == "Paused", timeout=WAIT_MS)
    places = {key: page.table.records.row_of(key) for key in (SHOP, OTHER)}
    assert places[OTHER] == 0
    page.filter.narrow({"gate": "paused"})
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 1, timeout=WAIT_MS)
    page.filter.clear()
    qtbot.waitUntil(lambda: page.table.records.row_of(SHOP) < places[SHOP], timeout=WAIT_MS)


def test_limits_show_how_far_they_are_used_and_are_changed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.context.commands.fleet.set_limit(Limit(scope="platform:pdd", concurrency=3, per_minute=40))
    fleet.succeed("pdd", "pdd-10021", "refresh_goods")
    page = open_page()
    find(page, Segmented, "What to show").choose("limits")
    cells = row(page, "platform:pdd")
    assert (cells["running"], cells["started"]) == ("0 / 3", "1 / 40")
    assert cells["resets"] == "", "39 are free now"
    assert page.header.summary() == "1 limit set"
    page.limits.set_current_key("platform:pdd")
    assert page.scope.save_button.toolTip() == "Nothing was changed yet"
    page.scope.at_once.setValue(0)
    page.scope.a_minute.setValue(7)
    page.refresh()
    assert page.scope.a_minute.value() == 7, "what a person types is not taken away"
    after(qtbot, page, page.scope.save_button.click)
    assert row(page, "platform:pdd")["started"] == "1 / 7"
    after(qtbot, page, fleet.toasts[-1].actions[0].call)
    assert row(page, "platform:pdd")["started"] == "1 / 40"
    place = page.scope.pause_button.mapTo(page, page.scope.pause_button.rect().topLeft())
    page.scope.a_minute.setValue(1)
    after(qtbot, page, page.scope.save_button.click)
    assert row(page, "platform:pdd")["resets"].startswith("in ")
    assert page.scope.pause_button.mapTo(page, page.scope.pause_button.rect().topLeft()) == place
    after(qtbot, page, page.scope.pause_button.click)
    assert row(page, "platform:pdd")["resets"] == "", "nothing starts before somebody resumes"


@pytest.mark.one_pair
def test_when_the_next_start_is_free_is_not_told_where_quiet_hours_let_nothing_start(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.context.commands.fleet.set_limit(Limit(scope="platform:pdd", per_minute=1))
    fleet.succeed("pdd", "pdd-10021", "refresh_goods")
    page = open_page()
    find(page, Segmented, "What to show").choose("limits")
    assert row(page, "platform:pdd")["resets"].startswith("in ")
    start = fleet.store.now_ms()
    once = (Once(start=start - 60_000, end=start + 3_600_000),)
    fleet.context.commands.quiet.set(QuietHours(name="sale", scope="platform:pdd", once=once, reason="stock-taking"))
    page.refresh()
    qtbot.waitUntil(lambda: row(page, "platform:pdd")["state"] == quiet_hours.GATE, timeout=WAIT_MS)
    assert row(page, "platform:pdd")["resets"] == ""


@pytest.mark.parametrize("scope", ["platform:pdd", "type:sync_order"])
def test_a_platform_or_a_type_is_paused_and_goes_on_beside_its_limit(
    scope: str, qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    find(page, Segmented, "What to show").choose("limits")
    page.limits.set_current_key(scope)
    for said, then in (("Pause", [scope]), ("Resume", [])):
        assert page.scope.pause_button.text() == said
        after(qtbot, page, page.scope.pause_button.click)
        assert [one.scope for one in fleet.store.pauses()] == then
        assert [one.text for one in fleet.toasts[-1].actions] == ["Undo", "Write why"][: 1 + len(then)]
    after(qtbot, page, fleet.toasts[-1].actions[0].call)
    assert [one.scope for one in fleet.store.pauses()] == [scope], "undone"


def test_the_limit_of_a_type_goes_into_its_document(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    find(page, Segmented, "What to show").choose("limits")
    page.limits.set_current_key("type:sync_order")
    version = fleet.context.types()["sync_order"].version
    page.scope.at_once.setValue(5)
    after(qtbot, page, page.scope.save_button.click)
    kind = fleet.context.types()["sync_order"]
    assert (kind.concurrency, kind.rate_per_minute, kind.version) == (5, None, version + 1)
    assert row(page, "type:sync_order")["running"] == "0 / 5"


@pytest.mark.one_pair
def test_what_waits_is_a_click_away(qtbot: QtBot, open_page: Open) -> None:
    page = open_page()
    find(page, Segmented, "What to show").choose("limits")
    page.limits.set_current_key("platform:temu")
    with qtbot.waitSignal(page.navigate) as heard:
        page.scope.tasks_button.click()
    assert heard.args == ["tasks", "gate:quota platform:temu"]


@pytest.mark.one_pair
def test_nothing_is_changed_where_that_is_not_allowed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    trip(fleet)
    page = open_page()
    page.set_acting("Not while the connection is lost")
    card = page.shop
    assert {
        one.isEnabled() for one in (card.buttons["close"], card.buttons["pause"], card.at_once, card.dedicated)
    } == {False}
    assert card.buttons["close"].toolTip() == "Not while the connection is lost"
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, SHOP)
    assert {action.text(): action.isEnabled() for action in menu.actions()} == {
        "Let the shop run again": False,
        "Pause shop": False,
        "Pause until a time": False,
        "Did it run?": True,
        "Its runs along time": True,
        "Edit shop": False,
        "Open this shop's browser": False,
        "New task": False,
        "Show tasks": True,
        "Show tasks of its group": True,
        "Who did what to it": True,
    }
    page.set_acting("")
    assert card.buttons["close"].isEnabled()


def test_the_card_asks_whether_something_ran_for_its_shop(fleet: Fleet, open_page: Open, qtbot: QtBot) -> None:
    page = open_page()
    page.table.set_current_key(SHOP)
    page.shop.buttons["work"].click()
    (dialog,) = page.findChildren(WorkDialog)
    with qtbot.waitSignal(dialog.listed):
        pass
    assert dialog.field.text() == SHOP
    dialog.reject()


@pytest.mark.one_pair
def test_an_operator_may_not_change_rule_and_types(qtbot: QtBot, fleet: Fleet) -> None:
    theirs = dataclasses.replace(fleet.context.commands.operator, role="operator")
    commands = replace(fleet.context.commands, operator=theirs)
    page = ShopsPage(replace(fleet.context, commands=commands))
    qtbot.addWidget(page)
    assert page.actions_of_page.barred() == ""
    assert page.actions_of_page.barred("admin") == "Only an admin may change this"


@pytest.mark.one_pair
def test_of_thousands_of_shops_order_and_ticks_are_of_all_though_the_first_ones_are_loaded(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    """Whoever sorts by a name expects the first of the fleet, not the first of those that are in trouble."""
    fleet.store.put_shops([Shop(platform="temu", shop_id=f"t{n:03d}", name=f"Aa {999 - n}") for n in range(600)])
    fleet.engine.registry.forget()
    trip(fleet)
    page = open_page()
    records = page.table.records
    assert records.rowCount() == 200
    assert records.key_at(0) == SHOP
    assert page.header.summary().endswith(", the first 200 loaded")
    section = records.section_of("shop")
    records.request_sort(section)
    qtbot.waitUntil(lambda: records.key_at(0) == "temu:t599", timeout=WAIT_MS)
    assert records.key_at(199) == "temu:t400"
    bar = page.table.verticalScrollBar()
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: records.rowCount() >= 400, timeout=WAIT_MS)
    assert records.key_at(399) == "temu:t200"
    page.heat.map.shop_clicked.emit("temu", "t001")
    qtbot.waitUntil(lambda: page.table.current_key() == "temu:t001", timeout=WAIT_MS)
    assert page.filter.expression() == "", "it comes to the others, however far down it stands"
    assert page.bulk.all_link.isHidden()
    records.tick_all()
    qtbot.mouseClick(page.bulk.all_link, Qt.MouseButton.LeftButton)
    assert len(page.ticked()) == len(fleet.context.shops())
    assert page.bulk.all_link.isHidden()
    page.filter.field.setText("shop~t59")
    qtbot.waitUntil(lambda: records.rowCount() == 10, timeout=WAIT_MS)
    assert [row.key for row in page.ticked()] == [f"temu:t{n}" for n in range(599, 589, -1)], "in sight, in order"


@pytest.mark.one_pair
def test_among_shops_that_are_the_same_by_a_column_the_worst_comes_first_also_where_it_got_worse_since(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    records = page.table.records
    records.request_sort(records.section_of("group"))
    records.tick_all()

    def in_order() -> list[str]:
        return [row.key for row in page.ticked() if row.shop.platform == "temu" and row.shop.group == group]

    group = next(row.shop.group for row in page.ticked() if row.shop.platform == "temu")
    qtbot.waitUntil(lambda: len(in_order()) > 1, timeout=WAIT_MS)
    last = in_order()[-1]
    fleet.die("temu", last.partition(":")[2], "refresh_goods", LOGIN, {})
    qtbot.waitUntil(lambda: in_order()[0] == last, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_rows_that_are_looked_at_stay_while_others_in_trouble_come_before_them(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.store.put_shops([Shop(platform="temu", shop_id=f"t{n:03d}") for n in range(600)])
    fleet.engine.registry.forget()
    page = open_page()
    records = page.table.records
    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 60))
    before = [records.key_at(place) for place in range(records.rowCount())]
    fleet.context.commands.fleet.pause("platform:pdd")
    qtbot.waitUntil(lambda: page.header.summary().count("paused") > 0, timeout=WAIT_MS)
    fleet.die("temu", "t599", "refresh_goods", LOGIN, {})
    qtbot.waitUntil(lambda: records.find("temu:t599") is not None, timeout=WAIT_MS)
    there = [records.key_at(place) for place in range(records.rowCount())]
    assert [key for key in there if key in before] == before


def test_a_shop_that_asks_for_a_person_says_so_and_goes_on_when_one_was_there(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    commands = fleet.context.commands
    commands.sessions.close(SHOP, note="the phone is away")
    commands.sessions.close(OTHER, kind="captcha")
    page = open_page()
    assert {page.table.records.key_at(0), page.table.records.key_at(1)} == {SHOP, OTHER}
    assert row(page, SHOP)["reason"].startswith("Must be logged in, for ")
    assert row(page, OTHER)["reason"].startswith("A captcha waits for a person, for ")
    assert page.header.summary() == "60 shops, 2 need a login"
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.show_request("session")
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 2, timeout=WAIT_MS)
    page.table.set_current_key(SHOP)
    assert "the phone is away" in words(page.shop)
    after(qtbot, page, page.shop.buttons["session"].click)
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 1, timeout=WAIT_MS)
    assert [one.shop for one in fleet.store.sessions()] == [OTHER]
    entry = next(one for one in fleet.store.audit(10) if one.action == "session.open")
    assert (entry.target, entry.outcome) == ((SHOP,), "done")
    page.empty.action.emit()
    qtbot.waitUntil(lambda: row(page, SHOP)["login"].endswith(" ago"), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_what_a_shop_asks_for_stands_still_while_its_card_is_told_anew(fleet: Fleet, open_page: Open) -> None:
    fleet.context.commands.sessions.close(SHOP)
    page = open_page()
    page.table.set_current_key(SHOP)
    card = page.shop
    QApplication.processEvents()
    above = card.session.mapTo(card, QPoint(0, 0)).y()
    card.show_shop(card.shown)
    assert card.session.mapTo(card, QPoint(0, 0)).y() == above, "no gap comes and goes above it"


def nobody_logs_in(fleet: Fleet) -> Logins:
    """The shop must be logged in, and whoever opens its browser closes it without."""
    fleet.context.commands.sessions.close(SHOP)
    logins = fleet.context.logins
    assert isinstance(logins, Logins)
    logins.logged_in = False
    return logins


@pytest.mark.one_pair
def test_a_browser_is_opened_here_or_it_is_said_where(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    logins, page = nobody_logs_in(fleet), open_page()
    page.table.set_current_key(SHOP)
    after(qtbot, page, page.shop.buttons["login"].click)
    assert [toast.status for toast in fleet.toasts] == ["running", "warning"], "it opened, and nobody logged in"
    logins.homes = {SHOP: "desk-02"}
    page.shop.buttons["login"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ConfirmDialog)
    assert "desk-02" in words(dialog)
    assert f"shop login {SHOP}" in words(dialog)
    after(qtbot, page, dialog.verb_button.click)
    assert fleet.store.sessions() == []
    acts = [(one.action, one.outcome.partition(":")[0]) for one in fleet.store.audit(10)]
    assert [one for one in acts if one[0].startswith("session")] == [
        ("session.open", "done"),
        ("session.login", "refused"),
        ("session.close", "done"),
    ]


@pytest.mark.one_pair
def test_a_new_shop_is_logged_in_before_a_task_of_it_has_failed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page, logins = open_page(), fleet.context.logins
    assert isinstance(logins, Logins)
    page.table.set_current_key(SHOP)
    qtbot.waitUntil(lambda: page.shop.shown is not None and page.shop.shown.key == SHOP, timeout=WAIT_MS)
    shown = page.shop.shown
    assert shown is not None
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, SHOP)
    (entry,) = [one for one in menu.actions() if one.text() == "Open this shop's browser"]
    after(qtbot, page, entry.trigger)
    assert fleet.toasts[-1].text == "微光数码专卖店 is logged in.", "none of its tasks waited"
    assert in_chinese(fleet.toasts[-1]).text == "微光数码专卖店 已登录。"
    qtbot.waitUntil(lambda: row(page, SHOP)["login"].endswith(" ago"), timeout=WAIT_MS)
    logins.logged_in = False
    after(qtbot, page, lambda: page.verbs(shown).act("browser", shown))
    assert fleet.toasts[-1].text == "微光数码专卖店 is not logged in yet."
    logins.homes = {SHOP: "desk-02"}
    page.verbs(shown).act("browser", shown)
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ConfirmDialog)
    assert "desk-02" in words(dialog)
    assert not dialog.other_button.isVisible(), "nothing waits that could go on"
    dialog.verb_button.click()
    assert QGuiApplication.clipboard().text() == f"shop login {SHOP}"


@pytest.mark.one_pair
def test_of_a_shop_that_somebody_else_logged_in_meanwhile_it_is_not_said_that_it_waits(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    nobody_logs_in(fleet)
    page = open_page()
    page.table.set_current_key(SHOP)
    with held(Logins, "log_in") as call:
        page.shop.buttons["login"].click()
        call.wait(qtbot)
        fleet.context.commands.sessions.open(SHOP)
        after(qtbot, page, call.let_go)
    assert "its tasks go on" in fleet.toasts[-1].text


def test_a_shop_of_a_paused_platform_says_who_paused_it_and_offers_to_resume_that(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    commands = fleet.context.commands.fleet
    commands.pause("platform:pdd", reason="new page")
    commands.pause(f"shop:{SHOP}")
    page = open_page()
    page.table.set_current_key(SHOP)
    said = words(page.shop)
    assert "All of Pinduoduo is paused by " in said
    assert "new page" in said
    assert "The shop is paused by " in said
    assert [button.text() for button in page.shop.pauses.buttons()] == ["Resume Pinduoduo"]
    assert [button.kind for button in page.shop.pauses.buttons()] == ["primary"]
    own = page.shop.buttons["pause"]
    assert (own.text(), own.kind) == ("Resume shop", "plain"), "said once, and one filled button"
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, SHOP)
    offered = [
        "Resume Pinduoduo",
        "Resume shop",
        "Pause until a time",
        "Edit shop",
        "Did it run?",
        "Its runs along time",
        "Open this shop's browser",
        "New task",
        "Show tasks",
        "Show tasks of its group",
        "Who did what to it",
    ]
    assert [action.text() for action in menu.actions()] == offered
    page.shop.pauses.buttons()[0].click()
    (asked,) = page.findChildren(ConfirmDialog)
    assert "new page" in words(asked)
    assert len(fleet.store.pauses()) == 2, "nothing goes on before the note was read"
    after(qtbot, page, asked.confirmed.emit)
    assert [pause.scope for pause in fleet.store.pauses()] == [f"shop:{SHOP}"]
    assert fleet.toasts[-1].text == "Pinduoduo goes on."
    assert page.shop.pauses.buttons() == []
    assert (own.text(), own.kind) == ("Resume shop", "primary")
    after(qtbot, page, fleet.toasts[-1].actions[0].call)
    assert {pause.scope: pause.reason for pause in fleet.store.pauses()}["platform:pdd"] == "new page"


@pytest.mark.one_pair
def test_a_held_task_makes_its_shop_the_first_and_is_a_click_away(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    trip(fleet)
    spec = TaskSpec(platform="pdd", shop_id="pdd-10025", task_type="sync_order", payload={})
    made = fleet.context.commands.tasks.create([spec], origin="cli").created[0]
    fleet.finish(made.task_id, to=Status.HELD)
    page = open_page()
    assert page.table.records.key_at(0) == OTHER
    assert row(page, OTHER)["state"] == "To decide"
    page.table.set_current_key(OTHER)
    with qtbot.waitSignal(page.navigate) as heard:
        page.shop.buttons["decide"].click()
    assert heard.args == ["tasks", f"shop:{OTHER} status:held"]


@pytest.mark.one_pair
def test_a_shop_beyond_the_rows_that_are_loaded_comes_to_them(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.store.put_shops([Shop(platform="temu", shop_id=f"t{number}") for number in range(600)])
    fleet.engine.registry.forget()
    page = open_page()
    listed = {page.table.records.key_at(place) for place in range(page.table.records.rowCount())}
    wish = next(key for number in range(600) if (key := f"temu:t{number}") not in listed and number > 99)
    page.show_request(wish)
    qtbot.waitUntil(lambda: page.table.current_key() == wish, timeout=WAIT_MS)
    assert page.filter.expression() == ""


def test_a_paused_type_is_told_of_whose_tasks_it_holds_and_the_tab_lists_those(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.context.commands.fleet.pause("type:refresh_goods", reason="sale")
    for shop_id in ("pdd-10021", "pdd-10025"):
        spec = TaskSpec(platform="pdd", shop_id=shop_id, task_type="refresh_goods", payload={"page_size": 1})
        (made,) = fleet.context.commands.tasks.create([spec], origin="cli").created
        claim = Claim(
            task_id=made.task_id, gen=made.gen, attempt=made.attempt, owner="w1#1", worker="w1", lease_ms=60_000
        )
        fleet.store.apply([claim])  # a worker meets the pause
    (pause,) = fleet.store.pauses()
    page = open_page()
    assert row(page, SHOP)["state"] == "Type paused"
    assert "refresh" in row(page, SHOP)["reason"].lower(), "which one stands beside it"
    said = page.header.summary()
    assert said.startswith("60 shops, 2 wait: ")
    assert said.endswith(f" is paused by {pause.by}")
    page.show_request("paused")
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 2, timeout=WAIT_MS)
    assert {row(page, page.table.records.key_at(place))["state"] for place in range(2)} == {"Type paused"}


def test_quiet_hours_are_for_what_is_picked_and_get_a_name_of_it(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: dialog.scope.count() > 0, timeout=WAIT_MS)
    assert f"times of {fleet.context.commands.quiet.zone()}" in words(dialog)
    dialog.scope.setCurrentIndex(dialog.scope.findText("all of Pinduoduo"))
    assert dialog.name.text() == "pdd"
    dialog.scope.setEditText(f"({SHOP})")
    assert (dialog.scope.chosen(), dialog.name.text()) == (f"shop:{SHOP}", SHOP.replace(":", "-"))
    dialog.name.setText("mine")
    dialog.scope.setEditText("all of Pinduoduo")
    assert dialog.name.text() == "mine", "a person gave it"
    dialog.close()


def test_a_platform_or_a_shop_is_paused_until_a_time_with_a_reason(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    find(page, Segmented, "What to show").choose("limits")
    page.limits.set_current_key("platform:temu")
    page.scope.quiet_button.click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: dialog.name.text() == "temu", timeout=WAIT_MS)
    dialog.when.setText("until 06:00")
    assert dialog.save_button.toolTip() == "Write first why: every waiting task says it"
    dialog.why.setText("risk control")
    with qtbot.waitSignal(dialog.changed, timeout=WAIT_MS):
        dialog.save_button.click()
    qtbot.waitUntil(lambda: dialog.cancel_button.text() == "Close", timeout=WAIT_MS)  # it would take back nothing
    (known,) = fleet.context.commands.quiet.known()
    assert (known.hours.scope, known.hours.reason) == ("platform:temu", "risk control")
    assert dialog.scope.currentText() == "", "the next ones may be for something else"
    dialog.close()
    qtbot.waitUntil(lambda: "risk control" in words(page.scope), timeout=WAIT_MS)
    assert "Quiet hours for all of TEMU until " in words(page.scope)
    assert row(page, "platform:temu")["state"] == quiet_hours.GATE
    assert "Quiet hours" in page.scope.accessibleName()
    page.show_request(SHOP)
    qtbot.waitUntil(lambda: page.shop.shown is not None and page.shop.shown.key == SHOP, timeout=WAIT_MS)
    verbs = page.verbs(page.shop.shown)
    verbs.act("until", page.shop.shown)
    dialog = next(one for one in page.findChildren(QuietHoursDialog) if one.isVisible())
    qtbot.waitUntil(lambda: dialog.scope.chosen() == f"shop:{SHOP}", timeout=WAIT_MS)
    dialog.close()


@pytest.mark.one_pair
def test_quiet_hours_that_cannot_be_set_say_so_where_they_are_typed_and_are_tried_again(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_args: object, **_more: object) -> object:
        raise StoreUnavailable("redis.example.com:6380 timed out")

    page = open_page()
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: dialog.scope.count() > 0, timeout=WAIT_MS)
    dialog.scope.setCurrentIndex(dialog.scope.findText("all of Pinduoduo"))
    dialog.when.setText("until 06:00")
    dialog.why.setText("risk control")
    with monkeypatch.context() as lost:
        lost.setattr(type(fleet.context.commands.quiet), "set", silent)
        dialog.save_button.click()
        qtbot.waitUntil(dialog.error.isVisible, timeout=WAIT_MS)
    assert "redis.example.com:6380 timed out" in words(dialog)
    assert (dialog.when.text(), dialog.why.text()) == ("until 06:00", "risk control")
    with qtbot.waitSignal(dialog.changed, timeout=WAIT_MS):
        dialog.error.retry.emit()
    qtbot.waitUntil(lambda: "risk control" in words(dialog), timeout=WAIT_MS)
    assert not dialog.error.isVisible()
    dialog.close()


@pytest.mark.one_pair
def test_quiet_hours_speak_another_language_at_once_and_keep_what_was_chosen(
    qtbot: QtBot, fleet: Fleet, open_page: Open, request: pytest.FixtureRequest
) -> None:
    page = open_page()
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: dialog.scope.count() > 0, timeout=WAIT_MS)
    dialog.scope.setCurrentIndex(dialog.scope.findText("all of Pinduoduo"))
    i18n.set_language("zh_CN")
    request.addfinalizer(lambda: i18n.set_language("en"))
    assert (dialog.scope.chosen(), dialog.name.text()) == ("platform:pdd", "pdd")
    assert "拼多多" in dialog.scope.currentText()
    assert "静默时段" in words(dialog)
    assert "There are none yet." not in words(dialog)
    assert dialog.save_button.toolTip() == "请先填写时间"
    dialog.close()


@pytest.mark.one_pair
def test_quiet_hours_of_another_year_are_told_with_their_hours(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.context.commands.schedules.set_zone("Asia/Tokyo")
    start = round(datetime(2099, 3, 28, 22, tzinfo=ZoneInfo("Asia/Tokyo")).timestamp() * 1000)
    once = (Once(start=start, end=start + 8 * 3_600_000),)
    fleet.context.commands.quiet.set(QuietHours(name="sale", scope="all", once=once, reason="stock-taking"))
    page = open_page()
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: "sale: " in words(dialog), timeout=WAIT_MS)
    assert "next 2099-03-28 22:00; 2099-03-28 22:00 – 2099-03-29 06:00" in words(dialog)
    dialog.close()


@pytest.mark.one_pair
def test_quiet_hours_are_told_by_the_clocks_of_the_fleet_whatever_the_window_shows(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.context.commands.schedules.set_zone("Asia/Tokyo")
    now = fleet.store.now_ms()
    begins = (now // 86_400_000 + 3) * 86_400_000
    ends = begins + 3_600_000
    once = (Once(start=begins, end=ends),)
    fleet.context.commands.quiet.set(QuietHours(name="sale", scope="all", once=once, reason="stock-taking"))
    page = open_page()
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: "sale: " in words(dialog), timeout=WAIT_MS)
    said = words(dialog)
    assert "times of Asia/Tokyo" in said
    tokyo = ZoneInfo("Asia/Tokyo")
    start, end = (text.clock(shown.moment(at), shown.moment(now), tokyo) for at in (begins, ends))
    assert f"next {start}; {start} – {end}" in said
    dialog.close()


def test_quiet_hours_are_set_told_of_a_shop_and_taken_away_in_a_dialog(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: "There are none yet." in words(dialog), timeout=WAIT_MS)
    assert dialog.save_button.toolTip() == "Choose first what shall not start"
    for field, said in ((dialog.name, "sale"), (dialog.why, "stock-taking")):
        field.setText(said)
    dialog.scope.setEditText("lane:high")
    dialog.when.setText("daily 00:00-24:00")
    dialog.save_button.click()
    qtbot.waitUntil(lambda: "quiet hours are for all, platform:P" in words(dialog), timeout=WAIT_MS)
    assert fleet.context.commands.quiet.known() == []
    dialog.scope.setEditText("all of Pin")
    with qtbot.waitSignal(dialog.changed, timeout=WAIT_MS):
        dialog.save_button.click()
    assert fleet.toasts[-1].text == "Quiet hours sale are set."
    qtbot.waitUntil(lambda: "sale: Pinduoduo" in words(dialog), timeout=WAIT_MS)
    assert "now, until " in words(dialog)
    assert "daily 00:00-24:00" in words(dialog)
    assert dialog.name.text() == "", "the next ones can be set at once"
    page.refresh()
    qtbot.waitUntil(lambda: row(page, SHOP)["state"] == "Quiet hours", timeout=WAIT_MS)
    page.table.set_current_key(SHOP)
    qtbot.waitUntil(lambda: "Quiet hours for all of Pinduoduo until " in words(page.shop), timeout=WAIT_MS)
    assert "stock-taking" in words(page.shop)
    assert page.shop.pauses.buttons() == [], "they end by themselves"
    i18n.set_language("zh_CN")
    assert "静默时段" in words(page.shop)
    i18n.set_language("en")
    with qtbot.waitSignal(dialog.changed, timeout=WAIT_MS):
        dialog.remove_buttons["sale"].click()
    assert fleet.context.commands.quiet.known() == []
    undo = fleet.toasts[-1].actions[0]
    dialog.close()
    undo.call()
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "Taken back.", timeout=WAIT_MS)
    assert [one.hours.scope for one in fleet.context.commands.quiet.known()] == ["platform:pdd"]


@pytest.mark.one_pair
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_quiet_hours_that_are_there_are_changed_without_writing_them_anew(
    qtbot: QtBot, fleet: Fleet, open_page: Open, language: str
) -> None:
    quiet = fleet.context.commands.quiet
    begins = (fleet.store.now_ms() // 86_400_000 + 3) * 86_400_000
    weekly = (quiet_hours.weekly("mon-fri 22:00-06:00"), quiet_hours.weekly("sat,sun 00:00-24:00"))
    once = (Once(start=begins, end=begins + 3_600_000),)
    quiet.set(QuietHours(name="night", scope="platform:pdd", weekly=weekly, once=once, reason="risk control"))
    before = quiet.known()[0].hours
    i18n.set_language(language)
    page = open_page()
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: "night" in dialog.edit_buttons, timeout=WAIT_MS)
    dialog.edit_buttons["night"].click()
    assert (dialog.name.text(), dialog.scope.chosen()) == ("night", "platform:pdd")
    dialog.why.setText("agreed with the platform")
    with qtbot.waitSignal(dialog.changed, timeout=WAIT_MS):
        dialog.save_button.click()
    (now,) = quiet.known()
    assert now.hours == replace(before, reason="agreed with the platform", at=now.hours.at)
    dialog.close()


@pytest.mark.one_pair
def test_who_may_only_look_changes_no_quiet_hours(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    weekly = (quiet_hours.weekly("daily 00:00-24:00"),)
    fleet.context.commands.quiet.set(QuietHours(name="sale", scope="all", weekly=weekly, reason="stock-taking"))
    page = open_page()
    page.set_acting("Only looking")
    page.buttons["quiet"].click()
    (dialog,) = page.findChildren(QuietHoursDialog)
    qtbot.waitUntil(lambda: "sale" in dialog.remove_buttons, timeout=WAIT_MS)
    assert dialog.remove_buttons["sale"].toolTip() == "Only looking"
    assert dialog.edit_buttons["sale"].toolTip() == "Only looking"
    assert dialog.save_button.toolTip() == "Only looking"
    assert not dialog.name.isEnabled()
    dialog.close()


def test_the_card_says_when_each_type_ran_and_failed_last(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    spec = TaskSpec(platform="pdd", shop_id=SHOP.partition(":")[2], task_type="refresh_goods")
    (made,) = fleet.context.commands.tasks.create([spec], origin="cli").created
    fleet.finish(made.task_id, to=Status.SUCCEEDED)
    page = open_page()
    page.show_request(SHOP)
    qtbot.waitUntil(lambda: bool(page.shop.works.isVisible()), timeout=WAIT_MS)
    (told,) = page.shop.works.values().values()
    assert told.startswith("ran ")
    assert made.created_by in told
    page.table.set_current_key(OTHER)
    qtbot.waitUntil(lambda: not page.shop.works.isVisible(), timeout=WAIT_MS)


def test_the_palette_offers_the_verbs_of_the_shop_under_the_cursor(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    trip(fleet)
    fleet.context.commands.fleet.pause("platform:pdd")
    page = open_page()
    page.table.set_current_key(SHOP)
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, SHOP)
    offered = {one.key: one for one in page.commands()}
    fleet_wide = ["Add shop", "Import", "Quiet hours", "When shops are stopped"]
    acts = ["Let the shop run again", "Resume Pinduoduo", "Pause shop", "Pause until a time", "Edit shop"]
    looks = ["Did it run?", "Its runs along time", "Show tasks", "Show tasks of its group", "Who did what to it"]
    verbs = [*acts, *looks[:2], "Open this shop's browser", "New task", *looks[2:]]
    assert [action.text() for action in menu.actions()] == verbs
    assert [one.words for one in offered.values()] == [*verbs, *fleet_wide]
    assert offered["shops.pause"].note == row(page, SHOP)["shop"]
    page.set_acting("Not while the connection is lost")
    assert [one.words for one in page.commands() if not one.reason] == [*looks, *fleet_wide[2:]]
    page.set_acting("")
    after(qtbot, page, offered["shops.pause"].run)
    assert {one.scope for one in fleet.store.pauses()} == {"platform:pdd", f"shop:{SHOP}"}
    with qtbot.waitSignal(page.navigate) as heard:
        offered["shops.tasks"].run()
    assert heard.args == ["tasks", f"shop:{SHOP}"]


# ------------------------------------------------------------------------------------------------------- the map above
def listed(page: ShopsPage) -> list[str]:
    """Keys of the rows from top to bottom."""
    return [str(page.table.records.key_at(at)) for at in range(page.table.records.rowCount())]


def asked(qtbot: QtBot, page: ShopsPage, act: Callable[[], object]) -> None:
    """Ask for something else, and wait for its answer."""
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        act()
    qtbot.waitUntil(lambda: not page.findChild(ListSource).busy, timeout=WAIT_MS)


def picture(page: ShopsPage, key: str) -> QColor:
    """The colour in the corner of a cell of the map."""
    platform, _colon, shop_id = key.partition(":")
    heat = page.heat.map
    return heat.grab().toImage().pixelColor(heat.rect_of(platform, shop_id).topLeft().toPoint() + QPoint(5, 4))


def test_the_map_and_the_table_stand_on_one_filter(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    trip(fleet)
    page = open_page()
    heat = page.heat
    assert len(heat.map.rows.cells) == 60
    assert heat.legend.item("dead").accessibleName() == "Dead letters 1"
    asked(qtbot, page, heat.legend.item("dead").click)
    qtbot.waitUntil(lambda: listed(page) == [SHOP], timeout=WAIT_MS)
    lit, dimmed = picture(page, SHOP), picture(page, OTHER)
    assert len(heat.map.rows.cells) == 60, "cells keep their places while one filters"
    page.filter.field.setText("nobody is called so")
    qtbot.waitUntil(page.empty.isVisible, timeout=WAIT_MS)
    assert picture(page, SHOP) != lit
    asked(qtbot, page, page.empty.button.click)
    qtbot.waitUntil(lambda: len(listed(page)) == 60, timeout=WAIT_MS)
    assert not heat.legend.item("dead").isChecked()
    assert picture(page, OTHER) != dimmed
    asked(qtbot, page, heat.legend.item("dead").click)
    assert page.filter.expression() == "state:dead"
    asked(qtbot, page, lambda: page.filter.narrow({"state": "", "gate": "breaker"}))
    assert not heat.legend.item("dead").isChecked()
    assert listed(page) == [SHOP]
    page.filter.narrow({"gate": "", "state": "dead"})
    assert heat.legend.item("dead").isChecked(), "whichever way it was filtered for"


@pytest.mark.one_pair
def test_a_click_on_a_cell_puts_the_cursor_on_its_row_and_the_cursor_marks_its_cell(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    heat = page.heat.map
    page.table.set_current_key(SHOP)
    before = heat.grab().toImage()
    place = heat.rect_of("pdd", "pdd-10025").center().toPoint()
    qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, pos=place)
    assert page.table.current_key() == OTHER
    assert page.shop.shown is not None
    assert page.shop.shown.key == OTHER
    assert heat.grab().toImage() != before
    # one that the filter leaves out is shown all the same
    page.filter.field.setText("10021")
    qtbot.waitUntil(lambda: listed(page) == [SHOP], timeout=WAIT_MS)
    qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: page.table.current_key() == OTHER, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_a_reason_that_takes_another_line_moves_no_button_of_the_card(qtbot: QtBot, open_page: Open) -> None:
    page = open_page()
    card, strip = page.shop, page.shop.state
    qtbot.waitUntil(lambda: card.shown is not None)
    qtbot.waitUntil(strip.isVisible)
    below = (*card.buttons.values(), card.at_once, card.dedicated)
    page.deactivate()  # what the fleet tells meanwhile would be said in its place

    def places() -> list[int]:
        """Once nothing moves any more: what was laid out before may take several turns."""
        found: list[list[int]] = []

        def rests() -> bool:
            found.append([one.mapTo(card, QPoint(0, 0)).y() for one in below if one.isVisible()])
            return len(found) > 3 and found[-1] == found[-2] == found[-3]

        qtbot.waitUntil(rests)
        return found[-1]

    strip.show_text("short", "Idle")
    before = places()
    strip.show_text("it ran 2 tasks of the last 3, the next of them waits for its turn", "Idle")
    assert len(before) > 4
    assert places() == before


@pytest.mark.one_pair
def test_the_map_says_that_it_counts_each_shop_once_by_its_worst_state(fleet: Fleet, open_page: Open) -> None:
    """A shop with dead letters that fails too often is one of both tabs, and of one colour."""
    trip(fleet)
    page = open_page()
    assert "nothing that is worse" in page.heat.legend.item("breaker").toolTip()


@pytest.mark.one_pair
def test_a_cell_has_the_menu_of_its_row(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    heat = page.heat.map
    row, beside = QMenu(page), heat.rect_of("pdd", "pdd-10025").center().toPoint()
    page.table.menu_requested.emit(row, OTHER)
    QApplication.sendEvent(heat, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, beside, heat.mapToGlobal(beside)))
    (menu,) = heat.findChildren(QMenu)
    words = [action.text() for action in menu.actions() if action.text()]
    of_row = [action.text() for action in row.actions() if action.text()]
    assert "Show tasks" in of_row
    assert words == ["Open shop", *of_row, "Copy name", "Copy id"]


@pytest.mark.one_pair
def test_the_map_is_folded_and_stays_so(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    assert page.heat.map.isVisible()
    page.heat.fold_button.click()
    assert not page.heat.map.isVisible()
    assert page.heat.legend.isVisible()
    assert page.heat.fold_button.text() == "Show map"
    again = open_page()
    assert again.heat.folded
    again.heat.fold_button.click()
    assert again.heat.map.isVisible()
    find(again, Segmented, "What to show").choose("limits")
    assert not again.heat.isVisible()


@pytest.mark.one_pair
def test_the_map_leaves_most_of_a_low_page_to_the_table(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    shops = [Shop(platform="pdd", shop_id=f"more-{number}") for number in range(2000)]
    fleet.store.put_shops(shops)
    fleet.engine.registry.forget()
    page = open_page()
    page.resize(1084, 646)
    qtbot.waitUntil(lambda: page.heat.pane.height() < 0.35 * page.height(), timeout=WAIT_MS)
    assert page.heat.map.height() > page.heat.pane.height()
    assert page.table.height() > 200
    page.resize(780, 438)  # 1366x768 at 150 %, and shops ticked: one row was left
    page.table.records.tick_all()
    qtbot.waitUntil(lambda: page.bulk.isVisible() and page.table.height() >= 28 + 3 * 28, timeout=WAIT_MS)
    assert page.heat.pane.height() >= 50


@pytest.mark.one_pair
def test_a_fleet_too_large_for_a_cell_each_shows_the_cells_that_match(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"more-{number:05d}") for number in range(10_000)])
    fleet.engine.registry.forget()
    page = open_page()
    assert page.heat.map.rows.inside, "a cell stands for a group"
    page.filter.field.setText("more-0012")
    qtbot.waitUntil(lambda: len(listed(page)) == 10, timeout=WAIT_MS)
    assert not page.heat.map.rows.inside
    assert [one.key for one in page.heat.map.rows.cells] == sorted(listed(page))


@pytest.mark.one_pair
def test_a_group_that_is_opened_in_the_map_is_what_the_table_shows(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    groups = ("east", "north", "west")
    fleet.store.put_shops(
        [Shop(platform="temu", shop_id=f"m{at:05d}", name=f"M{at}", group=groups[at % 3]) for at in range(2700)]
    )
    fleet.engine.registry.forget()
    page = open_page()
    heat = page.heat.map

    def press(group: str) -> None:
        at = heat.rect_of("temu", group).center().toPoint()
        asked(qtbot, page, lambda: qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, pos=at))

    def groups_listed() -> set[str]:
        found = (page.table.records.find(key) for key in listed(page))
        return {one.shop.group for one in found if one is not None}

    press("east")
    assert groups_listed() == {"east"}
    assert page.table.verticalScrollBar().value() == 0, "it begins at the worst"
    assert len(heat.rows.cells) == 900
    page.filter.field.setText("m0000")  # two filters, one upon the other
    qtbot.waitUntil(lambda: listed(page) == ["temu:m00000", "temu:m00003", "temu:m00006", "temu:m00009"])
    beyond = heat.rect_of("temu", "m02697").center().toPoint()  # neither filter nor the rows that are loaded have it
    qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, pos=beyond)
    qtbot.waitUntil(lambda: page.table.current_key() == "temu:m02697", timeout=WAIT_MS)
    assert heat.rows.within == ("temu", "east"), "it is of the group that is open"
    page.filter.field.clear()
    qtbot.waitUntil(lambda: page.table.records.rowCount() >= 200, timeout=WAIT_MS)
    asked(qtbot, page, lambda: qtbot.keyClick(heat, Qt.Key.Key_Escape))
    assert groups_listed() != {"east"}
    press("west")
    asked(qtbot, page, lambda: page.show_request("temu:m00001"))
    qtbot.waitUntil(lambda: page.table.current_key() == "temu:m00001", timeout=WAIT_MS)
    assert heat.rows.inside, "a link leads out of a group that its shop is not in"
    page.filter.field.clear()
    qtbot.waitUntil(lambda: page.table.records.rowCount() >= 200, timeout=WAIT_MS)
    press("north")
    fleet.store.put_shops(
        [Shop(platform="temu", shop_id=f"m{at:05d}", name=f"M{at}", group="east") for at in range(1, 2700, 3)]
    )
    fleet.engine.registry.forget()
    page.refresh()
    qtbot.waitUntil(lambda: bool(listed(page)) and bool(heat.rows.inside), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_the_map_takes_no_more_room_than_its_cells(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    for width in (700, 1100, 1700):
        page.resize(width, 800)
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.refresh()
        qtbot.waitUntil(lambda: page.heat.pane.height() == page.heat.map.height(), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_a_link_leads_to_the_shop_under_the_cursor(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(9)
    page = open_page()
    key = page.table.records.key_at(5)
    page.table.set_current_key(key)
    link = page.shown_request()
    page.table.set_current_key(page.table.records.key_at(0))
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.show_request(link)
    assert (page.table.current_key(), page.pointed()[0]) == (key, key)


@pytest.mark.one_pair
@pytest.mark.parametrize("scope", ["platform:pdd", "type:sync_order"])
def test_undo_leaves_what_somebody_else_did_meanwhile(qtbot: QtBot, fleet: Fleet, open_page: Open, scope: str) -> None:
    page = open_page()
    find(page, Segmented, "What to show").choose("limits")
    page.limits.set_current_key(scope)
    after(qtbot, page, page.scope.pause_button.click)
    undo = fleet.toasts[-1].actions[0]
    fleet.store.set_pause(Pause(scope=scope, by="cleo@desk-03", reason="stock-taking"))
    after(qtbot, page, undo.call)
    assert fleet.toasts[-1].detail == "it is not as this act left it any more"
    assert [one.by for one in fleet.store.pauses()] == ["cleo@desk-03"]
    page.scope.at_once.setValue(7)
    after(qtbot, page, page.scope.save_button.click)
    undo = fleet.toasts[-1].actions[0]
    page.actions_of_page.set_limit(page.scope.shown, 9, 0)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: fleet.toasts[-1].actions[:1] != (undo,), timeout=WAIT_MS)
    after(qtbot, page, undo.call)
    assert fleet.toasts[-1].detail == "it is not as this act left it any more"
    assert row(page, scope)["running"] == "0 / 9"


# ---------------------------------------------------------------------------------------------------------- the filter
def found(page: ShopsPage, qtbot: QtBot, expression: str, keys: str) -> None:
    """Somebody filters the list, which then shows these shops."""
    page.filter.clear()  # what was typed before may be chips by now
    page.filter.field.setText(expression)
    qtbot.keyClick(page.filter.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: sorted(listed(page)) == keys.split(), timeout=WAIT_MS)


def test_shops_are_filtered_by_platform_group_tag_state_and_words(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.store.put_shops(
        [
            Shop(platform="temu", shop_id="a1", name="Berlin Home", group="east", tags=("vip",), dedicated=True),
            Shop(platform="temu", shop_id="a2", name="Lyon Home", group="west"),
            Shop(platform="pdd", shop_id="a3", name="柚子家纺", group="east", tags=("vip", "new")),
        ]
    )
    fleet.engine.registry.forget()
    fleet.context.commands.fleet.pause("shop:temu:a2")
    trip(fleet, "pdd:a3")
    page = open_page()
    for expression, keys in (
        ("group:east", "pdd:a3 temu:a1"),
        ("platform:temu group:east", "temu:a1"),
        ("tag:vip tag:new", "pdd:a3"),
        ("dedicated:yes group:east", "temu:a1"),
        ("state:flagged", "pdd:a3"),
        ("状态:已暂停", "temu:a2"),
        ("gate:breaker", "pdd:a3"),
        ("home berlin", "temu:a1"),
        ("temu:a", "temu:a1 temu:a2"),
        ("分组：west", "temu:a2"),
        ("nobody", ""),
        ("group:east", "pdd:a3 temu:a1"),
    ):
        found(page, qtbot, expression, keys)
    page.filter.clear()
    found(page, qtbot, "group:east", "pdd:a3 temu:a1")
    page.filter.field.setText("gate:held")
    qtbot.waitUntil(lambda: "breaker" in page.filter.problem(), timeout=WAIT_MS)
    assert sorted(listed(page)) == ["pdd:a3", "temu:a1"], "what is no filter leaves the list as it is"
    found(page, qtbot, "group:west", "temu:a2")
    assert page.filter.problem() == ""


@pytest.mark.one_pair
def test_the_filter_of_shops_is_remembered_and_goes_with_a_link(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    asked(qtbot, page, lambda: page.filter.add_value("platform", "temu"))
    temu = listed(page)
    assert 0 < len(temu) < 60
    assert page.header.summary() == f"{len(temu)} of 60 shops match"
    assert page.shown_request() == "platform:temu"
    mine = fleet.context
    fleet.context = replace(mine, profile="another")
    other = open_page()
    assert (other.filter.expression(), len(listed(other))) == ("", 60), "another fleet has other shops"
    fleet.context = mine
    again = open_page()
    assert (again.filter.expression(), listed(again)) == ("platform:temu", temu)
    asked(qtbot, again, lambda: again.show_request(SHOP))
    assert (again.filter.expression(), again.table.current_key(), len(listed(again))) == ("", SHOP, 60)
    asked(qtbot, again, lambda: again.show_request("platform:temu"))
    assert listed(again) == temu


@pytest.mark.one_pair
def test_a_chip_offers_the_values_of_shops_with_how_many_have_them(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.store.put_shops([Shop(platform="pdd", shop_id="pdd-10021", name="微光", tags=("vip",))])
    fleet.engine.registry.forget()
    trip(fleet)
    page = open_page()
    offered = {}
    for place in range(len(page.filter.chip_views())):
        chip = page.filter.chip_views()[place]
        with qtbot.waitSignal(chip.opened):
            qtbot.keyClick(chip, Qt.Key.Key_Space)
        (popup,) = page.findChildren(ValuePopup)
        offered[chip.accessibleName()] = [popup.list.item(at).text() for at in range(popup.list.count())]
        popup.close()
        qtbot.waitUntil(lambda: not page.findChildren(ValuePopup))
    assert list(offered) == [
        f"Add filter: {name}" for name in ("State", "Platform", "Group", "Tag", "Queue", "Stopped by", "Last worker")
    ]
    assert offered["Add filter: State"][:2] == ["Needs a person   1", "To decide"]
    assert "Dead letters   1" in offered["Add filter: State"]
    assert offered["Add filter: Tag"] == ["vip   1"]
    assert "Fails too often   1" in offered["Add filter: Stopped by"]
    page.table.set_current_key(SHOP)
    asked(qtbot, page, lambda: page.table.filter_requested.emit("state", True))
    assert (page.filter.expression(), listed(page)) == ("state:dead", [SHOP])
    page.table.records.set_ticked([SHOP])
    page.activateWindow()
    page.table.setFocus()
    qtbot.waitUntil(page.table.hasFocus)
    qtbot.keyClick(page.table, Qt.Key.Key_Escape)
    assert (page.table.records.ticked(), page.filter.expression()) == (frozenset(), "state:dead"), "first the selection"
    qtbot.keyClick(page.table, Qt.Key.Key_Escape)
    assert page.filter.expression() == ""


@pytest.mark.one_pair
def test_tasks_are_made_for_a_shop_or_for_those_that_are_ticked(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.table.set_current_key(SHOP)
    {one.key: one for one in page.commands()}["shops.new"].run()
    page.table.records.set_ticked([OTHER, SHOP])
    page.bulk.buttons["new"].click()
    fleet.store.put_shops([Shop(platform="temu", shop_id="a1")])
    fleet.engine.registry.forget()
    asked(qtbot, page, page.refresh)
    page.table.records.set_ticked(["temu:a1"])
    page.bulk.buttons["new"].click()
    one, several, mixed = fleet.wanted
    assert one == {"platform": "pdd", "shops": [SHOP]}
    assert (several["platform"], set(several["shops"])) == ("pdd", {OTHER, SHOP})
    # the dialog leaves out what is of another platform than the one in view
    assert (mixed["platform"], set(mixed["shops"])) == ("all", {OTHER, SHOP, "temu:a1"})


def test_a_queue_is_given_up_once_one_has_seen_what_moves(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.context.commands.fleet.dedicate(OTHER)
    planned = [
        TaskSpec(platform="pdd", shop_id="pdd-10025", task_type="refresh_goods", payload={"page_size": n}, delay_s=9000)
        for n in (1, 2)
    ]
    fleet.context.commands.tasks.create(planned, origin="cli")
    page = open_page()
    page.table.set_current_key(OTHER)
    qtbot.waitUntil(page.shop.dedicated.isChecked, timeout=WAIT_MS)
    assert row(page, OTHER)["waiting"] != "2"
    page.shop.dedicated.click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ConfirmDialog)
    assert "2 tasks move back to their lanes" in words(dialog), "what is planned moves, too"
    dialog.reject()
    qtbot.waitUntil(page.shop.dedicated.isChecked, timeout=WAIT_MS)
    assert fleet.context.shops()[OTHER].dedicated
    page.shop.dedicated.click()
    qtbot.waitUntil(lambda: any(one.isVisible() for one in page.findChildren(ConfirmDialog)), timeout=WAIT_MS)
    dialog = next(one for one in page.findChildren(ConfirmDialog) if one.isVisible())
    after(qtbot, page, dialog.confirmed.emit)
    assert not fleet.context.shops()[OTHER].dedicated


def test_of_many_queues_that_are_given_up_one_sees_what_moves_first(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    for key in (OTHER, SHOP):
        fleet.context.commands.fleet.dedicate(key)
    planned = [
        TaskSpec(platform="pdd", shop_id="pdd-10025", task_type="refresh_goods", payload={"page_size": n}, delay_s=9000)
        for n in (1, 2)
    ]
    fleet.context.commands.tasks.create(planned, origin="cli")
    page = open_page()
    page.table.records.set_ticked([SHOP, OTHER])
    page.bulk.buttons["undedicate"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ConfirmDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.question.number == "2 tasks"
    assert "2 tasks move back to their lanes" in words(dialog)
    assert [value for _name, value in dialog.question.rows] == ["2 tasks", "0 tasks"]
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        dialog.confirmed.emit()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert not any(fleet.context.shops()[key].dedicated for key in (OTHER, SHOP))


def test_a_number_that_is_refused_goes_back_and_one_that_is_left_is_set(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.store.put_home(OTHER, "desk-01")
    page = open_page()
    page.table.set_current_key(OTHER)
    after(qtbot, page, lambda: page.shop.at_once.step(1))
    assert fleet.toasts[-1].detail.startswith(f"{OTHER} has one browser profile, on desk-01")
    assert page.shop.at_once.value() == fleet.context.shops()[OTHER].concurrency == 1
    third = next(key for key, one in fleet.context.shops().items() if key not in (SHOP, OTHER) and one.concurrency == 1)
    page.table.set_current_key(third)
    page.shop.at_once.step(2)
    after(qtbot, page, lambda: page.table.set_current_key(SHOP))
    assert fleet.context.shops()[third].concurrency == 3, "also where one goes on at once"


def test_how_a_day_ended_what_comes_next_and_who_ran_last_are_told_where_their_columns_are_seen(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    for _ in range(2):
        fleet.succeed("pdd", "pdd-10021", "refresh_goods")
    trip(fleet)
    later = TaskSpec(platform="pdd", shop_id="pdd-10025", task_type="refresh_goods", payload={}, delay_s=9000)
    fleet.context.commands.tasks.create([later], origin="cli")
    page = open_page()
    assert [row(page, SHOP)[key] for key in ("share", "next", "ran_by")] == ["", "", ""], "nobody asks for it"
    layout = page.table.layout_of_columns
    for action in layout.menu().actions():
        if action.text() in ("Success 24 h", "Next scheduled", "Last worker"):
            layout.show_column(int(action.data()), True)
    layout.arranged.emit()
    qtbot.waitUntil(lambda: row(page, SHOP)["share"] == text.percent(0.5), timeout=WAIT_MS)
    assert row(page, SHOP)["ran_by"] == "rpa-01"
    assert row(page, OTHER)["next"].startswith("in 2")
    assert row(page, OTHER)["share"] == ""
    share = next(column for column in page.table.records.columns if column.key == "share")
    assert share.tooltip is not None
    assert share.tooltip(page.table.records.find(SHOP)) == "2 of 4 that ended succeeded"
    found(page, qtbot, "success<90", SHOP)
    found(page, qtbot, "success>=50%", SHOP)
    found(page, qtbot, "success<50", "")
    found(page, qtbot, "worker:rpa-01", SHOP)
    page.filter.clear()
    records = page.table.records
    for key in ("ran_by", "next"):
        before = OTHER if key == "next" else SHOP
        for _direction in range(2):  # those of which nothing is told stand behind
            records.request_sort(records.section_of(key))
            qtbot.waitUntil(lambda before=before: records.key_at(0) == before, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: page.table.records.find(SHOP) is not None, timeout=WAIT_MS)
    page.table.set_current_key(SHOP)
    page.table.filter_requested.emit("ran_by", True)
    assert page.filter.expression() == "worker:rpa-01"
    page.filter.clear()
    page.heat.colour.choose("share")
    qtbot.waitUntil(lambda: "50–80 % 1" in page.heat.shades.toolTip(), timeout=WAIT_MS)


def test_no_shop_is_said_to_have_ended_nothing_before_that_is_known(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    trip(fleet)
    fleet.context.memory.put("shops.map.colour", "share")
    page = open_page()
    told = [page.heat.shades.toolTip()]
    page.refreshed.connect(lambda: told.append(page.heat.shades.toolTip()))
    qtbot.waitUntil(lambda: "below 50 % 1" in page.heat.shades.toolTip(), timeout=WAIT_MS)
    rest = len(fleet.context.shops()) - 1
    assert not [one for one in told if f"none ended {rest}" not in one and "none ended" in one], told
    page.heat.colour.choose("state")
    page.heat.colour.choose("waiting")
    told.clear()
    page.heat.colour.choose("share")
    qtbot.waitUntil(lambda: "below 50 % 1" in page.heat.shades.toolTip(), timeout=WAIT_MS)
    assert not [one for one in told if f"none ended {rest}" not in one and "none ended" in one], told


def test_shops_are_counted_within_the_other_chips(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.store.put_shops([Shop(platform="temu", shop_id="a1", group="east"), Shop(platform="pdd", shop_id="a2")])
    fleet.engine.registry.forget()
    page = open_page()
    whole = sum(key.startswith("pdd:") for key in fleet.context.shops())

    def platforms(number: int) -> dict[str, str]:
        page.filter.chip_views()[number].opened.emit()
        popup = page.findChildren(ValuePopup)[-1]
        choices = (popup.list.item(n).text().rpartition("   ") for n in range(popup.list.count()))
        return {name.split()[0]: count for name, _gap, count in choices if name}

    chips = [one.accessibleName() for one in page.filter.chip_views()]
    assert platforms(chips.index("Add filter: Platform"))["Pinduoduo"] == str(whole)
    page.findChildren(ValuePopup)[-1].close()
    found(page, qtbot, "group:east", "temu:a1")
    chips = [one.accessibleName() for one in page.filter.chip_views()]
    place = chips.index("Add filter: Platform")
    page.filter.chip_views()[place].opened.emit()
    popup = page.findChildren(ValuePopup)[-1]
    qtbot.waitUntil(
        lambda: (
            [text for n in range(popup.list.count()) if "   " in (text := popup.list.item(n).text())] == ["TEMU   1"]
        ),
        timeout=WAIT_MS,
    )
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):  # what the list tells of all does not take its place
        page.refresh()
    assert [text for n in range(popup.list.count()) if "   " in (text := popup.list.item(n).text())] == ["TEMU   1"]
    popup.close()


def test_the_legend_of_what_cells_tell_takes_the_room_that_there_is(qtbot: QtBot) -> None:
    ends = ((9, 0), (9, 3), (9, 6), (10, 9), (0, 0))
    every = tuple(
        ShopNow(platform="pdd", shop_id=f"s{n}", ended=ended, ended_well=well)
        for n, (ended, well) in enumerate(ends * 100)
    )
    heat = ShopsMap(ShortMemory())
    qtbot.addWidget(heat)
    heat.resize(1052, 200)
    heat.colour.choose("share")
    heat.show()
    for language, text_size in (("en", 100), ("zh_CN", 100), ("en", 110)):
        try:
            i18n.set_language(language)
            theme().set_text_size(text_size)
            heat.show_cells(lay_out(ShopsNow(every=every, at_ms=1), heat.by))
            QApplication.processEvents()
            assert len(heat.shades.texts()) == 4, "below 50 % two"
            assert heat.shades.width() >= heat.shades.sizeHint().width(), (language, text_size)
        finally:
            i18n.set_language("en")
            theme().set_text_size(100)


def test_where_no_shop_of_a_large_fleet_matches_the_map_keeps_its_groups_dim(qtbot: QtBot) -> None:
    every = tuple(ShopNow(platform="pdd", shop_id=f"s{n}", group=f"g{n % 7}") for n in range(AGGREGATE_ABOVE + 1))
    laid = lay_out(ShopsNow(every=every, fitting=frozenset(), at_ms=1))
    assert (len(laid.rows.cells), laid.lit) == (7, frozenset())
    one = lay_out(ShopsNow(every=every, fitting=frozenset({"pdd:s1"}), at_ms=1))
    assert ([cell.key for cell in one.rows.cells], one.lit) == (["pdd:s1"], None)
