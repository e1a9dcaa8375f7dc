"""What every test of a view gets: fonts and style of the design, English, no threads left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services import i18n
from services.settings import Settings
from tests.unit.views.pages.fleet_rig import Fleet, open_fleet
from views.support import operation
from views.support.language import language_relay
from views.theme import theme


@pytest.fixture(scope="session")
def _dressed(qapp: QApplication) -> None:
    """Put the theme on once."""
    theme().install(qapp)
    language_relay()


@pytest.fixture(autouse=True)
def _fresh(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start in the dress of the design; end without threads of operations."""
    if "qapp" in request.fixturenames:
        request.getfixturevalue("_dressed")
    yield
    operation.configure(None)
    operation.shut_down()


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> str:
    """Run the test in both languages."""
    i18n.set_language(request.param)
    return str(request.param)


@pytest.fixture
def fleet(place: Settings, qtbot: QtBot) -> Iterator[Fleet]:
    """A real engine with the shops of the sample."""
    with open_fleet(place) as opened:
        opened.seed_shops()
        yield opened
