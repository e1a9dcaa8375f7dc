"""No word is cut on the smallest window that is promised: pages at 1280 x 720, in both languages and themes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtGui import QFontMetrics
from pytestqt.exceptions import TimeoutError as QtBotTimeoutError
from pytestqt.qtbot import QtBot

from services import workforce
from services.commands.tasks import TaskSpec
from services.domain.promises.promise import Promise
from services.monitor.overview import OverviewNow
from tests.support.cuts import cut
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.overview.sample_source import SampleSource
from views.page import Page
from views.pages.audit.page import AuditPage
from views.pages.batches.page import BatchesPage
from views.pages.dead_letters.page import DeadLettersPage
from views.pages.doctor.page import DoctorPage
from views.pages.overview.page import OverviewPage
from views.pages.overview.tiles import TILES, Sight
from views.pages.promises.page import PromisesPage
from views.pages.queues.page import QueuesPage
from views.pages.schedules.page import SchedulesPage
from views.pages.settings.page import SettingsPage
from views.pages.shops.page import ShopsPage
from views.pages.tasks.page import TasksPage
from views.pages.types.page import TypesPage
from views.pages.workers.page import WorkersPage
from views.shell.connection_menu import ConnectionMenu
from views.support.connections import Connection
from views.support.words import verdicts
from views.theme import theme
from views.widgets.kpi_tile import KpiTile

pytestmark = pytest.mark.deep

#: what is left of the window beside rail, top bar and status bar
SIZES = ((1084, 646), (1170, 692))
PAGES: dict[str, Callable[[Any], Page]] = {
    "tasks": TasksPage,
    "dead_letters": DeadLettersPage,
    "shops": ShopsPage,
    "workers": WorkersPage,
    "queues": QueuesPage,
    "batches": BatchesPage,
    "promises": PromisesPage,
    "schedules": SchedulesPage,
    "audit": AuditPage,
    "doctor": DoctorPage,
    "types": TypesPage,
    "settings": lambda context: SettingsPage(context, data_folder="/home/chen/fleetdeck"),
}


@pytest.fixture
def busy(fleet: Fleet) -> Fleet:
    """A fleet with something on every page."""
    fleet.seed_deaths()
    shops = [key.partition(":") for key in sorted(fleet.context.shops())[:12]]
    specs = [TaskSpec(platform=one[0], shop_id=one[2], task_type="sync_order") for one in shops]
    fleet.context.commands.tasks.create(specs, origin="console")
    limits = (("late", 60, {"all_shops": True}), ("orders", 3600, {"platforms": ("pdd",)}))
    for name, limit_s, whom in limits:
        fleet.context.commands.promises.set(Promise(name=name, task_type="sync_order", limit_s=limit_s, **whom))
    fleet.context.commands.fleet.pause("platform:pdd", reason="a sale")
    workforce.promise_keeper(fleet.engine).tick()
    for name, state, held in (("rpa-01", "running", 3), ("rpa-04", "draining", 2), ("rpa-06", "stopped", 0)):
        fleet.heartbeat(name, slots=12, busy=held, state=state, node="desk-1")
    return fleet


@pytest.fixture
def shortened(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What is painted with an ellipsis from now on."""
    found: set[str] = set()
    whole = QFontMetrics.elidedText

    def noted(self: QFontMetrics, words: str, *rest: Any) -> str:
        shown = whole(self, words, *rest)
        if shown != words:
            found.add(words)
        return shown

    monkeypatch.setattr(QFontMetrics, "elidedText", noted)
    return found


def test_nothing_of_overview_is_cut(qtbot: QtBot, language: str) -> None:
    page = OverviewPage(SampleSource())
    qtbot.addWidget(page)
    page.show()
    page.activate()
    qtbot.waitUntil(lambda: page.settled, timeout=20_000)
    assert len(page.header.summary()) > 40
    for size in SIZES:
        page.resize(*size)
        qtbot.wait(300)
        page.grab()
        _read_whole(qtbot, page)
    page.deactivate()


@pytest.mark.parametrize("page", list(PAGES))
def test_no_label_and_no_button_of_a_page_is_cut(qtbot: QtBot, busy: Fleet, language: str, page: str) -> None:
    # both themes have the same letters, so each is seen with one of the languages
    theme().set_mode("dark" if language == "en" else "light")
    widget = PAGES[page](busy.context)
    qtbot.addWidget(widget)
    for size in SIZES:
        widget.resize(*size)
        widget.show()
        widget.activate()
        qtbot.wait(300)
        widget.grab()
        _read_whole(qtbot, widget)
    widget.deactivate()


def _read_whole(qtbot: QtBot, page: Page) -> None:
    """No word stays cut: what arrives moves others for a moment."""
    try:
        qtbot.waitUntil(lambda: cut(page) == [], timeout=10_000)
    except QtBotTimeoutError:
        assert cut(page) == []


def test_the_answer_of_a_cause_is_read_whole(qtbot: QtBot, busy: Fleet, language: str, shortened: set[str]) -> None:
    page = DeadLettersPage(busy.context)
    qtbot.addWidget(page)
    page.resize(*SIZES[0])
    page.show()
    page.activate()
    qtbot.waitUntil(lambda: bool(page.causes.causes.records()))

    def cut_now() -> set[str]:
        shortened.clear()
        page.grab()
        return shortened

    qtbot.waitUntil(lambda: bool(cut_now()))  # an error is long
    answers = {verdicts.word(one.worth, one.count) for one in page.causes.causes.records()}
    qtbot.waitUntil(lambda: not cut_now() & answers)  # what arrives moves others for a moment
    page.deactivate()


def test_each_address_of_a_connection_is_read_whole(qtbot: QtBot, language: str) -> None:
    class Two:
        def rows(self) -> tuple[Connection, ...]:
            east, west = "mq.east.example.com:5672//shops-of-the-east", "redis.east.example.com:6380/12"
            return (Connection(name="east", title="East", address=f"{east} · {west}", places=(east, west), tag="PROD"),)

    menu = ConnectionMenu(Two())  # type: ignore[arg-type]
    qtbot.addWidget(menu)
    menu.adjustSize()
    menu.grab()
    (row,) = menu.rows
    assert [place.text() for place in row.places] == list(Two().rows()[0].places)
    assert all(place.width() >= place.sizeHint().width() for place in row.places)
    assert cut(menu) == []


def test_a_tile_without_workers_says_so_whole(qtbot: QtBot, language: str, shortened: set[str]) -> None:
    sight = Sight(OverviewNow(at_ms=1))
    spec = next(one for one in TILES if one.key == "running")
    tile = KpiTile(spec.label, spec.glyph, spec.role)
    qtbot.addWidget(tile)
    tile.resize((SIZES[0][0] - 32 - 6 * 12) // 7, tile.sizeHint().height())
    tile.show_kpi(spec.kpi(sight))
    assert tile.kpi.context
    tile.grab()
    assert shortened == set()
