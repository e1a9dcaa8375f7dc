"""A real engine for each test, without shops."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from services.settings import Settings
from tests.unit.views.pages.fleet_rig import Fleet, open_fleet


@pytest.fixture
def fleet(place: Settings, qtbot: QtBot) -> Iterator[Fleet]:
    """An engine with nothing in it."""
    i18n.set_language("en")
    with open_fleet(place) as opened:
        yield opened
    i18n.set_language("en")
