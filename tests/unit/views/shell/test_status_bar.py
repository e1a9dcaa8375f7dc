"""The status bar."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from views.shell.status_bar import StatusBar, StatusPart, Vitals
from views.support import shown
from views.support.instant import ticks

VITALS = Vitals(rate_in=4.8, rate_out=4.4, event_lag=timedelta(milliseconds=120))


@pytest.fixture
def bar(qtbot: QtBot) -> StatusBar:
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.resize(1200, 26)
    bar.show()
    return bar


def words(bar: StatusBar, key: str) -> str:
    return bar.part(key).words().replace("\u202f", " ")


def test_numbers(bar: StatusBar) -> None:
    bar.show_vitals(VITALS)
    bar.show_due(31)
    assert words(bar, "mode") == "Fleet mode"
    assert words(bar, "in") == "In 4.8/s"
    assert words(bar, "lag") == "Event lag 120 ms"
    assert words(bar, "due") == "Schedules next minute 31"
    bar.show_vitals(Vitals(local=True))
    assert words(bar, "mode") == "Local mode"
    assert words(bar, "out") == "Out –"
    assert not bar.part("due").isHidden()
    bar.show_due(None)
    assert bar.part("due").isHidden()
    bar.grab()


def test_rates_say_over_how_long_they_were_counted(bar: StatusBar) -> None:
    bar.show_vitals(Vitals(rate_in=0.5, rate_out=0.2, rate_span=timedelta(minutes=5)))
    names = [bar.part(key).accessibleName().replace("\u202f", " ") for key in ("in", "out")]
    assert names == ["In 0.5/s in the last 5 min", "Out 0.2/s in the last 5 min"]


def test_a_narrow_bar_leaves_out_over_how_long_the_rates_were_counted(bar: StatusBar) -> None:
    told = Vitals(local=True, rate_in=4.2, rate_out=0.9, rate_span=timedelta(minutes=1))
    for width in (1280, 853, 1280):
        bar.resize(width, bar.height())
        bar.show_vitals(told)
        assert ("in the last" in bar.part("in").accessibleName()) == (width > 1000)
        assert "over the last minute" in bar.part("in").toolTip()


def test_a_narrow_bar_leaves_the_schedules_to_their_page(bar: StatusBar) -> None:
    bar.show_due(31)
    for width in (1280, 853, 1280):
        bar.resize(width, bar.height())
        assert bar.part("due").isHidden() == (width < 900)


@pytest.mark.parametrize("due", [31, 0, None])
def test_no_divider_stands_before_the_empty_middle(bar: StatusBar, due: int | None) -> None:
    bar.show_vitals(VITALS)
    bar.show_due(due)
    row = bar.layout()
    items = [row.itemAt(place) for place in range(row.count())]
    middle = next(place for place, item in enumerate(items) if item.spacerItem())
    left = [item.widget() for item in items[:middle] if not item.widget().isHidden()]
    assert isinstance(left[-1], StatusPart)


def test_silence_is_said(bar: StatusBar) -> None:
    bar.show_due(31)
    bar.show_silence(timedelta(seconds=134))
    assert bar.part("due").isHidden()
    assert words(bar, "lag") == "No events for 2 m 14 s"
    assert words(bar, "in") == "In –"


def test_a_clock_that_differs_is_a_warning_with_glyph_and_words_until_it_is_put_right(bar: StatusBar) -> None:
    part = bar.part("clock")
    usual = part.accessibleName()
    bar.show_skew(timedelta(seconds=134))
    assert part.accessibleName().replace("\u202f", " ").startswith("this computer 2 m 14 s off ")
    assert "all times here go by that of the fleet" in part.toolTip()
    bar.show_skew(timedelta())
    assert "off" not in part.accessibleName()
    assert part.accessibleName().split()[1:] == usual.split()[1:]


def test_the_reason_told_beside_the_badge_is_the_one_of_now(bar: StatusBar) -> None:
    bar.show_rights("You are a viewer")
    bar.show_rights("Not while the connection is lost")
    assert bar.part("rights").toolTip() == "Not while the connection is lost"


def test_rights(bar: StatusBar) -> None:
    assert words(bar, "rights") == "Can act"
    bar.show_rights("You are a viewer")
    assert words(bar, "rights") == "READ-ONLY"
    assert bar.part("rights").toolTip() == "You are a viewer"
    bar.show_rights("x", "READ-ONLY while disconnected")
    assert words(bar, "rights") == "READ-ONLY while disconnected"
    bar.grab()


def test_who_and_when(bar: StatusBar) -> None:
    bar.show_operator("Chen Yu", "operator")
    assert words(bar, "operator") == "Chen Yu · operator"
    bar.show_operator("Chen Yu")
    assert words(bar, "operator") == "Chen Yu"


def test_the_clock_has_the_zone_of_all_other_times(bar: StatusBar, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: shown.set_zone(""))
    for zone, name in (("Asia/Shanghai", "UTC+8"), ("Asia/Kolkata", "UTC+5:30")):
        shown.set_zone(zone)
        bar.retranslate()
        assert words(bar, "clock").count(":") >= 2
        assert bar.part("clock").accessibleName().endswith(name)


class Fleet:
    """Another clock than that of this machine."""

    at_ms = 1_795_000_000_000

    def now_ms(self) -> int:
        return self.at_ms


def test_the_clock_has_the_time_of_the_fleet_and_never_stands_still(
    bar: StatusBar, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: shown.set_zone(""))
    request.addfinalizer(lambda: ticks().hold(bar, on=False))
    shown.set_zone("UTC")
    fleet = Fleet()  # gone with this test, and its time with it
    ticks().follow(fleet)
    bar.retranslate()
    assert words(bar, "clock") == "11:06:40"
    ticks().hold(bar, on=True)
    fleet.at_ms += 5_000
    bar.retranslate()
    assert words(bar, "clock") == "11:06:45"


def test_the_clock_runs_with_all_that_counts_and_only_while_seen(
    bar: StatusBar, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: shown.set_zone(""))
    shown.set_zone("UTC")
    fleet = Fleet()
    ticks().follow(fleet)
    ticks().passed.emit()
    assert words(bar, "clock") == "11:06:40"
    bar.hide()
    fleet.at_ms += 5_000
    ticks().passed.emit()
    assert words(bar, "clock") == "11:06:40"
    bar.show()
    assert words(bar, "clock") == "11:06:45"


def test_every_part_is_a_door(qtbot: QtBot, bar: StatusBar) -> None:
    for key in ("mode", "in", "out", "lag", "due", "rights", "operator", "clock"):
        with qtbot.waitSignal(bar.part_clicked) as signal:
            bar.part(key).click()
        assert signal.args == [key]


def test_words_follow_the_language(bar: StatusBar) -> None:
    bar.show_vitals(VITALS)
    i18n.set_language("zh_CN")
    assert words(bar, "mode") == "集群模式"
    assert words(bar, "in") == "入队 4.8 条/秒"
    assert words(bar, "lag") == "事件延迟 120 毫秒"


def test_a_part_is_as_wide_as_its_figures_need(qtbot: QtBot) -> None:
    part, other = StatusPart("in"), StatusPart("in")
    for one in (part, other):
        qtbot.addWidget(one)
    part.show_part("In", "1/s")
    narrow = part.sizeHint().width()
    part.show_part("In", "8/s")
    assert part.sizeHint().width() == narrow, "figures are of one width"
    for name, value in (("In", "18/s"), ("In and more", "18/s"), ("No events for 3 s", "")):
        part.show_part(name, value)
        other = StatusPart("in")
        qtbot.addWidget(other)
        other.show_part(name, value)
        assert part.sizeHint() == other.sizeHint()
