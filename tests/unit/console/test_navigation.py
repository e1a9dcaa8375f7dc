"""The sitemap."""

from __future__ import annotations

from console.navigation import MOST_REMEMBERED, History, PageSpec
from views.page import Page


def test_the_rail_gets_what_it_needs() -> None:
    spec = PageSpec(id="tasks", title="Tasks", icon="ph.list-bullets", factory=lambda: Page("Tasks"), group=1)
    entry = spec.entry()
    assert (entry.id, entry.title, entry.icon, entry.group) == ("tasks", "Tasks", "ph.list-bullets", 1)


def test_the_way_back_and_forth() -> None:
    history = History()
    assert history.back("a") == ""
    history.leave("")
    history.leave("a")
    history.leave("b")
    assert history.back("c") == "b"
    assert history.back("b") == "a"
    assert history.back("a") == ""
    assert history.forward("a") == "b"
    history.leave("b")
    assert history.forward("d") == ""


def test_only_the_last_pages_are_remembered() -> None:
    history = History()
    for number in range(1000):
        history.leave(f"p{number}")
    way = []
    now = "end"
    while page := history.back(now):
        way.append(page)
        now = page
    assert way == [f"p{number}" for number in range(999, 999 - MOST_REMEMBERED, -1)]
