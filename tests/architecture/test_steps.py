"""Nobody but ``services/engine/steps.py`` changes records or publishes their messages: what follows is done once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import modules

STEPS = Path("services/engine/steps.py")
#: methods by the last part of the name of what they are called on
GUARDED = {
    "apply": "store",
    "apply_soon": "store",
    "mark_executed": "store",
    "send": "dispatcher",
    "tell_worker": "store",
}
#: who orders a worker about; what it is told there is no step of a task
ORDERS = {Path("services/commands/fleet.py")}
#: mends what other programs look at, of tasks that ended long ago
MARKS = {Path("services/engine/repair.py")}


def bypasses(tree: ast.AST) -> Iterator[str]:
    """Where a guarded method is reached, called or handed on, in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in GUARDED:
            base = node.value
            name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            if name.lower().strip("_").endswith(GUARDED[node.attr]):
                yield f"{name}.{node.attr}"


@pytest.mark.parametrize(
    "text",
    [
        "self._store.apply(ops)",
        "store.apply(ops)",
        "engine.store.apply(ops)",
        "apply = store.apply",
        "map(self.engine.dispatcher.send, tasks)",
        "self._dispatcher.send(tasks, now)",
        "steps.dispatcher.send(tasks, now)",
        "lambda: room.fleet_store.mark_executed(ids)",
    ],
)
def test_a_way_round_is_seen(text: str) -> None:
    assert list(bypasses(ast.parse(text)))


@pytest.mark.parametrize("text", ["self._steps.apply(ops)", "self.apply(ops)", "republisher.apply(prepared)"])
def test_the_ways_that_are_meant_are_not(text: str) -> None:
    assert not list(bypasses(ast.parse(text)))


def test_only_the_steps_change_records_and_publish() -> None:
    found = {(path, way) for path, tree in modules() if path != STEPS for way in bypasses(tree)}
    strange = {
        (str(path), way)
        for path, way in found
        if not (path in ORDERS and way.endswith("tell_worker")) and not (path in MARKS and way.endswith("executed"))
    }
    assert not strange, "go through services.engine.steps: apply, publish, mark and tell are one"
