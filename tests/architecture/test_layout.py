"""What lies at the top of the checkout is what the design names, and nothing else."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.architecture.source import ROOT

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
