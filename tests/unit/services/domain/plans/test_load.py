"""What a run does to the line of the workers."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.plans.load import LEAD, MINUTE_MS, Burst, ahead, follow, spread

AT = 1_000_000 * MINUTE_MS


def minute(n: float) -> int:
    return AT + round(n * MINUTE_MS)


def mine(tasks: int, mean_s: float = 60.0, **more: object) -> Burst:
    return Burst(name="mine", at=AT, tasks=tasks, mean_s=mean_s, own=True, **more)  # type: ignore[arg-type]


def test_it_is_through_when_the_slots_have_done_it() -> None:
    load = follow([mine(40)], 8)
    assert load.end == minute(5)
    assert load.peak == (40, AT)
    assert load.own[LEAD : LEAD + 6] == (40, 32, 24, 16, 8, 0)
    assert load.own[:LEAD] == (0,) * LEAD
    assert load.left(minute(2)) == 24


def test_what_is_done_within_its_minute_counts_in_the_most_at_once() -> None:
    load = follow([mine(500, 0.1)], 8)
    assert (load.peak, load.own[LEAD]) == ((500, AT), 0)


def test_what_is_through_within_a_minute_needs_no_spread() -> None:
    for mean_s, seconds in ((0.1, 0), (10.0, 600)):
        run = mine(500, mean_s)
        assert spread(follow([run], 8), [run], 8) == seconds


def test_a_long_task_with_a_slot_of_its_own_takes_its_time_and_no_more() -> None:
    assert follow([mine(10, 300)], 100).end == minute(5)


def test_what_is_spread_hardly_waits() -> None:
    load = follow([mine(40, spread_s=600)], 8)
    assert load.peak[0] <= 5
    assert minute(10) <= load.end <= minute(11)


def test_others_beside_it_are_in_the_way_and_named() -> None:
    other = Burst(name="goods", at=AT - MINUTE_MS, tasks=80, mean_s=60.0)
    gone = Burst(name="gone", at=AT - 60 * MINUTE_MS, tasks=8, mean_s=60.0)
    later = Burst(name="later", at=AT + 60 * MINUTE_MS, tasks=80, mean_s=60.0)
    load = follow([other, mine(8), gone, later], 8)
    assert load.end == minute(10)
    assert load.beside == ("goods",)
    assert load.others[LEAD] == 72


def test_quiet_hours_hold_it_back_and_let_others_through() -> None:
    other = Burst(name="goods", at=AT, tasks=8, mean_s=60.0)
    load = follow([mine(8, quiet=((AT - MINUTE_MS, minute(30)),)), other], 8)
    assert load.end == minute(31)
    assert load.own[LEAD + 29] == 8
    assert load.others[LEAD + 1] == 0


def test_more_than_a_day_is_not_followed() -> None:
    load = follow([mine(3000, 600)], 1)
    assert load.end == 0
    assert load.own[-1] > 2000


def test_without_workers_there_is_nothing_to_follow() -> None:
    assert follow([mine(3)], 0).own == ()


def test_a_long_line_is_to_be_spread_over_what_it_takes() -> None:
    run = mine(240)
    assert spread(follow([run], 8), [run], 8) == 1800
    few = mine(8)
    assert spread(follow([few], 8), [few], 8) == 0
    done = mine(240, spread_s=600)
    assert spread(follow([done], 8), [done], 8) == 0


def test_the_hours_to_come_count_what_passes_through_each_minute() -> None:
    early = Burst(name="early", at=minute(2), tasks=16, mean_s=60.0)
    short = Burst(name="short", at=minute(8.2), tasks=8, mean_s=2.0)
    load = ahead([short, early], 8, AT + 20_000, 12)
    assert load.begins == AT
    assert load.own == (0, 0, 16, 8, 0, 0, 0, 0, 8, 0, 0, 0)
    assert load.peak == (16, minute(2))


def test_what_came_before_the_hours_and_what_goes_on_behind_them_is_cut_off() -> None:
    load = ahead([Burst(name="long", at=AT, tasks=4, mean_s=600.0)], 2, minute(3), 5)
    assert load.own == (4, 4, 4, 4, 4)
    assert ahead([], 8, AT, 3).own == (0, 0, 0)


def test_a_run_is_followed_as_one_and_as_its_tasks_one_by_one_alike() -> None:
    quiet = ((minute(4), minute(9)), (minute(9.5), minute(20)))
    runs = [
        Burst(name="goods", at=minute(1), tasks=25, mean_s=50.0, quiet=quiet),
        Burst(name="orders", at=minute(1.5), tasks=17, mean_s=70.0),
        Burst(name="late", at=minute(6), tasks=5, mean_s=600.0),
    ]
    single = [replace(run, tasks=1) for run in runs for _ in range(run.tasks)]
    assert ahead(runs, 8, AT, 60) == ahead(single, 8, AT, 60)
    assert follow([*runs, mine(30)], 7) == follow([*single, *[mine(1)] * 30], 7)
