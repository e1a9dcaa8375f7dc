"""Many at once, from this program and from others: every one is accounted for, none runs twice.

``make test`` sends as many as fill all slots, shops and lanes several times over; ``make faults`` sends a thousand.
"""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pika
import pytest

from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.engine.producer import TaskSpec
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet, channel, lines

SHOPS = 100
HARSH = (pytest.mark.fault, pytest.mark.harsh, pytest.mark.slow)


def records(fleet: Fleet) -> list[Task]:
    """All records, page by page."""
    found: list[Task] = []
    cursor: str | None = ""
    while cursor is not None:
        page = fleet.engine.store.query(Query(limit=500, cursor=cursor))
        found += page.tasks
        cursor = page.next
    return found


def ends(fleet: Fleet, cursor: str) -> Counter[str]:
    """How often each task was told to have ended."""
    terminal = ("succeeded", "dead", "cancelled")
    return Counter(event.task_id for event in fleet.events(cursor) if event.to in terminal and event.from_ != event.to)


@pytest.mark.parametrize("count", [300, pytest.param(1_000, marks=HARSH)])
def test_many_at_once_are_all_accounted_for(cli: Cli, fleet: Fleet, tmp_path: Path, count: int) -> None:
    seen = tmp_path / "seen.txt"
    cursor = fleet.cursor()
    fleet.engine.store.put_document("fleet", "breaker", '{"failures": 0}')  # two shops always fail
    specs = [
        TaskSpec(
            platform=("pdd", "temu")[number % 2],
            shop_id=f"s{number % SHOPS}",
            task_type="work",
            payload={"n": number, "seen": str(seen)} | ({"fail": "missing_secret"} if number % 50 == 0 else {}),
            priority=("high", "normal", "low")[number % 3],
        )
        for number in range(count)
    ]
    done = fleet.submit(*specs)
    assert (len(done.created), done.duplicates, done.errors, done.unconfirmed) == (count, (), (), 0)
    assert cli.drain("--slots", 8)["clean"] is True
    expected = {"succeeded": count - count // 50, "dead": count // 50}
    assert fleet.engine.store.counts().status == expected
    assert cli.run("stats")["status"] == expected
    found = records(fleet)
    assert {task.task_id for task in found} == {task.task_id for task in done.created}
    assert Counter(task.status for task in found) == expected
    assert all(task.attempt == 1 and len(task.attempts) == 1 for task in found)
    assert set(ends(fleet, cursor).values()) == {1}
    assert Counter(row[1] for row in lines(seen, "start")).most_common(1)[0][1] == 1
    assert len(lines(seen, "start")) == count
    assert all(fleet.engine.store.get_letter(task.task_id) for task in found if task.status == "dead")
    assert all(not depth.ready and not depth.unacked for depth in fleet.engine.broker.depths())


@pytest.mark.parametrize("count", [120, pytest.param(1_000, marks=HARSH)])
@pytest.mark.parametrize(
    "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
)
def test_a_foreign_producer_sends_many_and_each_runs_once(cli: Cli, fleet: Fleet, tmp_path: Path, count: int) -> None:
    """Bare pika on one side, a command that notes each start on the other."""
    seen = tmp_path / "seen.txt"
    cursor = fleet.cursor()
    bodies = [
        {
            "task_id": f"foreign-{number}",
            "shop_id": f"s{number % SHOPS}",
            "platform": "pdd",
            "task_type": "flow",
            "payload": {"seen": str(seen)},
            "priority": ("high", "normal", "low")[number % 3],
            "created_at": "2026-11-21T08:00:00+08:00",
            "retry_count": 0,
            "max_retries": 3,
        }
        for number in range(count)
    ]
    with channel(fleet.settings.broker.url) as wire:
        wire.confirm_delivery()
        for body in bodies:
            properties = pika.BasicProperties(
                content_type="application/json", delivery_mode=2, message_id=str(body["task_id"])
            )
            key = f"task.pdd.{body['priority']}"
            wire.basic_publish("rpa_task_exchange", key, json.dumps(body).encode(), properties, mandatory=True)
    assert cli.run("worker", "--drain", "--slots", 8)["clean"] is True
    found = records(fleet)
    assert {task.task_id for task in found} == {str(body["task_id"]) for body in bodies}
    assert Counter(task.status for task in found) == {"succeeded": count}
    starts = Counter(row[1] for row in lines(seen, "start"))
    assert (len(starts), set(starts.values())) == (count, {1}), "each is executed once"
    assert set(ends(fleet, cursor).values()) == {1}
    assert all(fleet.engine.store.executed([task.task_id for task in found]))


def test_programs_that_begin_together_on_an_empty_home_share_one_fleet(cli: Cli) -> None:
    """None of them finds a store, and each of them makes it."""
    with ThreadPoolExecutor(4) as people:
        words = [("task", "create", "--shop", f"s{n}", "--platform", "pdd", "--type", "work") for n in range(4)]
        made = list(people.map(lambda one: cli.run(*one)["created"], words))
    listed = [task["task_id"] for task in cli.run("task", "list")["tasks"]]
    assert sorted(listed) == sorted(task_id for (task_id,) in made)
    assert [entry["action"] for entry in cli.run("audit", "list")["entries"]].count("task.create") == 4
