"""What the code imports is declared, what is declared is pinned, and the pins name no server."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import packages_distributions, requires

import pytest

from tests.architecture.source import ROOT, third_party
from tests.windows import wheels

PINNED = ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt", "tests/windows/requirements.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


#: belongs to the interface of another package, which brings the version that fits
PART_OF = {"pydantic": "fastapi"}


def _plain(requirement: str) -> str:
    """``redis[hiredis]>=8.1`` → ``redis``."""
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _declared(*extras: str) -> set[str]:
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    return {_plain(requirement) for requirements in lists for requirement in requirements} - {"fleetdeck"}


def _pinned(*files: str) -> set[str]:
    text = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    return {_plain(name) for name in re.findall(r"^[a-z0-9][\w.\-\[\],]*(?===)", text, flags=re.MULTILINE)}


@pytest.mark.parametrize("file", PINNED)
def test_pins_carry_hashes_and_no_address(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    entries = re.split(r"\n(?=\S)", text.strip())
    unhashed = [entry for entry in entries if "==" in entry and "--hash=sha256:" not in entry]
    assert not unhashed


def test_what_is_declared_is_pinned() -> None:
    assert _declared() <= _pinned("requirements.txt")
    assert _declared("browser", "pulsar", "dev") <= _pinned("requirements.txt", "requirements-dev.txt")
    assert _declared("bench") <= _pinned("requirements.txt", "requirements-bench.txt")


def test_windows_gets_what_is_pinned_for_it_alone_and_nothing_of_linux() -> None:
    text = wheels.pinned(ROOT)
    assert ";" not in text
    assert len(re.findall(r"==", text)) == len(re.findall(r"^\S", text, flags=re.MULTILINE))
    names = {_plain(line) for line in text.splitlines() if not line.startswith(" ")}
    assert {"pyside6-essentials", "pywin32-ctypes", "tzdata", "pytest"} <= names
    assert not names & {"secretstorage", "jeepney", "cryptography", "mypy"}


def test_what_is_imported_is_declared() -> None:
    owners = packages_distributions()
    declared = _declared("browser", "s3", "pulsar")
    for part, whole in PART_OF.items():
        assert part in {_plain(requirement) for requirement in requires(whole) or ()}
        declared |= {part} if whole in declared else set()
    undeclared = {
        name: str(path)
        for name, path in third_party().items()
        if not {_plain(owner) for owner in owners.get(name, [name])} & declared
    }
    assert not undeclared
