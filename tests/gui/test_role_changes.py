"""The window of somebody whose role another person changes meanwhile: its buttons follow, on both pairs."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import assembly
from services.domain.errors import NotAllowed
from services.domain.fleet.role import ADMIN, OPERATOR, VIEWER
from tests.gui.desk import Desk
from tests.support.widgets import words
from views.dialogs.new_task.dialog import NewTaskDialog
from views.pages.settings.page import SettingsPage
from views.pages.shops.page import ShopsPage
from views.pages.tasks.page import TasksPage

pytestmark = [pytest.mark.both_pairs, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]
LOOK, ONLY_ADMIN = "Your role may only look", "Only an admin may change this"


def test_buttons_follow_the_role(qtbot: QtBot, console: Console, desk: Desk) -> None:
    window, me = console.window, desk.session.commands.operator.who
    desk.session.commands.roles.set("cleo@desk", ADMIN)
    cleo = assembly.commands(desk.session.engine, name="cleo@desk").roles
    window.open_page("tasks")
    tasks, shops, settings = (window.page(name) for name in ("tasks", "shops", "settings"))
    assert isinstance(tasks, TasksPage)
    assert isinstance(shops, ShopsPage)
    assert isinstance(settings, SettingsPage)
    qtbot.waitUntil(window.top_bar.create_button.isEnabled)
    assert (tasks.actions_of_page.barred(), shops.actions_of_page.barred("admin")) == ("", "")
    window.top_bar.create_button.click()
    (new_task,) = window.findChildren(NewTaskDialog)

    cleo.set(me, VIEWER)
    qtbot.waitUntil(lambda: not window.top_bar.create_button.isEnabled())
    assert window.top_bar.create_button.toolTip() == LOOK
    qtbot.waitUntil(lambda: tasks.actions_of_page.barred() == shops.actions_of_page.barred() == LOOK)
    assert (new_task.verbs.create.isEnabled(), new_task.verbs.create.toolTip()) == (False, LOOK), "it was left open"
    assert LOOK in words(new_task)
    assert window.status_bar.part("operator").words() == f"{me} · viewer"

    cleo.set(me, OPERATOR)
    qtbot.waitUntil(window.top_bar.create_button.isEnabled)
    qtbot.waitUntil(lambda: tasks.actions_of_page.barred() == shops.actions_of_page.barred() == "")
    assert LOOK not in words(new_task)
    new_task.reject()
    assert shops.actions_of_page.barred("admin") == ONLY_ADMIN
    window.open_page("settings")
    qtbot.waitUntil(lambda: not settings.people.field.isVisibleTo(settings) and bool(settings.people.rows))
    assert f"{me} · Operator" in settings.about.facts.values().values()

    cleo.set(me, ADMIN)
    qtbot.waitUntil(lambda: shops.actions_of_page.barred("admin") == "")
    qtbot.waitUntil(
        lambda: settings.people.field.isVisibleTo(settings) and not settings.people.rows[0].choice.isHidden()
    )
    assert window.status_bar.part("operator").words() == f"{me} · admin"


def test_who_may_only_look_neither_loads_nor_resumes_nor_stops_the_sample(desk: Desk) -> None:
    session, store = desk.session, desk.session.engine.store
    session.commands.roles.set("cleo@desk", ADMIN)
    assembly.commands(session.engine, name="cleo@desk").roles.set(session.commands.operator.who, VIEWER)
    store.put_document("fleet", "sample", "{}")
    for call in (session.sample.load, session.sample.stop):
        with pytest.raises(NotAllowed):
            call()
    session.sample.resume()
    assert not session.sample.loaded
    assert "sample" in store.documents("fleet"), "and nothing was stopped"
    refused = {entry.action for entry in store.audit(9) if entry.outcome.startswith("refused")}
    assert refused == {"sample.load", "sample.stop"}
