"""Real screens; where Xvfb or the window manager is missing a test is skipped at a desk and fails in CI."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import missing_service
from tests.support.screen import Screen
from tests.support.services import ServiceUnavailable


@pytest.fixture
def screen() -> Iterator[Callable[..., Screen]]:
    """Makes screens of any size: ``screen(1366, 768, framed=True)``."""
    made: list[Screen] = []

    def make(width: int, height: int, *, framed: bool = False) -> Screen:
        try:
            made.append(Screen(width, height, framed=framed).start())
        except ServiceUnavailable as error:
            missing_service(error)
        return made[-1]

    yield make
    for one in made:
        one.close()
