"""The page as a person meets it."""

from __future__ import annotations

import dataclasses
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from msgspec import structs
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.insight.shop import ShopNow
from services.domain.task.record import Step, Task
from services.domain.task.search.filter import parse
from services.domain.task.search.match import all_of
from services.domain.task.search.query import Counts
from services.monitor.live import Snapshot, StoreHealth
from services.monitor.overview import OverviewNow, Sample
from services.watch.alerts.rules import DEFAULTS
from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource
from views.kit.list_source import ListSource
from views.pages.overview.limits import TileLimits
from views.pages.overview.page import (
    HISTORY_MS,
    LOOK_MS,
    NEWS_MS,
    QUIET_ANSWERS,
    SLOW_MS,
    SOON_MS,
    Middle,
    OverviewPage,
    form_for,
    quiet_ms,
)
from views.pages.overview.tiles import TILES
from views.pages.overview.words import row_of
from views.support import instant, shown
from views.support.memory import ShortMemory
from views.support.words.way import ALERTS_OF
from views.theme import theme
from views.widgets.kpi_tile import columns_for

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def zone() -> Iterator[None]:
    shown.set_zone("Asia/Shanghai")
    yield
    shown.set_zone("")


def opened(
    qtbot: QtBot,
    source: SampleSource,
    size: tuple[int, int] = (1404, 926),
    memory: ShortMemory | None = None,
    profile: str = "",
) -> OverviewPage:
    page = OverviewPage(source, memory=memory, profile=profile)
    qtbot.addWidget(page, before_close_func=lambda one: one.deactivate())
    page.resize(*size)
    page.show()
    page.activate()
    qtbot.waitUntil(lambda: page.settled, timeout=20_000)
    page._steps.finish()
    return page


@pytest.fixture
def source() -> SampleSource:
    return SampleSource()


@pytest.fixture
def page(qtbot: QtBot, source: SampleSource) -> OverviewPage:
    return opened(qtbot, source)


