"""Fixtures of the GUI tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services import i18n
from services.settings import Settings
from tests.gui.desk import Desk, open_desk
from views.pages.tasks.page import TasksPage
from views.support import operation
from views.theme import theme


@pytest.fixture
def desk(qapp: QApplication, place: Settings) -> Iterator[Desk]:
    """A real session on a pair of drivers, in English and dark."""
    QCursor.setPos(-1, -1)  # where a test before left the mouse, a table would take it for a person's
    i18n.set_language("en")
    theme().set_mode("dark")
    theme().install(qapp)
    errors: list[BaseException] = []
    operation.configure(errors.append)
    opened = open_desk(place)
    yield opened
    opened.feed.deleteLater()
    operation.shut_down(wait=True)
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
