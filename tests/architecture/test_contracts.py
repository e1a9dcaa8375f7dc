"""The import contracts hold, and each of them would notice a break."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGES, ROOT

LINT = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(no_logo=True, no_cache=True, limit_to_contracts=tuple(sys.argv[1:])))
"""

#: Name of a contract → the file and the line that would break it.
BREAKS = {
    "floors": ("services/planted.py", "import views"),
    "rooms": ("services/domain/planted.py", "import services.ports"),
    "headless": ("services/planted_too.py", "import PySide6"),
    "pure-domain": ("services/domain/planted_too.py", "import threading"),
    "views-ask": ("views/planted.py", "import services.store"),
    "fleet-time": ("views/planted_too.py", "import services.clock"),
    "pages": ("views/pages/left/__init__.py", "import views.pages.right"),
}


def _lint(directory: Path, *only: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LINT, *only]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def test_every_contract_holds() -> None:
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the house in which every contract is broken once."""
    house = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", house)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, house / package, ignore=shutil.ignore_patterns("__pycache__"))
    (house / "views/pages/right").mkdir()
    (house / "views/pages/right/__init__.py").write_text('"""A page."""\n', encoding="utf-8")
    for file, line in BREAKS.values():
        (house / file).parent.mkdir(exist_ok=True)
        (house / file).write_text(f"{line}\n", encoding="utf-8")
    return house


@pytest.mark.parametrize("contract", BREAKS)
def test_a_break_is_noticed(planted: Path, contract: str) -> None:
    result = _lint(planted, contract)
    assert result.returncode == 1, result.stdout + result.stderr
    planted_module = BREAKS[contract][0].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert planted_module in result.stdout
