"""A task whose record nobody can read is not said not to be there: over REST on both pairs, on the command line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from services import settings as config
from services.store.redis import keys
from tests.integration.api_rig import Api, serving
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet
from tests.integration.test_api import problem
from tests.integration.test_engine_repairs import change, repaired

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
