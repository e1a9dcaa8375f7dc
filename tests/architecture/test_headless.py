"""The engine, its workers and the command line run with no Qt installed and without the optional extras."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.architecture.source import ROOT, python

QT = ("PySide6", "shiboken6", "qasync", "pyqtgraph", "qtawesome", "qtpy")
EXTRAS = ("playwright", "fastapi", "uvicorn", "starlette")

BLOCK = """
import importlib, importlib.abc, json, pkgutil, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in json.loads(sys.argv[1]):
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)

sys.meta_path.insert(0, Refuse())
sys.argv[2:] = []
"""

IMPORT_ALL = (
    BLOCK
    + """
import services
for module in pkgutil.walk_packages(services.__path__, "services."):
    importlib.import_module(module.name)
"""
)

IMPORT_MAIN = (
    BLOCK
    + """
import main
print(sorted({name.partition(".")[0] for name in sys.modules} & set(%r)))
"""
)


def test_services_import_without_qt() -> None:
    result = python(IMPORT_ALL, json.dumps(QT))
    assert result.returncode == 0, result.stderr


def test_the_command_line_imports_without_qt_and_extras() -> None:
    result = python(IMPORT_MAIN % (QT + EXTRAS,), json.dumps(QT + EXTRAS))
    assert result.returncode == 0, result.stderr


def test_a_headless_command_loads_no_qt() -> None:
    """With Qt installed nothing on the way to a command may load it: it costs a second and half the memory."""
    result = python(IMPORT_MAIN % (QT + EXTRAS,), "[]")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("extra", ["browser", "s3", "bench", "dev"])
def test_the_extras_are_declared(extra: str) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert extra in declared["project"]["optional-dependencies"]
