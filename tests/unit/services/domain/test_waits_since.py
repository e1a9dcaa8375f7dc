"""From when on a task has waited: a task that was planned, or tried, before did not wait all that time."""

from __future__ import annotations

import pytest

from services.domain.task.record import Step, Task

T0 = 1_795_000_000_000


@pytest.mark.parametrize(
    ("ways", "since"),
    [
        ((), 0),
        (("", "pending"), 1),
        (("", "pending", "queued", "blocked", "queued"), 1),
        (("", "scheduled", "pending", "queued"), 2),
        (("", "pending", "running", "retrying", "queued", "blocked"), 4),
        (("", "pending", "running"), 0),
    ],
)
def test_it_waits_since_it_last_did_something_else(ways: tuple[str, ...], since: int) -> None:
    steps = tuple(Step(T0 + at, ways[at - 1], to) for at, to in enumerate(ways) if at)
    task = Task(task_id="t", shop_id="s", platform="pdd", task_type="work", created_at=T0, steps=steps)
    assert task.waits_since == T0 + since
