"""Did it run? What is known of a day, and what only looks as if nothing had happened."""

from __future__ import annotations

import pytest

from services.domain.task import ledger
from services.monitor.works import Uncounted, WorkQueries
from tests.unit.services.engine.room import Room

SHOP = "pdd:s1"


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
