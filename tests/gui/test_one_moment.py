"""What stands on a screen together is of one moment, on either pair of drivers."""

from __future__ import annotations

import re
import threading
from collections import defaultdict

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.insight.worker import CUT_OFF
from tests.gui.desk import SHOPS, Desk
from views.pages.overview.page import OverviewPage
from views.support.words import worker as worker_words

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


def told_by_pill(console: Console, key: str) -> defaultdict[str, str]:
    """What the popover of a pill says, as a click opens it; of what is not known yet nothing."""
    console.window.top_bar.health_requested.emit(key, QPoint(0, 0))
    popover = console.wiring.doors.popover
    assert popover is not None
    try:
        return defaultdict(str, popover.facts.values(), words=popover.part.words)
    finally:
        popover.close()


def test_popovers_name_the_numbers_of_tiles_lists_and_pages(qtbot: QtBot, console: Console, desk: Desk) -> None:
    store = desk.session.engine.store
    page = console.window.page("overview")
    assert isinstance(page, OverviewPage)
    slots = (SlotState(task_id="t", task_type="sync_order", shop="pdd:x", since=1), SlotState(), SlotState())
    lost = LinkState(error="refused", lost_at=1)
    for shop in range(2):
        desk.create(shop)

    def beat() -> None:
        for name, link in (("w1", LinkState()), ("w2", lost)):
            store.heartbeat(WorkerInfo(worker=name, host=name, pid=1, executors=("rpa",), slots=slots, link=link))

    def apart() -> dict[str, object]:
        """What a popover says otherwise than the tile, the list or the page beside it."""
        beat()
        broker, workers = told_by_pill(console, "broker"), told_by_pill(console, "workers")
        fleet, asked = desk.session.live.snapshot().fleet(), desk.session.queries.tasks
        pairs = {
            "unsent": (broker["Recorded, not sent"], str(len(asked.ids("status:pending"))), "0"),
            "queued": (broker["In queues"], str(len(asked.ids("status:queued"))), "2"),
            "held": (broker["With workers"], page.tiles["unacked"].kpi.value),
            "slots": (workers["Slots"], f"{fleet.busy} of {fleet.slots} busy", "1 of 3 busy"),
            "tile": (page.tiles["running"].kpi.context.partition(" · ")[0], f"of {fleet.slots} slots"),
            "alive": (workers["Alive"], str(fleet.living), "2"),
            "cut off": (workers["Cannot reach the broker"], str(fleet.number(CUT_OFF)), "1"),
            "line": (workers["words"], worker_words.summary(fleet)),
        }
        return {name: said for name, said in pairs.items() if len(set(said)) > 1}

    def agree() -> None:
        assert apart() == {}

    qtbot.waitUntil(agree, timeout=20_000)


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
