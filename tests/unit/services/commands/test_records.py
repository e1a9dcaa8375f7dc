"""Which records are taken over, and why the others are not."""

from __future__ import annotations

import pytest

from services.commands.records import left_out
from services.domain.errors import StoreUnavailable
from services.domain.task.record import Task
from services.ports import Letter
from tests.unit.services.commands.conftest import Desk
from tests.unit.services.engine.room import Room

BASE = {"task_id": "t1", "shop_id": "s1", "platform": "pdd", "task_type": "work"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"status": "queued"}, ""),
        ({"status": "retrying"}, ""),
        ({"status": "scheduled"}, ""),
        ({"status": "dead", "triage": "open"}, ""),
        ({"status": "dead", "triage": "republished"}, "import.history"),
        ({"status": "succeeded"}, "import.history"),
        ({"status": "cancelled"}, "import.history"),
        ({"status": "running"}, "import.uncertain"),
        ({"status": "held"}, "import.uncertain"),
        ({"status": "blocked", "depends_on": ("t0",)}, "import.depends"),
        ({"status": "sleeping"}, "import.bad"),
        ({"status": "queued", "task_id": "a\nb"}, "import.bad"),
        ({"status": "queued", "shop_id": "high"}, "import.bad"),
        ({"status": "queued", "platform": "p.d"}, "import.bad"),
        ({"status": "queued", "task_type": "os.system"}, "import.bad"),
        ({"status": "queued", "priority": 11}, "import.bad"),
        ({"status": "queued", "lane": "fast"}, "import.bad"),
        ({"status": "queued", "max_retries": 99}, "import.bad"),
        ({"status": "queued", "payload": "[1]"}, "import.bad"),
    ],
)
def test_what_is_left_out(fields: dict[str, object], code: str) -> None:
    why = left_out(Task(**(BASE | fields)))
    assert (why.code if why is not None else "") == code


def test_a_dead_letter_never_comes_without_its_message(room: Room, desk: Desk) -> None:
    task = Task(**BASE, status="dead", triage="open", created_at=1, attempt=1)
    room.store.forgetful = 1
    with pytest.raises(StoreUnavailable):
        desk.records.import_records([task], {"t1": Letter(task_id="t1", body=b"\xff", error="kept")})
    stored = room.store.get_letter("t1")
    assert stored is not None, "a second import would leave the record alone"
    assert (room.task("t1").status, stored.body) == ("dead", b"\xff")
