"""Reads our own source: what the architecture tests look at."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("console", "views", "services")


@cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    """Each module of the product with its syntax tree, paths relative to the root."""
    paths = sorted([ROOT / "main.py", *(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))])
    # looking for garbage among millions of nodes that all stay takes six times as long as to read them
    gc.disable()
    try:
        return tuple((path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)
    finally:
        gc.freeze()  # and to look among them once more takes seconds, in every test of this process that collects
        gc.enable()


def imported(tree: ast.Module) -> Iterator[str]:
    """Every absolute module name a tree imports, inner imports included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def third_party() -> dict[str, Path]:
    """Top-level packages that are neither ours nor Python's, each with one module that imports it."""
    ours = {*PACKAGES, "main", "resources", "tests"}
    found = {name.partition(".")[0]: path for path, tree in modules() for name in imported(tree)}
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names and name not in ours}


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a piece of Python in a fresh interpreter at the root."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=100
    )
