"""Photographs the box that answers "Did it run?": ``python -m tests.gui.work_picture FILE.png``.

Language and theme are those of the surroundings, as for every other picture.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from services import i18n
from services.domain.change import Create
from services.domain.fleet.shop import Shop
from services.domain.plans.schedule import Schedule
from services.domain.task.record import Attempt, Task
from services.domain.types.task_type import uniqueness_key
from services.engine.producer import TaskSpec
from services.settings import load
from tests.gui.desk import SHOPS, Desk, open_desk
from views.dialogs.work.dialog import Asked, WorkDialog
from views.support import operation
from views.support.words import type_names
from views.theme import theme

PATIENCE_S, SETTLE_S = 20.0, 0.6
MINUTE_MS = 60_000
HOURS = 9


def main() -> int:
    """Take the picture."""
    i18n.set_language(os.environ.get("FLEETDECK_LANGUAGE", "en"))
    app = QApplication(sys.argv[:1])
    theme().set_mode(os.environ.get("FLEETDECK_THEME", "light"))
    theme().install(app)
    with tempfile.TemporaryDirectory(prefix="fleetdeck-picture-") as home:
        desk = open_desk(load(home=Path(home)))
        try:
            _tell_a_story(desk)
            window = QWidget()
            window.resize(1366, 900)
            dialog = WorkDialog(desk.context, Asked(shop="数码", task_type="sync_order"), parent=window)
            dialog.open()
            _turn(app, lambda: dialog.answer.told is not None and bool(dialog.answer.evidence.isVisible()), PATIENCE_S)
            _turn(app, lambda: False, SETTLE_S)
            dialog.grab().save(sys.argv[1])
            dialog.reject()
        finally:
            operation.shut_down()
            desk.session.close(0.0)
    return 0


def _earlier(desk: Desk, hours: int, shop: Shop) -> Task:
    """A run of the schedule so many hours ago; one of them needed a second attempt."""
    at = desk.session.engine.store.now_ms() - hours * 60 * MINUTE_MS
    numbers = (1, 2) if hours == 3 else (1,)
    attempts = tuple(
        Attempt(
            number=number,
            worker=f"desk-0{number}",
            started_at=at + (number - 1) * 5 * MINUTE_MS,
            ended_at=at + (number - 1) * 5 * MINUTE_MS + 2 * MINUTE_MS,
            outcome="succeeded" if number == numbers[-1] else "failed",
            error_kind="" if number == numbers[-1] else "element_not_found",
        )
        for number in numbers
    )
    kind = desk.session.types()["sync_order"]
    return Task(
        task_id=f"pdd_sync_order_{shop.shop_id}_{hours:012x}",
        platform=shop.platform,
        shop_id=shop.shop_id,
        task_type=kind.name,
        status="succeeded",
        attempt=len(attempts),
        attempts=attempts,
        created_at=at,
        started_at=attempts[-1].started_at,
        ended_at=attempts[-1].ended_at,
        worker=attempts[-1].worker,
        origin="schedule",
        created_by="order-sync",
        uniq=uniqueness_key(kind, shop.platform, shop.shop_id, "{}"),
    )


def _tell_a_story(desk: Desk) -> None:
    """It ran every hour; then another program's order sync failed, Ann's succeeded, and the next is planned."""
    type_names.know(desk.session.types())
    shop = SHOPS[0]
    for hours in range(HOURS, 0, -1):
        desk.session.engine.store.apply([Create(task=_earlier(desk, hours, shop))])
    for origin, by in (("foreign", ""), ("console", "ann@desk-3")):
        spec = TaskSpec(
            platform=shop.platform, shop_id=shop.shop_id, task_type="sync_order", origin=origin, created_by=by
        )
        (task,) = desk.session.engine.producer.submit([spec]).created
        if origin == "foreign":
            desk.fail(task)
        else:
            desk.succeed(task)
    desk.create(1, task_type="sync_order")
    desk.session.commands.schedules.add(
        Schedule(name="order-sync", task_type="sync_order", cron="0 * * * *", shops=(shop.key,))
    )


def _turn(app: QApplication, done: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        app.processEvents()
        time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())
