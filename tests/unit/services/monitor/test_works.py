"""Did it run? What is known of a day, and what only looks as if nothing had happened."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from services.domain.change import Create
from services.domain.errors import UsageError
from services.domain.task import ledger
from services.domain.task.record import Task
from services.domain.text.said import Said, words_of
from services.domain.types import task_type
from services.monitor.works import Uncounted, WorkQueries
from tests.unit.services.engine.room import Room

SHOP = "pdd:s1"
DEAD: dict[str, Any] = {"status": "dead", "triage": "archived", "ended_at": 1}


@pytest.fixture
def works(room: Room) -> WorkQueries:
    return WorkQueries(room.store, room.registry)


@pytest.mark.parametrize(("early_ms", "uncounted"), [(0, Uncounted.NO), (1, Uncounted.OLD)])
def test_a_day_is_counted_for_as_long_as_the_ledger_keeps_it(
    room: Room, works: WorkQueries, early_ms: int, uncounted: Uncounted
) -> None:
    room.define("single", uniqueness="shop_type")
    begins = room.store.now_ms() - ledger.KEPT_MS - early_ms
    story = works.story(SHOP, "single", (begins, begins + ledger.DAY_MS, "UTC"))
    assert (story.uncounted, story.known) == (uncounted, uncounted == Uncounted.NO)


@pytest.mark.parametrize(
    ("uniqueness", "uncounted"),
    [("shop_type", Uncounted.NO), ("shop_type_payload", Uncounted.MANY), ("none", Uncounted.NEVER)],
)
def test_yesterday_is_counted_where_it_is_one_work(
    room: Room, works: WorkQueries, uniqueness: str, uncounted: Uncounted
) -> None:
    room.define("kind", uniqueness=uniqueness)
    ends = room.store.now_ms()
    assert works.story(SHOP, "kind", (ends - ledger.DAY_MS, ends, "UTC")).uncounted == uncounted
    today = works.story(SHOP, "kind", (ends - ledger.DAY_MS, ends + 1, "UTC"))
    assert today.counted


@pytest.mark.parametrize(
    ("uniqueness", "kept_ms", "known"),
    [
        ("shop_type_payload", 8_640_000, False),
        ("none", 8_640_000, False),
        ("shop_type", 8_640_000, True),
        ("shop_type_payload", ledger.DAY_MS, True),
        ("shop_type_payload", 0, True),
    ],
)
def test_what_ran_this_morning_may_be_gone_where_records_are_kept_for_hours(
    room: Room, uniqueness: str, kept_ms: int, known: bool
) -> None:
    room.define("kind", uniqueness=uniqueness)
    begins = room.store.now_ms() - 36_000_000
    works = WorkQueries(room.store, room.registry, kept_ms)
    assert works.story(SHOP, "kind", (begins, begins + ledger.DAY_MS, "UTC")).known == known


@pytest.mark.parametrize("uniqueness", ["shop_type", "none"])
def test_a_letter_that_no_worker_began_is_no_failed_run(room: Room, works: WorkQueries, uniqueness: str) -> None:
    room.define("kind", uniqueness=uniqueness)
    begins = room.store.now_ms() - 60_000
    uniq = task_type.uniqueness_key(room.registry.task_type("kind"), "pdd", "s1", "{}")
    record = Task(task_id="ran", shop_id="s1", platform="pdd", task_type="kind", uniq=uniq, attempt=1, **DEAD)
    ran = Create(task=record)
    never = Create(task=replace(record, task_id="never", attempt=0))
    room.store.apply([never])
    day = (begins, begins + 600_000, "UTC")
    assert (works.story(SHOP, "kind", day).failed, works.of_shop(SHOP)) == (None, ())
    room.store.apply([ran, Create(task=replace(record, task_id="late", attempt=0))])
    (row,) = works.of_shop(SHOP)
    for failed in (works.story(SHOP, "kind", day).failed, row.failed):
        assert failed is not None
        assert failed.task_id == "ran"


def test_parameters_that_tell_no_works_apart_are_refused_in_words_of_every_language(
    room: Room, works: WorkQueries
) -> None:
    room.define("single", uniqueness="shop_type")
    with pytest.raises(UsageError, match="leave --payload out") as caught:
        works.story(SHOP, "single", (0, ledger.DAY_MS, "UTC"), {"n": 1})
    assert isinstance(told := words_of(caught.value), Said)
    assert told.message.code == "work.not_apart"
