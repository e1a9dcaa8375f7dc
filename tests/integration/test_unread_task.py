"""A task whose record nobody can read is not said not to be there: by acts and over REST on both pairs, by commands."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from services import act_words, assembly, messages
from services import settings as config
from services.commands.outcome import Outcome
from services.domain.task.search.query import Query
from services.store.redis import keys
from tests.integration.api_rig import Api, serving
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet
from tests.integration.test_api import problem
from tests.integration.test_engine_repairs import change, repaired

Act = Callable[[assembly.Commands, str], Outcome]
SPOILT = "UPDATE tasks SET data = x'ff' WHERE task_id = '{}'"


@pytest.fixture
def api(fleet: Fleet) -> Iterator[Api]:
    with serving(fleet) as found:
        yield found


def test_over_rest_it_is_told_with_what_to_do_also_once_it_is_set_aside(api: Api) -> None:
    task_id = api.fleet.create("s1")
    change(api.fleet, SPOILT.format(task_id), "SET", keys.task(task_id), "no record")
    with api.by("viewer") as ask:
        for path in (f"/api/v1/tasks/{task_id}", f"/api/v1/tasks/{task_id}/log"):
            told = problem(ask.get(path), 409, "task.unreadable")
            assert "cannot be read" in str(told["detail"])
            assert "look in the shop" in str(told["detail"])
        repaired(api.fleet)
        told = problem(ask.get(f"/api/v1/tasks/{task_id}"), 409, "task.set_aside")
        assert "was set aside" in str(told["detail"])
        problem(ask.get(f"/api/v1/tasks/{task_id}x"), 404)


def test_on_the_command_line_it_is_no_wrong_word(cli: Cli) -> None:
    (task_id,) = cli.run("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "work")["created"]
    with closing(sqlite3.connect(config.load(home=cli.home).database, timeout=30)) as conn, conn:
        conn.execute(SPOILT.format(task_id))
    told = cli.run("task", "show", task_id, code=1)["error"]
    assert f"the record of task '{task_id}' cannot be read" in str(told)
    assert "`fleetdeck repair` sets the record aside" in str(told)
    assert "there is no task" in str(cli.run("task", "show", f"{task_id}x", code=2)["error"])


@pytest.mark.parametrize(
    "act",
    [
        lambda done, name: done.tasks.cancel([name]),
        lambda done, name: done.tasks.retry_waiting([name], reason="asked by the buyer"),
        lambda done, name: done.tasks.try_anyway(name, reason="asked by the buyer"),
        lambda done, name: done.tasks.take_back_try(name),
        lambda done, name: done.tasks.prioritize([name], "high"),
        lambda done, name: done.tasks.run_now([name]),
        lambda done, name: done.tasks.resolve([name], "succeeded", note="seen in the shop"),
        lambda done, name: done.tasks.create_again([name]),
        lambda done, name: done.dead_letters.republish([name]),
        lambda done, name: done.dead_letters.set_triage([name], "archived"),
        lambda done, name: done.dead_letters.note(name, "look here"),
    ],
    ids=("cancel", "retry", "try", "try_back", "priority", "now", "resolve", "again", "republish", "archive", "note"),
)
def test_an_act_on_it_says_so_too_and_does_nothing_else(fleet: Fleet, act: Act) -> None:
    spoilt, well = fleet.create("s1"), fleet.task(fleet.create("s2"))
    change(fleet, SPOILT.format(spoilt), "SET", keys.task(spoilt), "no record")
    before = fleet.engine.store.query(Query(limit=10)).total
    (refused,) = act(fleet.commands(), spoilt).skipped
    assert refused.why.code in ("task.unreadable", "task.set_aside")
    assert "look in the shop" in messages.english(refused.why).replace("\n", " ")
    assert fleet.engine.store.unread(spoilt)
    assert (before or 0) - (fleet.engine.store.query(Query(limit=10)).total or 0) in (0, 1), "nothing was created"
    assert fleet.task(well.task_id) == well
    assert act(fleet.commands(), "nobody").skipped[0].why.code == "task.unknown"


def test_among_others_it_alone_is_left(fleet: Fleet) -> None:
    spoilt, well = fleet.create("s1"), fleet.create("s2")
    change(fleet, SPOILT.format(spoilt), "SET", keys.task(spoilt), "no record")
    done = fleet.commands().tasks.cancel([spoilt, well])
    assert done.done == (well,)
    assert [one.task_id for one in done.skipped] == [spoilt]
    entry = fleet.engine.store.audit(1)[0]
    assert "its record" in act_words.ended(entry.outcome)


def test_an_act_over_rest_says_so_and_that_asking_again_changes_nothing(api: Api) -> None:
    task_id = api.fleet.create("s1")
    change(api.fleet, SPOILT.format(task_id), "SET", keys.task(task_id), "no record")
    with api.by("operator") as ask:
        answer = ask.post("/api/v1/tasks/cancel", json={"ids": [task_id]})
    assert answer.json()["code"] in ("task.unreadable", "task.set_aside")
    assert answer.status_code == 409
    assert "asking again changes nothing" in answer.json()["remedy"]


def test_an_act_on_the_command_line_says_so(cli: Cli) -> None:
    (task_id,) = cli.run("task", "create", "--platform", "pdd", "--shop", "s1", "--type", "work")["created"]
    with closing(sqlite3.connect(config.load(home=cli.home).database, timeout=30)) as conn, conn:
        conn.execute(SPOILT.format(task_id))
    (refused,) = cli.run("task", "retry", task_id, code=1)["skipped"]
    assert refused["code"] == "task.unreadable"
    assert f"the record of task '{task_id}' cannot be read" in refused["reason"]
