"""The views import each other one way, also where only the types are meant, and nothing asks what of itself exists."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter

from tests.architecture.source import modules


@cache
def _modules() -> dict[str, ast.Module]:
    return {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__"): tree
        for path, tree in modules()
        if path.parts[0] == "views"
    }


def _named(tree: ast.Module, known: set[str]) -> set[str]:
    """The modules that a module imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & known) or {node.module}
    return found & known


def test_no_two_modules_of_the_views_need_each_other() -> None:
    known = _modules()
    graph = {name: _named(tree, set(known)) - {name} for name, tree in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


def test_nothing_asks_whether_it_is_half_built() -> None:
    asking = [
        name
        for name, tree in _modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "hasattr"
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == "self"
    ]
    assert asking == []
