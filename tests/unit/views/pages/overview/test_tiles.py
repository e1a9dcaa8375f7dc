"""What the seven numbers say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace

from services import i18n
from services.domain.insight.forecast import flow
from services.domain.insight.forecast.durations import Measured
from services.domain.task.search.filter import parse
from services.monitor.overview import DUE, OverviewNow, Sample
from tests.unit.views.pages.overview.sample_source import NOW_MS, SampleSource
from views.charts.series import Frame, SampleBuffer
from views.pages.overview.tiles import TILES, Sight, TileSpec
from views.support import shown
from views.support.text import THIN
from views.widgets.kpi_tile import Kpi

SPECS = {spec.key: spec for spec in TILES}


@pytest.fixture(scope="module")
def curves() -> Frame:
    buffer = SampleBuffer()
    buffer.append(SampleSource().series(3600, 5000))
    return buffer.frame(NOW_MS / 1000 - 3600, NOW_MS / 1000, 240)


@pytest.fixture
def sight(curves: Frame) -> Iterator[Sight]:
    shown.set_zone("Asia/Shanghai")
    yield Sight(SampleSource().now(), curves)
    shown.set_zone("")
    i18n.set_language("en")


def kpi(key: str, sight: Sight, **changes: object) -> Kpi:
    return SPECS[key].kpi(replace(sight, now=replace(sight.now, **changes)))  # type: ignore[arg-type]


def plain(text: str) -> str:
    return text.replace(THIN, " ")


def test_what_retries_for_the_last_time_is_said_first(sight: Sight) -> None:
    assert kpi("retrying", sight, retry_last=2).context.startswith("2 for the last time · ")


def test_what_is_due_again_waits_after_no_delay(sight: Sight) -> None:
    told = kpi("retrying", sight, retry_levels=((DUE, 48), (30, 2)))
    assert plain(told.context) == "48 due, in their lanes · 2 after 30 s"


@pytest.mark.parametrize(
    ("levels", "number", "last", "said"),
    [
        (((DUE, 2), (30, 19), (60, 11), (120, 7)), 39, 0, "2 due · 19 after 30 s · 11 after 60 s · 7 after 120 s"),
        (((DUE, 2), (30, 1), (60, 1), (120, 7), (300, 3)), 14, 0, "2 due · 1 after 30 s · 1 after 60 s · 10 more"),
        (((30, 400), (60, 100)), 700, 9, "at least 9 for the last time · 400 after 30 s · 100 after 60 s · 200 more"),
        (((30, 4),), 5, 0, "4 after 30 s"),
    ],
)  # fmt: skip
def test_the_delays_make_up_the_number_however_many_wait(
    sight: Sight, levels: tuple[tuple[int, int], ...], number: int, last: int, said: str
) -> None:
    told = kpi("retrying", sight, retry_levels=levels, retry_last=last, status_counts={"retrying": number})
    assert plain(told.context).replace("due, in their lanes", "due") == said


def test_running_tasks_of_a_silent_worker_fill_no_slots(sight: Sight) -> None:
    facts = replace(sight.now.flow.facts, unconfirmed=4)
    told = kpi("running", sight, running=4, slots_total=4, slots_busy=0, flow=replace(sight.now.flow, facts=facts))
    assert told.context == "4 not confirmed · 0 of 4 slots busy"


def test_what_is_not_confirmed_is_besides_what_workers_hold_once_the_broker_took_it_back(sight: Sight) -> None:
    facts = replace(sight.now.flow.facts, unconfirmed=1)
    lost = replace(sight.now.flow, facts=facts)
    held = int(kpi("unacked", sight, flow=lost).value.replace(",", ""))
    assert kpi("unacked", sight, running=held + 1, flow=lost).context == "1 more not confirmed"
    assert kpi("unacked", sight, running=held, flow=lost).context == "1 not confirmed"


def test_workers_hold_no_fewer_messages_than_they_run_tasks_however_old_the_count_of_the_broker_is(
    sight: Sight,
) -> None:
    held = int(kpi("unacked", sight).value)
    told = kpi("unacked", sight, running=held + 2, ahead=0)
    assert (int(told.value), plain(told.context)) == (held + 2, f"{held + 2} running · 0 fetched ahead")
    cut_off = replace(sight.now.flow, facts=replace(sight.now.flow.facts, cut_off=1))
    assert int(kpi("unacked", sight, running=held + 2, flow=cut_off).value) == held


def test_what_waits_now_is_never_above_its_peak(sight: Sight) -> None:
    many = {"queued": 1_500}
    told = kpi("ready", sight, status_counts=many)
    assert (plain(told.value), plain(told.context)) == ("1,500", "never more in this span")


def test_the_numbers_of_the_pictures(sight: Sight) -> None:
    said = {key: (plain(spec.kpi(sight).value), plain(spec.kpi(sight).context)) for key, spec in SPECS.items()}
    assert said == {
        "ready": ("1,284", "peak 1,418 at 14:09"),
        "unacked": ("96", "88 running · 8 fetched ahead"),
        "running": ("88", "of 120 slots · 73.3 %"),
        "retrying": ("37", "19 after 30 s · 11 after 60 s · 7 after 120 s"),
        "dead": ("143", "limit 100 · up 98 in 1 h"),
        "success": ("98.2", "target 98.0 % · 15,660 ended"),
        "oldest": ("33 m 02 s", "limit 5 min · temu-20355"),
    }


def test_above_the_limit_is_said_in_one_sentence(sight: Sight) -> None:
    dead = kpi("dead", sight)
    assert dead.alarm
    assert plain(dead.sentence) == "Dead letters 143, above limit 100, up 98 in 1 h"
    assert kpi("oldest", sight).alarm
    assert not kpi("success", sight).alarm
    assert kpi("success", sight, succeeded_1h=97, failed_1h=3).alarm
    assert not kpi("success", sight, succeeded_1h=98, failed_1h=2).alarm, "it is the target"


def test_a_rate_of_less_than_the_hour_says_since_when(sight: Sight) -> None:
    found = kpi("success", sight, ended_since_ms=sight.now.at_ms - 600_000)
    since = f"{shown.moment(sight.now.at_ms - 600_000).astimezone(shown.zone()):%H:%M}"
    assert plain(found.context) == f"target 98.0 % · since {since}"
    assert f"since {since}" in plain(found.sentence)


def test_below_the_limit_is_calm(sight: Sight) -> None:
    assert not kpi("dead", sight, dead_open=100).alarm
    assert kpi("dead", sight, dead_open=0).calm
    # the curve is behind the number that stands there: both are told of the same moment
    assert plain(kpi("dead", sight, dead_open=3).context) == "down 42 in 1 h"
    assert not kpi("oldest", sight, oldest_waiting_ms=41_000).alarm


def test_what_waits_at_gates_is_shown_as_a_part(sight: Sight) -> None:
    counts = {"queued": 11, "blocked": 5}
    assert kpi("ready", sight, status_counts=counts).context == "5 held up · 11 in queues"
    assert kpi("ready", sight, status_counts=counts).value == "16"
    assert kpi("ready", sight, status_counts={"queued": 3000}).alarm


def test_what_is_recorded_and_not_sent_is_a_number_of_its_own(sight: Sight) -> None:
    facts = flow.Facts(waiting=42, unsent=42, blocked=True)
    unsent = kpi("ready", sight, status_counts={"pending": 42}, flow=flow.judge(facts))
    assert (unsent.value, unsent.context) == ("42", "42 recorded, not sent")
    later = kpi("ready", sight, status_counts={"pending": 3, "blocked": 2}, flow=flow.judge(facts))
    assert later.context == "3 recorded, not sent · 2 held up · 0 in queues", "counted at another moment"


def test_the_curve_of_what_waits_grows_with_what_is_recorded_and_not_sent(sight: Sight) -> None:
    buffer = SampleBuffer()
    buffer.append([Sample(at_ms=(second + 1) * 1000, waiting=3 * second, told=second < 6) for second in range(10)])
    buffer.append([Sample(at_ms=(second + 1) * 1000, normal=2, low=1) for second in range(10, 12)])  # of an older one
    curve = SPECS["ready"].curve(replace(sight, curves=buffer.frame(0, 20)))
    assert curve.values.tolist() == [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 3, 3]


def test_nothing_at_all_says_so() -> None:
    sight = Sight(OverviewNow(at_ms=NOW_MS))
    said = {key: spec.kpi(sight) for key, spec in SPECS.items()}
    assert said["success"].value == said["oldest"].value == "–"
    assert said["running"].context == "no worker takes tasks"
    assert said["oldest"].context == "nothing waits"
    assert said["dead"].context == said["ready"].context == ""
    assert said["unacked"].context == "workers hold nothing"
    assert not any(one.alarm for one in said.values())


def test_a_program_that_just_began_claims_no_hour(sight: Sight) -> None:
    begun = Frame(sight.curves.at[-20:], {name: column[-20:] for name, column in sight.curves.columns.items()})
    span = begun.at[-1] - begun.at[0]
    assert plain(kpi("dead", replace(sight, curves=begun)).context).endswith(f"in {round(span / 60)} min")
    assert kpi("dead", replace(sight, curves=Frame(begun.at[:1], {}))).context == "limit 100"


def test_a_window_that_opened_a_moment_ago_says_nothing_of_change(sight: Sight) -> None:
    short = Frame(np.array([0.0, 6.0]), {"dead": np.array([1.0, 1.0])})
    assert kpi("dead", replace(sight, curves=short), dead_open=1).context == ""
    minute = Frame(np.array([0.0, 60.0]), {"dead": np.array([1.0, 1.0])})
    assert plain(kpi("dead", replace(sight, curves=minute), dead_open=1).context) == "unchanged in 1 min"


def test_a_limit_that_the_last_of_them_will_pass_is_said_before_it_is_passed(sight: Sight) -> None:
    took = Measured(count=30, mean_s=5.0, deviation_s=1.0)
    lines = (flow.Line(shop="s", waiting=143, running=1, took=took),)
    slow = flow.judge(flow.Facts(waiting=143, running=1, slots=2, busy=1, lines=lines))
    told = kpi("oldest", sight, oldest_waiting_ms=29_000, flow=slow)
    assert plain(told.context).startswith("limit 5 min, will be passed")
    assert (told.alarm, "will be passed" in told.sentence) == (False, True)
    quick = flow.judge(flow.Facts(waiting=3, running=1, slots=2, busy=1, lines=(replace(lines[0], waiting=3),)))
    assert plain(kpi("oldest", sight, oldest_waiting_ms=29_000, flow=quick).context).startswith("limit 5 min · ")


def test_what_waits_because_somebody_wants_it_to_is_not_late(sight: Sight) -> None:
    held = flow.Facts(waiting=5, persons=(("paused", 2),), laters=(("quiet", 3),))
    told = kpi("oldest", sight, oldest_waiting_ms=3_600_000, flow=flow.judge(held))
    assert plain(told.context).startswith("held on purpose")
    assert (told.alarm, "held on purpose" in told.sentence) == (False, True)
    for other in (replace(held, waiting=6), replace(held, persons=(("login", 2),)), flow.Facts()):
        assert kpi("oldest", sight, oldest_waiting_ms=3_600_000, flow=flow.judge(other)).alarm, other


def test_the_oldest_wait_is_counted_to_the_instant_of_all_ages_on_screen(sight: Sight) -> None:
    later = replace(sight, at_ms=sight.now.at_ms + 3_000)
    assert (plain(kpi("oldest", sight).value), plain(kpi("oldest", later).value)) == ("33 m 02 s", "33 m 05 s")


def test_each_tile_has_a_curve(sight: Sight) -> None:
    for spec in TILES:
        curve = spec.curve(sight)
        assert len(curve.values) == len(sight.curves)
    assert SPECS["unacked"].curve(sight).limit == 120
    assert SPECS["success"].curve(sight).limit == 0.98


@pytest.mark.parametrize("spec", [spec for spec in TILES if ":" in spec.opens], ids=lambda spec: spec.key)
def test_a_tile_opens_a_filter_that_can_be_read(spec: TileSpec) -> None:
    assert parse(spec.opens, now_ms=NOW_MS)


def test_chinese_has_its_own_units(sight: Sight) -> None:
    i18n.set_language("zh_CN")
    assert plain(kpi("oldest", sight).value) == "33 分 02 秒"
