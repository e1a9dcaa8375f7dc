"""What stands on a screen together is of one moment, on either pair of drivers."""

from __future__ import annotations

import re
import threading

import pytest
from pytestqt.qtbot import QtBot

from console.bootstrap import Desk as Console
from tests.gui.desk import SHOPS, Desk
from views.pages.overview.page import OverviewPage

pytestmark = [pytest.mark.both_pairs, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]


def first_number(words: str) -> int:
    """The number that a sentence begins with, 0 for none."""
    found = re.match(r"[\d,]+", words)
    return int(found[0].replace(",", "")) if found else 0


def waiting(page: OverviewPage) -> dict[str, int]:
    """How many tasks wait, by the place that says so now."""
    items = {item.row.key: item.row.sentence for item in page.attention.list.items() if not item.resolved}
    return {
        "tile": first_number(page.tiles["ready"].kpi.value),
        "headline": first_number(page.header.summary()),
        "item": first_number(items.get("no_workers", "")),
        "shops": sum(cell.waiting for cell in page.fleet.map.rows.cells),
    }


def test_tiles_headline_items_and_shops_never_name_two_numbers_of_one_thing(
    qtbot: QtBot, console: Console, desk: Desk
) -> None:
    page = console.window.page("overview")
    assert isinstance(page, OverviewPage)
    last, seen = 40, set[int]()
    desk.create()
    qtbot.waitUntil(lambda: set(waiting(page).values()) == {1}, timeout=20_000)

    def flood() -> None:
        pause = threading.Event()
        for number in range(1, last):
            desk.create(shop=number % len(SHOPS), payload={"n": number})
            pause.wait(0.05)

    flooding = threading.Thread(target=flood)
    flooding.start()
    apart: list[dict[str, int]] = []

    def all_there() -> bool:
        told = waiting(page)
        seen.update(told.values())
        if len(set(told.values())) > 1:
            apart.append(told)
        return set(told.values()) == {last}

    try:
        qtbot.waitUntil(all_there, timeout=60_000)
    finally:
        flooding.join()
    assert not apart
    assert len(seen) > 3, "it was looked at while the number grew"
