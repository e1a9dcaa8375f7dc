"""Queues that need somebody are counted at the rail, on whichever page a person is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from console.watch import QueueWatch
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from tests.gui.desk import Desk

pytestmark = pytest.mark.both_pairs


def test_a_queue_that_nobody_takes_from_is_counted_at_the_rail(desk: Desk, console: Console, qtbot: QtBot) -> None:
    watch = console.window.findChild(QueueWatch)
    for timer in watch.findChildren(QTimer):
        timer.stop()
    item = console.window.rail.item("queues")

    def said() -> str:
        with qtbot.waitSignal(watch.looked):
            watch.look()
        return str(item.accessibleName())

    assert said() == "Queues"
    key = next(iter(sorted(console.context.shops())))
    platform, _colon, shop = key.partition(":")
    desk.session.commands.tasks.create(
        [TaskSpec(platform=platform, shop_id=shop, task_type="sync_order")], origin="console"
    )
    qtbot.waitUntil(lambda: said() == "Queues, queues that need somebody", timeout=30_000)
