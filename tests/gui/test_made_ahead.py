"""Every page can be put together a little at a time while the fleet goes on telling what is new."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from views.page import made_in_parts
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
