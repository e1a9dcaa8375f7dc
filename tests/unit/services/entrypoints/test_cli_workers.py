"""Which workers an order is meant for."""

from __future__ import annotations

import argparse

import pytest

from services.cli.commands.workers import _chosen, task_types
from services.domain.errors import UsageError
from services.domain.fleet.worker import SILENT_AFTER_MS, WorkerInfo

NOW = 10_000_000
WORKERS = [
    WorkerInfo(worker="desk-1", host="h", pid=1, seen_at=NOW),
    WorkerInfo(worker="desk-12", host="h", pid=2, seen_at=NOW),
    WorkerInfo(worker="hall-7", host="h", pid=3, seen_at=NOW - SILENT_AFTER_MS),
]


def names(*words: str, everyone: bool = False) -> list[str]:
    return [info.worker for info in _chosen(WORKERS, words, NOW, everyone=everyone)]


def test_a_name_or_a_beginning_that_only_one_has() -> None:
    assert names("desk-1") == ["desk-1"], "a whole name wins over a beginning"
    assert names("hall", "desk-12", "hall-7") == ["hall-7", "desk-12"]
    assert names(everyone=True) == ["desk-1", "desk-12"], "all means all that are alive"


@pytest.mark.parametrize(
    ("words", "everyone", "says"),
    [
        ((), False, "--all"),
        (("desk-1",), True, "not both"),
        (("desk",), False, "several"),
        (("x",), False, "no worker"),
    ],
)
def test_what_is_meant_must_be_clear(words: tuple[str, ...], everyone: bool, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        names(*words, everyone=everyone)
    assert caught.value.field == "worker"


def test_nobody_is_alive() -> None:
    with pytest.raises(UsageError, match="alive"):
        _chosen(WORKERS[2:], (), NOW, everyone=True)


def test_each_of_several_types_must_be_one() -> None:
    assert task_types("sync_order, full_sync，export、reply") == ["sync_order", "full_sync", "export", "reply"]
    with pytest.raises(argparse.ArgumentTypeError, match="not 'full sync'"):
        task_types("sync_order,full sync")
