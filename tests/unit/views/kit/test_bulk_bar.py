"""What can be done with what is ticked."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from views.kit.bulk_bar import AllLink


@pytest.mark.parametrize(
    ("number", "busy", "here", "there"),
    [
        (1200, False, "Select all 1,200", "选择全部 1,200 项"),
        (None, False, "Select all that match", "选择全部匹配项"),
        (1200, True, "Selecting…", "正在选择…"),
    ],
)
def test_the_way_to_everything_speaks_the_language_of_the_moment(
    qtbot: QtBot, request: pytest.FixtureRequest, number: int | None, busy: bool, here: str, there: str
) -> None:
    link = AllLink()
    qtbot.addWidget(link)
    link.offer(number, wanted=True, busy=busy)
    assert link.text() == here
    request.addfinalizer(lambda: i18n.set_language("en"))
    i18n.set_language("zh_CN")
    assert link.text() == there
