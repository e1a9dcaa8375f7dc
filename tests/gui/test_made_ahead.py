"""Every page can be put together a little at a time while the fleet goes on telling what is new."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from views.page import Page, made_in_parts
from views.support.instant import ticks


def test_no_page_needs_the_rest_of_itself_before_it_is_whole(qtbot: QtBot, console: Console) -> None:
    for spec in console.window.specs:
        with made_in_parts():
            page = spec.factory()
        qtbot.addWidget(page)
        parts = 0
        while page.make_on():
            parts += 1
            ticks().tick()
            console.feed.looked.emit(console.feed.latest)
        assert parts > 1, spec.id
        assert not page.grab().isNull()


def test_a_picture_of_the_window_shows_nothing_of_a_page_that_is_being_made(qtbot: QtBot, console: Console) -> None:
    window, made = console.window, list[str]()
    window.page_made.connect(lambda name, _page: made.append(name))
    window.open_page("overview")
    window.prepare_pages()

    def is_seen_alone() -> bool:
        assert not window.grab().isNull()  # which tells all that lies in the window how large it is
        assert [page.page_id for page in window.findChildren(Page) if page.isVisible()] == ["overview"]
        return "shops" in made  # it lays out parts by its size, as three pages before it do not

    qtbot.waitUntil(is_seen_alone, timeout=30_000)
    window.stop_preparing()
