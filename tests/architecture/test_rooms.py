"""Modules are ideas: no folder is too full to be read at a glance, few modules are there for one neighbour alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES, ROOT, modules

#: modules of a folder, its ``__init__`` too
MOST = 25
#: modules with one importer, which lies beside them, that are neither of a list nor one of the five files of a page
HELD = 90
#: folders whose modules are entries of a list: each is a feature of its own, and the list alone names it
LISTS = frozenset(
    {
        "services/api/routes",
        "services/domain/change",
        "services/domain/step",
        "services/monitor/attention",
        "services/ports",
        "services/watch/alerts/rules",
    }
)
#: what every page is made of
PAGE = frozenset({"page.py", "panel.py", "table.py", "verbs.py", "words.py"})


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _taken(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _early(tree: ast.Module) -> set[str]:
    """What a module takes while it is loaded; the rest waits until it is needed, and so has to be apart."""
    return {name for node in tree.body for name in _taken(ast.Module([node], [])) if not isinstance(node, _DEFERRED)}


_DEFERRED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If)


def alone(trees: dict[Path, ast.Module]) -> list[str]:
    """Modules that one other module takes, which lies in the same folder and takes them when it is loaded."""
    known = {_name(path): path for path in trees}
    takers: dict[Path, set[Path]] = defaultdict(set)
    at_once: dict[Path, set[Path]] = defaultdict(set)
    for path, tree in trees.items():
        early = _early(tree)
        for name in set(_taken(tree)) & known.keys():
            if known[name] != path:
                takers[known[name]].add(path)
                if name in early:
                    at_once[known[name]].add(path)
    return sorted(
        path.as_posix()
        for path, those in takers.items()
        if len(those) == 1 and at_once[path] == those and path.name != "__init__.py"
        if next(iter(those)).parent == path.parent
    )


def _by_design(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder in LISTS or (folder.startswith("views/pages/") and name in PAGE)


def test_few_modules_are_there_for_one_neighbour() -> None:
    found = [path for path in alone(dict(modules())) if not _by_design(path)]
    assert len(found) < HELD, "one idea with what takes it: " + ", ".join(found)


@pytest.mark.parametrize("text", ["from a.two import X", "from a import two", "import a.two"])
def test_a_neighbour_is_seen(text: str) -> None:
    trees = {Path("a/one.py"): ast.parse(text), Path("a/two.py"): ast.parse("X = 1")}
    assert alone(trees) == ["a/two.py"]
    assert alone({**trees, Path("a/three.py"): ast.parse(text)}) == [], "two need it"
    assert alone({**trees, Path("b/one.py"): ast.parse(text)}) == [], "somebody elsewhere needs it"
    assert alone({**trees, Path("a/one.py"): ast.parse(f"def call():\n    {text}")}) == [], "loaded when it is needed"


def test_no_folder_holds_more_than_can_be_read_at_a_glance() -> None:
    counted: dict[str, int] = defaultdict(int)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            counted[path.parent.relative_to(ROOT).as_posix()] += 1
    assert {folder: number for folder, number in counted.items() if number > MOST} == {}
