"""Quiet hours: nothing of their scope starts while a window is open, on every store."""

from __future__ import annotations

import msgspec
import pytest

from services.domain.change import OpenLimit
from services.domain.fleet.shop import Pause
from services.domain.gates import quiet_hours
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import Quiet, Windows
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig


def quiet(rig: Rig, scope: str, *windows: tuple[float, float], name: str = "night") -> None:
    """Windows in seconds from now."""
    now = rig.store.now_ms()
    spans = tuple((now + round(start * 1000), now + round(end * 1000)) for start, end in windows)
    found = Windows(scope=scope, windows=spans, until=now + 86_400_000, reason="sale", by="ann@desk")
    rig.store.put_document(quiet_hours.WINDOWS, name, msgspec.json.encode(found).decode())


@pytest.mark.parametrize("scope", ["all", "platform:pdd", "shop:pdd:s1", "type:sync"])
def test_nothing_of_the_scope_starts_within_a_window(rig: Rig, scope: str) -> None:
    task = rig.queued(task_type="sync")
    quiet(rig, scope, (-10, 3600))
    assert rig.claim(task).code == "blocked"
    parked = rig.record(task)
    assert (parked.status, parked.gate, parked.attempt) == (Status.BLOCKED, "quiet_hours", 0)
    assert rig.open() == []
    rig.store.remove_document(quiet_hours.WINDOWS, "night")
    assert rig.open() == [task.task_id]
    assert rig.claim(rig.record(task)).code == "run"


@pytest.mark.parametrize("scope", ["platform:temu", "shop:pdd:s2", "shop:temu:s1", "type:other"])
def test_others_do_not_wait(rig: Rig, scope: str) -> None:
    quiet(rig, scope, (-10, 3600))
    assert rig.running(task_type="sync").status == Status.RUNNING


@pytest.mark.parametrize("window", [(-20.0, -10.0), (3600.0, 7200.0)])
def test_before_and_after_a_window_everything_starts(rig: Rig, window: tuple[float, float]) -> None:
    quiet(rig, "all", window)
    assert rig.running().status == Status.RUNNING
    assert rig.store.switches() == []


def test_it_opens_by_itself_at_the_edge(rig: Rig) -> None:
    task = rig.queued()
    quiet(rig, "all", (-10, 1), (3600, 7200))
    assert rig.claim(task).code == "blocked"
    assert rig.open() == []
    rig.pass_time(1.1)
    assert rig.open() == [task.task_id]
    assert rig.claim(rig.record(task)).code == "run"


def test_a_window_that_begins_closes(rig: Rig) -> None:
    quiet(rig, "all", (0.7, 3600))
    first = rig.running()
    assert rig.finish(first).code == "ok"
    rig.pass_time(0.8)
    assert rig.claim(rig.queued()).code == "blocked"


def test_what_runs_goes_on(rig: Rig) -> None:
    task = rig.running()
    quiet(rig, "all", (-10, 3600))
    assert rig.finish(task).code == "ok"
    assert rig.record(task).status == Status.SUCCEEDED


def test_the_pause_is_told_first_and_both_must_be_over(rig: Rig) -> None:
    task = rig.queued()
    quiet(rig, "all", (-10, 3600))
    rig.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    assert rig.claim(task).code == "blocked"
    assert rig.record(task).gate == "paused"
    rig.store.clear_pause("shop:pdd:s1")
    assert rig.open() == []
    quiet(rig, "all", (-10, -5))
    assert rig.open() == [task.task_id]


def test_two_at_once_are_both_waited_for(rig: Rig) -> None:
    task = rig.queued(task_type="sync")
    quiet(rig, "all", (-10, 3600))
    quiet(rig, "type:sync", (-10, 3600), name="type")
    assert rig.claim(task).code == "blocked"
    rig.store.remove_document(quiet_hours.WINDOWS, "night")
    assert rig.open() == []
    rig.store.remove_document(quiet_hours.WINDOWS, "type")
    assert rig.open() == [task.task_id]


