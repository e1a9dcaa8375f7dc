"""What every table of tasks says alike."""

from __future__ import annotations

import msgspec

from services.domain.task.record import Task
from views.pages.dead_letters.table import COLUMNS as LETTERS
from views.pages.dead_letters.table import LetterRow
from views.pages.tasks.rows import COLUMNS as TASKS
from views.pages.tasks.rows import TaskRow

TASK = Task(task_id="t1", shop_id="s1", platform="temu", task_type="sync_order", lane="high")
TRACEBACK = """Traceback (most recent call last):
  File "/srv/flows/orders.py", line 27, in sync
    raise HandlerError("MissingSecret: no key for 7")
MissingSecret: no key for 7"""
SHARED = ("type", "shop", "platform", "lane")


def test_a_task_reads_the_same_alive_and_dead() -> None:
    for name in ("", "Yuzu Home"):
        alive, dead = TaskRow(task=TASK, shop_name=name), LetterRow(task=TASK, shop_name=name)
        said = {one.key: (one.display(alive), one.tooltip and one.tooltip(alive)) for one in TASKS}
        also = {one.key: (one.display(dead), one.tooltip and one.tooltip(dead)) for one in LETTERS}
        assert [said[key] for key in SHARED] == [also[key] for key in SHARED]
        assert said["shop"] == (name or "s1", f"{name}\ntemu:s1" if name else "temu:s1")


def test_the_code_of_the_type_and_the_id_stay_in_the_tool_tip() -> None:
    column = next(one for one in TASKS if one.key == "type")
    assert column.tooltip is not None
    assert column.tooltip(TaskRow(task=TASK)) == "sync_order\nt1"


def test_an_error_is_told_by_the_line_that_says_what_went_wrong() -> None:
    column = next(one for one in TASKS if one.key == "error")
    assert column.display(TaskRow(task=msgspec.structs.replace(TASK, error=TRACEBACK))) == "MissingSecret: no key for 7"
    assert column.display(TaskRow(task=TASK)) == ""
