"""How large modules and functions are; ``python -m tests.architecture.sizes`` names those to answer for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tests.architecture.source import ROOT, modules

#: Above these a reviewer asks why; above the walls the gate says no.
MODULE_SMELL, FUNCTION_SMELL = 300, 40
MODULE_WALL, FUNCTION_WALL = 500, 60


class Size(NamedTuple):
    """One thing and its lines."""

    lines: int
    what: str


def module_sizes() -> Iterator[Size]:
    """Lines of each module."""
    for path, _ in modules():
        yield Size(len((ROOT / path).read_text(encoding="utf-8").splitlines()), str(path))


def function_sizes() -> Iterator[Size]:
    """Lines of each function and method, decorators and docstring apart."""
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                lines = (node.body[-1].end_lineno or node.lineno) - body[0].lineno + 2
                yield Size(lines, f"{path}:{node.lineno} {node.name}")


def main() -> None:
    """Print what smells, largest first."""
    for title, sizes, limit in (
        ("modules", module_sizes(), MODULE_SMELL),
        ("functions", function_sizes(), FUNCTION_SMELL),
    ):
        large = sorted((size for size in sizes if size.lines > limit), reverse=True)
        print(f"{title} of more than {limit} lines: {len(large)}")
        for size in large:
            print(f"  {size.lines:5} {size.what}")


if __name__ == "__main__":
    main()
