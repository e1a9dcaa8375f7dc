"""What the audit wrote down, in the language of the window."""

from __future__ import annotations

import pytest

from services import i18n
from services.commands.audit import Act, reasons
from views.pages.audit import words


@pytest.mark.parametrize(
    ("first", "english", "chinese"),
    [
        ("", "3 done, 21 refused", "完成 3 个，拒绝 21 个"),
        ("no such task", "3 done, 21 refused: no such task", "完成 3 个，拒绝 21 个：no such task"),
        (
            "bulk.probe_same",
            "3 done, 21 refused: the first ones failed again in the same way",
            "完成 3 个，拒绝 21 个：先试的几个以同样方式再次失败",
        ),
        (
            "bulk.stopped",
            "3 done, 21 refused: Stopped; the rest stay dead letters",
            "完成 3 个，拒绝 21 个：已停止；其余仍为死信",
        ),
        (
            reasons(["dead.already", *["task.unknown"] * 18, "dead.not_a_task", "dead.schema"]),
            "3 done, 21 refused: there is no such task 18, it was republished already 1, other reasons 1, "
            "its payload does not fit its type 1",
            "完成 3 个，拒绝 21 个：没有此任务 18，已重新发布过 1，其他原因 1，参数不符合任务类型 1",
        ),
        ("dead.not_a_task", "3 done, 21 refused", "完成 3 个，拒绝 21 个"),
    ],
)
def test_what_was_done_in_part_is_told_in_the_language_of_the_window(first: str, english: str, chinese: str) -> None:
    act = Act()
    act.counted(3, 21, first)
    assert words.why(act.outcome) == english
    i18n.set_language("zh_CN")
    try:
        assert words.why(act.outcome) == chinese
    finally:
        i18n.set_language("en")


@pytest.mark.parametrize(
    ("outcome", "english", "chinese"),
    [
        (
            "partly: 3 done, 2 refused; after: cancelled 3, succeeded 2",
            "3 done, 2 refused; after it: Cancelled 3, Succeeded 2",
            "完成 3 个，拒绝 2 个；之后：已取消 3，成功 2",
        ),
        ("partly: 3 done, 55 left alone", "3 done, 55 left alone", "完成 3 个，55 个未动"),
        (
            "partly: 1002 done, 1 refused, 55 left alone: bulk.stopped",
            "1,002 done, 1 refused, 55 left alone: Stopped; the rest stay dead letters",
            "完成 1,002 个，拒绝 1 个，55 个未动：已停止；其余仍为死信",
        ),
        ("done; after: cancelled 3", "after it: Cancelled 3", "之后：已取消 3"),
        ("refused: 21: task.unknown", "21 objects refused: there is no such task", "拒绝 21 个：没有此任务"),
        ("done: 12 tasks moved", "12 tasks moved", "移动了 12 个任务"),
        ("done: 1 tasks moved", "1 task moved", "移动了 1 个任务"),
        ("failed: 12 tasks moved; after: all", "12 tasks moved; after: all", "12 tasks moved; after: all"),
    ],
)
def test_what_became_of_it_is_told_in_the_language_of_the_window(outcome: str, english: str, chinese: str) -> None:
    assert words.why(outcome) == english
    i18n.set_language("zh_CN")
    try:
        assert words.why(outcome) == chinese
    finally:
        i18n.set_language("en")


def test_all_objects_are_counted_of_which_the_first_are_kept_and_tasks_of_a_whole_apart_from_it() -> None:
    assert words.about(()) == ""
    assert words.about(("t1",)) == "t1"
    assert words.about(("t1", "t2", "t3")) == "t1 and 2 more"
    assert words.about(("t1", "t2", "t3"), 5_000) == "t1 and 4,999 more"
    assert words.about(("night", "t1", "t2"), whole=True) == "night, 2 tasks"
    assert words.about(("night", "t1", "t2"), 5_001, whole=True) == "night, 5,000 tasks"
    assert words.about(("night",), whole=True) == "night"
