"""The window over data that a newer program wrote: all of it to be looked at, every verb closed with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from console import bootstrap
from console.connection.open_connection import OpenConnection
from services import assembly, i18n
from services import settings as config
from services.cli.window import pages
from services.domain.errors import NotAllowed, SchemaTooNew
from services.domain.fleet.worker import WorkerInfo
from services.engine.producer import TaskSpec
from tests.support import newer
from tests.support.console_window import window_over
from views.pages.workers.page import WorkersPage
from views.support import operation
from views.theme import theme

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
NEWER, REMEDY = "were written by a newer program", "update Fleetdeck on this machine to at least 9.9.0."


@pytest.fixture(params=["embedded", pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[config.Settings]:
    """Where data are that a newer program may take over."""
    found = config.load(home=tmp_path)
    if request.param == "fleet":
        broker = config.BrokerSettings(url=request.getfixturevalue("amqp_vhost"))
        store = config.StoreSettings(url=request.getfixturevalue("redis_url"))
        found = msgspec.structs.replace(found, profile="f", broker=broker, store=store)
    engine = assembly.open_engine(found)
    for number in range(10):
        spec = TaskSpec(platform="pdd", shop_id=f"s{number % 3}", task_type="sync_order", payload={"n": number})
        engine.producer.submit([spec])
    engine.store.heartbeat(WorkerInfo(worker="w", host="gone", pid=1, executors=("rpa",)))
    engine.close()
    yield found
    operation.configure(None)


def test_it_is_shown_and_every_verb_says_why_it_is_closed(
    qapp: QApplication, qtbot: QtBot, settings: config.Settings
) -> None:
    newer.make(settings)
    with opened(qapp, settings) as (session, desk):
        window = desk.window
        for page in pages():
            window.open_page(page)
            shown = desk.feed.latest.at_ms
            qtbot.waitUntil(lambda shown=shown: desk.feed.latest.at_ms > shown)
        rights = window.status_bar.part("rights")
        qtbot.waitUntil(lambda: rights.words() == "READ-ONLY")
        workers = window.page("workers")
        assert isinstance(workers, WorkersPage)
        for tip in (rights.toolTip(), window.top_bar.create_button.toolTip(), workers.local.button.toolTip()):
            assert NEWER in tip
            assert REMEDY in tip
        assert not workers.local.button.isEnabled()
        banner = window.banner
        assert banner.isVisible()
        assert banner.accessibleName().startswith("Read-only: this Fleetdeck is too old.")
        assert banner.accessibleName().endswith(REMEDY)
        assert [banner.button.isVisible(), banner.report.isVisible()] == [False, True]
        rights.click()
        popover = desk.wiring.doors.popover
        assert popover is not None
        assert NEWER in popover.facts.values()["Because"]
        popover.close()
        for act in (lambda: session.local.start(1, ("normal",)), lambda: session.commands.fleet.pause("all")):
            with pytest.raises(NotAllowed, match=NEWER):
                act()
        assert session.doctor.examine()[0].message.code == "doctor.newer"


def test_a_window_that_is_open_meanwhile_closes_every_verb(
    qapp: QApplication, qtbot: QtBot, settings: config.Settings
) -> None:
    with opened(qapp, settings) as (session, desk):
        window = desk.window
        rights, banner, create = window.status_bar.part("rights"), window.banner, window.top_bar.create_button
        qtbot.waitUntil(create.isEnabled)
        assert (rights.words(), banner.isVisible()) == ("Can act", False)
        newer.make(settings)
        qtbot.waitUntil(banner.isVisible, timeout=10_000)
        assert banner.accessibleName().startswith("Read-only: this Fleetdeck is too old.")
        assert banner.accessibleName().endswith(REMEDY)
        assert rights.words() == "READ-ONLY"
        assert not create.isEnabled()
        for tip in (rights.toolTip(), create.toolTip()):
            assert NEWER in tip
        rights.click()
        popover = desk.wiring.doors.popover
        assert popover is not None
        assert NEWER in popover.facts.values()["Because"]
        popover.close()
        with pytest.raises(SchemaTooNew, match=NEWER):
            session.commands.fleet.pause("all")


@contextmanager
def opened(qapp: QApplication, settings: config.Settings) -> Iterator[tuple[OpenConnection, bootstrap.OpenWindow]]:
    """The window of a connection; nothing may go wrong that it does not show."""
    i18n.set_language("en")
    theme().install(qapp)
    errors: list[BaseException] = []
    operation.configure(errors.append)
    session = OpenConnection(settings)
    session.start()
    desk = window_over(session)
    window = desk.window
    try:
        window.resize(1280, 800)
        window.show()
        yield session, desk
        operation.shut_down()
        assert not errors
    finally:
        window.close()
        window.deleteLater()
        desk.feed.deleteLater()
        operation.shut_down()
        session.close(0.0)
