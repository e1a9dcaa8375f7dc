"""A room for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.services.engine.room import Room, opened


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """The embedded pair and a clock that is turned by hand."""
    with opened(tmp_path) as found:
        yield found
