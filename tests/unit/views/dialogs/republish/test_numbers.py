"""How many go and how many not, as a bar and as rows with switches."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.commands.bulk.plan import Item
from services.commands.bulk.republish import Plan
from views.dialogs.republish.numbers import NumbersPane
from views.dialogs.republish.shares import SharesBar
from views.dialogs.republish.sorting import CLOSED, DONE, RULES, TWIN, Sorted
from views.theme import theme

GOES, STAYS = Item(task_id="t0"), Item(task_id="t1")


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_what_is_skipped_has_another_colour_than_what_goes(qtbot: QtBot, mode: str) -> None:
    theme().set_mode(mode)
    pane = NumbersPane()
    qtbot.addWidget(pane)
    pane.resize(400, 600)
    (bar,) = pane.findChildren(SharesBar)
    for rule in RULES:
        both = Sorted(plan=Plan(items=(GOES, STAYS)), going=(GOES,), reasons={rule: (STAYS,)})
        pane.show_sorted(both, frozenset(RULES), {})
        image = bar.grab().toImage()
        left, right = (image.pixelColor(image.width() * part // 4, image.height() // 2) for part in (1, 3))
        apart = abs((left.hsvHue() - right.hsvHue() + 180) % 360 - 180)
        assert apart > 25 or right.hsvSaturation() < 100, rule


def test_a_switched_off_reason_that_no_letter_has_any_more_can_be_switched_on_again(qtbot: QtBot) -> None:
    pane = NumbersPane()
    qtbot.addWidget(pane)
    pane.show_sorted(Sorted(plan=Plan(items=(STAYS,)), reasons={DONE: (STAYS,)}), frozenset(RULES) - {TWIN}, {})
    assert not pane.rules[TWIN].isHidden()
    assert not pane.rules[TWIN].toggle.isChecked()
    pane.show_sorted(Sorted(plan=Plan(items=(STAYS,)), reasons={DONE: (STAYS,)}), frozenset(RULES), {})
    assert pane.rules[TWIN].isHidden()


def test_why_letters_are_skipped_is_read_whole(qtbot: QtBot) -> None:
    pane = NumbersPane()
    qtbot.addWidget(pane)
    pane.resize(400, 600)
    pane.show()
    items = tuple(Item(task_id=f"t{n}", shop=f"pdd:a-shop-with-a-long-id-{n}") for n in range(4))
    pane.show_sorted(Sorted(plan=Plan(items=items), reasons={CLOSED: items}), frozenset(RULES), {})
    detail = pane.rules[CLOSED].detail
    qtbot.waitUntil(lambda: detail.height() >= detail.heightForWidth(detail.width()) > 0)
    assert detail.fontMetrics().horizontalAdvance(detail.text()) > detail.width(), "it takes more than a line"
