"""The sitemap as data: which pages there are, in the order of the rail.

``PAGES`` is filled where the pages are put together; the shell knows pages only through it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from views.page import Page
from views.shell.rail import NavEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSpec:
    """One page: how it is called, found and made. `title` is source text."""

    id: str
    title: str
    icon: str  #: a ``ph`` name that also exists with ``-fill``
    factory: Callable[[], Page]
    shortcut: str = ""  #: default: Alt and its place in the rail
    group: int = 0  #: a divider separates groups in the rail

    def entry(self) -> NavEntry:
        """Return what the rail needs of it."""
        return NavEntry(id=self.id, title=self.title, icon=self.icon, shortcut=self.shortcut, group=self.group)
