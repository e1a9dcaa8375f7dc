"""Acts of the audit as a look back says them."""

from __future__ import annotations

import pytest

from services import act_words, i18n
from services.domain.audit import AuditEntry
from services.domain.past.turns import turns
from services.domain.task import take_back
from services.messages import render

PARTLY = "partly: 17 done, 3 refused: task.refused; not done: task.refused 0-2"


@pytest.mark.parametrize(
    ("language", "outcome", "said"),
    [
        ("en", PARTLY, "ann: Cancel tasks t1 and 1 more, 17 done, 3 refused: not possible in its status"),
        ("zh_CN", PARTLY, "ann：取消任务 t1 等，另有 1 个，完成 17 个，拒绝 3 个：其状态下不能这样操作"),
        ("en", "refused: 2: task.unknown", "ann: Cancel tasks t1 and 1 more, 2 objects refused: there is no such task"),
        ("en", "refused: no right", "ann: Cancel tasks t1 and 1 more, refused: no right"),
        ("zh_CN", "refused: it was not open", "ann：取消任务 t1 等，另有 1 个，已拒绝：它原本没有熔断"),
        ("en", "done: 3 letters left", "ann: Cancel tasks t1 and 1 more, 3 letters left"),
        (
            "en",
            "done: declared, lost; left: nothing",
            "ann: Cancel tasks t1 and 1 more, 2 kinds of trouble mended, 0 left for a person",
        ),
        ("zh_CN", "failed", "ann：取消任务 t1 等，另有 1 个，失败"),
        (
            "en",
            "done; after: cancelled 3, dead 1",
            "ann: Cancel tasks t1 and 1 more, done; after it: Cancelled 3, Dead 1",
        ),
        (
            "en",
            f"{PARTLY.partition(';')[0]}; after: dead 3",
            "ann: Cancel tasks t1 and 1 more, 17 done, 3 refused: not possible in its status; after it: Dead 3",
        ),
    ],
)
def test_how_an_act_ended_is_said_in_words(language: str, outcome: str, said: str) -> None:
    entry = AuditEntry(entry_id="1", at=1, who="ann", action="task.cancel", target=("t1", "t2"), outcome=outcome)
    (turn,) = turns((), (entry,))
    i18n.set_language(language)
    try:
        assert render(act_words.in_words(turn.message)) == said
    finally:
        i18n.set_language("en")


def test_each_act_of_a_person_has_a_name() -> None:
    acts = take_back.TABLE.keys() - {"promise.disable"}  # the trail says promise.enable, with which
    assert [act for act in acts if act not in act_words.ACTS] == []
