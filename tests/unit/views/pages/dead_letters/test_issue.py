"""The dialogs of a known issue: what is written is what the command gets."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from services.domain.insight.cause_rule import CauseRule
from views.pages.dead_letters.issue import Decided, KnownIssue, MergeInto, Other, SplitOff


def said(dialog: KnownIssue) -> list[str]:
    """What stands below its fields."""
    return [part.error() for part in dialog.fields.values() if part.error()]


def test_what_was_decided_stands_in_the_fields(qtbot: QtBot) -> None:
    rule = CauseRule(owner="ann", park_s=7_200, retry_at="06:00", alert_once=True, route=("duty", "lead"))
    dialog = KnownIssue("captcha", rule)
    qtbot.addWidget(dialog)
    assert (dialog.park.text(), dialog.route.text()) == ("2h", "duty, lead")
    assert dialog.decided() == Decided("ann", 7_200, "06:00", True, ("duty", "lead"))


def test_what_cannot_be_is_not_saved(qtbot: QtBot) -> None:
    dialog = KnownIssue("captcha", CauseRule())
    qtbot.addWidget(dialog)
    assert (dialog.save.isEnabled(), dialog.save.toolTip()) == (False, "Nothing is changed")
    dialog.alert_once.click()
    assert dialog.save.isEnabled()
    dialog.alert_once.click()
    for field, wrong, right in (
        (dialog.park, "soon", "90m"),
        (dialog.retry_at, "25:00", "6:30"),
        (dialog.park, "9d", ""),
        (dialog.link, "javascript:alert(1)", "https://issues.example.com/7"),
    ):
        field.setText(wrong)
        assert not dialog.save.isEnabled()
        assert said(dialog) == [], "somebody is still writing"
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert said(dialog) == [dialog.save.toolTip()]
        field.setText(right)
        assert dialog.save.isEnabled()
        assert said(dialog) == []
    dialog.retry_at.setText("06：30")
    dialog.route.setText("duty、lead")
    with qtbot.waitSignal(dialog.saved) as heard:
        dialog.save.click()
    assert heard.args == [
        CauseRule(),
        Decided("", 0, "06:30", False, ("duty", "lead"), "https://issues.example.com/7"),
    ]


def test_how_many_shops_it_pauses_at_once_is_said_before_it_is_saved(qtbot: QtBot) -> None:
    dialog = KnownIssue("captcha", CauseRule(), 29)
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.at_once.isVisible()
    dialog.park.setText("2h")
    assert dialog.at_once.isVisible()
    assert "up to 29 shops" in dialog.at_once.text()
    dialog.park.setText("2")
    assert not dialog.at_once.isVisible()


def test_a_cause_is_merged_into_the_chosen_one(qtbot: QtBot) -> None:
    others = [
        Other(fingerprint="aa", name="Parameters refused", headline="price is empty", count=7),
        Other(fingerprint="bb", name="Parameters refused", headline="stock is empty", count=1),
    ]
    dialog = MergeInto("Parameters refused", "title is empty", others)
    qtbot.addWidget(dialog)
    assert dialog.about.text() == "7 dead letters\nprice is empty", "what is called the same is told apart"
    dialog.others.setCurrentIndex(1)
    assert dialog.about.text() == "1 dead letter\nstock is empty"
    with qtbot.waitSignal(dialog.saved) as heard:
        dialog.save.click()
    assert heard.args == ["bb"]


def test_a_cause_is_split_by_the_chosen_place(qtbot: QtBot) -> None:
    dialog = SplitOff("captcha", [("shop:pdd:s1", "Shop: s1"), ("platform:temu", "Platform: TEMU")])
    qtbot.addWidget(dialog)
    dialog.places.setCurrentIndex(1)
    with qtbot.waitSignal(dialog.saved) as heard:
        dialog.save.click()
    assert heard.args == ["platform:temu"]
