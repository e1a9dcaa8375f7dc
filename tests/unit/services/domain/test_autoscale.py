"""Slots that follow the work: up when tasks wait and the machine has room, down when not, and never to and fro."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from services.domain.fleet import autoscale
from services.domain.fleet.autoscale import REST_S, Load, Range, Scaler


class World:
    """A worker whose slots obey at once; five seconds between two looks."""

    def __init__(self, bounds: Range, slots: int) -> None:
        self.scaler, self.slots, self.at = Scaler(bounds, processors=2), slots, 0.0

    def look(self, times: int = 1, **fields: Any) -> int:
        """Look so many times at the same load; the slots afterwards."""
        base: dict[str, Any] = {"busy": self.slots, "waiting": 0, "cpu": 20.0, "memory": 30.0}
        for _ in range(times):
            load = Load(at=self.at, slots=self.slots, **({**base, "busy": self.slots} | fields))
            self.slots = self.scaler.decide(load)
            self.at += 5.0
        return self.slots


def test_it_grows_while_tasks_wait_and_stops_at_its_bound() -> None:
    world = World(Range(2, 10), 2)
    assert world.look(1, waiting=50) == 2, "one look is no reason"
    assert world.look(1, waiting=50) == 3
    assert world.look(2, waiting=50) == 3, "what a change brings is seen first"
    assert world.look(60, waiting=50) == 10


@pytest.mark.parametrize("short", [{"cpu": 80.0}, {"memory": 85.0}, {"waiting": 0}, {"busy": 1}])
def test_it_does_not_grow_without_need_or_room(short: dict[str, Any]) -> None:
    assert World(Range(1, 10), 4).look(5, **({"waiting": 50} | short)) == 4


@pytest.mark.parametrize("full", [{"cpu": 97.0}, {"memory": 95.0}])
def test_a_full_machine_takes_slots_away_whatever_waits(full: dict[str, Any]) -> None:
    world = World(Range(2, 16), 16)
    assert world.look(2, waiting=50, **full) == 12
    assert world.look(60, waiting=50, **full) == 2


def test_it_shrinks_after_a_while_of_rest_and_keeps_what_is_busy() -> None:
    world = World(Range(1, 16), 12)
    assert world.look(5, busy=5) == 12
    assert world.look(1, busy=5) == 9
    assert world.look(40, busy=4) == 7, "half of them busy is no rest"
    assert World(Range(3, 16), 8).look(100, busy=0) == 3


def test_a_load_that_swings_moves_nothing() -> None:
    world = World(Range(1, 16), 4)
    for _ in range(30):
        world.look(1, waiting=5)
        world.look(1, waiting=0, busy=1)
    assert world.slots == 4


def test_changes_are_apart_and_bounds_hold_at_once() -> None:
    world, changed = World(Range(1, 64), 4), []
    for _ in range(40):
        before = world.slots
        world.look(1, waiting=99)
        if world.slots != before:
            changed.append(world.at)
    assert min(after - before for before, after in itertools.pairwise(changed)) >= REST_S
    assert World(Range(5, 9), 2).look(1) == 5
    assert World(Range(5, 9), 20).look(1) == 9
    assert World(Range(), 20).look(1) == 8, "four for each processor"


@pytest.mark.parametrize(("text", "found"), [("auto", Range()), ("auto:2-16", Range(2, 16)), ("8", None), ("", None)])
def test_words(text: str, found: Range | None) -> None:
    assert autoscale.parse(text) == found
    if found is not None:
        assert str(found) == text


@pytest.mark.parametrize("text", ["auto:", "auto:3", "auto:0-4", "auto:5-2", "auto:1-9999", "auto:a-b", "auto:1-2-3"])
def test_bad_words(text: str) -> None:
    with pytest.raises(ValueError, match="LEAST-MOST"):
        autoscale.parse(text)
