"""The sitemap as data, and the way back.

The list of pages is filled where they are put together; the shell knows pages only through it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from views.page import Page
from views.shell.rail import NavEntry

#: pages that one can go back
MOST_REMEMBERED = 50


class PageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One page: how it is called, found and made. `title` is source text."""

    id: str
    title: str
    icon: str  #: a ``ph`` name that also exists with ``-fill``
    factory: Callable[[], Page]
    shortcut: str = ""  #: default: Alt and its place in the rail
    letter: str = ""  #: after ``G`` it opens the page
    group: int = 0  #: a divider separates groups in the rail
    under: str = ""  #: page of the rail that is lit instead; "" has a line of its own

    def entry(self) -> NavEntry:
        """Return what the rail needs of it."""
        return NavEntry(id=self.id, title=self.title, icon=self.icon, shortcut=self.shortcut, group=self.group)


class History:
    """The pages seen before and after the present one."""

    def __init__(self) -> None:
        self._before: list[str] = []
        self._after: list[str] = []

    def leave(self, page_id: str) -> None:
        """Note that another page is opened from `page_id`."""
        if page_id:
            self._before.append(page_id)
            # a window stays open for weeks
            del self._before[:-MOST_REMEMBERED]
        self._after.clear()

    def back(self, now: str) -> str:
        """Return the page before `now`, "" at the beginning."""
        return _step(self._before, self._after, now)

    def forward(self, now: str) -> str:
        """Return the page that was left by going back, "" at the end."""
        return _step(self._after, self._before, now)


def _step(source: list[str], target: list[str], now: str) -> str:
    if not source:
        return ""
    target.append(now)
    return source.pop()
