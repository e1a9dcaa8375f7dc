"""Where the lines of the READMEs are typed; real screens and servers are those of the other tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import missing_service
from tests.e2e.readme.prepared import Prepared, prepare
from tests.e2e.readme.terminal import Terminal
from tests.support.screen import Screen
from tests.support.services import ServiceUnavailable


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """A home in which everything exists that the READMEs name."""
    return prepare(tmp_path / "home")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal with the home folder ``home`` beside it."""
    return Terminal(tmp_path / "copy", tmp_path / "home")


@pytest.fixture
def desk_screen() -> Iterator[Screen]:
    """The screen of a small laptop."""
    try:
        screen = Screen(1366, 768).start()
    except ServiceUnavailable as error:
        missing_service(error)
    yield screen
    screen.close()
