"""Every page until its first answer: grey rows and "Loading…", never that there is nothing; then what failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from msgspec import structs
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from console.pages import page_specs
from services import assembly, i18n
from services.cli.window import pages
from services.domain.errors import StoreUnavailable
from tests.support import widgets
from tests.unit.views.pages.fleet_rig import Fleet
from views.page import Page
from views.pages.overview.page import OverviewPage
from views.support.feed import Feed
from views.support.instant import ticks
from views.support.operation import Operation
from views.widgets.empty_state import EmptyState
from views.widgets.strip import ErrorStrip
from views.widgets.unknown import Bones

#: those that ask before they show anything: the settings are known, logs are files of this machine, and what was at a
#: moment of the past has its own way of saying that it comes
ASKING = tuple(page for page in pages() if page not in ("settings", "logs", "past"))
#: of the workers the feed brings all that the page shows, and the window says what it could not read
ITSELF = tuple(page for page in ASKING if page != "workers")
Fail = Callable[[BaseException], None]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Fail]:
    """What pages ask for is not answered; here is how it fails."""
    found: list[Fail] = []

    def start(_self: Operation, _call: object, _success: object = None, failure: Fail = lambda _error: None) -> None:
        found.append(failure)

    monkeypatch.setattr(Operation, "start", start)
    return found


@pytest.fixture
def opened(qtbot: QtBot, fleet: Fleet, asked: list[Fail]) -> Iterator[Callable[[str], Page]]:
    """Opens a page over a fleet of which nothing was heard yet."""
    context = structs.replace(fleet.context, feed=Feed(assembly.live(fleet.engine)))
    specs = {one.id: one for one in page_specs(context, {"overview": lambda: OverviewPage(context.overview)})}
    made: list[Page] = []

    def show(name: str) -> Page:
        page = specs[name].factory()
        qtbot.addWidget(page)
        made.append(page)
        page.resize(1084, 646)
        page.show()
        page.activate()
        return page

    yield show
    for page in made:
        page.deactivate()


def claims(page: Page) -> list[str]:
    """What it says that only an answer could tell: that there is nothing, or a number."""
    spoken: list[QLabel | QAbstractButton] = [*page.findChildren(QLabel), *page.findChildren(QAbstractButton)]
    said = [one.text() for one in spoken if one.isVisible()]
    numbers = [words for words in said if re.search(r"(?<![\w.:-])0(?![\w:])(?! %)", words)]
    empty = [widgets.words(one) for one in page.findChildren(EmptyState) if one.isVisible()]
    return numbers + [words for words in empty if words.strip() not in ("Loading…", "正在加载…")]


def grey(page: Page) -> bool:
    """Whether grey rows stand somewhere."""
    return any(one.isVisible() for one in page.findChildren(Bones))


@pytest.mark.parametrize("name", ASKING)
def test_a_page_that_loads_says_neither_nothing_nor_zero(
    qtbot: QtBot, opened: Callable[[str], Page], name: str
) -> None:
    page = opened(name)
    assert not claims(page)
    assert page.header.summary() == "Loading…"
    qtbot.waitUntil(lambda: grey(page))
    i18n.set_language("zh_CN")
    assert page.header.summary() == "正在加载…"
    i18n.set_language("en")
    ticks().tick()
    assert not claims(page)
    assert grey(page)


@pytest.mark.parametrize("name", ITSELF)
def test_a_page_whose_first_question_failed_says_why_and_offers_to_ask_again(
    qtbot: QtBot, opened: Callable[[str], Page], asked: list[Fail], name: str
) -> None:
    page = opened(name)
    qtbot.waitUntil(lambda: grey(page))
    for fail in list(asked):
        fail(StoreUnavailable("the disk is full"))
    (strip,) = [one for one in page.findChildren(ErrorStrip) if one.isVisible()]
    assert "the disk is full" in strip.accessibleName()
    assert not grey(page)
    said = [widgets.words(one) for one in page.findChildren(EmptyState) if one.isVisible()]
    assert all(words.strip().endswith("could not be loaded") for words in said), "it does not load any more"
    assert page.header.summary() == ""
    before = len(asked)
    with qtbot.waitSignal(strip.retry):
        strip.retry_button.click()
    assert len(asked) > before
