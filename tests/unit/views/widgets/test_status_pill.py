"""Status is glyph, colour and word, never colour alone."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from views.theme.tokens import STATUSES
from views.widgets.status_pill import StatusPill


@pytest.mark.parametrize("name", list(STATUSES))
def test_each_status_is_drawn_and_named(qtbot: QtBot, name: str) -> None:
    pill = StatusPill(name, framed=name == "dead")
    qtbot.addWidget(pill)
    pill.grab()
    assert pill.accessibleName() == STATUSES[name].word


def test_the_word_follows_the_language_but_a_given_text_stays(qtbot: QtBot) -> None:
    pill = StatusPill("retrying")
    qtbot.addWidget(pill)
    i18n.set_language("zh_CN")
    assert pill.words() == "重试中"
    pill.set_status("dead", "Dead since 14:31")
    assert pill.accessibleName() == "Dead since 14:31"


def test_a_frame_takes_room(qtbot: QtBot) -> None:
    plain, framed = StatusPill("dead"), StatusPill("dead", framed=True)
    qtbot.addWidget(plain)
    qtbot.addWidget(framed)
    assert framed.sizeHint().width() > plain.sizeHint().width()
