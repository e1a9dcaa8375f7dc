"""Which records are taken over, and why the others are not."""

from __future__ import annotations

import pytest

from services.commands.records import left_out
from services.domain.task import Task

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
