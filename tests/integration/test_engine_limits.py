"""Limits of platforms and types with workers at it: how many run, how many start, and who goes next; both pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from services.domain.errors import UsageError
from services.domain.gates.limit import Limit
from services.domain.task.event import Event
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, define, lines

PDD = "platform:pdd"


def most_at_once(events: Iterable[Event], of: Callable[[Event], str]) -> dict[str, int]:
    """The largest number of tasks that ran together, by what ``of`` says of them."""
    now: dict[str, set[str]] = {}
    most: dict[str, int] = {}
    for event in events:
        group = now.setdefault(of(event), set())
        if event.to == "running":
            group.add(event.task_id)
        elif event.from_ == "running":
            group.discard(event.task_id)
        most[of(event)] = max(most.get(of(event), 0), len(group))
    return most


def test_a_platform_never_runs_more_than_it_may(fleet: Fleet) -> None:
    ids = [fleet.create(f"s{shop}", sleep=0.02, n=n) for n in range(3) for shop in range(10)]
    cursor = fleet.cursor()
    fleet.commands().fleet.set_limit(Limit(scope=PDD, concurrency=3))
    for name in ("w1", "w2"):
        fleet.worker(8, engine=fleet.open(), name=name)
    tasks = fleet.wait_ended(ids)
    assert {task.status for task in tasks} == {"succeeded"}
    assert most_at_once(fleet.events(cursor), lambda event: event.platform) == {"pdd": 3}
    assert all(task.attempt == 1 for task in tasks), "waiting at a gate is no attempt"


def test_a_type_keeps_the_limit_of_its_document_and_others_go_on(fleet: Fleet) -> None:
    define(fleet, "work", concurrency=1)
    fleet.reconciler().match_limits()
    cursor = fleet.cursor()
    ids = [fleet.create(f"s{n}", sleep=0.02) for n in range(6)] + [fleet.create(f"o{n}", "once") for n in range(6)]
    fleet.worker(8)
    fleet.wait_ended(ids)
    assert most_at_once(fleet.events(cursor), lambda event: event.task_type)["work"] == 1
    define(fleet, "work")
    fleet.reconciler().match_limits()
    assert fleet.engine.store.limits() == []


def test_an_imported_type_limits_at_once(fleet: Fleet) -> None:
    commands = fleet.commands().fleet
    commands.import_types(['{"name": "work", "concurrency": 4, "rate_per_minute": 90}'])
    (one,) = fleet.engine.store.limits()
    assert one.limit == Limit(scope="type:work", concurrency=4, per_minute=90)
    with pytest.raises(UsageError, match="concurrency must be 1 to") as caught:
        commands.import_types(['{"name": "work", "concurrency": 0}'])
    assert caught.value.field == "concurrency"
    commands.import_types(['{"name": "work"}'])
    assert fleet.engine.store.limits() == []


def test_of_all_shops_the_most_urgent_goes_first(fleet: Fleet, seen: Path) -> None:
    gate = fleet.folder / "open"
    first = fleet.create("s0", until=str(gate))
    fleet.commands().fleet.set_limit(Limit(scope=PDD, concurrency=1))
    fleet.worker(8)
    fleet.wait(first, "running")
    words = (("s1", "low"), ("s2", "normal"), ("s0", "normal"), ("s3", "high"))
    ids = [fleet.create(shop, priority=word, seen=str(seen), n=word) for shop, word in words]
    assert [fleet.wait(task_id, "blocked").gate for task_id in ids] == ["quota", "quota", "shop_busy", "quota"]
    gate.touch()
    fleet.wait_ended([first, *ids])
    low, normal, own, high = ids
    assert [row[1] for row in lines(seen, "start")] == [high, normal, own, low]


def test_what_exceeds_the_starts_of_a_minute_waits_and_a_higher_limit_lets_it_go(fleet: Fleet) -> None:
    commands = fleet.commands().fleet
    ids = [fleet.create(f"s{n}") for n in range(6)]
    commands.set_limit(Limit(scope=PDD, per_minute=2))
    fleet.worker(8)

    def status() -> list[str]:
        return sorted(str(fleet.task(task_id).status) for task_id in ids)

    eventually(lambda: status() == ["blocked"] * 4 + ["succeeded"] * 2, 30)
    reconciler = fleet.reconciler(engine=fleet.open())
    assert reconciler.open_parked() == 0, "a new process knows of the starts too"
    (one,) = fleet.engine.store.limits()
    assert (one.started, one.full, one.waiting) == (2, True, 4)
    commands.set_limit(Limit(scope=PDD, per_minute=5))
    eventually(lambda: status() == ["blocked"] + ["succeeded"] * 5, 30)
    commands.set_limit(Limit(scope=PDD))
    fleet.wait_ended(ids)


def test_a_resume_releases_at_most_twice_the_slots_at_a_time(fleet: Fleet) -> None:
    commands = fleet.commands().fleet
    commands.pause("all")
    fleet.worker(3, name="w1")
    ids = [fleet.create(f"s{n}") for n in range(20)]
    for task_id in ids:
        fleet.wait(task_id, "blocked")
    eventually(lambda: sum(len(info.slots) for info in fleet.engine.store.workers()) == 3, 30)
    other = fleet.open()  # another process, after a restart: the switch is still closed
    assert [pause.scope for pause in other.store.pauses()] == ["all"]
    cursor = fleet.cursor()
    commands.resume("all")
    first = [event for event in fleet.events(cursor) if event.from_ == "blocked"]
    assert 0 < len({event.task_id for event in first}) <= 6
    reconciler = fleet.reconciler()

    def all_ended() -> bool:
        assert fleet.engine.store.promised() <= 6
        reconciler.open_parked()
        return all(fleet.task(task_id).ended for task_id in ids)

    eventually(all_ended, 30)


def test_a_limit_may_name_a_platform_before_its_first_shop(fleet: Fleet) -> None:
    fleet.commands().fleet.set_limit(Limit(scope="platform:shopee", concurrency=2))
    (found,) = fleet.engine.store.limits()
    assert (found.limit.scope, found.limit.concurrency, found.running) == ("platform:shopee", 2, 0)


def test_a_limit_that_cannot_be_is_refused(fleet: Fleet) -> None:
    commands = fleet.commands().fleet
    fleet.create()
    for limit, field in (
        (Limit(scope="type:work", concurrency=2), "scope"),
        (Limit(scope="shop:pdd:s1", concurrency=2), "scope"),
        (Limit(scope=PDD, concurrency=-1), "concurrency"),
        (Limit(scope=PDD, per_minute=10**9), "per_minute"),
    ):
        with pytest.raises(UsageError) as caught:
            commands.set_limit(limit)
        assert caught.value.field == field
    assert fleet.engine.store.limits() == []
    assert commands.set_limit(Limit(scope=PDD, concurrency=2)) == Limit(scope=PDD)
    (entry,) = fleet.engine.store.audit(1)
    assert (entry.action, entry.target, entry.outcome) == ("limit", (PDD,), "done")
