"""Every shop as a cell: places, pictures, keys, speed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from services.domain.fleet.shop import Pause
from services.domain.insight.shop import STATES, ShopNow
from tests.unit.views.pages.overview.sample_source import cells
from tests.unit.views.theme.test_tokens import contrast
from views.theme import theme
from views.theme.tokens import status, tokens
from views.widgets.heat_map.layout import BLOCK_GAP, arrange, gather, kind_of, kinds, prepare, size_for
from views.widgets.heat_map.legend import HeatLegend
from views.widgets.heat_map.map import AGGREGATE_ABOVE, HeatCard, HeatMap, count_words, sentence
from views.widgets.heat_map.paint import LOOKS, fill_of
from views.widgets.heat_map.shades import SHARE, SUCCESS, WAITING, shade_of, worst
from views.widgets.heat_map.shades import counts as in_shades

LEFT = Qt.MouseButton.LeftButton


def cell(number: int, platform: str = "pdd", state: str = "healthy", **more: object) -> ShopNow:
    return ShopNow(platform=platform, shop_id=f"s{number:05d}", name=f"Shop {number}", state=state, **more)  # type: ignore[arg-type]


@pytest.fixture
def heat(qtbot: QtBot) -> HeatMap:
    return shown(qtbot, cells())


def shown(qtbot: QtBot, shops: Sequence[ShopNow], *, width: int = 1346, above: int | None = AGGREGATE_ABOVE) -> HeatMap:
    holder = QWidget()
    qtbot.addWidget(holder)
    holder.resize(width, 700)
    heat = HeatMap(parent=holder)
    heat.resize(width, heat.height())
    heat.set_rows(prepare(shops, above))
    holder.show()
    heat.holder = holder  # type: ignore[attr-defined]  # lives as long as the test looks at the map
    return heat


# where cells are


@pytest.mark.parametrize(("shops", "side"), [(1, 21), (350, 21), (351, 14), (900, 14), (901, 9), (10_000, 9)])
def test_more_shops_have_smaller_cells(shops: int, side: int) -> None:
    assert size_for(shops)[0] == side


def test_a_shop_keeps_its_place_whatever_its_state() -> None:
    shops = list(cells())
    places = {shop.shop_id: at for at, shop in enumerate(prepare(shops).cells)}
    changed = [replace(shop, state="dead") for shop in reversed(shops)]
    assert {shop.shop_id: at for at, shop in enumerate(prepare(changed).cells)} == places


def test_platforms_lie_together_in_their_order_with_their_counts() -> None:
    rows = prepare([cell(1, "zzz"), cell(2, "temu", "dead"), cell(3), cell(4, "temu", "stuck")])
    assert [(group.platform, group.count, group.flagged) for group in rows.groups] == [
        ("pdd", 1, 0),
        ("temu", 2, 2),
        ("zzz", 1, 0),
    ]
    assert rows.counts["dead"] == 1
    assert rows.total == 4


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=5),
    st.integers(200, 2400),
    st.sampled_from([1.0, 1.25, 1.5, 1.75, 2.0]),
)
def test_cells_never_overlap_nor_leave_the_width(counts: list[int], width: int, ratio: float) -> None:
    names = ["pdd", "temu", "tiktok", "x1", "x2"]
    rows = prepare([cell(n, name) for name, count in zip(names, counts, strict=False) for n in range(count)])
    layout = arrange(rows, width, [180.0] * len(counts), ratio)
    spots = [layout.rect_of(index) for index in range(len(rows.cells))]
    assert len({(round(x * ratio), round(y * ratio)) for x, y, _side in spots}) == len(spots)
    assert all(x + side <= width + 1 for x, _y, side in spots)
    assert all(abs(x * ratio - round(x * ratio)) < 1e-6 for x, _y, _side in spots)
    assert all(y + side <= layout.height + 1 for _x, y, side in spots)
    for index, (x, y, side) in enumerate(spots):
        assert layout.index_at(x + side / 2, y + side / 2) == index


def test_blocks_stand_side_by_side_and_below_each_other_when_their_headers_are_too_wide() -> None:
    rows = prepare(cells())
    wide = arrange(rows, 1346, [200.0] * 3)
    assert len({block.y for block in wide.blocks}) == 1
    assert [block.rows for block in wide.blocks] == [6, 6, 6]
    assert wide.blocks[1].x >= wide.blocks[0].x + wide.blocks[0].width + BLOCK_GAP - 1
    narrow = arrange(rows, 400, [200.0] * 3)
    assert len({block.y for block in narrow.blocks}) == 3


def test_arrows_go_from_row_to_row_and_from_block_to_block() -> None:
    rows = prepare(cells())
    layout = arrange(rows, 1346, [200.0] * 3)
    columns = layout.blocks[0].columns
    assert layout.step(0, 1, 0) == 1
    assert layout.step(0, 0, 1) == columns
    assert layout.step(columns, 0, -1) == 0
    assert layout.step(0, 0, -1) == 0
    assert layout.step(167, 1, 0) == 168
    assert layout.step(311, 1, 0) == 311


def test_above_the_bound_only_shops_that_need_a_person_are_cells() -> None:
    rows = prepare(cells(3000), aggregate_above=2500)
    assert rows.aggregated
    assert {shop.state for shop in rows.cells} == {"dead", "stuck"}
    assert rows.total == sum(group.total for group in rows.groups) == sum(rows.counts.values())
    layout = arrange(rows, 1346, [200.0] * 3)
    assert len({block.y for block in layout.blocks}) == len(rows.groups)


def grouped(number: int = 10_000) -> list[ShopNow]:
    """A large fleet in a hundred groups, in one of which a shop died."""
    return [
        cell(n, "temu" if n % 2 else "pdd", "dead" if n == 7 else "healthy", group=f"g{n % 100}") for n in range(number)
    ]


def test_a_cell_for_each_group_tells_its_worst_state_and_how_many_are_in_it(qtbot: QtBot) -> None:
    rows = gather([*grouped(), cell(0, "zzz", "stuck")])
    assert [(group.platform, group.count, group.total) for group in rows.groups] == [
        ("pdd", 50, 5000),
        ("temu", 50, 5000),
        ("zzz", 1, 1),
    ]
    (bad,) = (at for at, one in enumerate(rows.cells) if one.state == "dead")
    assert (rows.cells[bad].group, rows.inside[bad]["dead"], rows.inside[bad]["healthy"]) == ("g7", 1, 99)
    assert [one.group for one in rows.cells[:3]] == ["g0", "g2", "g4"]
    heat = shown(qtbot, ())
    heat.set_rows(rows)
    opened: list[tuple[str, str]] = []
    heat.group_clicked.connect(lambda platform, group: opened.append((platform, group)))
    spot = heat.rect_of("temu", "g7").center().toPoint()
    qtbot.mouseMove(heat, spot)
    assert heat.accessibleDescription() == "g7, TEMU: Dead letters 1, Healthy 99; 0 waiting · 0 running · 0 dead"
    assert heat.window().findChildren(HeatCard)[0].isVisible()
    before = heat.grab().toImage()
    qtbot.mouseClick(heat, LEFT, pos=spot)
    heat.setFocus()
    qtbot.keyClick(heat, Qt.Key.Key_End)
    assert heat.accessibleDescription().startswith("Without a group, zzz: Stuck 1")
    qtbot.keyClick(heat, Qt.Key.Key_Return)
    assert opened == [("temu", "g7"), ("zzz", "")]
    heat.clearFocus()
    bare = heat.grab().toImage()
    heat.set_marked("temu:s00107", "g7")
    assert heat.grab().toImage() != bare, "the group of what is chosen elsewhere"
    heat.set_rows(gather([replace(one, state="dead") for one in grouped()]))
    assert heat.grab().toImage() != before


@pytest.mark.bench
def test_groups_of_ten_thousand_shops_are_told_at_once() -> None:
    shops = grouped()
    took = []
    for _turn in range(5):
        began = time.perf_counter()
        gather(shops)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.1


def test_no_shops_at_all(qtbot: QtBot) -> None:
    heat = shown(qtbot, ())
    assert not heat.grab().isNull()
    assert heat.accessibleDescription() == "No shops yet"
    qtbot.keyClick(heat, Qt.Key.Key_Right)
    assert heat.current is None


def test_states_move_no_cell(heat: HeatMap) -> None:
    places = heat._layout_of.places()
    heat.set_rows(prepare([replace(shop, state="dead") for shop in heat.rows.cells], AGGREGATE_ABOVE))
    assert heat._layout_of.places() == places


# how they look


def test_each_kind_of_cell_has_a_number_of_its_own() -> None:
    numbers = [kind_of(state, under) for state, under in kinds()[1:]]
    assert numbers == list(range(1, len(kinds())))
    assert kind_of("unheard-of", "") == kind_of("idle", "")


def test_cells_have_the_colour_of_their_state(qtbot: QtBot) -> None:
    heat = shown(qtbot, [cell(number, state=state) for number, state in enumerate(STATES)])
    image = heat.grab().toImage()
    for state in STATES:
        shop = next(one for one in heat.rows.cells if one.state == state)
        spot = heat.rect_of(shop.platform, shop.shop_id)
        where = QPoint(round(spot.center().x()), round(spot.top()) + 3)
        assert image.pixelColor(where) == fill_of(state), state


def test_one_changed_shop_changes_one_cell(heat: HeatMap) -> None:
    before = heat.grab().toImage()
    shops = list(heat.rows.cells)
    at = next(number for number, shop in enumerate(shops) if shop.state == "healthy")
    shops[at] = replace(shops[at], state="dead")
    spot = heat.rect_of(shops[at].platform, shops[at].shop_id).toRect()
    heat.set_rows(prepare(shops, AGGREGATE_ABOVE))
    after = heat.grab().toImage()
    assert after.copy(spot) != before.copy(spot)
    assert after.copy(0, spot.bottom() + 3, heat.width(), 40) == before.copy(0, spot.bottom() + 3, heat.width(), 40)


def test_a_filter_dims_the_others(heat: HeatMap) -> None:
    plain = heat.grab().toImage()
    heat.set_filter("dead")
    dead = next(one for one in heat.rows.cells if one.state == "dead")
    well = next(one for one in heat.rows.cells if one.state == "healthy")
    lit = heat.grab().toImage()
    spot, other = (heat.rect_of(one.platform, one.shop_id).toRect() for one in (dead, well))
    assert lit.copy(spot) == plain.copy(spot)
    assert lit.copy(other) != plain.copy(other)
    heat.set_filter("")
    assert heat.grab().toImage() == plain


def test_it_follows_the_theme(heat: HeatMap) -> None:
    dark = heat.grab().toImage()
    theme().set_mode("light")
    assert heat.grab().toImage() != dark


# what a person does


def test_a_click_opens_the_shop(qtbot: QtBot, heat: HeatMap) -> None:
    shop = heat.rows.cells[200]
    spot = heat.rect_of(shop.platform, shop.shop_id).center().toPoint()
    with qtbot.waitSignal(heat.shop_clicked) as signal:
        qtbot.mouseClick(heat, LEFT, pos=spot)
    assert signal.args == [shop.platform, shop.shop_id]
    with qtbot.assertNotEmitted(heat.shop_clicked):
        qtbot.mouseClick(heat, LEFT, pos=QPoint(5, 5))


def test_the_mouse_shows_a_card_and_takes_it_away(qtbot: QtBot, heat: HeatMap) -> None:
    shop = heat.rows.cells[10]
    qtbot.mouseMove(heat, heat.rect_of(shop.platform, shop.shop_id).center().toPoint())
    card = heat.window().findChild(HeatCard)
    assert card is not None
    assert card.isVisible()
    assert card.cell == shop
    assert heat.window().rect().contains(card.geometry())
    assert not card.grab().isNull()
    QApplication.sendEvent(heat, QEvent(QEvent.Type.Leave))
    assert not card.isVisible()


def test_the_card_goes_when_the_map_goes(qtbot: QtBot, heat: HeatMap) -> None:
    heat.set_current(5)
    card = heat.window().findChild(HeatCard)
    assert card is not None
    heat.hide()
    assert not card.isVisible()


def test_keys_move_and_open(qtbot: QtBot, heat: HeatMap) -> None:
    heat.setFocus()
    qtbot.keyClick(heat, Qt.Key.Key_End)
    assert heat.current == heat.rows.cells[-1]
    qtbot.keyClick(heat, Qt.Key.Key_Home)
    qtbot.keyClick(heat, Qt.Key.Key_Right)
    assert heat.current == heat.rows.cells[1]
    with qtbot.waitSignal(heat.shop_clicked) as signal:
        qtbot.keyClick(heat, Qt.Key.Key_Return)
    assert signal.args[1] == heat.rows.cells[1].shop_id
    qtbot.keyClick(heat, Qt.Key.Key_Escape)
    assert heat.current is None


def test_the_current_shop_stays_current_when_others_come(heat: HeatMap) -> None:
    shop = heat.rows.cells[20]
    heat.set_current(20, by_key=True)
    heat.set_rows(prepare([cell(0), *heat.rows.cells], AGGREGATE_ABOVE))
    assert heat.current == shop


def test_it_speaks(heat: HeatMap) -> None:
    assert heat.accessibleName() == "Shops by worst state"
    assert "Pinduoduo: 168 shops · 24 flagged" in heat.accessibleDescription()
    stuck = next(number for number, one in enumerate(heat.rows.cells) if one.state == "stuck")
    heat.set_current(stuck, by_key=True)
    assert "Stuck; Has work and finished nothing for 30" in heat.accessibleDescription()


def test_words_of_the_card() -> None:
    shop = cell(1, state="paused", under="dead", waiting=1234, running=2, dead=3)
    assert count_words(shop) == "1,234 waiting · 2 running · 3 dead"
    said = sentence(replace(shop, name="A\u202eB"), "TEMU")
    assert said.startswith("A<U+202E>B, TEMU s00001: Paused, beneath: Dead letters; ")
    assert "3 dead, not looked at yet" in said


def test_the_card_says_what_is_true_of_a_shop_that_two_pauses_hold(qtbot: QtBot) -> None:
    pauses = (Pause(scope="platform:pdd", by="ann", at=1, reason="new page"), Pause(scope="shop:pdd:s00000", by="bo"))
    heat = shown(qtbot, [cell(0, state="paused", under="idle", pauses=pauses)])
    heat.set_current(0, by_key=True)
    said = heat.accessibleDescription()
    assert "All of Pinduoduo is paused by ann for " in said
    assert "new page" in said
    assert "; the shop is paused by bo for " in said


def test_glyphs_of_all_states_differ() -> None:
    """In grey, too, every state but the two calm ones without a glyph can be told from the others."""
    glyphs = [LOOKS[state][1] for state in STATES if LOOKS[state][1]]
    assert len(glyphs) == len(set(glyphs)) == len(STATES) - 2
    assert len({status(state).glyph for state in STATES}) == len(STATES)


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_fills_that_need_a_person_stand_out_and_their_glyphs_on_them(mode: str) -> None:
    colours = tokens(mode)
    for state in ("held", "login", "dead", "stuck", "breaker", "unknown"):
        fill, _glyph, ink = LOOKS[state]
        assert contrast(colours.role(fill), colours.role("surface")) >= 3, state
        assert contrast(colours.role(ink), colours.role(fill)) >= 3, state


def test_the_legend_names_each_state_that_a_shop_is_in_and_its_counts_are_all_shops(qtbot: QtBot) -> None:
    states = [*STATES, "login", "held"]
    rows = prepare([cell(number, state=state) for number, state in enumerate(states)])
    legend = HeatLegend()
    qtbot.addWidget(legend)
    legend.show_counts(rows.counts)
    names = [legend.item(state).accessibleName() for state in STATES if not legend.item(state).isHidden()]
    assert names[:4] == ["To decide 2", "Needs login 2", "Dead letters 1", "Stuck 1"]
    assert sum(int(name.rpartition(" ")[2]) for name in names) == rows.total == len(states)
    legend.show_counts({"dead": 1})
    assert [state for state in STATES if not legend.item(state).isHidden()] == ["dead"]


# the legend


def test_the_legend_counts_and_filters(qtbot: QtBot) -> None:
    legend = HeatLegend()
    qtbot.addWidget(legend)
    legend.show_counts({"dead": 31, "stuck": 4})
    assert legend.item("dead").accessibleName() == "Dead letters 31"
    with qtbot.waitSignal(legend.filter_changed) as signal:
        qtbot.mouseClick(legend.item("dead"), LEFT)
    assert signal.args == ["dead"]
    with qtbot.waitSignal(legend.filter_changed) as signal:
        qtbot.keyClick(legend.item("stuck"), Qt.Key.Key_Space)
    assert signal.args == ["stuck"]
    assert not legend.item("dead").isChecked()
    with qtbot.waitSignal(legend.filter_changed) as signal:
        qtbot.mouseClick(legend.item("stuck"), LEFT)
    assert signal.args == [""]


def test_a_compact_legend_is_narrower_and_still_speaks(qtbot: QtBot) -> None:
    legend = HeatLegend()
    qtbot.addWidget(legend)
    legend.show_counts({"dead": 3, "healthy": 2})
    wide = legend.needed()
    legend.set_compact(True)
    assert legend.sizeHint().width() < wide
    assert legend.item("dead").accessibleName() == "Dead letters 3"
    assert not legend.grab().isNull()


# speed


def median_ms(run: list[float]) -> float:
    return statistics.median(run) * 1000


@pytest.mark.bench
def test_ten_thousand_shops_repaint_within_a_frame(qtbot: QtBot) -> None:
    shops = cells(10_000)
    heat = shown(qtbot, shops, above=None)
    versions = [prepare(shops), prepare([replace(shop, state="dead") for shop in shops])]
    heat.grab()
    took: dict[str, list[float]] = {"change and repaint": [], "repaint": [], "prepare (any thread)": []}
    for turn in range(40):
        began = time.perf_counter()
        heat.set_rows(versions[turn % 2])
        heat.grab()
        took["change and repaint"].append(time.perf_counter() - began)
        began = time.perf_counter()
        heat.grab()
        took["repaint"].append(time.perf_counter() - began)
        began = time.perf_counter()
        prepare(shops)
        took["prepare (any thread)"].append(time.perf_counter() - began)
    for name, run in took.items():
        print(f"10,000 shops, {name}: {median_ms(run):.1f} ms, worst {max(run) * 1000:.1f} ms")
    assert median_ms(took["change and repaint"]) <= 16
    assert np.mean(took["repaint"]) * 1000 <= 16


@pytest.mark.parametrize(
    ("by", "more", "word", "share"),
    [
        (WAITING, {"waiting": 0}, "nothing waits", 0.0),
        (WAITING, {"waiting": 2}, "1–2", 0.2),
        (WAITING, {"waiting": 100}, "100 and more", 1.0),
        (SUCCESS, {"success_at": 0}, "no success known", 0.0),
        (SUCCESS, {"success_at": 1_000_000_000_000 - 5 * 3_600_000}, "within 6 h", 0.4),
        (SUCCESS, {"success_at": 1_000_000_000_000 - 30 * 3_600_000}, "longer ago", 1.0),
        (SHARE, {}, "none ended", 0.0),
        (SHARE, {"ended": 20, "ended_well": 9}, "below 50 %", 1.0),
        (SHARE, {"ended": 20, "ended_well": 19}, "95 % and more", 1.0),
    ],
)
def test_a_cell_may_tell_what_waits_or_the_last_success(by: str, more: dict[str, int], word: str, share: float) -> None:
    now = 1_000_000_000_000
    shade = shade_of(by, cell(1, **more), now)
    assert (shade.word, shade.share) == (word, share)
    rows = prepare([cell(1, state="dead", **more)], by=by, now_ms=now)
    assert kinds()[rows.kinds[0]] == (shade.key, "")
    assert in_shades(by, rows.cells, now) == {shade.key: 1}


@pytest.mark.parametrize(
    ("by", "less", "more"),
    [
        (WAITING, {"waiting": 3}, {"waiting": 4}),
        (SUCCESS, {"success_at": 2}, {"success_at": 1}),
        (SHARE, {"ended": 2, "ended_well": 2}, {"ended": 2, "ended_well": 1}),
    ],
)
def test_of_several_the_one_that_needs_somebody_stands_for_all(
    by: str, less: dict[str, int], more: dict[str, int]
) -> None:
    found = cell(1), cell(2, **less), cell(3, **more)
    assert worst(by, found) is found[2]
    assert worst(by, found[:2]) is found[1], "what is known of one stands before what is not known of another"


def test_shades_are_drawn_higher_the_more_there_is(qtbot: QtBot) -> None:
    heat = shown(qtbot, [cell(1, waiting=0), cell(2, waiting=5), cell(3, waiting=500)])
    heat.set_rows(prepare([cell(1, waiting=0), cell(2, waiting=5), cell(3, waiting=500)], by=WAITING))
    picture = heat.grab().toImage()

    def filled(number: int) -> int:
        room = heat.rect_of("pdd", f"s{number:05d}").toRect()
        ground = theme().color("surface").rgb()
        return sum(
            picture.pixelColor(room.center().x(), y).rgb() != ground for y in range(room.top() + 2, room.bottom() - 1)
        )

    assert filled(1) == 0 < filled(2) < filled(3)
