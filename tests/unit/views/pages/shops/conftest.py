"""A real embedded engine for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from services import i18n
from tests.unit.views.pages.fleet_rig import Fleet, open_fleet


@pytest.fixture
def fleet(tmp_path: Path, qtbot: QtBot) -> Iterator[Fleet]:
    """An engine with the shops of the sample."""
    with open_fleet(tmp_path) as opened:
        opened.seed_shops()
        yield opened
    i18n.set_language("en")
