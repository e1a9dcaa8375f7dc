"""The window over a connection that permits no change, and over production."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from console.connection.open_connection import OpenConnection
from services import assembly, i18n
from services import settings as config
from services.cli.window import pages
from services.domain.errors import NotAllowed
from services.domain.fleet.worker import WorkerInfo
from services.engine.producer import TaskSpec
from tests.gui.desk import SHOPS
from tests.support import stock
from tests.support.console_window import window_over
from tests.support.services import RabbitMQ
from views.pages.schedules.page import SchedulesPage
from views.pages.settings.page import SettingsPage
from views.pages.shops.page import ShopsPage
from views.pages.workers.page import WorkersPage
from views.support import operation
from views.theme import theme

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
REASON = (
    "The connection local is read-only: nothing is changed through it. To act, open it without --read-only, and without"
    " read-only in its profile."
)
Opened = Callable[..., Console]


@pytest.fixture
def opened(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Opened]:
    """Opens windows over sessions with other settings."""
    i18n.set_language("en")
    theme().set_mode("dark")
    theme().install(qapp)
    operation.configure(lambda error: None)
    made: list[tuple[Console, OpenConnection]] = []

    def open_one(**changes: object) -> Console:
        session = OpenConnection(msgspec.structs.replace(config.load(home=tmp_path), **changes))
        session.live.start()
        desk = window_over(session)
        desk.window.resize(1280, 800)
        desk.window.open_page("overview")
        desk.window.show()
        made.append((desk, session))
        qtbot.waitUntil(lambda: desk.feed.latest.at_ms > 0)
        return desk

    yield open_one
    for desk, session in made:
        desk.window.close()
        desk.window.deleteLater()
        desk.feed.deleteLater()
        operation.shut_down()
        session.close(0.0)
    operation.configure(None)


@contextmanager
def seeded(home: Path) -> Iterator[None]:
    session = OpenConnection(config.load(home=home))
    session.commands.fleet.import_shops(SHOPS)
    session.close(0.0)
    yield


def test_every_verb_is_closed_with_its_reason(qtbot: QtBot, opened: Opened, tmp_path: Path) -> None:
    with seeded(tmp_path):
        desk = opened(read_only=True)
    window = desk.window
    qtbot.waitUntil(lambda: window.status_bar.part("rights").words() == "READ-ONLY")
    assert window.status_bar.part("rights").toolTip() == REASON
    assert window.top_bar.create_button.toolTip() == REASON
    schedules, workers, settings = (window.page(name) for name in ("schedules", "workers", "settings"))
    assert isinstance(schedules, SchedulesPage)
    assert isinstance(workers, WorkersPage)
    assert isinstance(settings, SettingsPage)
    closed = (
        schedules.new_button, schedules.buttons["run"], schedules.buttons["remove"], schedules.empty.button,
        workers.local.button, workers.empty.button, settings.sample.button,
    )  # fmt: skip
    assert [(button.isEnabled(), button.toolTip()) for button in closed] == [(False, REASON)] * len(closed)
    with pytest.raises(NotAllowed, match="read-only"):
        desk.context.local.start(1, ("normal",))
    with pytest.raises(NotAllowed, match="read-only"):
        desk.context.commands.fleet.pause("all")
    window.top_bar.health_requested.emit("workers", QPoint(0, 0))
    window.status_bar.part("rights").click()
    popover = desk.wiring.doors.popover
    assert popover is not None
    assert popover.facts.values()["Because"] == REASON
    popover.close()


@pytest.mark.deep
@pytest.mark.parametrize("pair", ["embedded", pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])])
def test_every_page_leaves_all_as_it_was(
    qtbot: QtBot, opened: Opened, tmp_path: Path, request: pytest.FixtureRequest, pair: str
) -> None:
    rabbitmq, places = None, {}
    if pair == "fleet":
        rabbitmq = request.getfixturevalue("rabbitmq")
        broker = config.BrokerSettings(
            url=request.getfixturevalue("amqp_vhost"), management_url=rabbitmq.management_url
        )
        places = {"broker": broker, "store": config.StoreSettings(url=request.getfixturevalue("redis_url"))}
    settings = msgspec.structs.replace(config.load(home=tmp_path), **places, **({"profile": "f"} if places else {}))
    engine = assembly.open_engine(settings)
    for number in range(30):
        spec = TaskSpec(platform="pdd", shop_id=f"s{number % 7}", task_type="sync_order", payload={"n": number})
        engine.producer.submit([spec])
    engine.store.heartbeat(WorkerInfo(worker="w", host="gone", pid=1, executors=("rpa",)))
    engine.broker.consumer(("normal",), window=1, name="gone").take(1, 10.0)
    engine.close()
    before = stock.taken(settings, rabbitmq)
    errors: list[BaseException] = []
    operation.configure(errors.append)
    desk = opened(read_only=True, **places, profile=settings.profile)
    for page in pages():
        desk.window.open_page(page)
        shown = desk.feed.latest.at_ms
        qtbot.waitUntil(lambda shown=shown: desk.feed.latest.at_ms > shown + 1200)
    operation.shut_down()
    after = stock.taken(settings, rabbitmq)
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == set()
    assert not errors


def test_what_the_broker_lacks_stands_at_its_pill(
    qtbot: QtBot, opened: Opened, tmp_path: Path, rabbitmq: RabbitMQ, amqp_vhost: str, redis_url: str
) -> None:
    desk = opened(
        read_only=True,
        profile="f",
        broker=config.BrokerSettings(url=amqp_vhost, management_url=rabbitmq.management_url),
        store=config.StoreSettings(url=redis_url),
    )
    lacks = "the broker lacks rpa_task_exchange, "
    desk.window.top_bar.health_requested.emit("broker", QPoint(0, 0))
    popover = desk.wiring.doors.popover
    assert popover is not None
    assert popover.facts.values()["Missing"].startswith(lacks)
    popover.close()
    assert any(lacks in one.toolTip() for one in desk.window.top_bar.findChildren(QWidget))


def test_the_search_stays_and_what_acts_in_it_says_why_it_does_not(
    qtbot: QtBot, opened: Opened, tmp_path: Path
) -> None:
    with seeded(tmp_path):
        desk = opened(read_only=True)
    window, palette = desk.window, desk.keys.palette
    qtbot.waitUntil(lambda: window.status_bar.part("rights").words() == "READ-ONLY")
    window.open_page("shops")
    page = window.page("shops")
    assert isinstance(page, ShopsPage)
    qtbot.waitUntil(lambda: bool(page.pointed()[0]))
    window.top_bar.search.click()
    qtbot.waitUntil(palette.isVisible)
    for typed, key, acts in (
        ("new task", "window.new", True),
        ("edit shop", "shops.edit", True),
        ("all keys", "window.keys", False),
        ("show tasks", "shops.tasks", False),
    ):
        palette.field.setText(f">{typed}")
        found = palette.rows.entry(palette.rows.row_of(key))
        assert found is not None, key
        assert found.reason == (REASON if acts else ""), key
    palette.hide()


def test_production_is_outlined_named_in_the_title_and_asks_earlier(qtbot: QtBot, opened: Opened) -> None:
    quiet = opened(environment="staging")
    plain = quiet.window.top_bar.profile.grab().toImage()
    assert quiet.window.top_bar.profile.accessibleName() == "Connection: Local STAGING"
    desk = opened(environment="production")
    button = desk.window.top_bar.profile
    assert button.accessibleName() == "Connection: Local PROD"
    assert desk.window.windowTitle() == "Local · PROD · Overview · Fleetdeck"
    dead = theme().color("dead").rgb()
    colours = {button.grab().toImage().pixel(x, y) for x in range(button.width()) for y in range(button.height())}
    assert dead in colours
    assert dead not in {plain.pixel(x, y) for x in range(plain.width()) for y in range(plain.height())}
    from views.dialogs.confirm import typed_count

    assert typed_count(51, desk.context.environment) == "51"
    assert typed_count(51, quiet.context.environment) == ""
