"""The tables of every page under Qt's own tester, while rows come, change and go by themselves."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import QAbstractItemModel, QCoreApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractItemView, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import assembly
from services.cli.window import pages
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.settings import Settings
from tests.gui.desk import Desk
from tests.integration.test_cli_masking import fill
from views.support.operation import Operation
from views.tables.record_model import RecordModel

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
Warn = QAbstractItemModelTester.FailureReportingMode.Warning
ACTS = 6  #: on each page


@pytest.fixture
def one_of_each(place: Settings) -> None:
    """Rows on every page, from before the window is made."""
    engine = assembly.open_engine(place)
    fill(engine)
    engine.registry.forget()
    engine.close()


class Life:
    """Something happens to the fleet, nobody knows what."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self._desk, self._dice = desk, random.Random(seed)
        self._waiting: list[Task] = []
        self._made = 0

    def goes_on(self) -> None:
        """One thing more."""
        ends: list[Callable[[Task], object]] = [self._desk.succeed, self._desk.fail, self._desk.hold, self._cancel]
        kind = self._dice.randrange(4)
        if kind == 0 and self._waiting:
            self._dice.choice(ends)(self._waiting.pop(self._dice.randrange(len(self._waiting))))
        elif kind == 1:
            self._add_shop()
        else:
            self._create()

    def _create(self) -> None:
        """In a shop of its own, so that nothing is in its way."""
        self._made += 1
        spec = TaskSpec(platform="temu", shop_id=f"t{self._made}", task_type="refresh_goods", payload={"n": self._made})
        self._waiting += self._desk.session.commands.tasks.create([spec], origin="console").created

    def _cancel(self, task: Task) -> None:
        self._desk.session.commands.tasks.cancel([task.task_id])

    def _add_shop(self) -> None:
        name = f"s{self._dice.randrange(20)}"
        self._desk.session.engine.store.put_shops([Shop(platform="temu", shop_id=name, name=name)])


def answered(qtbot: QtBot, page: QWidget) -> None:
    """Until every question under way has its answer."""

    def idle() -> bool:
        QCoreApplication.sendPostedEvents()
        return not any(one.busy for one in page.findChildren(Operation))

    qtbot.wait(30)  # what was done is heard of
    qtbot.waitUntil(idle)


@pytest.mark.deep
def test_no_table_of_any_page_breaks_a_rule_of_models(
    one_of_each: None, qtbot: QtBot, console: Console, desk: Desk
) -> None:
    life = Life(desk, seed=7)
    testers: dict[QAbstractItemModel, QAbstractItemModelTester] = {}
    for name in pages():
        console.window.open_page(name)
        page = console.window.page(name)
        answered(qtbot, page)
        for view in page.findChildren(QAbstractItemView):
            model = view.model()
            if model is not None and model not in testers:
                testers[model] = QAbstractItemModelTester(model, Warn)
        for _ in range(ACTS):
            life.goes_on()
        answered(qtbot, page)
        for model in testers:
            if isinstance(model, RecordModel):
                model.show_new()
    tables = [model for model in testers if isinstance(model, RecordModel)]
    assert sum(model.rowCount() > 0 for model in tables) > 10, "there was something to test"
    for tester in testers.values():
        tester.deleteLater()
