"""Opens a page for a test as the window does, and leaves it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from pytestqt.qtbot import QtBot

from views.page import Page

P = TypeVar("P", bound=Page)
#: what a window of 1280 by 720 leaves to a page
SMALL = (1084, 646)
#: and what the least window does, of 960 by 540 with its rail folded
LEAST = (908, 466)
WAIT_MS = 10_000


def opening(
    qtbot: QtBot,
    build: Callable[[], P],
    show: Callable[[P], None] | None = None,
    *,
    size: tuple[int, int] = (1400, 900),
    leave: Callable[[P], None] = lambda _page: None,
) -> Iterator[Callable[[], P]]:
    """For ``yield from`` in a fixture: opens as many pages as asked for; `show` activates one and awaits its data, else
    its first answer is awaited.
    """
    pages: list[P] = []

    def make() -> P:
        page = build()
        qtbot.addWidget(page)
        pages.append(page)
        page.resize(*size)
        if show is not None:
            show(page)
            return page
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.show()
            page.activate()
        return page

    yield make
    for page in pages:
        page.deactivate()
        leave(page)
