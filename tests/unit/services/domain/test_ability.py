"""Which worker can run what, by its heartbeat."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.fleet.worker import SILENT_AFTER_MS, LinkState, SlotState, WorkerInfo
from services.domain.gates import ability
from services.domain.gates.ability import Ability
from services.domain.gates.home import HomeNow
from services.domain.types.task_type import TaskType

NOW = 1_700_000_000_000


def kind(executor: str = "rpa", name: str = "mail") -> TaskType:
    return TaskType(name=name, executor=executor)


def worker(name: str = "w1", **fields: Any) -> WorkerInfo:
    return WorkerInfo(**({"worker": name, "host": "h", "pid": 1, "seen_at": NOW} | fields))


@pytest.mark.parametrize(
    ("fields", "executor", "runs_on"),
    [
        ({"executors": ("rpa",)}, "rpa", "rpa"),
        ({"executors": ("python",), "handlers": ("mail",)}, "python", "python"),
        ({"executors": ("rpa", "python"), "handlers": ("mail",)}, "rpa", "python"),
        ({"executors": ("rpa", "python"), "handlers": ("other",)}, "python", ""),
        ({"executors": ("rpa",), "handlers": ("mail",)}, "python", ""),
        ({"executors": ("python",)}, "rpa", ""),
        ({"commands": ("mail",), "lacks": {"rpa": "flowrun"}}, "rpa", "rpa"),
        ({"commands": ("other",), "lacks": {"rpa": "flowrun"}}, "rpa", ""),
        ({"executors": ("rpa",), "lacks": {"rpa:mail": "own"}}, "rpa", ""),
        ({"executors": ("rpa", "robot")}, "robot", "robot"),
        ({"executors": ("rpa", "python")}, "robot", ""),
        ({}, "rpa", ""),
    ],
)
def test_the_executor_that_would_run_it(fields: dict[str, Any], executor: str, runs_on: str) -> None:
    assert Ability(**fields).executor_for(kind(executor)) == runs_on


def test_only_living_workers_of_the_lane_count() -> None:
    workers = [
        worker("able", executors=("rpa",)),
        worker("poor", lacks={"rpa": "flowrun"}),
        worker("elsewhere", executors=("rpa",), lanes=("low",)),
        worker("leaving", executors=("rpa",), state="draining"),
        worker("silent", executors=("rpa",), seen_at=NOW - SILENT_AFTER_MS - 1),
    ]
    supply = ability.supply(kind(), "high", workers, NOW)
    assert (supply.serving, supply.able) == (2, 1)
    assert supply.seen == ("able", "elsewhere", "poor")


def test_those_that_cannot_reach_the_broker_are_counted_since_the_first_cannot() -> None:
    lost = [worker(f"w{n}", link=LinkState(error="Connection lost.", lost_at=NOW - n * 1000)) for n in (1, 3, 2)]
    supply = ability.supply(kind(), "high", [worker("able", executors=("rpa",)), *lost], NOW)
    assert (supply.serving, supply.cut_off, supply.lost_at) == (1, 3, NOW - 3000)


@pytest.mark.parametrize(
    ("executor", "lacks", "needs", "need"),
    [
        ("python", {}, "handler", "mail"),
        ("rpa", {"rpa": "flowrun"}, "program", "flowrun"),
        ("rpa", {"rpa": "flowrun", "rpa:mail": "own"}, "program", "own"),
        ("rpa", {}, "executor", "rpa"),
        ("robot", {"rpa": "flowrun"}, "executor", "robot"),
    ],
)
def test_what_is_needed_has_a_name(executor: str, lacks: dict[str, str], needs: str, need: str) -> None:
    supply = ability.supply(kind(executor), "high", [worker(), worker("w2", lacks=lacks)], NOW)
    assert (supply.able, supply.needs, supply.need) == (0, needs, need)


def test_those_that_were_told_to_refuse_it_are_not_called_unable() -> None:
    able = worker(executors=("rpa",), declines=("mail",))
    supply = ability.supply(kind(), "high", [able, worker("w2", lacks={"rpa": "flowrun"})], NOW)
    assert (supply.able, supply.needs, supply.need) == (0, "willing", "mail")


def test_a_command_of_its_own_goes_before_the_browser() -> None:
    kind = TaskType(name="screenshot", executor="browser")
    assert Ability(executors=("browser", "rpa"), commands=("screenshot",)).executor_for(kind) == "rpa"
    assert Ability(executors=("browser", "rpa")).executor_for(kind) == "browser"
    assert Ability(executors=("rpa",), lacks={"browser": "playwright"}).executor_for(kind) == ""


@pytest.mark.parametrize(
    ("kind", "workers", "needs"),
    [
        (TaskType(name="page", executor="browser"), (), True),
        (TaskType(name="page", executor="browser"), ({"executors": ("browser",)},), True),
        (TaskType(name="page", executor="browser"), ({"executors": ("rpa",), "commands": ("page",)},), False),
        (TaskType(name="page", executor="browser", isolation="context"), ({"executors": ("browser",)},), False),
        (TaskType(name="flow", executor="rpa"), ({"executors": ("rpa",)},), False),
        (
            TaskType(name="flow", executor="rpa"),
            ({"executors": ("rpa",)}, {"executors": ("rpa",), "lends": ("flow",)}),
            True,
        ),
    ],
)
def test_what_works_in_the_profile_of_its_shop(
    kind: TaskType, workers: tuple[dict[str, Any], ...], needs: bool
) -> None:
    seen = [worker(f"w{number}", **fields) for number, fields in enumerate(workers)]
    assert ability.works_at_home(kind, seen) is needs


def test_what_the_workers_of_a_node_tell_of_it() -> None:
    slots = (SlotState(task_id="t"), SlotState())
    desk = {"node": "desk", "executors": ("rpa",), "slots": slots}
    seen = [
        worker("w1", **desk),
        worker("w2", **desk, lanes=("low",)),
        worker("w3", **(desk | {"seen_at": NOW - SILENT_AFTER_MS - 1})),
        worker("w4", **(desk | {"node": "hall"})),
    ]
    assert ability.at_home("desk", kind(), "high", seen, NOW) == HomeNow(
        node="desk", alive=2, able=1, free=1, seen_at=NOW
    )
    assert ability.at_home("attic", kind(), "high", seen, NOW) == HomeNow(node="attic")
    waiting = {("high", "mail", "desk"): 2, ("low", "mail", "attic"): 1, ("high", "flow", "attic"): 3}
    assert list(ability.absent_homes(waiting, seen, NOW)) == [("attic", 4, 0)]
