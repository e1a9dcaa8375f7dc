"""Fixtures of the GUI tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import i18n
from services.settings import Settings
from tests.gui.desk import Desk, open_desk
from tests.support.console_window import window_over
from views.pages.tasks.page import TasksPage
from views.support import operation
from views.theme import theme


@pytest.fixture
def desk(qapp: QApplication, place: Settings) -> Iterator[Desk]:
    """A real session on a pair of drivers, in English and dark."""
    i18n.set_language("en")
    theme().set_mode("dark")
    theme().install(qapp)
    errors: list[BaseException] = []
    operation.configure(errors.append)
    opened = open_desk(place)
    yield opened
    opened.feed.leave()
    opened.feed.deleteLater()
    operation.shut_down()
    operation.configure(None)
    opened.session.close(0.0)
    assert not errors, errors


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> TasksPage:
    """The Tasks page, shown."""
    shown = TasksPage(desk.context)
    qtbot.addWidget(shown)
    shown.resize(1280, 760)
    shown.show()
    shown.activateWindow()
    shown.activate()
    return shown


@pytest.fixture
def console(qtbot: QtBot, desk: Desk) -> Iterator[Console]:
    """The window over the session of the desk."""
    made = window_over(desk.session)
    made.window.resize(1280, 800)
    made.window.open_page("overview")
    made.window.show()
    qtbot.waitUntil(lambda: made.feed.latest.at_ms > 0)
    yield made
    made.window.close()
    made.window.deleteLater()
    made.feed.leave()
    made.feed.deleteLater()
