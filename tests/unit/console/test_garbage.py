"""Garbage: collected in the GUI thread, and without looking at the whole window each time."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from console.memory import GuiCollector


class Knot:
    """Something that holds on to itself."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def collector(qapp: QApplication) -> Iterator[GuiCollector]:
    gc.enable()  # a window of an earlier test may have left it off: then nothing would be counted from 0 on
    made = GuiCollector()
    yield made
    made.stop()


def grow_old() -> None:
    """Let a full collection fall due."""
    for _ in range(gc.get_threshold()[2] + 1):
        gc.collect(1)


def test_nothing_is_collected_but_when_asked(collector: GuiCollector) -> None:
    knot = weakref.ref(Knot())
    assert not gc.isenabled()
    assert knot() is not None
    grow_old()
    collector.collect()
    assert knot() is None


def go_on(collector: GuiCollector, turns: int) -> None:
    """Let the timer strike so often, each time with enough new garbage for the youngest generation."""
    for _ in range(turns):
        for _ in range(gc.get_threshold()[0] + 1):
            Knot()
        collector.collect()


def test_what_grew_old_and_is_dropped_goes_by_its_turns_alone(collector: GuiCollector) -> None:
    """Its own turns must let a full collection fall due, again and again."""
    middles, fulls = gc.get_threshold()[1] + 2, gc.get_threshold()[2] + 2
    for _ in range(2):
        go_on(collector, middles * fulls)
        page = Knot()
        knot = weakref.ref(page)
        go_on(collector, middles * 2)
        del page
        go_on(collector, middles)
        assert knot() is not None, "too old for all but a full collection"
        go_on(collector, middles * fulls)
        assert knot() is None


def test_where_much_is_made_what_is_older_is_looked_through_before_its_turn(collector: GuiCollector) -> None:
    """A page that is made ahead is thousands of objects: a dozen of them at once would hold the window up."""
    young, middle, _old = gc.get_threshold()
    page = Knot()
    knot = weakref.ref(page)
    go_on(collector, 1)
    del page
    go_on(collector, 1)
    assert knot() is not None, "too old for the youngest generation alone"
    made = [Knot() for _ in range(young * middle + 1)]
    collector.collect()
    assert knot() is None
    assert made


def test_what_is_alive_when_a_full_collection_is_first_due_is_not_looked_at_again(collector: GuiCollector) -> None:
    window, begun = [Knot() for _ in range(2000)], gc.get_freeze_count()
    grow_old()
    collector.collect()
    assert gc.get_freeze_count() >= begun + len(window)
    frozen = gc.get_freeze_count()
    knot = weakref.ref(Knot())
    grow_old()
    collector.collect()
    assert knot() is None, "what came later is collected as before"
    assert gc.get_freeze_count() <= frozen


def test_the_source_of_what_is_loaded_is_neither_read_nor_kept() -> None:
    """Qt for Python has it read for each module, which is 20 MB of lines once the window stands."""
    words = "import console.lifecycle, linecache; print(*linecache.cache)"
    told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout
    assert "navigation.py" not in told


def test_the_end_gives_it_back_to_python(qapp: QApplication) -> None:
    GuiCollector().stop()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_where_python_collects_no_more_it_looks_through_nothing_at_the_start(qapp: QApplication) -> None:
    knot = weakref.ref(Knot())
    gc.disable()
    made = GuiCollector()
    assert knot() is not None, "the start of the program would wait for it"
    made.stop()
    gc.collect()
    assert knot() is None