def test_other_types_of_the_shop_pass_those_that_are_quiet(rig: Rig) -> None:
    quiet(rig, "type:sync", (-10, 3600))
    still = [rig.queued(task_type="sync", priority=9) for _ in range(3)]
    assert {rig.claim(task).code for task in still} == {"blocked"}
    rig.running(task_type="other")
    next_ = rig.queued(task_type="other")
    assert rig.claim(next_).code == "blocked"
    assert rig.record(next_).gate == "shop_busy"
    assert rig.open() == []


def test_a_burst_is_released_once(rig: Rig) -> None:
    rig.shop(concurrency=3)
    tasks = [rig.queued() for _ in range(8)]
    quiet(rig, "all", (-10, 3600))
    assert {rig.claim(task).code for task in tasks} == {"blocked"}
    quiet(rig, "all", (-10, -1))
    first = rig.open()
    assert first == [task.task_id for task in tasks[:3]]
    assert rig.open() == []
    running: list[Task] = []
    for task_id in first:
        answer = rig.claim(rig.record(task_id), f"w{len(running)}#1")
        assert answer.code == "run"
        assert answer.task is not None
        running.append(answer.task)
    released = [one.task_id for task in running for one in rig.finish(task).released]
    assert released == [task.task_id for task in tasks[3:6]]


def test_a_limit_that_frees_lets_nothing_go_that_is_quiet(rig: Rig) -> None:
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=1))
    first = rig.running(shop_id="s1")
    waiting = rig.queued(shop_id="s2")
    assert rig.claim(waiting).code == "blocked"
    assert rig.record(waiting).gate == "quota"
    quiet(rig, "shop:pdd:s2", (-10, 3600))
    assert rig.finish(first).released == ()
    assert rig.ask(OpenLimit(scope="platform:pdd", most=5)).released == ()
    assert [one for one in rig.store.recount(mend=False) if one.kind == "waiting"] == []
    rig.store.remove_document(quiet_hours.WINDOWS, "night")
    assert rig.open("pdd:s2") == [waiting.task_id]


def test_what_is_closed_is_told_after_the_pauses(rig: Rig) -> None:
    rig.store.set_pause(Pause(scope="type:sync", by="bob"))
    quiet(rig, "platform:pdd", (-10, 3600))
    paused, now = rig.store.switches()
    assert (paused.gate, paused.scope) == ("paused", "type:sync")
    assert isinstance(now, Quiet)
    assert (now.gate, now.scope, now.by, now.reason, now.name) == (
        *("quiet_hours", "platform:pdd", "ann@desk", "sale", "night"),
    )
    assert 3_500_000 < now.until - rig.store.now_ms() <= 3_600_000
    assert rig.store.closed().pauses == (paused, now)
    assert [one.scope for one in rig.store.pauses()] == ["type:sync"]


@pytest.mark.parametrize(
    "body",
    [
        *("", "{", "[]", "7", '{"scope": "all"}', '{"scope": "everything", "windows": []}'),
        *(
            '{"scope": "all", "windows": [[1]]}',
            '{"scope": "all", "windows": [[1, 2, 3]]}',
            '{"scope": "all", "windows": [["1", "2"]]}',
        ),
        *('{"scope": 7, "windows": []}', '{"scope": "all", "windows": {"a": 1}}', "[" * 5000),
    ],
)
def test_what_cannot_be_read_closes_everything(rig: Rig, body: str) -> None:
    task = rig.queued()
    rig.store.put_document(quiet_hours.WINDOWS, "night", body)
    assert rig.claim(task).code == "blocked"
    assert rig.record(task).gate == "quiet_hours"
    (now,) = rig.store.switches()
    assert (now.gate, now.scope, now.until) == ("quiet_hours", "all", 0)
    rig.store.remove_document(quiet_hours.WINDOWS, "night")
    assert rig.open() == [task.task_id]