class Broken(SampleSource):
    """A source that fails when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = True

    def now(self) -> OverviewNow:
        if self.broken:
            raise ConnectionError("redis.example.com:6380, timed out after 3 s")
        return super().now()


def test_it_answers_the_three_questions(page: OverviewPage) -> None:
    assert page.header.summary().startswith("1,284 tasks waiting")
    assert page.tiles["dead"].kpi.alarm
    assert len(page.attention.list.items()) == 5
    assert page.fleet.map.rows.total == 312
    assert page.charts.depth.legend.item("normal").accessibleName() == "Normal 768"


@pytest.mark.parametrize(
    ("key", "signal", "said"),
    [
        ("ready", "open_tasks", ["status:waiting"]),
        ("unacked", "open_workers", []),
        ("running", "open_tasks", ["status:running"]),
        ("retrying", "open_tasks", ["status:retrying"]),
        ("dead", "open_dead", []),
        ("oldest", "open_tasks", ["status:waiting"]),
    ],
)
def test_every_number_is_a_door(qtbot: QtBot, page: OverviewPage, key: str, signal: str, said: list[str]) -> None:
    with qtbot.waitSignal(getattr(page, signal)) as heard:
        qtbot.mouseClick(page.tiles[key], LEFT)
    assert heard.args == said


def test_the_success_rate_opens_what_ended_in_the_last_hour(qtbot: QtBot, page: OverviewPage) -> None:
    with qtbot.waitSignal(page.open_tasks) as heard:
        qtbot.keyClick(page.tiles["success"], Qt.Key.Key_Return)
    terms = parse(heard.args[0], now_ms=NOW_MS)
    assert terms[1].number == terms[2].number == pytest.approx(NOW_MS - 3_600_000, abs=1000)
    died, hour = Step(at=NOW_MS - 60_000, from_="running", to="dead"), 3_600_000
    late = Task(
        task_id="late", shop_id="1", platform="pdd", task_type="t", status="dead", updated_at=NOW_MS, steps=(died,)
    )
    dealt_with = (replace(died, at=NOW_MS - 2 * hour), replace(died, from_="dead"))
    before = replace(late, task_id="before", triage="archived", steps=dealt_with)
    assert [task.task_id for task in (late, before) if all_of(terms)(task)] == ["late"]


def test_a_marked_span_opens_the_tasks_of_that_time(qtbot: QtBot, page: OverviewPage) -> None:
    with qtbot.waitSignal(page.open_tasks) as heard:
        page.charts.depth.plot.span_chosen.emit(NOW_MS - 60_000, NOW_MS)
    assert [term.field for term in parse(heard.args[0], now_ms=NOW_MS)] == ["updated", "updated"]


def test_shops_and_verbs_are_doors_too(qtbot: QtBot, page: OverviewPage) -> None:
    with qtbot.waitSignal(page.open_shop) as heard:
        page.fleet.map.shop_clicked.emit("temu", "temu-20355")
    assert heard.args == ["temu", "temu-20355"]
    with qtbot.waitSignal(page.attention_verb) as heard:
        qtbot.mouseClick(page.attention.list.items()[0].links()[0], LEFT)
    assert heard.args == ["triage", "f1"]


def test_a_cell_of_the_map_has_a_menu_whose_entries_are_doors(qtbot: QtBot, page: OverviewPage) -> None:
    heat = page.fleet.map
    shop = heat.rows.cells[0]
    at = heat.rect_of(shop.platform, shop.shop_id).center().toPoint()
    QApplication.sendEvent(heat, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, heat.mapToGlobal(at)))
    (menu,) = heat.findChildren(QMenu)
    entries = {action.text(): action for action in menu.actions() if action.text()}
    assert list(entries) == ["Open shop", "Show tasks", "Copy name", "Copy id"]
    with qtbot.waitSignal(page.open_shop) as heard:
        entries["Open shop"].trigger()
    assert heard.args == [shop.platform, shop.shop_id]
    with qtbot.waitSignal(page.open_tasks) as heard:
        entries["Show tasks"].trigger()
    assert heard.args == [f"shop:{shop.key}"]
    entries["Copy id"].trigger()
    assert QApplication.clipboard().text() == shop.shop_id
    entries["Copy name"].trigger()
    assert QApplication.clipboard().text() == shop.name


CTRL = Qt.KeyboardModifier.ControlModifier


def test_many_shops_of_the_map_are_chosen_and_opened_in_shops(qtbot: QtBot, page: OverviewPage) -> None:
    heat, door = page.fleet.map, page.fleet.door
    first, second, third = heat.rows.cells[:3]

    def place(shop: ShopNow) -> QPoint:
        return heat.rect_of(shop.platform, shop.shop_id).center().toPoint()

    def sweep() -> None:
        qtbot.mousePress(heat, LEFT, CTRL, place(first))
        for shop in (second, third):
            QTest.mouseMove(heat, place(shop))
        qtbot.mouseRelease(heat, LEFT, CTRL, place(third))

    assert door.isHidden()
    with qtbot.assertNotEmitted(page.open_shop):
        sweep()
        qtbot.mouseClick(heat, LEFT, CTRL, place(second))
    assert door.text() == "Open 2 chosen shops in Shops"
    heat.setFocus()
    qtbot.keyClick(heat, Qt.Key.Key_Home)
    assert heat.accessibleDescription().endswith("; selected")
    qtbot.keyClick(heat, Qt.Key.Key_Space, CTRL)
    assert heat.chosen == (third.key,)
    qtbot.keyClick(heat, Qt.Key.Key_Escape)
    assert door.isHidden()
    sweep()
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.mouseClick(door, LEFT)
    assert heard.args == ["shops", f"shops of {first.key} {second.key} {third.key}"]
    assert door.isHidden()


def test_the_menu_of_a_cell_opens_all_that_are_chosen(qtbot: QtBot, page: OverviewPage) -> None:
    heat = page.fleet.map
    shop = heat.rows.cells[0]
    at = heat.rect_of(shop.platform, shop.shop_id).center().toPoint()
    qtbot.mouseClick(heat, LEFT, CTRL, at)
    QApplication.sendEvent(heat, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, heat.mapToGlobal(at)))
    (menu,) = heat.findChildren(QMenu)
    with qtbot.waitSignal(page.navigate) as heard:
        next(one for one in menu.actions() if one.text() == "Open 1 chosen shop in Shops").trigger()
    assert heard.args == ["shops", f"shops of {shop.key}"]


def test_the_legend_of_the_fleet_filters_it(qtbot: QtBot, page: OverviewPage) -> None:
    before = page.fleet.map.grab().toImage()
    qtbot.mouseClick(page.fleet.legend.item("stuck"), LEFT)
    assert page.fleet.map.grab().toImage() != before


def test_another_range_asks_for_its_samples(qtbot: QtBot, page: OverviewPage, source: SampleSource) -> None:
    page.range_switch.choose("300")
    qtbot.waitUntil(lambda: 300 in source.asked_series)
    qtbot.waitUntil(lambda: 0 < len(page.charts.depth.plot.frame_shown) <= 302)
    assert page.charts.window.range_s == 300


def test_zoom_in_one_chart_is_zoom_in_all(page: OverviewPage) -> None:
    assert not page.charts.whole_button.isVisible()
    page.charts.window.zoom(0.1, NOW_MS / 1000 - 1800)
    assert page.charts.whole_button.isVisible(), "what is seen is not now, and the way back stands there"
    for card in page.charts.cards:
        shown_at = card.plot.frame_shown.at
        assert 300 < shown_at[-1] - shown_at[0] < 400
    page.charts.whole_button.click()
    assert page.charts.window.whole
    assert not page.charts.whole_button.isVisible()


def test_freezing_stops_painting_and_keeps_receiving(qtbot: QtBot, page: OverviewPage, source: SampleSource) -> None:
    with qtbot.waitSignal(page.freeze_wanted):
        qtbot.mouseClick(page.freezing.button, LEFT)
    assert page.freezing.button.text() == "Freeze view", "the window decides"
    page.set_frozen(True)
    assert page.freezing.button.text() == "Resume view"
    source.calm = True
    asked = source.asked_now
    page.note_news()
    qtbot.waitUntil(lambda: source.asked_now > asked and not page.asking.busy)
    assert page.tiles["dead"].kpi.value == "143"
    page.set_frozen(False)
    assert page.freezing.button.text() == "Freeze view"
    assert page.tiles["dead"].kpi.value == "12"


def test_what_stands_still_for_a_loss_does_not_offer_to_go_on(page: OverviewPage) -> None:
    page.stand_still("08:47:06")
    page.set_frozen(True)
    assert page.freezing.button.text() == "Freeze view"
    assert page.freezing.button.toolTip() == "Not while the connection is lost"
    page.stand_still("")
    page.set_frozen(False)
    assert page.freezing.button.isEnabled()


def test_a_hidden_page_asks_nothing(qtbot: QtBot, page: OverviewPage, source: SampleSource) -> None:
    page.hide()
    asking = page.findChildren(ListSource)
    qtbot.waitUntil(lambda: not any(one.busy for one in asking))
    asked = (source.asked_now, len(source.asked_series))
    assert not any(one.active for one in asking)
    page.show()
    qtbot.waitUntil(lambda: source.asked_now > asked[0] and len(source.asked_series) > asked[1])
    page.deactivate()
    assert not any(one.active for one in asking)


def test_it_asks_less_often_when_answers_are_slow(page: OverviewPage) -> None:
    assert page.asking.every_ms >= LOOK_MS
    look = page.looked
    assert look is not None
    page.asking.listed.emit(replace(look, took_s=1.2))
    assert page.asking.every_ms == 6000
    page.asking.listed.emit(replace(look, took_s=30.0))
    assert page.asking.every_ms == 10_000


def test_the_rates_beside_their_names_are_what_their_curves_end_with(page: OverviewPage) -> None:
    plot, legend = page.charts.rates.plot, page.charts.rates.legend
    assert len(plot.frame_shown) > 1
    assert page.looked is not None
    # of a minute: a burst that has ended is still in it
    page.charts.show_now(page.looked.now, TileLimits())
    for one in plot.series:
        said = plot.say(float(plot.frame_shown[one.key][-1]))
        assert legend.item(one.key).accessibleName() == f"{one.word()} {said}"


def test_numbers_wait_for_what_stands_beside_them(qtbot: QtBot, page: OverviewPage, source: SampleSource) -> None:
    page.asking.ask_every(600_000)  # what is new does not wait for the next second
    source.dead = 145
    asked = source.asked_now
    page.note_news()
    qtbot.waitUntil(lambda: page.tiles["dead"].kpi.value == "145")
    assert source.asked_now > asked, "they are of one answer"


def test_what_happens_is_asked_for_without_a_newer_snapshot(
    qtbot: QtBot, page: OverviewPage, source: SampleSource
) -> None:
    page.asking.ask_every(600_000)
    source.dead = 145
    page.note_changes()
    qtbot.waitUntil(lambda: page.tiles["dead"].kpi.value == "145")


def test_a_snapshot_that_says_nothing_new_asks_for_nothing(
    qtbot: QtBot, page: OverviewPage, source: SampleSource
) -> None:
    page.asking.ask_every(600_000)
    asked, begun = source.asked_now, Snapshot(at_ms=NOW_MS, taken=0.0, counts=Counts(cursor="1"))
    page.note_news(begun)
    qtbot.waitUntil(lambda: source.asked_now == asked + 1 and not page.asking.busy)
    page.note_news(begun)  # the answer may be of before, so the servers are heard once more
    qtbot.wait(NEWS_MS * 2)
    heard = source.asked_fresh
    for second in range(1, 6):
        page.note_news(dataclasses.replace(begun, at_ms=NOW_MS + second * 1000, taken=float(second)))
        qtbot.wait(SOON_MS // 2)
    assert (source.asked_now, source.asked_fresh) == (asked + 1, heard)
    page.note_news(dataclasses.replace(begun, counts=Counts(cursor="2")))
    qtbot.waitUntil(lambda: source.asked_now == asked + 2)


class Jumping:
    """The time of a fleet that is an hour later after some readings."""

    def __init__(self) -> None:
        self._at_ms, self._left = NOW_MS, 0

    def again(self, readings: int) -> None:
        self._left = readings

    def now_ms(self) -> int:
        self._left -= 1
        self._at_ms += 3_600_000 if self._left == 0 else 0
        return self._at_ms


def test_items_are_said_of_one_instant_whenever_it_moves(page: OverviewPage) -> None:
    assert page.looked is not None
    watch, items = Jumping(), {item.key: item for item in page.looked.now.attention}
    instant.ticks().follow(watch)
    for readings in range(1, 20):
        watch.again(readings)
        page.retranslate()
        now = instant.now_ms()
        rows = [item.row for item in page.attention.list.items()]
        assert len(rows) > 1
        assert [row.age for row in rows] == [row_of(items[row.key], now).age for row in rows], readings


def test_where_nothing_happens_the_past_is_asked_for_less_often_until_something_does(
    qtbot: QtBot, page: OverviewPage, source: SampleSource
) -> None:
    said = Snapshot(at_ms=NOW_MS, taken=0.0, counts=Counts(cursor="1"))
    samples = page.samples
    page.note_news(said)

    def answers() -> None:
        for _ in range(QUIET_ANSWERS):
            samples.again(settle=False)
            qtbot.waitUntil(lambda: not samples.busy)

    answers()
    quiet = quiet_ms(3_600)
    assert samples.every_ms == quiet > HISTORY_MS
    qtbot.waitUntil(lambda: not page.asking.busy)
    page.asking.again(settle=False)
    qtbot.waitUntil(lambda: page.asking.every_ms == SLOW_MS)
    page.note_news(dataclasses.replace(said, at_ms=NOW_MS + 1000, taken=1.0))
    assert samples.every_ms == quiet, "it says nothing new"
    asked = len(source.asked_series)
    page.note_news(dataclasses.replace(said, counts=Counts(cursor="2")))
    assert (samples.every_ms, page.asking.every_ms) == (HISTORY_MS, LOOK_MS)
    qtbot.waitUntil(lambda: len(source.asked_series) > asked)
    answers()
    assert samples.every_ms == quiet
    page.charts.window.set_cursor(NOW_MS / 1000 - 60)
    assert samples.every_ms == HISTORY_MS, "somebody points at an instant"
    answers()
    assert samples.every_ms == HISTORY_MS, "and goes on to"


def test_what_the_broker_tells_is_grey_while_only_that_is_lost(
    qtbot: QtBot, page: OverviewPage, source: SampleSource
) -> None:
    def greys() -> set[str]:
        cards = {"depth": page.charts.depth, "rates": page.charts.rates, "held": page.charts.unacked, **page.tiles}
        return {name for name, widget in cards.items() if widget.graphicsEffect() is not None}

    assert greys() == set()
    source.lost = "broker"
    page.note_news()
    qtbot.waitUntil(lambda: greys() == {"depth", "held", "unacked"})
    kpi = page.tiles["unacked"].kpi
    assert (kpi.value, kpi.context) == ("–", "not known while the broker is lost")
    assert page.charts.unacked.legend.item("unacked").accessibleName().endswith(" –"), "the chart knows no more"
    assert {row.state for row in page.looked.now.shops} != {"unknown"}  # type: ignore[union-attr]
    source.lost = "store"
    page.note_news()
    qtbot.waitUntil(lambda: greys() == set())  # the window greys the whole page


def shown_states(page: OverviewPage) -> set[str]:
    return {cell.state for cell in page.fleet.map.rows.cells}


def test_shops_are_unknown_while_the_store_is_lost(qtbot: QtBot, page: OverviewPage, source: SampleSource) -> None:
    assert len(shown_states(page)) > 1
    source.lost = "store"
    page.note_news()
    qtbot.waitUntil(lambda: shown_states(page) == {"unknown"})
    assert {state for state, number in page.fleet.map.rows.counts.items() if number} == {"unknown"}


class Late(SampleSource):
    """Answers when somebody lets it, with what was so when it was asked."""

    def __init__(self, *, calm: bool = False) -> None:
        super().__init__(calm=calm)
        self.go_on = threading.Event()
        self.go_on.set()
        self.answered: list[OverviewNow] = []

    def now(self) -> OverviewNow:
        found = super().now()
        assert self.go_on.wait(20)
        self.answered.append(found)
        return found


@pytest.mark.parametrize("heard", ["just before", "meanwhile"])
def test_a_store_that_was_lost_while_another_page_was_seen_is_told_before_it_answers(qtbot: QtBot, heard: str) -> None:
    def leave() -> None:
        page.deactivate()
        page.hide()

    source = Late()
    page = opened(qtbot, source)
    stands = Snapshot(at_ms=NOW_MS, taken=0.0)
    lost = dataclasses.replace(stands, store=StoreHealth(connected=False))
    source.go_on.clear()
    heard_before = source.asked_fresh
    page.note_news(stands)
    qtbot.waitUntil(lambda: source.asked_fresh > heard_before)
    source.lost = "store"
    if heard == "just before":
        page.note_news(lost)  # so soon after the other it waits for its turn
        leave()
    else:
        leave()
        page.note_news(lost)
    page.show()
    page.activate()
    assert shown_states(page) != {"unknown"}
    page.note_news(lost)
    qtbot.waitUntil(lambda: shown_states(page) == {"unknown"})
    source.go_on.set()


@pytest.mark.parametrize("arrives", ["a snapshot", "an answer"])
def test_a_page_that_stands_still_for_a_lost_store_says_so_though_it_stood_still_first(
    qtbot: QtBot, page: OverviewPage, source: SampleSource, arrives: str
) -> None:
    page.set_frozen(True)
    source.lost = "store"
    tell = page.note_news if arrives == "a snapshot" else page.refresh
    tell()
    qtbot.waitUntil(lambda: shown_states(page) == {"unknown"})


def test_a_lost_store_never_says_that_nothing_needs_a_person(qtbot: QtBot) -> None:
    source = SampleSource(calm=True)
    page = opened(qtbot, source)
    calm = page.attention.list.empty
    assert "Nothing needs you" in texts_of(calm)
    source.lost = "store"
    page.note_news()
    qtbot.waitUntil(lambda: "Not known while a server is lost" in texts_of(calm))


def test_an_answer_from_before_a_loss_does_not_take_its_news_back(qtbot: QtBot) -> None:
    source = Late(calm=True)
    page = opened(qtbot, source)
    calm = page.attention.list.empty
    source.go_on.clear()
    page.refresh()
    qtbot.waitUntil(lambda: source.asked_now == 2)
    source.lost = "store"
    page.note_news()
    qtbot.waitUntil(lambda: "Not known while a server is lost" in texts_of(calm))
    source.answered.clear()
    before = page.looked
    source.go_on.set()
    qtbot.waitUntil(lambda: bool(source.answered) and page.looked is not before)
    assert "Not known while a server is lost" in texts_of(calm)


def texts_of(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


def test_what_a_lost_server_means_is_worked_out_beside_this_thread(qtbot: QtBot) -> None:
    threads: list[threading.Thread] = []

    class Slow(SampleSource):
        """Judges ten thousand shops for as long as somebody waits."""

        def fresh(self, now: OverviewNow) -> OverviewNow:
            threads.append(threading.current_thread())
            assert go_on.wait(20)
            return super().fresh(now)

    go_on, source = threading.Event(), Slow()
    go_on.set()
    page = opened(qtbot, source)
    page.deactivate()
    go_on.clear()
    threads.clear()
    source.lost = "store"
    for _ in range(3):
        page.note_news()
        qtbot.wait(150)
    assert shown_states(page) != {"unknown"}, "and the page was there meanwhile"
    go_on.set()
    qtbot.waitUntil(lambda: shown_states(page) == {"unknown"})
    assert threading.current_thread() not in threads
    assert 1 <= len(threads) <= 3, "what came meanwhile is one more look"


class Quiet(SampleSource):
    """Has watched for longer than is asked for; tasks end from some second on."""

    ends_from_ms = NOW_MS + 1000

    def series(self, range_s: int, max_points: int) -> Sequence[Sample]:
        found = super().series(range_s + 60, max_points)
        return [structs.replace(one, succeeded=int(one.at_ms >= self.ends_from_ms), failed=0) for one in found]


def test_the_first_task_that_ends_after_a_quiet_stretch_begins_the_curve_of_success(qtbot: QtBot) -> None:
    source = Quiet()
    page = opened(qtbot, source)
    tile = page.tiles["success"]
    nothing = tile.grab().toImage()
    source.at_ms += 1000
    page.refresh()
    qtbot.waitUntil(lambda: tile.grab().toImage() != nothing)


def test_a_limit_of_ones_own_is_kept(qtbot: QtBot) -> None:
    memory = ShortMemory()
    page = opened(qtbot, SampleSource(), memory=memory)
    assert page.tiles["dead"].kpi.alarm
    dialog = page.ask_limit(next(spec for spec in TILES if spec.key == "dead"))
    dialog.field.setValue(500)
    qtbot.mouseClick(dialog.accept_button, LEFT)
    assert not page.tiles["dead"].kpi.alarm
    assert not opened(qtbot, SampleSource(), memory=memory).tiles["dead"].kpi.alarm


def test_a_limit_holds_for_its_connection_alone(qtbot: QtBot) -> None:
    memory = ShortMemory()
    memory.put("overview.limits", {"dead": 7})  # as it was kept when all connections shared them

    page = opened(qtbot, SampleSource(), memory=memory, profile="test")
    dialog = page.ask_limit(next(spec for spec in TILES if spec.key == "dead"))
    assert dialog.field.value() == 7
    dialog.field.setValue(100_000)
    dialog.accept_button.click()
    assert "limit" not in opened(qtbot, SampleSource(), memory=memory, profile="test").tiles["dead"].kpi.sentence
    other = opened(qtbot, SampleSource(), memory=memory, profile="production")
    assert "above limit 7" in other.tiles["dead"].kpi.sentence


def menu_of(page: OverviewPage, key: str) -> dict[str, QAction]:
    """What a right-click on a tile offers."""
    tile = page.tiles[key]
    at = tile.rect().center()
    QApplication.sendEvent(tile, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, tile.mapToGlobal(at)))
    menu = tile.findChildren(QMenu)[-1]
    return {action.text(): action for action in menu.actions() if action.text()}


def test_a_tile_whose_limit_nobody_can_set_says_why(page: OverviewPage) -> None:
    for spec in TILES:
        verb = "Set lower limit" if spec.key == "success" else "Set limit"
        offered = menu_of(page, spec.key)[f"{verb} …"]
        assert offered.isEnabled() == bool(spec.limit)
        assert ("limit" in offered.toolTip() and offered.toolTip() != verb) == (not spec.limit)


class Clock:
    """The time of a fleet that stands still until a test sets it."""

    at_ms = NOW_MS

    def now_ms(self) -> int:
        return self.at_ms


def test_an_item_that_is_over_leaves_after_ten_seconds_though_nobody_answers(
    qtbot: QtBot, source: SampleSource, page: OverviewPage
) -> None:
    watch = Clock()
    instant.ticks().follow(watch)
    source.calm = True
    page.refresh()
    qtbot.waitUntil(lambda: all(item.resolved for item in page.attention.list.items()), timeout=20_000)
    page.deactivate()
    for seconds, shown_still in ((9, True), (11, False)):
        watch.at_ms = NOW_MS + seconds * 1000
        page.retranslate()  # as each second does
        assert bool(page.attention.list.items()) is shown_still


def test_every_tile_opens_what_alerts_say_of_it(qtbot: QtBot, page: OverviewPage) -> None:
    measures = {rule.measure for rule in DEFAULTS}
    for spec in TILES:
        with qtbot.waitSignal(page.navigate) as heard:
            menu_of(page, spec.key)["Open in Alerts"].trigger()
        assert heard.args is not None
        place, request = heard.args
        assert place == "alerts"
        assert request.removeprefix(ALERTS_OF) in measures, "a rule looks at it"


def order(page: OverviewPage) -> list[str]:
    """The tiles as they are read."""
    return sorted(page.tiles, key=lambda key: (page.tiles[key].y(), page.tiles[key].x()))


def drag(qtbot: QtBot, page: OverviewPage, key: str, onto: str, *, drop: bool = True) -> None:
    tile, goal = page.tiles[key], page.tiles[onto].mapToGlobal(page.tiles[onto].rect().center())
    qtbot.mousePress(tile, LEFT, pos=tile.rect().center())
    qtbot.mouseMove(tile, tile.mapFromGlobal(goal))
    if drop:
        qtbot.mouseRelease(tile, LEFT, pos=tile.mapFromGlobal(goal))


USUAL = [spec.key for spec in TILES]


@pytest.mark.parametrize("size", [(1404, 926), (640, 926)])
def test_tiles_are_put_in_another_order_by_drag_and_stay_there(qtbot: QtBot, size: tuple[int, int]) -> None:
    memory = ShortMemory()
    page = opened(qtbot, SampleSource(), size, memory)
    assert order(page) == USUAL
    with qtbot.assertNotEmitted(page.open_dead):
        drag(qtbot, page, "dead", "ready")
    moved = ["dead", *(key for key in USUAL if key != "dead")]
    assert order(page) == moved
    with qtbot.waitSignal(page.open_dead):
        qtbot.mouseClick(page.tiles["dead"], LEFT)
    again = opened(qtbot, SampleSource(), size, memory)
    assert order(again) == moved
    again.tiles["dead"].setFocus()
    qtbot.keyClick(again.tiles["dead"], Qt.Key.Key_Tab)
    assert again.tiles["ready"].hasFocus(), "the tab key goes as they are read"
    menu_of(again, "running")["Usual order"].trigger()
    assert order(again) == USUAL
    assert order(opened(qtbot, SampleSource(), size, memory)) == USUAL


def test_a_drag_that_is_given_up_moves_nothing(qtbot: QtBot) -> None:
    memory = ShortMemory()
    page = opened(qtbot, SampleSource(), memory=memory)
    drag(qtbot, page, "ready", "dead", drop=False)
    assert order(page) != USUAL
    qtbot.keyClick(page.tiles["ready"], Qt.Key.Key_Escape)
    qtbot.mouseRelease(page.tiles["ready"], LEFT)
    assert order(page) == USUAL
    assert order(opened(qtbot, SampleSource(), memory=memory)) == USUAL


def test_tiles_are_moved_by_keys_and_by_their_menu(qtbot: QtBot) -> None:
    memory = ShortMemory()
    page = opened(qtbot, SampleSource(), memory=memory)
    tile, keys = page.tiles["ready"], Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    offered = menu_of(page, "ready")
    assert not offered["Move left"].isEnabled()
    assert not offered["Usual order"].isEnabled()
    tile.setFocus()
    qtbot.keyClick(tile, Qt.Key.Key_Left, keys)
    assert order(page) == USUAL, "it is the first"
    qtbot.keyClick(tile, Qt.Key.Key_Right, keys)
    menu_of(page, "ready")["Move right"].trigger()
    assert order(page) == ["unacked", "running", "ready", *USUAL[3:]]
    menu_of(page, "ready")["Move left"].trigger()
    assert order(opened(qtbot, SampleSource(), memory=memory)) == ["unacked", "ready", *USUAL[2:]]
    assert not menu_of(page, "oldest")["Move right"].isEnabled()


def test_what_one_window_says_of_the_tiles_holds_in_all_that_are_open(qtbot: QtBot) -> None:
    memory = ShortMemory()
    here, there = (opened(qtbot, SampleSource(), memory=memory) for _window in range(2))
    drag(qtbot, here, "dead", "ready")
    moved = ["dead", *(key for key in USUAL if key != "dead")]
    qtbot.waitUntil(lambda: order(there) == moved)
    dialog = here.ask_limit(next(spec for spec in TILES if spec.key == "dead"))
    dialog.field.setValue(500)
    assert there.tiles["dead"].kpi.alarm
    qtbot.mouseClick(dialog.accept_button, LEFT)
    qtbot.waitUntil(lambda: not there.tiles["dead"].kpi.alarm)
    menu_of(there, "dead")["Usual order"].trigger()
    qtbot.waitUntil(lambda: order(here) == USUAL)


def test_an_order_of_another_version_leaves_out_no_tile(qtbot: QtBot) -> None:
    memory = ShortMemory()
    memory.put("overview.order", ["dead", "gone", "dead", 3])
    assert order(opened(qtbot, SampleSource(), memory=memory))[:2] == ["dead", "ready"]
    memory.put("overview.order", {"dead": 1})
    assert order(opened(qtbot, SampleSource(), memory=memory)) == USUAL


def test_a_muted_item_leaves_at_once_and_can_be_shown_again(qtbot: QtBot) -> None:
    memory = ShortMemory()
    page = opened(qtbot, SampleSource(), memory=memory)
    first = page.attention.list.items()[0]
    first.mute.emit(first.row, "hour")
    assert [item.row.key for item in page.attention.list.items()].count(first.row.key) == 0
    assert page.attention.foot.isVisible()
    assert len(opened(qtbot, SampleSource(), memory=memory).attention.list.items()) == 4
    qtbot.mouseClick(page.attention.foot.show_again, LEFT)
    assert len(page.attention.list.items()) == 5
    assert not page.attention.foot.isVisible()


def test_every_item_can_be_muted_from_the_head_of_the_card(page: OverviewPage) -> None:
    page.attention._fill_menu()
    parts = page.attention._menu.actions()
    assert [part.text() for part in parts] == [item.row.title for item in page.attention.list.items()]
    part = parts[0].menu()
    assert isinstance(part, QMenu)
    part.actions()[2].trigger()
    assert len(page.attention.list.items()) == 4


def test_an_error_is_told_in_its_place_and_goes_with_the_next_answer(qtbot: QtBot) -> None:
    source = Broken()
    page = OverviewPage(source)
    qtbot.addWidget(page, before_close_func=lambda one: one.deactivate())
    page.resize(1404, 926)
    page.show()
    page.activate()
    qtbot.waitUntil(page.error.isVisible)
    assert "timed out after 3 s" in page.error.accessibleName()
    said = [page.attention.list.empty.accessibleName(), page.fleet.empty.accessibleName()]
    assert said == ["What needs attention could not be loaded", "The shops could not be loaded"]
    source.broken = False
    page.error.retry_button.click()
    qtbot.waitUntil(lambda: not page.error.isVisible())
    assert page.fleet.map.isVisible()
    assert page.attention.list.items()


def test_a_new_installation_says_why_it_is_empty(qtbot: QtBot, language: str) -> None:
    page = opened(qtbot, SampleSource(empty=True))
    assert page.fleet.empty.isVisible()
    assert page.attention.list.empty.isVisible()
    assert not page.grab().isNull()


@pytest.mark.deep
@pytest.mark.parametrize("shops", [0, 60, 1000, 10_000])
@pytest.mark.parametrize("size", [(1404, 926), (1084, 726), (876, 440)])
def test_nothing_is_cut(qtbot: QtBot, shops: int, size: tuple[int, int], language: str) -> None:
    page = opened(qtbot, SampleSource(shops), size)
    QApplication.processEvents()
    inner = page.scroll_area.widget()
    assert inner is not None
    assert inner.width() <= page.scroll_area.viewport().width()
    for card in (
        *page.tiles.values(),
        page.charts.depth,
        page.charts.rates,
        page.charts.unacked,
        page.attention,
        page.fleet,
    ):
        place = card.geometry().translated(card.parentWidget().mapTo(inner, QPoint(0, 0)))
        assert inner.rect().contains(place), card.accessibleName()
        assert card.height() >= 100
    for legend in (page.charts.depth.legend, page.charts.rates.legend, page.charts.unacked.legend, page.fleet.legend):
        if legend.isVisible():
            _is_whole(legend)


def _is_whole(legend: QWidget) -> None:
    card = legend.parentWidget()
    assert card is not None
    for item in [item for item in legend.findChildren(QAbstractButton) if not item.isHidden()]:
        assert item.width() >= item.sizeHint().width()
        assert item.mapTo(card, QPoint(item.width(), 0)).x() <= card.width()


def test_tiles_wrap_into_even_rows() -> None:
    assert [columns_for(7, width) for width in (1372, 1042, 1010, 700, 480, 200)] == [7, 7, 4, 4, 3, 1]


def test_the_list_goes_below_the_charts_where_it_is_narrow() -> None:
    assert [form_for(width) for width in (1372, 1052, 844, 500)] == ["wide", "wide", "middle", "narrow"]


@pytest.mark.parametrize(("shops", "size"), [(60, (1084, 726)), (24, (1170, 694))])
def test_all_of_a_small_fleet_is_in_sight_on_a_small_screen(
    qtbot: QtBot, language: str, shops: int, size: tuple[int, int]
) -> None:
    page = opened(qtbot, SampleSource(shops), size)
    qtbot.waitUntil(lambda: page.scroll_area.verticalScrollBar().maximum() == 0)


def test_every_control_has_a_name(page: OverviewPage, language: str) -> None:
    nameless = [
        type(widget).__name__
        for widget in page.findChildren(QWidget)
        if widget.isVisibleTo(page)
        and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not widget.accessibleName()
        and type(widget).__module__.startswith("views")
    ]
    assert nameless == []


def test_it_follows_language_and_theme(page: OverviewPage) -> None:
    before = page.grab().toImage()
    i18n.set_language("zh_CN")
    theme().set_mode("light")
    assert page.grab().toImage() != before
    assert "分" in page.header.summary() + page.tiles["oldest"].kpi.value


@pytest.mark.bench
@pytest.mark.parametrize("shops", [312, 10_000])
def test_a_second_of_the_page_costs_the_window_little(qtbot: QtBot, shops: int) -> None:
    page = opened(qtbot, SampleSource(shops))
    page.deactivate()
    look, history = page.looked, page._history
    assert look is not None
    assert history is not None
    data = page._data
    took: dict[str, list[float]] = {}
    page.grab()

    def measure(name: str, *actions: Callable[[], object]) -> None:
        began = time.thread_time()
        for action in actions:
            action()
        took.setdefault(name, []).append(time.thread_time() - began)

    for turn in range(20):
        fresh = data.look()
        measure("numbers", page._show_numbers, *(tile.grab for tile in page.tiles.values()))
        measure("fleet and attention", partial(page._on_look, fresh), page.fleet.grab, page.attention.grab)
        measure("history", partial(page._on_history, history))
        for card, step in zip(page.charts.cards, page.charts.steps(), strict=True):
            measure(f"chart {card.accessibleName()}", step, card.grab)
        for half, specs in enumerate((TILES[:4], TILES[4:])):
            grabs = [page.tiles[spec.key].grab for spec in specs]
            measure(f"curves of tiles, step {half + 1}", partial(page._show_curves, specs), *grabs)
        page._steps.stop()
        page.charts.window.set_cursor(NOW_MS / 1000 - turn * 10)
        measure("crosshair", *(card.plot.grab for card in page.charts.cards))
    for name, run in took.items():
        median, worst = statistics.median(run) * 1000, max(run) * 1000
        print(f"{shops} shops, {name}: {median:.1f} ms of a processor (aim 16), worst {worst:.1f} ms")


class Unsent(SampleSource):
    """A source with tasks that are recorded and not sent."""

    def now(self) -> OverviewNow:
        found = super().now()
        return replace(found, flow=replace(found.flow, facts=replace(found.flow.facts, unsent=20)))


def test_the_chart_of_queues_says_what_it_does_not_count(qtbot: QtBot, page: OverviewPage) -> None:
    def beside(shown: OverviewPage) -> list[str]:
        labels = shown.charts.depth.findChildren(QLabel)
        return [label.text() for label in labels if "recorded, not sent" in label.text()]

    assert beside(page) == []
    held_up = opened(qtbot, Unsent())
    qtbot.waitUntil(lambda: beside(held_up)[0].startswith("besides 20 recorded, not sent"))


def test_the_chart_of_queues_says_why_it_differs_from_the_tile_and_goes_on_saying_it(qtbot: QtBot) -> None:
    """They are counted by two servers at two moments."""
    behind = 0

    class TwoServers(SampleSource):
        def now(self) -> OverviewNow:
            found = super().now()
            depth = sum(lane.depth for lane in found.lanes)
            self.at_ms += 1
            return replace(found, at_ms=self.at_ms, status_counts={"queued": depth + behind})

    page = opened(qtbot, TwoServers())

    def note() -> list[str]:
        labels = page.charts.depth.findChildren(QLabel)
        return [label.text() for label in labels if "Waiting is by the records" in label.text()]

    assert note() == []
    behind = 3
    page.refresh()
    qtbot.waitUntil(lambda: note() == ["by the queues; Waiting is by the records"])
    behind, seen = 0, page.looked
    page.refresh()
    qtbot.waitUntil(lambda: page.looked is not seen)
    assert note() != [], "what comes and goes would be read as news"


def test_a_number_that_is_owed_is_asked_for_when_it_can_be_told(
    qtbot: QtBot, source: SampleSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOOK_MS", "SLOW_MS"):  # nothing else would ask again
        monkeypatch.setattr(f"views.pages.overview.page.{name}", 3_600_000)
    source.owed_s, source.dead = 0.05, 143
    page = opened(qtbot, source)
    source.owed_s, source.dead = 0.0, 144
    qtbot.waitUntil(lambda: page.tiles["dead"].kpi.value == "144", timeout=20_000)


def test_cards_stand_where_the_size_of_the_window_puts_them_however_it_came_to_it(
    qtbot: QtBot, source: SampleSource
) -> None:
    page = opened(qtbot, source, size=(1400, 900))
    cards = (page.charts.depth, page.charts.rates, page.charts.unacked, page.attention, page.fleet)

    def places() -> list[QRect]:
        return [QRect(card.mapTo(page, QPoint(0, 0)), card.size()) for card in cards]

    first = places()
    middle = page.findChild(Middle)
    for wide, high, form in ((700, 900, "middle"), (560, 900, "narrow"), (1400, 500, "wide"), (1500, 1800, "wide")):
        page.resize(wide, high)
        qtbot.waitUntil(lambda form=form: middle.form == form and places() != first)
        page.resize(1400, 900)
        qtbot.waitUntil(lambda: places() == first)


def test_in_a_high_window_it_is_the_chart_of_the_queues_that_grows(qtbot: QtBot, source: SampleSource) -> None:
    page = opened(qtbot, source, size=(1400, 900))
    page.resize(1400, 1800)
    small = (page.charts.rates, page.charts.unacked)
    qtbot.waitUntil(lambda: page.charts.depth.height() > 2 * max(card.height() for card in small))
    assert small[0].height() == small[1].height() <= 208
    page.resize(700, 1800)  # below each other, and back
    page.resize(1400, 1800)
    qtbot.waitUntil(lambda: small[0].geometry().top() == small[1].geometry().top())
    assert small[0].height() == small[1].height() <= 208
