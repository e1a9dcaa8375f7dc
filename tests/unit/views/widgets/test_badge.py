"""Badges."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from views.widgets.badge import Badge


def test_platforms_and_counts(qtbot: QtBot) -> None:
    platform, count = Badge.platform("tiktok"), Badge.count("143", "dead")
    for badge in (platform, count):
        qtbot.addWidget(badge)
        badge.grab()
    assert platform.text() == platform.accessibleName() == "TTS"
    assert count.tone() == "dead"
    assert count.sizeHint().height() == 18


def test_an_empty_count_is_not_shown(qtbot: QtBot) -> None:
    badge = Badge.count("5")
    qtbot.addWidget(badge)
    badge.show_text("")
    assert badge.isHidden()
    badge.show_text("7", "retrying")
    assert not badge.isHidden()
    assert (badge.text(), badge.tone()) == ("7", "retrying")
    badge.show_text("8")
    assert badge.tone() == "retrying"
