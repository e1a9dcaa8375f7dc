"""One shop's day on the Shops page: every attempt by type along time, what is planned, and the way to a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.change import Claim, Create
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Shop
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import KIND, Once, QuietHours, Weekly
from services.domain.insight.shop import STUCK, ShopNow
from services.domain.plans.schedule import Schedule
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.monitor.shops.day import DEAD, PLANNED, RETRIED, RUNNING, SUCCEEDED, WAITS, DayAttempt, ShopDay
from services.monitor.shops.queries import ShopRow
from tests.support import widgets
from tests.support.controls import entries_of
from tests.unit.views.pages.fleet_rig import MINUTE, Fleet
from tests.unit.views.pages.opening import opening
from views.charts.plot import TableDialog
from views.pages.shops.day import HOLDS, hangs, longest
from views.pages.shops.page import ShopsPage
from views.widgets.card import LEAST_TILE

pytestmark = pytest.mark.both_pairs
one_pair = pytest.mark.one_pair
Open = Callable[[], ShopsPage]
WAIT_MS = 30_000
SHOP, OTHER = "pdd:pdd-10021", "pdd:pdd-10025"
HOUR = 60 * MINUTE


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: ShopsPage(fleet.context), size=(1400, 800))


def ran(fleet: Fleet, kind: str, minutes_ago: float, *outcomes: str, status: Status = Status.SUCCEEDED) -> str:
    """A task of the shop that ended, each of its attempts a minute long and five apart; its id."""
    begins = fleet.store.now_ms() - round(minutes_ago * MINUTE)
    attempts = tuple(
        Attempt(
            number=number + 1,
            worker=f"rpa-0{number + 1}",
            started_at=begins + number * 5 * MINUTE,
            ended_at=begins + number * 5 * MINUTE + MINUTE,
            outcome=outcome,
            error="" if outcome == "succeeded" else "SelectorNotFound: .row",
            error_kind="" if outcome == "succeeded" else "element_not_found",
        )
        for number, outcome in enumerate(outcomes)
    )
    task_id = f"pdd_{kind}_{fleet.store.counts().total:012x}"
    task = Task(
        task_id=task_id, platform="pdd", shop_id="pdd-10021", task_type=kind, payload="{}", status=status,
        triage="open" if status == Status.DEAD else "", attempt=len(attempts), created_at=begins - 1000,
        started_at=attempts[-1].started_at, ended_at=attempts[-1].ended_at, updated_at=attempts[-1].ended_at,
        attempts=attempts,
    )  # fmt: skip
    fleet.store.apply([Create(task=task)])
    return task_id


@pytest.fixture
def busy(fleet: Fleet) -> dict[str, str]:
    """A day with a success, one that failed first, a dead letter and one that runs; ids by what they are."""
    return {
        "good": ran(fleet, "sync_order", 120, "succeeded"),
        "late": ran(fleet, "sync_order", 90, "failed", "succeeded"),
        "dead": ran(fleet, "refresh_goods", 60, "failed", status=Status.DEAD),
        "old": ran(fleet, "screenshot", 60 * 60, "succeeded"),
    }


def day_of(qtbot: QtBot, page: ShopsPage, key: str = SHOP) -> None:
    """Open the day of a shop as Space does, and wait for its runs."""
    page.table.set_current_key(key)
    with qtbot.waitSignal(page.day.loaded, timeout=WAIT_MS):
        page.table.peek_requested.emit(key)


def states(page: ShopsPage) -> dict[str, list[str]]:
    """The states of the runs of each row, by start."""
    found: dict[str, list[str]] = {}
    for run, _room in page.day.gantt.bars:
        found.setdefault(run.task_type, []).append(run.state)
    return found


def where(page: ShopsPage, state: str) -> tuple[DayAttempt, QPoint]:
    """A run in a state, and the middle of its bar."""
    run, room = next((run, room) for run, room in page.day.gantt.bars if run.state == state)
    return run, room.center().toPoint()


def test_the_share_of_good_ends_stands_beside_that_of_the_time_before(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    ran(fleet, "sync_order", 120, "succeeded")
    for hours, outcome in ((26, "succeeded"), (27, "succeeded"), (30, "failed"), (60, "failed")):
        ran(fleet, "sync_order", hours * 60, outcome, status=Status.DEAD if outcome == "failed" else Status.SUCCEEDED)
    page = open_page()
    day_of(qtbot, page)
    success = page.day.tiles.tiles["success"]

    def said() -> list[str]:
        return [one.text().replace("\u202f", " ") for one in (success.value, success.beside, success.below)]

    assert said() == ["100.0 %", "66.7 % the day before", "1 ended"]
    for span, told in (("6", ["100.0 %", "1 ended", ""]), ("168", ["60.0 %", "5 ended", ""])):
        with qtbot.waitSignal(page.day.loaded, timeout=WAIT_MS):
            page.day.span.choose(span)
        assert said() == told, "what ended well two weeks ago is kept no more"


def test_limits_and_quiet_hours_stand_in_the_card_of_the_shop(
    qtbot: QtBot, fleet: Fleet, busy: dict[str, str], open_page: Open
) -> None:
    fleet.context.commands.fleet.set_limit(Limit(scope="platform:pdd", concurrency=20, per_minute=60))
    page = open_page()
    day_of(qtbot, page)
    qtbot.waitUntil(lambda: page.shop.rules.values().get("Quiet hours of this shop") == "none", timeout=WAIT_MS)
    assert page.shop.rules.values()["Pinduoduo, at once"] == "0 / 20"
    assert page.shop.rules.values()["Pinduoduo, a minute"] == "0 / 60"
    for name, scope in (("night", f"shop:{SHOP}"), ("weekend", "all"), ("other", f"shop:{OTHER}")):
        hours = QuietHours(name=name, scope=scope, weekly=(Weekly(days=(5, 6), start=120, end=360),), reason="sleep")
        fleet.store.put_document(KIND, name, dump(hours))
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    qtbot.waitUntil(lambda: "Quiet hours, Everything" in page.shop.rules.values(), timeout=WAIT_MS)
    found = page.shop.rules.values()
    assert "02:00-06:00" in found["Quiet hours of this shop"]
    assert len(found) == 4, "of other shops nothing holds here"


def test_every_attempt_stands_in_the_row_of_its_type_with_what_is_planned(
    qtbot: QtBot, fleet: Fleet, busy: dict[str, str], open_page: Open
) -> None:
    schedule = Schedule(name="orders", task_type="sync_order", every_s=1800, shops=(SHOP,))
    fleet.context.commands.schedules.add(schedule)
    for shop in (SHOP, OTHER):
        made = fleet.context.commands.tasks.create(
            [fleet_spec(shop, "single_product", {"goods_id": "G0001"})], origin="cli"
        )
        claim(fleet, made.created[0].task_id)
    now = fleet.store.now_ms()
    quiet = QuietHours(
        name="night", scope="platform:pdd", once=(Once(start=now - 5 * HOUR, end=now - 4 * HOUR),), reason="sleep"
    )
    fleet.store.put_document(KIND, "night", dump(quiet))
    page = open_page()
    day_of(qtbot, page)
    day = page.day.day
    assert day is not None
    assert day.types == ("refresh_goods", "single_product", "sync_order"), "two and a half days ago is not this day"
    found = states(page)
    assert found["refresh_goods"] == [DEAD]
    assert found["single_product"] == [RUNNING]
    assert found["sync_order"][:3] == [SUCCEEDED, RETRIED, SUCCEEDED]
    assert set(found["sync_order"][3:]) == {PLANNED}
    assert day.quiet == ((now - 5 * HOUR, now - 4 * HOUR),)
    assert page.day.legend.said().startswith("5 runs, Succeeded 2, Failed, tried again 1, Dead 1, Running 1, Planned ")
    begins = [(run.state == PLANNED, run.begins) for run in map(page.day.table.records.record, range(8))]
    ended, planned = [at for ahead, at in begins if not ahead], [at for ahead, at in begins if ahead]
    assert (len(ended), ended) == (5, sorted(ended, reverse=True)), "what ran comes first, the newest above"
    assert planned == sorted(planned), "then what comes, the next one above"
    assert page.shop.isVisible(), "the card of the shop stays beside it"
    assert not page.heat.isVisible()
    page.day.span.choose("168")
    qtbot.waitUntil(lambda: page.day.day is not None and "screenshot" in page.day.day.types, timeout=WAIT_MS)


def fleet_spec(shop: str, kind: str, payload: dict[str, object]) -> TaskSpec:
    """A task to be created."""
    platform, _colon, shop_id = shop.partition(":")
    return TaskSpec(platform=platform, shop_id=shop_id, task_type=kind, payload=payload)


def claim(fleet: Fleet, task_id: str) -> None:
    """Let a pretended worker run a task."""
    (task,) = fleet.store.get([task_id])
    op = Claim(
        task_id=task_id, gen=task.gen, attempt=task.attempt, owner=f"w#{task_id}", worker="rpa-09", lease_ms=60_000
    )
    (answer,) = fleet.store.apply([op])
    assert answer.code == "run", answer.code


def dump(quiet: QuietHours) -> str:
    """As the store keeps it."""
    return msgspec.json.encode(quiet).decode()


@one_pair
def test_a_click_is_the_cursor_of_the_table_and_a_double_click_opens_the_task(
    qtbot: QtBot, busy: dict[str, str], open_page: Open
) -> None:
    page = open_page()
    day_of(qtbot, page)
    gantt, table = page.day.gantt, page.day.table
    run, place = where(page, DEAD)
    qtbot.mouseClick(gantt, Qt.MouseButton.LeftButton, pos=place)
    assert table.current_key() == run.key
    assert gantt.current == run
    assert "rpa-01" in gantt.accessibleDescription()
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as heard:
        qtbot.mouseDClick(gantt, Qt.MouseButton.LeftButton, pos=place)
    assert heard.args == ["tasks", f"id:{busy['dead']}"]
    other = next(one for one in page.day.day.runs if one.task_id == busy["good"])  # type: ignore[union-attr]
    table.set_current_key(other.key)
    assert gantt.current == other
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as heard:
        table.open_requested.emit(other.key)
    assert heard.args == ["tasks", f"id:{busy['good']}"]


@one_pair
def test_a_click_lists_the_run_where_the_list_left_it_out_and_its_menu_has_all_runs_as_a_table(
    qtbot: QtBot, busy: dict[str, str], open_page: Open
) -> None:
    page = open_page()
    day_of(qtbot, page)
    gantt = page.day.gantt
    page.day.lists.choose("running")
    run, place = where(page, DEAD)
    qtbot.mouseClick(gantt, Qt.MouseButton.LeftButton, pos=place)
    assert (page.day.lists.current(), page.day.table.current_key()) == ("all", run.key)
    entries = entries_of(gantt, place)
    assert {"Show as table", "Open the task", "Copy value"} <= set(entries)
    entries["Show as table"].trigger()
    (dialog,) = page.window().findChildren(TableDialog)
    assert dialog.model.rowCount() == len(page.day.day.runs)  # type: ignore[union-attr]
    lines = {dialog.model.index(at, 2).data() for at in range(dialog.model.rowCount())}
    assert "Dead" in lines


@one_pair
def test_keys_go_from_run_to_run_and_from_type_to_type(qtbot: QtBot, busy: dict[str, str], open_page: Open) -> None:
    page = open_page()
    day_of(qtbot, page)
    gantt = page.day.gantt

    def press(key: Qt.Key) -> tuple[str, str, int]:
        qtbot.keyClick(gantt, key)
        assert gantt.current is not None
        return gantt.current.task_type, gantt.current.state, gantt.current.attempt

    press(Qt.Key.Key_Right)
    assert press(Qt.Key.Key_Down)[0] == "sync_order"
    assert press(Qt.Key.Key_Home) == ("sync_order", SUCCEEDED, 1)
    assert press(Qt.Key.Key_Right) == ("sync_order", RETRIED, 1)
    assert press(Qt.Key.Key_Right) == ("sync_order", SUCCEEDED, 2)
    assert press(Qt.Key.Key_Right) == ("sync_order", SUCCEEDED, 2)
    assert press(Qt.Key.Key_Up) == ("refresh_goods", DEAD, 1)
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as heard:
        qtbot.keyClick(gantt, Qt.Key.Key_Return)
    assert heard.args == ["tasks", f"id:{busy['dead']}"]
    qtbot.keyClick(gantt, Qt.Key.Key_Escape)
    assert page.table.isVisible()
    assert page.heat.isVisible()
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_D)
    assert page.day.isVisible()


@one_pair
def test_the_wheel_zooms_around_the_mouse_a_drag_pans_and_a_double_click_shows_everything(
    qtbot: QtBot, busy: dict[str, str], open_page: Open
) -> None:
    page = open_page()
    day_of(qtbot, page)
    gantt = page.day.gantt
    whole = gantt.span
    run, place = where(page, DEAD)
    at = gantt.at_x(place.x())
    turn(gantt, place, 480)
    begins, ends = gantt.span
    assert ends - begins == pytest.approx((whole[1] - whole[0]) / 1.25**4)
    assert gantt.at_x(place.x()) == pytest.approx(at, abs=2 * MINUTE)
    assert where(page, DEAD)[0] == run
    middle = QPoint(gantt.width() // 2, gantt.height() - 40)
    qtbot.mousePress(gantt, Qt.MouseButton.LeftButton, pos=middle)
    drag(gantt, middle, 100)
    qtbot.mouseRelease(gantt, Qt.MouseButton.LeftButton, pos=middle + QPoint(100, 0))
    assert gantt.span[0] < begins
    assert gantt.span[1] - gantt.span[0] == pytest.approx(ends - begins)
    assert gantt.current is None, "a drag is no click"
    qtbot.mouseDClick(gantt, Qt.MouseButton.LeftButton, pos=QPoint(gantt.width() - 20, 3))
    assert gantt.span == whole
    turn(gantt, place, -120)
    assert gantt.span == whole


def turn(gantt: QWidget, place: QPoint, angle: int) -> None:
    """Turn the wheel."""
    event = QWheelEvent(
        QPointF(place), QPointF(gantt.mapToGlobal(place)), QPoint(), QPoint(0, angle), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(gantt, event)


def drag(gantt: QWidget, place: QPoint, by: int) -> None:
    """Move the mouse with its button pressed, as a person does."""
    for step in (5, by // 2, by):
        at = QPointF(place + QPoint(step, 0))
        event = QMouseEvent(
            QEvent.Type.MouseMove, at, QPointF(gantt.mapToGlobal(at.toPoint())), Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QApplication.sendEvent(gantt, event)


@one_pair
def test_a_shop_without_runs_says_so_and_another_one_brings_its_own(
    qtbot: QtBot, busy: dict[str, str], open_page: Open
) -> None:
    page = open_page()
    day_of(qtbot, page, OTHER)
    assert page.day.empty.isVisible()
    page.day.head.back.click()
    assert page.table.isVisible()
    day_of(qtbot, page)
    assert not page.day.empty.isVisible()
    assert page.day.table.records.rowCount() == 4
    i18n.set_language("zh_CN")
    assert page.day.legend.said().startswith("4 次执行")
    page.show_request(OTHER)
    assert page.table.isVisible()


@one_pair
def test_what_waits_is_told_also_of_a_shop_of_which_nothing_ran(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    spec = TaskSpec(platform="pdd", shop_id=OTHER.partition(":")[2], task_type="sync_order")
    assert fleet.context.commands.tasks.create([spec], origin="console").created
    page = open_page()
    qtbot.waitUntil(lambda: page.table.records.row_of(OTHER) >= 0, timeout=WAIT_MS)
    day_of(qtbot, page, OTHER)
    rows = page.day.table.records
    assert page.day.empty.isVisible()
    assert page.day.span.isVisible(), "a longer time can be looked at"
    assert [(rows.record(row).state, rows.record(row).task_type) for row in range(rows.rowCount())] == [
        (WAITS, "sync_order")
    ]
    qtbot.waitUntil(lambda: page.day.tiles.tiles["waiting"].value.text() == "1", timeout=WAIT_MS)
    assert page.day.tiles.tiles["waiting"].isVisible()
    assert page.day.tiles.tiles["last"].beside.text() == "none known"


@one_pair
def test_what_stands_below_the_numbers_of_a_shop_at_rest_is_whole_on_the_smallest_window(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.resize(1084, 646)
    fleet.context.commands.fleet.dedicate(SHOP)
    day_of(qtbot, page)
    below = [tile.beside for tile in page.day.tiles.tiles.values()]
    qtbot.waitUntil(lambda: below[1].text() == "own queue", timeout=WAIT_MS)
    assert [one.text() for one in below] == ["none ended", "own queue", "", "", "", "not planned", "none known"]
    qtbot.waitUntil(lambda: all(one.sizeHint().width() <= one.width() for one in below), timeout=WAIT_MS)


@one_pair
@pytest.mark.parametrize("fails", ["quiet", "works"])
def test_of_two_questions_on_a_shop_one_that_fails_takes_nothing_of_the_other_away(
    qtbot: QtBot, fleet: Fleet, busy: dict[str, str], open_page: Open, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    page = open_page()
    page.table.set_current_key(SHOP)
    card = page.shop

    def refresh() -> None:
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.refresh()

    def shown() -> tuple[bool, bool, bool]:
        said = "Limits and quiet hours" in widgets.words(card)
        return bool(card.works.values()), said and card.quiet.isVisible(), bool(card.rules.values())

    refresh()
    qtbot.waitUntil(lambda: shown() == (True, True, True), timeout=WAIT_MS)

    def broken(*_any: object) -> None:
        raise StoreUnavailable("no answer")

    with monkeypatch.context() as patched:
        owner, name = (fleet.context.commands.quiet, "known") if fails == "quiet" else (fleet.context.limits, "works")
        patched.setattr(owner, name, broken)
        refresh()
        left = (True, False, False) if fails == "quiet" else (False, True, True)
        qtbot.waitUntil(lambda: shown() == left, timeout=WAIT_MS)
    refresh()
    qtbot.waitUntil(lambda: shown() == (True, True, True), timeout=WAIT_MS)


def column(page: ShopsPage, key: str) -> list[str]:
    """What a column of the runs shows, from above."""
    records = page.day.table.records
    place = next(n for n, one in enumerate(records.columns) if one.key == key)
    return [str(records.index(row, place).data()) for row in range(records.rowCount())]


def test_what_waits_is_listed_with_where_and_what_the_shop_asks_for_is_answered_above(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    ran(fleet, "get_content", 40, "succeeded")
    specs = [fleet_spec(SHOP, kind, {"goods_id": "G0001"}) for kind in ("single_product", "sync_order")]
    fleet.context.commands.tasks.create(specs, origin="console")
    schedule = Schedule(name="orders", task_type="sync_order", every_s=1800, shops=(SHOP,))
    fleet.context.commands.schedules.add(schedule)
    fleet.context.commands.fleet.pause(f"shop:{SHOP}")
    page = open_page()
    day_of(qtbot, page)
    day = page.day
    assert not page.header.isVisible(), "what is done to all shops is not offered beside one"
    assert day.head.isVisible()
    assert page.shop.isVisible()
    assert not page.shop.buttons["pause"].isVisible(), "it stands in the head"
    assert column(page, "note")[:3] == ["paused", "paused", ""], "what waits stands above what is over"
    assert column(page, "state")[:3] == ["Waiting", "Waiting", "Succeeded"]
    assert day.lists.labels()[1:3] == ["Waiting 2", "Running 0"]
    day.lists.choose("waiting")
    assert column(page, "state") == ["Waiting", "Waiting"]
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as heard:
        day.door.click()
    assert heard.args == ["tasks", f"shop:{SHOP} status:blocked,pending,queued"]
    assert day.coming.isVisible()
    assert set(day.coming.rows.values().values()) == {"orders"}
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as heard:
        day.coming.door.click()
    assert heard.args == ["schedules", "orders"]
    assert day.head.buttons["pause"].text() == "Resume shop"
    i18n.set_language("zh_CN")
    assert day.head.buttons["pause"].text() == "恢复店铺"
    i18n.set_language("en")
    day.head.buttons["pause"].click()
    qtbot.waitUntil(lambda: not fleet.store.pauses(), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: day.head.buttons["pause"].text() == "Pause shop", timeout=WAIT_MS)
    day.head.back.click()
    assert page.header.isVisible()
    assert not day.coming.isVisible()
    assert page.shop.buttons["pause"].isVisible()


def test_what_failed_and_waits_again_is_told_as_both(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    ran(fleet, "sync_order", 40, "failed", status=Status.BLOCKED)
    page = open_page()
    day_of(qtbot, page)
    assert list(zip(column(page, "state"), column(page, "attempt"), strict=True)) == [
        ("Waiting", "2"),
        ("Failed, tried again", "1"),
    ]


def test_the_page_of_a_shop_stays_with_it_whatever_the_list_shows(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    ran(fleet, "sync_order", 40, "succeeded")
    page = open_page()
    day_of(qtbot, page)
    page.filter.field.setText(OTHER)
    qtbot.waitUntil(lambda: page.table.current_key() == OTHER, timeout=WAIT_MS)
    assert page.shop.shown is not None
    assert page.shop.shown.key == SHOP
    page.shop.concurrency_chosen.emit(7)
    qtbot.waitUntil(lambda: fleet.context.shops()[SHOP].concurrency == 7, timeout=WAIT_MS)
    fleet.context.commands.fleet.pause(f"shop:{SHOP}")
    qtbot.waitUntil(lambda: page.day.head.buttons["pause"].text() == "Resume shop", timeout=WAIT_MS)
    page.header.show_frozen("14:32:07")
    assert "frozen 14:32:07" in widgets.words(page.day.head), "its own header is not seen"
    with qtbot.waitSignal(page.day.loaded, timeout=WAIT_MS):
        page.table.peek_requested.emit(OTHER)
    assert page.day.lists.labels()[0] != "All 1", "that was the shop before"


def test_esc_leaves_the_shop_from_beside_its_day_and_comes_back_to_the_list(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.window().activateWindow()
    day_of(qtbot, page)
    for _part in ("beside the day", "beside the list"):
        page.shop.buttons["edit"].setFocus()
        qtbot.keyClick(page.shop.buttons["edit"], Qt.Key.Key_Escape)
        assert not page.day.isVisible()
        assert page.table.hasFocus()


def test_above_the_day_of_a_shop_that_is_logged_out_stands_the_way_in(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    ran(fleet, "get_content", 40, "succeeded")
    fleet.context.commands.sessions.close(SHOP, note="scan it")
    page = open_page()
    day_of(qtbot, page)
    why = page.day.why
    qtbot.waitUntil(why.isVisible, timeout=WAIT_MS)
    assert why.buttons["login"].isVisible()
    assert not page.shop.buttons["session"].isVisible(), "it is offered once"
    assert "scan it" in why.strip.accessibleName()
    why.buttons["session"].click()
    qtbot.waitUntil(lambda: not why.isVisible(), timeout=WAIT_MS)


def test_above_the_day_stand_its_numbers_and_below_it_the_acts(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    ran(fleet, "sync_order", 90, "succeeded")
    ran(fleet, "get_content", 40, "failed", status=Status.DEAD)
    fleet.context.commands.fleet.pause(f"shop:{SHOP}", reason="look")
    fleet.context.commands.fleet.resume(f"shop:{SHOP}")
    fleet.context.commands.fleet.pause(f"shop:{OTHER}", reason="other")
    page = open_page()
    page.show_request(SHOP)
    qtbot.waitUntil(lambda: page.table.current_key() == SHOP, timeout=WAIT_MS)
    page.table.peek_requested.emit(SHOP)
    qtbot.waitUntil(lambda: page.day.day is not None and len(page.day.day.runs) == 2, timeout=WAIT_MS)
    tiles = page.day.tiles.tiles
    assert [tiles[key].value.text() for key in ("success", "waiting", "dead", "next")] == ["50.0\u202f%", "0", "1", "–"]
    assert tiles["last"].beside.text().endswith("ago")
    assert tiles["last"].below.text() == "sync_order", "beside the time it would be cut"
    page.day.lists.choose("acts")
    acts = page.day.acts.records
    qtbot.waitUntil(lambda: acts.rowCount() == 2, timeout=WAIT_MS)
    assert [acts.record(row).action for row in range(2)] == ["resume", "pause"]
    fleet.context.commands.fleet.pause(f"shop:{SHOP}", reason="again")
    page.refresh()
    qtbot.waitUntil(lambda: acts.rowCount() == 3, timeout=WAIT_MS)  # without another look at the list


@one_pair
def test_a_stuck_shop_says_why_and_which_task_hangs() -> None:
    now = ShopNow(platform="pdd", shop_id="pdd-10021", state=STUCK, waiting=4, running=2)
    row = ShopRow(shop=Shop(platform="pdd", shop_id="pdd-10021"), now=now)
    runs = tuple(
        DayAttempt(task_type="sync_order", state=RUNNING, begins=at, ends=at, task_id=f"t{at}", worker="rpa-06")
        for at in (2_000_000, 1_000_000)
    )
    hung = longest(ShopDay(shop=row.key, begins=0, ends=1, now=1, runs=runs))
    assert hung is not None
    assert hangs(hung, 1_000_000 + 31 * MINUTE) == "sync_order has run for 31\u202fmin on rpa-06"
    assert row.now.state in HOLDS


@one_pair
def test_the_hours_stay_in_sight_below_many_types_and_the_cursor_brings_its_row(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    for number in range(16):
        ran(fleet, f"crawl_{number:02}", 100 - number, "succeeded")
    page = open_page()
    day_of(qtbot, page)
    gantt = page.day.gantt
    last = next(run for run, _room in gantt.bars if run.task_type == "crawl_15")
    qtbot.waitUntil(lambda: gantt.parentWidget().height() >= gantt.height() > page.height() // 2)

    def room() -> QRectF:
        return next(room for run, room in gantt.bars if run.key == last.key)

    assert room().top() > gantt.foot > 0
    qtbot.mouseClick(gantt, Qt.MouseButton.LeftButton, pos=QPoint(round(room().center().x()), round(gantt.foot) + 4))
    assert gantt.current is None or gantt.current.key != last.key
    qtbot.waitUntil(lambda: gantt.foot > page.height() // 4)  # the column is laid out
    lowest, place = max(
        ((run, room.center()) for run, room in gantt.bars if room.center().y() < gantt.foot), key=lambda one: one[1].y()
    )
    pressed = gantt.mapToGlobal(place.toPoint())
    qtbot.mouseClick(gantt, Qt.MouseButton.LeftButton, pos=place.toPoint())
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as heard:  # the second press of two, at the same place
        qtbot.mouseDClick(gantt, Qt.MouseButton.LeftButton, pos=gantt.mapFromGlobal(pressed))
    assert heard.args == ["tasks", f"id:{lowest.task_id}"]
    page.day.table.set_current_key(last.key)
    assert gantt.current == last
    qtbot.waitUntil(lambda: room().bottom() <= gantt.foot)


def test_what_went_wrong_at_one_shop_is_not_said_of_the_next(
    qtbot: QtBot, fleet: Fleet, busy: dict[str, str], open_page: Open
) -> None:
    page = open_page()
    day_of(qtbot, page)
    page.day.error.show_error("the store is gone")
    page.table.peek_requested.emit(SHOP)
    assert page.day.error.isVisibleTo(page.day), "its own shop still has no answer"
    page.table.peek_requested.emit(OTHER)
    assert not page.day.error.isVisibleTo(page.day)


@one_pair
def test_on_a_low_window_the_day_scrolls_and_its_numbers_stand_in_two_rows(
    qtbot: QtBot, fleet: Fleet, busy: dict[str, str], open_page: Open
) -> None:
    """As on 1280x720 at 150 %: of the chart a line was left, and of the numbers their first letters."""
    page = open_page()
    day_of(qtbot, page)
    page.resize(785, 360)
    gantt, tiles = page.day.gantt, list(page.day.tiles.tiles.values())
    qtbot.waitUntil(lambda: gantt.parentWidget().height() >= gantt.height())
    assert min(tile.width() for tile in tiles) >= LEAST_TILE
    assert len({tile.y() for tile in tiles}) == 2
    page.resize(1400, 800)
    qtbot.waitUntil(lambda: len({tile.y() for tile in tiles}) == 1)
