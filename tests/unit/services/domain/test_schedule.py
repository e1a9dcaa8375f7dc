"""Schedules: what is refused, whom a run is for, how it is spread, and what a late leader does."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import (
    Planned,
    Run,
    Schedule,
    Tally,
    check,
    choose,
    decide,
    dump,
    label,
    load,
    planned_at,
)
from services.domain.task.search.query import Query

NOW = 1_795_000_000_000
HOUR = 3_600_000
ZONE = "Asia/Shanghai"


def nightly(**fields: Any) -> Schedule:
    base = {"name": "nightly", "uid": "u1", "task_type": "sync_order", "cron": "30 2 * * *", "all_shops": True}
    return Schedule(**(base | fields))


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


SHOPS = [
    Shop(platform="pdd", shop_id="a", group="vip"),
    Shop(platform="pdd", shop_id="b"),
    Shop(platform="temu", shop_id="a", group="vip"),
    Shop(platform="temu", shop_id="off", group="vip", enabled=False),
    Shop(platform="pdd", shop_id="stranger", unregistered=True),
]


# ------------------------------------------------------------------------ refused
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "two words"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": "a\u202eb"}, "name"),
        ({"name": "a,b"}, "name"),
        ({"task_type": "os.system"}, "type"),
        ({"cron": "30 2 * *"}, "cron"),
        ({"cron": ""}, "cron"),
        ({"every_s": 60}, "cron"),
        ({"cron": "", "every_s": 5}, "every"),
        ({"zone": "Asia/Shangai"}, "zone"),
        ({"cron": "", "every_s": 60, "zone": "Asia/Shangai"}, "zone"),
        ({"all_shops": False}, "shop"),
        ({"shops": ("pdd:a",)}, "shop"),
        ({"all_shops": False, "shops": ("pdd:a",), "groups": ("vip",)}, "shop"),
        ({"all_shops": False, "shops": tuple(map(str, range(10_001)))}, "shop"),
        ({"priority": "urgent"}, "priority"),
        ({"missed": "all"}, "missed"),
        ({"overlap": "force"}, "overlap"),
        ({"spread_s": -1}, "spread"),
        ({"spread_s": 86_400}, "spread"),
        ({"cron": "0 8,9 * * *", "spread_s": 3_600}, "spread"),
        ({"cron": "", "every_s": 600, "spread_s": 600}, "spread"),
    ],
)
def test_what_could_not_run_is_refused_with_the_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as caught:
        check(nightly(**fields), ZONE, NOW)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"name": "\u6bcf\u65e5-\u540c\u6b65.1"},
        {"cron": "", "every_s": 600, "spread_s": 599},
        {"cron": "0 8,9 * * *", "spread_s": 3_599},
        {"zone": "Europe/Berlin", "priority": "9", "missed": "skip", "overlap": "queue"},
        {"all_shops": False, "groups": ("vip",), "platforms": ("pdd",)},
    ],
)
def test_what_can_run_is_taken(fields: dict[str, Any]) -> None:
    check(nightly(**fields), ZONE, NOW)


def test_it_is_kept_whole_and_a_newer_program_may_add_fields() -> None:
    planned = Planned(
        schedule=nightly(payload={"\u9875": [1, None]}, shops=("pdd:a",)),
        firing=Run(at=1, base=2),
        last=Tally(at=1, created=2, active=3, failed=4, error="no"),
    )
    assert load(dump(planned)) == planned
    document = json.loads(dump(planned))
    document["schedule"]["colour"] = "red"
    assert load(json.dumps(document)) == planned
    with pytest.raises(UsageError):
        load("{")


# -------------------------------------------------------------------------- shops
@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ({"all_shops": True}, {"pdd:a", "pdd:b", "temu:a"}),
        ({"platforms": ("pdd",)}, {"pdd:a", "pdd:b"}),
        ({"groups": ("vip",)}, {"pdd:a", "temu:a"}),
        ({"platforms": ("pdd",), "groups": ("vip",)}, {"pdd:a"}),
        ({"shops": ("temu:a", "pdd:stranger", "temu:off", "pdd:gone")}, {"temu:a", "pdd:stranger"}),
    ],
)
def test_whom_a_run_is_for(fields: dict[str, Any], keys: set[str]) -> None:
    found = choose(nightly(**({"all_shops": False} | fields)), SHOPS)
    assert {shop.key for shop in found} == keys
    assert found == choose(nightly(**({"all_shops": False} | fields)), SHOPS[::-1]), "in the same order every time"


@given(count=st.integers(1, 300), spread=st.integers(0, 86_400))
def test_shops_are_spread_evenly_and_inside_the_window(count: int, spread: int) -> None:
    found = [schedules.offset_ms(nightly(spread_s=spread), place, count) for place in range(count)]
    assert found == sorted(found)
    assert found[0] == 0
    assert found[-1] <= max(0, spread * 1000 - spread * 1000 // count)
    gaps = {later - earlier for earlier, later in pairwise(found)}
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_one_task_for_a_schedule_run_and_shop() -> None:
    first, second = Run(at=NOW, base=NOW), Run(at=NOW + HOUR, base=NOW)
    known = [
        schedules.task_id(schedule, run, shop)
        for schedule in (nightly(), nightly(uid="u2"))
        for run in (first, second)
        for shop in SHOPS
    ]
    assert len(set(known)) == len(known) == 20
    assert known[0].startswith("pdd_sync_order_a_")
    again = Run(at=NOW, base=NOW + 5)
    assert schedules.task_id(nightly(note="edited"), again, SHOPS[0]) == known[0], "whoever makes it, whenever"


def test_the_label_tells_name_and_local_time() -> None:
    run = Run(at=at("2026-11-22T02:30:00+08:00"), base=0)
    assert label(nightly(), run, ZONE) == "nightly@20261122T023000+0800"
    assert label(nightly(zone="America/New_York"), run, ZONE) == "nightly@20261121T133000-0500"
    from services.domain.task.search import filter as filters

    terms = filters.parse(f"batch:{label(nightly(), run, ZONE)}", now_ms=NOW)
    assert Query(terms=terms).terms[0].values == (label(nightly(), run, ZONE),)


# ----------------------------------------------------------------------- decisions
NIGHT = at("2026-11-22T02:30:00+08:00")
DAY = 24 * HOUR


def test_what_is_due_runs_and_the_next_one_is_planned() -> None:
    found = decide(nightly(), ZONE, NIGHT, NIGHT + 900)
    assert (found.run, found.next_at) == (Run(at=NIGHT, base=NIGHT), NIGHT + DAY)


@pytest.mark.parametrize("missed", ["once", "skip"])
def test_a_leader_that_was_replaced_is_not_late(missed: str) -> None:
    found = decide(nightly(missed=missed), ZONE, NIGHT, NIGHT + 15_000)
    assert found.run == Run(at=NIGHT, base=NIGHT)


LATE = Run(at=NIGHT + 2 * DAY, base=NIGHT + 2 * DAY + HOUR)


@pytest.mark.parametrize(("missed", "run"), [("once", LATE), ("skip", None)])
def test_nights_that_nobody_ran_are_made_up_for_once_or_not_at_all(missed: str, run: Run | None) -> None:
    found = decide(nightly(missed=missed), ZONE, NIGHT, NIGHT + 2 * DAY + HOUR)
    assert (found.run, found.next_at) == (run, NIGHT + 3 * DAY)


def test_what_is_skipped_is_the_past_only() -> None:
    """Nights were missed, and the present one is due right now."""
    found = decide(nightly(missed="skip"), ZONE, NIGHT, NIGHT + 2 * DAY + 5)
    assert (found.run, found.next_at) == (Run(at=NIGHT + 2 * DAY, base=NIGHT + 2 * DAY), NIGHT + 3 * DAY)


def test_a_due_instant_of_an_older_rule_runs_nothing() -> None:
    found = decide(nightly(), ZONE, NIGHT - 100, NIGHT - 50)
    assert (found.run, found.next_at) == (None, NIGHT)


@given(
    every=st.integers(10, 7_200),
    looks=st.lists(st.integers(1, 4_000), min_size=1, max_size=30),
    missed=st.sampled_from(schedules.MISSED),
)
def test_however_often_somebody_looks_no_run_comes_twice_nor_too_early(
    every: int, looks: list[int], missed: str
) -> None:
    plan = nightly(cron="", every_s=every, first_at=NOW, missed=missed)
    due, now, ran = NOW, NOW - 1_000, []
    for pause in looks:
        now += pause * 1000
        if due > now:
            continue
        found = decide(plan, ZONE, due, now)
        assert found.next_at > now
        due = found.next_at
        if found.run is not None:
            assert found.run.at <= found.run.base <= now
            assert (found.run.at - NOW) % (every * 1000) == 0
            assert now - found.run.at < every * 1000, "the latest of what came together"
            ran.append(found.run.at)
    assert ran == sorted(set(ran))
    if missed == "once":
        assert bool(ran) == (now >= NOW)


def test_a_disabled_one_is_never_due() -> None:
    assert planned_at(nightly(enabled=False), ZONE, NOW) == 0
    assert planned_at(nightly(), ZONE, NIGHT - 1) == NIGHT
