"""What is counted on whichever page a person is: queues, promises and shops that need somebody at the rail, schedules
below.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from console.watch import PromiseWatch, QueueWatch, ScheduleWatch
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.plans.schedule import Schedule
from services.domain.promises import promise as promises
from services.domain.promises import standing
from services.domain.promises.judge import AT_RISK, BROKEN
from services.monitor.promises import STALE_MS
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
    qtbot.waitUntil(lambda: said() == "Queues, queues that need somebody: 1", timeout=30_000)


def test_promises_that_are_not_kept_are_counted_at_the_rail(desk: Desk, console: Console, qtbot: QtBot) -> None:
    watch = console.window.findChild(PromiseWatch)
    for timer in watch.findChildren(QTimer):
        timer.stop()
    item, store = console.window.rail.item("promises"), desk.session.engine.store

    def judge(name: str, state: str, late_ms: int = 0) -> None:
        numbers = {"broken" if state == BROKEN else "at_risk": 1, "total": 1}
        judged = standing.Standing(name=name, version=1, judged_at=store.now_ms() - late_ms, **numbers)
        store.put_document(promises.STATE, name, standing.DOCUMENT.dump(judged))

    def said() -> str:
        with qtbot.waitSignal(watch.looked):
            watch.look()
        return str(item.accessibleName())

    assert said() == "Promises"
    for name in ("orders", "goods"):
        desk.session.commands.promises.set(
            promises.Promise(name=name, task_type="sync_order", limit_s=3600, all_shops=True)
        )
    judge("orders", AT_RISK)
    assert said() == "Promises, promises that are broken or at risk: 1"
    judge("goods", BROKEN)
    assert said() == "Promises, promises that are broken or at risk: 2"
    judge("goods", BROKEN, late_ms=2 * STALE_MS)
    assert said() == "Promises, promises that are broken or at risk: 1", "how it stands now nobody knows"


def test_schedules_of_the_next_minute_are_counted_below(desk: Desk, console: Console, qtbot: QtBot) -> None:
    watch = console.window.findChild(ScheduleWatch)
    for timer in watch.findChildren(QTimer):
        timer.stop()
    part = console.window.status_bar.part("due")

    def said() -> str:
        with qtbot.waitSignal(watch.looked):
            watch.look()
        return "" if part.isHidden() else str(part.words())

    assert said() == ""
    often, seldom = ("often", 30), ("seldom", 7200)
    for name, every_s in (often, seldom):
        made = Schedule(name=name, task_type="get_content", every_s=every_s, all_shops=True)
        desk.session.commands.schedules.add(made)
    assert said() == "Schedules next minute 1"
    desk.session.commands.schedules.switch(["often"], enabled=False)
    assert said() == "Schedules next minute 0"


def test_shops_that_want_a_login_are_counted_at_the_rail(desk: Desk, console: Console, qtbot: QtBot) -> None:
    item = console.window.rail.item("shops")
    assert item.accessibleName() == "Shops"
    sessions = desk.session.commands.sessions
    sessions.close("pdd:pdd-10021", note="no phone")
    sessions.close("temu:temu-20117", kind="captcha")
    said = "Shops, shops that want a login or show a captcha: 2"
    qtbot.waitUntil(lambda: item.accessibleName() == said, timeout=30_000)
    sessions.open("pdd:pdd-10021", note="scanned")
    sessions.open("temu:temu-20117", note="solved")
    qtbot.waitUntil(lambda: item.accessibleName() == "Shops", timeout=30_000)
