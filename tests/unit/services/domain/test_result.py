"""What other programs hear of the end of a task."""

from __future__ import annotations

import json

from services.domain.task.artifact import ArtifactMark
from services.domain.task.event import Event
from services.domain.task.record import Attempt, Task
from services.domain.task.result import result_order


def told(*attempts: Attempt, attempt: int = 2) -> dict[str, object]:
    """The message of a success."""
    task = Task(task_id="t1", shop_id="s1", platform="pdd", task_type="screenshot", attempts=attempts)
    event = Event(
        cursor="1", task_id="t1", shop_id="s1", platform="pdd", task_type="screenshot", from_="running", to="succeeded",
        at=1_795_219_200_000, attempt=attempt, worker="w", gen=0,
    )  # fmt: skip
    found = json.loads(result_order(task, event).body)
    assert isinstance(found, dict)
    return found


def test_the_files_of_the_attempt_that_ended_are_named() -> None:
    old = Attempt(
        number=1,
        worker="w",
        started_at=1,
        ended_at=2,
        outcome="failed",
        artifacts=(ArtifactMark("old.png", "image", 1, "aa", "", 0, "ab/t1/1/old.png"),),
    )
    new = Attempt(
        number=2,
        worker="w",
        started_at=3,
        ended_at=4,
        outcome="succeeded",
        artifacts=(ArtifactMark("page.png", "image", 12, "ff", "login", 5, "ab/t1/2/page.png"),),
    )
    assert told(old, new)["artifacts"] == [
        {"name": "page.png", "kind": "image", "size": 12, "sha256": "ff", "place": "ab/t1/2/page.png"}
    ]


def test_without_files_the_message_is_as_it_was() -> None:
    assert "artifacts" not in told(Attempt(number=2, worker="w", started_at=3, ended_at=4, outcome="succeeded"))
