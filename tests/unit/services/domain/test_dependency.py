"""Circles among tasks that wait for each other, and the order in which those without one can be made."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.gates.dependency import find_circle, in_order

NAMES = [f"t{number}" for number in range(8)]
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=4), max_size=8)


@pytest.mark.parametrize(
    ("graph", "circle"),
    [
        ({}, ()),
        ({"a": []}, ()),
        ({"a": ["a"]}, ("a", "a")),
        ({"a": ["b"], "b": ["a"]}, ("a", "b", "a")),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, ("b", "c", "b")),
        ({"a": ["b", "c"], "b": ["d"], "c": ["d"]}, ()),
        ({"a": ["known"], "b": ["a", "known"]}, ()),
    ],
)
def test_circles(graph: dict[str, list[str]], circle: tuple[str, ...]) -> None:
    assert find_circle(graph) == circle


def test_a_very_long_chain_is_followed_to_its_end() -> None:
    long = {f"t{number}": [f"t{number + 1}"] for number in range(50_000)}
    assert find_circle(long) == ()
    assert in_order(long)[0] == "t49999"
    long["t50000"] = ["t0"]
    assert len(find_circle(long)) == 50_002


def reaches(graph: dict[str, list[str]], start: str) -> set[str]:
    """Every name on a way from this one."""
    found: set[str] = set()
    rest = list(graph.get(start, ()))
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest += graph.get(name, ())
    return found


@given(graph=GRAPHS)
def test_a_circle_is_found_if_there_is_one(graph: dict[str, list[str]]) -> None:
    circle = find_circle(graph)
    assert bool(circle) == any(name in reaches(graph, name) for name in graph)
    if circle:
        assert circle[0] == circle[-1]
        assert len(set(circle)) == len(circle) - 1
        assert all(after in graph[before] for before, after in itertools.pairwise(circle))


@given(graph=GRAPHS)
def test_everyone_comes_behind_those_that_it_waits_for(graph: dict[str, list[str]]) -> None:
    if find_circle(graph):
        return
    order = in_order(graph)
    assert sorted(order) == sorted(graph)
    places = {name: place for place, name in enumerate(order)}
    assert all(places[other] < places[name] for name in graph for other in graph[name] if other in places)


def test_those_that_wait_for_nobody_keep_their_order() -> None:
    assert in_order({"c": [], "a": ["z"], "b": ["a"]}) == ["c", "a", "b"]
