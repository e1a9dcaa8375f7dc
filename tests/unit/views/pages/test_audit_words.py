"""What the audit wrote down, in the language of the window."""

from __future__ import annotations

import pytest

from services import i18n
from services.commands.audit import Act
from views.pages.audit import words


@pytest.mark.parametrize(
    ("first", "english", "chinese"),
    [
        ("", "3 done, 21 refused", "完成 3 个，拒绝 21 个"),
        ("no such task", "3 done, 21 refused: no such task", "完成 3 个，拒绝 21 个：no such task"),
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
