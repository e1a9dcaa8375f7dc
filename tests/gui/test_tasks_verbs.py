"""A verb on tasks is one entry of the list: everything that offers verbs has it, and it runs as all of them do."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.task.status import MOVABLE
from services.monitor.tasks import TaskQueries
from tests.gui.desk import Desk
from tests.gui.tasks_rig import press, wait
from tests.support.held import held, settled
from tests.support.widgets import words
from views.kit.task_verb import TaskVerb
from views.pages.tasks import page as tasks_page
from views.pages.tasks.action_bar import ActionBar
from views.pages.tasks.page import TasksPage
from views.pages.tasks.verbs import VERBS
from views.support.words import type_names
from views.widgets.buttons import Button

#: moves to the very front of its lane and does nothing else
HURRY = TaskVerb(
    key="hurry",
    text="Hurry up",
    icon="ph.lightning",
    shortcut="H",
    suits=MOVABLE,
    misfit=lambda n, of: f"{n} of {of} cannot hurry",
    soon=lambda _n: "{n} will hurry in {s} s",
    run=lambda commands, picks: commands.tasks.prioritize([one.task_id for one in picks], 9),
    done=lambda outcome: f"{len(outcome.done)} hurries",
)


@pytest.fixture
def page(desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> TasksPage:
    """The page with one more entry in its list of verbs."""
    monkeypatch.setattr(tasks_page, "VERBS", (*VERBS, HURRY))
    shown = TasksPage(desk.context)
    qtbot.addWidget(shown)
    shown.resize(1480, 760)
    with qtbot.waitExposed(shown):
        shown.show()
    shown.activate()
    return shown


def buttons(page: QWidget) -> list[Button]:
    """Those that read as the new verb and can be seen."""
    return [one for one in page.findChildren(Button) if one.text() == "Hurry up" and one.isVisibleTo(page)]


def test_one_entry_is_in_bar_menu_palette_and_panel_and_its_key_works(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    task = desk.create(0)
    table = page.table
    page.refresh()
    wait(qtbot, lambda: table.records.rowCount() == 1)
    table.set_current_key(task.task_id)
    assert [one.isEnabled() for one in buttons(page)] == [True], "the bar"
    page.show_task(task.task_id)
    wait(qtbot, lambda: len(buttons(page)) == 2)
    menu = table.build_menu(table.records.index(0, 2))
    assert "Hurry up" in [action.text() for action in menu.actions()]
    (command,) = [one for one in page.commands() if one.words == "Hurry up"]
    assert (command.keys, command.note, command.reason) == ("H", "1 task", "")
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_H)
    assert desk.toasts[-1].text == "1 will hurry in 5 s"
    press(desk, "Send now")
    wait(qtbot, lambda: desk.toasts[-1].text == "1 hurries")
    assert desk.get(task.task_id).priority == 9


def test_what_it_does_not_suit_is_said_wherever_it_stands(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.succeed(desk.create(0))
    page.show_request("status:succeeded")
    table = page.table
    wait(qtbot, lambda: table.records.rowCount() == 1)
    table.set_current_key(task.task_id)
    said = {one.toolTip() for one in buttons(page) if not one.isEnabled()}
    said |= {one.toolTip() for one in table.build_menu(table.records.index(0, 2)).actions() if one.text() == "Hurry up"}
    said |= {one.reason for one in page.commands() if one.words == "Hurry up"}
    assert said == {"1 of 1 cannot hurry"}


def test_the_row_that_verbs_are_about_is_named_in_the_language_of_the_moment(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    task = desk.create(0)
    table = page.table
    page.refresh()
    wait(qtbot, lambda: table.records.rowCount() == 1)
    table.set_current_key(task.task_id)

    def said() -> str:
        (bar,) = page.findChildren(ActionBar)
        return " ".join(one.text() for one in bar.findChildren(QLabel))

    assert "refresh_goods" in said()
    type_names.know(desk.context.types())
    try:
        i18n.set_language("zh_CN")
        assert "商品刷新" in said()
    finally:
        type_names.know({})


def test_nothing_of_the_task_before_stands_there_while_the_chosen_one_is_late(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    ended, waiting = desk.succeed(desk.create(0)), desk.create(1)
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 2)
    page.show_task(ended.task_id)
    wait(qtbot, lambda: page.panel.pill.isVisible() and ended.task_id in words(page.panel))
    page.panel.edit_button.setFocus()
    with held(TaskQueries, "detail", all_of_them=True) as call:
        page.table.set_current_key(waiting.task_id)
        call.wait(qtbot)
        wait(qtbot, lambda: words(page.panel).split() == [waiting.task_id])
        assert not any(one.isVisible() for one in page.panel.buttons.values())
        assert page.panel.isAncestorOf(page.focusWidget()), "Esc goes on meaning the panel"
        call.let_go()
        settled(qtbot, page)
    assert waiting.task_id in words(page.panel)
    assert any(one.isVisible() for one in page.panel.buttons.values())
