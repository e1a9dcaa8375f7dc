"""Dead letters of nine shops, some of them logged in again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.unit.views.pages.fleet_rig import LOGIN, Fleet, sample_shops
from views.dialogs.republish.dialog import RepublishDialog
from views.dialogs.republish.runner import BulkRunner

OPEN_SHOPS, SHOPS, LETTERS = 7, 9, 12


@pytest.fixture
def letters(fleet: Fleet) -> list[str]:
    """Twelve letters of nine shops; two shops are still logged out."""
    shops, now = sample_shops(SHOPS), fleet.store.now_ms()
    made = []
    for number in range(LETTERS):
        shop = shops[number % SHOPS]
        made.append(
            fleet.die(shop.platform, shop.shop_id, "shop_crawl", LOGIN, {"n": number}, ended_at=now - 60_000 - number)
        )
    for shop in shops[:OPEN_SHOPS]:
        fleet.succeed(shop.platform, shop.shop_id, "get_content")
    return made


@pytest.fixture
def runner(fleet: Fleet) -> Iterator[BulkRunner]:
    """Nothing runs on after the test."""
    made = BulkRunner(lambda: fleet.context.commands.bulk)
    yield made
    made.finish()


Open = Callable[[], RepublishDialog]


@pytest.fixture
def open_dialog(qtbot: QtBot, fleet: Fleet, letters: list[str], runner: BulkRunner) -> Open:
    """Opens the dialog and waits for its numbers."""
    windows: list[QWidget] = []

    def make() -> RepublishDialog:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        window.resize(1280, 800)
        window.show()
        dialog = RepublishDialog(
            fleet.context, lambda: letters, runner, number=len(letters), note="Seller login expired", parent=window
        )
        dialog.open()
        qtbot.waitUntil(lambda: dialog.looked is not None)
        return dialog

    return make
