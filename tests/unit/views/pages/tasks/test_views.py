"""What is remembered of views."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from services import i18n
from services.domain.task.search.query import Counts
from views.kit.saved_views import SavedViews
from views.pages.tasks.views import BUILT_IN, numbers
from views.support.memory import ShortMemory


def test_own_views_and_layouts_come_back() -> None:
    memory = ShortMemory()
    first = SavedViews(memory, BUILT_IN, "tasks")
    view = first.add("Slow", "age>1h", newest=False)
    first.keep_layout(view.key, {"hidden": ["worker"]})
    second = SavedViews(memory, BUILT_IN, "tasks")
    assert second.own() == (view,)
    assert second.layout(view.key) == {"hidden": ["worker"]}
    second.remove(view.key)
    assert SavedViews(memory, BUILT_IN, "tasks").all() == BUILT_IN
    assert SavedViews(memory, BUILT_IN, "tasks").layout(view.key) == {}


def test_two_windows_keep_the_views_of_each_other() -> None:
    memory = ShortMemory()
    first, second = SavedViews(memory, BUILT_IN, "tasks"), SavedViews(memory, BUILT_IN, "tasks")
    slow, old = first.add("Slow", "age>1h"), second.add("Old", "age>1d")
    assert first.own() == second.own() == (slow, old)
    first.remove(slow.key)
    assert second.own() == (old,)


def test_the_same_name_replaces() -> None:
    views = SavedViews(ShortMemory(), BUILT_IN, "tasks")
    views.add("Slow", "age>1h")
    again = views.add("Slow", "age>2h")
    assert [view.filter for view in views.own()] == ["age>2h"]
    views.rename(again.key, "Slower")
    assert [view.shown for view in views.own()] == ["Slower"]


def test_a_view_comes_back_beside_those_that_were_saved_meanwhile() -> None:
    views = SavedViews(ShortMemory(), BUILT_IN, "tasks")
    slow = views.add("Slow", "age>1h")
    views.remove(slow.key)
    old = views.add("Old", "age>1d")
    views.keep_layout(old.key, {"hidden": ["worker"]})
    views.put_back(slow, 0, {"hidden": ["lane"]})
    assert [(one.title, one.filter) for one in views.own()] == [("Slow", "age>1h"), ("Old", "age>1d")]
    assert [views.layout(one.key) for one in views.own()] == [{"hidden": ["lane"]}, {"hidden": ["worker"]}]


def test_a_view_comes_back_under_a_name_of_its_own() -> None:
    views = SavedViews(ShortMemory(), BUILT_IN, "tasks")
    slow = views.add("Slow", "age>1h")
    for filter_ in ("age>2h", "age>3h"):
        views.remove(slow.key)
        views.add("Slow", filter_)
        views.put_back(slow, 0, {})
    assert [(one.title, one.filter) for one in views.own()] == [("Slow 2", "age>1h"), ("Slow", "age>3h")]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("name", ["Dead", "死信"])
def test_a_name_of_the_design_is_taken_in_every_language(name: str, language: str) -> None:
    """Saved in one language it stood twice in the other."""
    views = SavedViews(ShortMemory(), BUILT_IN, "tasks")
    slow = views.add("Slow", "age>1h")
    with i18n.speaking(language):
        assert views.why_not(name)
        assert views.taken(slow.key, name)
        views.put_back(replace(slow, title=name), 0, {})
    assert [one.title for one in views.own()] == [f"{name} 2"]


@pytest.mark.parametrize("broken", ["text", [1, {"key": "all"}, {"key": "own-1", "title": 3, "filter": ""}], None, {}])
def test_a_broken_memory_is_no_view(broken: object) -> None:
    memory = ShortMemory()
    memory.put("tasks.views", broken)
    memory.put("tasks.layouts", broken)
    assert SavedViews(memory, BUILT_IN, "tasks").all() == BUILT_IN
    assert SavedViews(memory, BUILT_IN, "tasks").layout("all") == {}


def test_numbers_of_the_design_come_from_one_moment() -> None:
    counts = Counts(
        status={"queued": 2, "blocked": 1, "running": 3, "scheduled": 7, "dead": 9}, triage={"open": 4}, total=20
    )
    assert numbers(counts) == {
        "all": 20,
        "flight": 6,
        "waiting": 3,
        "running": 3,
        "retrying": 0,
        "held": 0,
        "dead": 4,
    }
    assert {view.key for view in BUILT_IN} == set(numbers(counts))
