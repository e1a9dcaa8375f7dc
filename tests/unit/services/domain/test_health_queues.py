"""Queues that nobody serves, messages that nobody should hold."""

from __future__ import annotations

import pytest

from services.domain.task.order import QueueDepth
from services.domain.upkeep.health import Finding
from services.domain.upkeep.health_queues import of_queues, of_strays
from services.messages import english


def depth(name: str = "single_shop_s1", kind: str = "shop", **numbers: int) -> QueueDepth:
    return QueueDepth(**({"name": name, "ready": 0, "unacked": 0, "consumers": 0, "kind": kind} | numbers))


def codes(found: list[Finding]) -> list[str]:
    assert all(one.remedy is not None and english(one.remedy) for one in found)
    return [one.message.code.removeprefix("doctor.") for one in found]


@pytest.mark.parametrize(
    ("found", "workers", "wanted"),
    [
        ([], 1, ["shop_queue_missing"]),
        ([depth()], 1, []),
        ([depth(ready=3)], 1, ["shop_queue_waits"]),
        ([depth(ready=3, consumers=1)], 1, []),
        ([depth(ready=3)], 0, []),
        ([depth(unacked=2)], 0, ["unacked"]),
        ([depth(), depth("rpa_tasks_low", "lane", unacked=1)], 0, ["unacked"]),
        ([depth(unacked=2, consumers=1)], 1, []),
    ],
)
def test_queues_that_nobody_looks_after(found: list[QueueDepth], workers: int, wanted: list[str]) -> None:
    assert codes(of_queues(found, ["s1"], workers=workers)) == wanted


def test_a_queue_of_a_shop_that_nobody_dedicated() -> None:
    seen = [depth("rpa_tasks_low", "lane"), depth("single_shop_s1"), depth("single_shop_s2")]
    (found,) = of_strays(seen, ["s1"])
    assert found.message.params == {"count": 1, "queues": "single_shop_s2"}
    assert codes([found]) == ["stray_queue"]
    assert of_strays(seen, ["s1", "s2"]) == []
