"""What lies at the top of the checkout is what the design names, and nothing else."""

from __future__ import annotations

import ast
import shutil
import subprocess

import pytest

from tests.architecture.source import ROOT, modules

FOLDERS = {"console", "views", "services", "resources", "tests"}
FILES = {
    "README.md",
    "README.zh-CN.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "pyproject.toml",
    "main.py",
    "fleetdeck.py",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-bench.txt",
}


def _kept() -> list[str]:
    """Paths that belong to the project: tracked, or new and not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for path in listed.stdout.split("\0") if path and (ROOT / path).exists()]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_top_holds_what_the_design_names() -> None:
    tops = {path.partition("/")[0] for path in _kept()}
    strange = {top for top in tops if not top.startswith(".")} - FOLDERS - FILES
    assert not strange


@pytest.mark.parametrize("folder", ["console", "views", "services"])
def test_every_package_says_what_it_is_for(folder: str) -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_dir() and any(path.glob("*.py")) and not (path / "__init__.py").exists()
    ]
    assert not silent, "packages without __init__.py"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_no_file_holds_two_versions_of_itself() -> None:
    texts = [ROOT / path for path in _kept() if path.endswith((".md", ".py", ".toml", ".lua", ".po", ".json", ".txt"))]
    mark = b"\n<<<<<" + b"<< "
    assert [str(path) for path in texts if mark in path.read_bytes()] == []


def test_no_text_to_be_translated_stands_within_another() -> None:
    """Before Python 3.12 nobody who collects texts sees one in the braces of an f-string: it would stay English."""
    words = {"_": 0, "N_": 0, "ngettext": 0, "pgettext": 1}  # the place of the text
    hidden = [
        f"{path}:{call.lineno} {text.value}"
        for path, tree in modules()
        for braces in ast.walk(tree)
        if isinstance(braces, ast.FormattedValue)
        for call in ast.walk(braces)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in words
        and isinstance(text := call.args[words[call.func.id]], ast.Constant)
    ]
    assert not hidden, "put them together outside, or give a text places: _('{name}: {why}').format(...)"
