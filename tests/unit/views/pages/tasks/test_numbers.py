"""How many tasks there are, where nobody counted them all."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel
from pytestqt.qtbot import QtBot

from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.support.cuts import cut
from views.kit.task_verb import Chosen, TaskVerb
from views.kit.verb import Offer, Place, Verbs
from views.pages.tasks.action_bar import ActionBar, BarState
from views.pages.tasks.verbs import VERBS
from views.support.words.rows import News


def offers(chosen: Chosen) -> tuple[Offer[TaskVerb], ...]:
    """The verbs for what is chosen, where everything may be changed."""
    return Verbs(VERBS, run=lambda _verb, _chosen: None, barred=lambda _role: "").offers(Place.BAR, chosen)


def test_the_foot_says_at_least_so_many(qtbot: QtBot) -> None:
    bar = ActionBar(())
    qtbot.addWidget(bar)
    for state, words in (
        (BarState(loaded=200, total=None, at_least=4_120), "200 of at least 4,120 loaded"),
        (BarState(loaded=200, total=None, at_least=200), "200 of … loaded"),
        (BarState(loaded=200, total=4_120, at_least=4_120), "200 of 4,120 loaded"),
        (BarState(loaded=107, left=57, total=50, match=50), "50 tasks, 57 dimmed rows match no more"),
        (BarState(loaded=200, left=1, total=4_120, match=4_120), "199 of 4,120 loaded, 1 dimmed row matches no more"),
    ):
        bar.show_state(state)
        assert words in [one.text() for one in bar.findChildren(QLabel)]


@pytest.mark.parametrize("width", [300, 455, 644, 890, 1200])
def test_a_foot_of_any_width_cuts_nothing(qtbot: QtBot, width: int) -> None:
    """Beside the panel of a task, at 960 x 540, it has less than half of the room of its verbs in one line."""
    bar = ActionBar([verb for verb in VERBS if Place.BAR in verb.places])
    qtbot.addWidget(bar)
    bar.show()
    running = Chosen(standing=Counter({(Status.RUNNING, ""): 12}), picks=tuple)
    news = News(18, 200)
    for state in (
        BarState(loaded=200, total=220, news=news, cursor=True, current="Goods refresh"),
        BarState(ticked=12, beyond=3, loaded=200, total=220, all_ticked=True, news=news),
    ):
        bar.show_state(state, offers(running))
        bar.resize(width, bar.heightForWidth(width))
        QApplication.processEvents()
        assert bar.width() == width
        assert cut(bar) == []
        assert bar.rect().contains(bar.new_button.geometry())


def test_the_pill_does_not_name_a_number_that_nobody_counted(qtbot: QtBot) -> None:
    bar = ActionBar(())
    qtbot.addWidget(bar)
    for news, words in (
        (News(12, 200, cut=True), "12 new rows"),
        (News(1, 1), "1 new row"),
        (News(200, 200), "200 new rows"),
        (News(200, 200, cut=True), "200 or more new rows"),
    ):
        bar.show_state(BarState(loaded=200, total=4_120, news=news))
        assert words in [one.text() for one in bar.findChildren(QAbstractButton)]


def test_with_no_box_ticked_the_foot_names_the_one_row_that_its_verbs_are_about(qtbot: QtBot) -> None:
    bar = ActionBar([verb for verb in VERBS if Place.BAR in verb.places])
    qtbot.addWidget(bar)

    def said() -> list[str]:
        return [one.text() for one in bar.findChildren(QLabel) if one.isVisibleTo(bar) and "task" in one.text().lower()]

    alone = BarState(loaded=17, total=17, match=17, cursor=True, current="Task of one shop")
    bar.show_state(alone)
    assert said() == ["Current row: Task of one shop"], "a number beside Cancel reads as the number that is cancelled"
    bar.show_state(BarState(loaded=17, total=17, match=17))
    assert said() == ["17 tasks"]
    bar.show_state(BarState(ticked=3, loaded=17, total=17, cursor=True, current="Task of one shop"))
    assert said() == []
    assert "3 selected" in [one.text() for one in bar.findChildren(QLabel) if one.isVisibleTo(bar)]


def test_what_tries_again_by_itself_has_one_verb_that_says_when_it_is_the_last_try(qtbot: QtBot) -> None:
    bar = ActionBar([verb for verb in VERBS if Place.BAR in verb.places])
    qtbot.addWidget(bar)
    task = Task(
        task_id="t",
        shop_id="s",
        platform="p",
        task_type="x",
        status=Status.RETRYING,
        retries=1,
        max_retries=2,
        due_at=9,
    )

    def offered(task: Task) -> dict[str, str]:
        chosen = Chosen(standing={(task.status, ""): 1}, picks=tuple, one=task)
        bar.show_state(BarState(loaded=1, total=1, cursor=True), offers(chosen))
        shown = [one for one in bar.findChildren(QAbstractButton) if one.isVisibleTo(bar) and one.text()]
        return {one.text(): one.toolTip() for one in shown}

    several = offered(task)
    assert "Retry" not in several
    assert "Run now" in several
    last = offered(msgspec.structs.replace(task, retries=2))
    assert "Run now" not in last
    assert "the task is a dead letter" in last["Run the last try now"]
    again = offered(msgspec.structs.replace(task, status=Status.DEAD))
    assert {"Retry", "Run now"} <= set(again)
