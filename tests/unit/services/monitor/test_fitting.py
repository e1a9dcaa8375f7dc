"""Which dead letters a filter means, cause by cause."""

from __future__ import annotations

import pytest

from services.domain.task.record import Task
from services.monitor.letters.causes import Cause, CauseQueries
from services.monitor.letters.fitting import fitting
from services.monitor.tasks import TaskQueries
from tests.unit.services.engine.room import Room

TIMEOUT, LOGIN = "aaaa", "bbbb"


def dead(room: Room, shop: str, cause: str, error: str) -> Task:
    task = room.running(f"w#{shop}", shop_id=shop)
    return room.finish(task, "dead", error=error, error_kind="network", fingerprint=cause)


def called(cause: Cause) -> str:
    return {TIMEOUT: "The orders are slow", LOGIN: "Somebody must log in"}[cause.fingerprint]


@pytest.mark.parametrize(
    ("text", "found", "shops"),
    [
        ("", [(TIMEOUT, 3, 0), (LOGIN, 1, 0)], 4),
        ("shop:s1", [(TIMEOUT, 1, 3)], 1),
        ("-shop:s1", [(TIMEOUT, 2, 3), (LOGIN, 1, 1)], 3),
        ("slow", [(TIMEOUT, 3, 0)], 3),
        ("slow shop:s2", [(TIMEOUT, 1, 3)], 1),
        ("-slow", [(LOGIN, 1, 1)], 1),
        ("cause:somebody*", [(LOGIN, 1, 0)], 1),
        ("expired", [(LOGIN, 1, 1)], 1),
        ("nobody", [], 0),
    ],
)
def test_a_cause_is_told_with_how_many_of_its_letters_fit(
    room: Room, text: str, found: list[tuple[str, int, int]], shops: int
) -> None:
    for shop in ("s1", "s2", "s3"):
        dead(room, shop, TIMEOUT, "timeout 30000 ms at #list")
    dead(room, "s4", LOGIN, "session expired")
    causes = CauseQueries(room.store).causes()
    told = fitting(TaskQueries(room.store, room.registry), causes, "open", text, called)
    assert [(one.fingerprint, one.count, one.among) for one in told.rows] == found
    assert told.shops == shops
