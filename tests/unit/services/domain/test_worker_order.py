"""What workers can be told."""

from __future__ import annotations

import pytest

from services.domain.fleet import worker_order
from services.domain.fleet.autoscale import Range
from services.domain.fleet.worker import WorkerInfo
from services.domain.fleet.worker_order import WorkerOrder
from services.domain.gates.ability import Ability, of, supply
from services.domain.gates.lane_share import Share
from services.domain.types.task_type import TaskType


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("drain", WorkerOrder(verb="drain")),
        ("stop", WorkerOrder(verb="stop")),
        ("stop=600", WorkerOrder(verb="stop", grace_s=600.0)),
        ("slots=4,low=1-3", WorkerOrder(verb="slots", slots=4, shares={"low": Share(1, 3)})),
        ("slots=auto:2-8", WorkerOrder(verb="slots", auto=Range(2, 8))),
        ("refuse=a,b,a", WorkerOrder(verb="refuse", types=("a", "b"))),
        ("refuse=", WorkerOrder(verb="refuse")),
        ("open_window=pdd:s1", WorkerOrder(verb="open_window", shop="pdd:s1")),
        ("log", WorkerOrder(verb="log", log_s=300.0)),
        ("log=60", WorkerOrder(verb="log", log_s=60.0)),
    ],
)
def test_orders(text: str, order: WorkerOrder) -> None:
    assert worker_order.parse(text) == order


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dance",
        "drain=1",
        "stop=-1",
        "stop=x",
        "stop=nan",
        "slots",
        "slots=0",
        "slots=auto:9",
        "refuse",
        "refuse=a b",
        "restart_browser",
        "restart_browser=s1",
        "release_profile=../x:s1",
        "log=",
        "log=99999",
    ],
)
def test_what_is_no_order(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        worker_order.parse(text)


def test_a_refused_type_is_none_of_its_business_and_others_see_why() -> None:
    kind = TaskType(name="work")
    willing = Ability(executors=("rpa",))
    assert (willing.executor_for(kind), Ability(executors=("rpa",), declines=("work",)).executor_for(kind)) == (
        "rpa",
        "",
    )
    info = WorkerInfo(worker="w", host="h", pid=1, seen_at=1, executors=("rpa",), declines=("work",))
    assert of(info).declines == ("work",)
    found = supply(kind, "normal", [info], 1)
    assert (found.able, found.needs, found.need) == (0, "willing", "work")
    assert supply(TaskType(name="other"), "normal", [info], 1).able == 1
