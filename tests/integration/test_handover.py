"""The page for who takes over: on real stores, each number counted again by its own filter."""

from __future__ import annotations

import pytest

from services import assembly, workforce
from services.domain.alerts.incident import ROLE
from services.domain.insight.handover import ACTS, BROKE, NEXT, NOW, PROMISES, WAITS
from services.domain.promises.promise import Promise
from services.domain.task import filter
from services.domain.task.query import Query
from services.engine.lead import leader
from services.monitor.handover import AUDIT, CAUSES, TASKS, Handover, Line, plain
from tests.integration.fleet_rig import Fleet

HOUR_MS = 3_600_000


def page(fleet: Fleet, language: str = "en", since: int = 0) -> Handover:
    """As it is written now."""
    asked = assembly.queries(fleet.engine).handover
    return asked.page(since or fleet.engine.store.now_ms() - HOUR_MS, language)


def part(found: Handover, key: str) -> tuple[Line, ...]:
    """The lines of one part."""
    return next((one.lines for one in found.parts if one.key == key), ())


def led(fleet: Fleet) -> None:
    """Somebody leads and watches."""
    for role in (leader.ROLE, ROLE):
        assert fleet.engine.store.lead(role, "desk-02/11", 60_000)


def again(fleet: Fleet, line: Line) -> int:
    """What its filter counts."""
    if line.page == AUDIT:
        return len(assembly.queries(fleet.engine).audit.entries(line.filter, limit=1_000).entries)
    terms = filter.parse(line.filter, now_ms=fleet.engine.store.now_ms())
    return fleet.engine.store.query(Query(terms=terms, limit=1)).number.number


@pytest.fixture
def shift(fleet: Fleet) -> Fleet:
    """A shift in which three died of one cause, two were done, one waits, and somebody did two things."""
    led(fleet)
    ended = [fleet.create(f"s{n}", fail="risk_control", max_retries=0) for n in range(3)] + [
        fleet.create("s7"),
        fleet.create("s8"),
    ]
    worker = fleet.worker()
    fleet.wait_ended(ended)
    worker.stop(0.0)
    commands = fleet.commands()
    commands.fleet.pause("shop:pdd:s9", reason="captcha")
    commands.fleet.pause("shop:pdd:s6", reason="stock-taking")
    fleet.create("s9")
    return fleet


def test_it_tells_what_broke_who_acted_and_what_waits(shift: Fleet) -> None:
    found = page(shift)
    assert found.doubts == ()
    now = {line.text: line.number for line in part(found, NOW)}
    assert now == {"1 task waits": 1, "3 dead letters are open": 3, "2 tasks have succeeded in this time": 2}
    (broke,) = (line for line in part(found, BROKE) if line.page == CAUSES)
    assert broke.text.startswith("New: ")
    assert "3 dead letters, in 3 shops, since " in broke.text
    acted = [line.text for line in part(found, ACTS)]
    assert any(": Pause, 2 times: shop:pdd:s6, shop:pdd:s9" in line for line in acted), acted
    waits = [line.text for line in part(found, WAITS)]
    assert any(line.startswith("For an operator: ") and "3 dead letters" in line for line in waits), waits


def test_each_number_is_what_its_filter_counts(shift: Fleet) -> None:
    numbered = [line for one in page(shift).parts for line in one.lines if line.number is not None]
    assert {line.page for line in numbered} == {TASKS, CAUSES, AUDIT}
    assert {line.text: line.number for line in numbered} == {line.text: again(shift, line) for line in numbered}


def test_what_happened_before_is_left_out(shift: Fleet) -> None:
    store = shift.engine.store
    store_now = store.now_ms()
    found = page(shift, since=store_now)
    assert [line.number for line in part(found, NOW)][-1] == 0  # nothing has succeeded since
    assert not any(line.page == CAUSES for line in part(found, BROKE))
    assert part(found, ACTS) == ()
    assert part(found, WAITS)  # what waits for a person waits for who takes over


def test_it_speaks_the_language_that_is_asked_for(shift: Fleet) -> None:
    words = list(plain(page(shift, "zh_CN")))
    assert "现状" in words
    assert "- 3 封死信待处理" in words
    assert "【" in "".join(words)
    assert "现状" not in list(plain(page(shift)))


def test_on_what_nobody_keeps_it_advises_nothing(fleet: Fleet) -> None:
    found = page(fleet)
    assert [one.split(":")[0] for one in found.doubts] == [
        "Nobody leads the fleet",
        "Nobody watches for alerts now",
    ]
    (advice,) = (one for one in found.parts if one.key == NEXT)
    assert (advice.lines, advice.empty[:18]) == ((), "Nothing is advised")


def test_a_promise_that_nobody_judges_any_more_is_a_doubt(fleet: Fleet) -> None:
    led(fleet)
    fleet.shop("s1")
    promise = Promise(name="orders", task_type="work", all_shops=True, limit_s=3_600)
    fleet.commands().promises.set(promise)

    assert workforce.promise_keeper(fleet.engine).tick() == 1
    found = page(fleet)
    assert found.doubts == ()
    (promised,) = (one for one in found.parts if one.key == PROMISES)
    assert promised.lines or promised.empty
