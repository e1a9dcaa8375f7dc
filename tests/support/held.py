"""A call that does not answer until a test lets it, and what says that nothing is on its way any more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from views.support.operation import Operation

WAIT_S, WAIT_MS = 60, 20_000


@dataclass(slots=True)
class Held:
    """A call that was begun, and goes on when it is let go."""

    begun: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None  #: what it fails with then, in the place of its answer

    def wait(self, qtbot: QtBot) -> None:
        """Until it was begun."""
        qtbot.waitUntil(self.begun.is_set, timeout=WAIT_MS)

    def let_go(self, error: BaseException | None = None) -> None:
        """Let it answer what was true when it was asked, or fail."""
        self.error = error
        self.released.set()


@contextmanager
def held(owner: type | ModuleType, name: str, *, all_of_them: bool = False) -> Iterator[Held]:
    """Hold the next call of this function, or of this method of any object; the later ones answer as always, unless it
    is ``all_of_them`` that are held.
    """
    call, made, lock = getattr(owner, name), Held(), threading.Lock()

    def slow(*args: Any, **more: Any) -> Any:
        with lock:
            first = not made.begun.is_set()
            made.begun.set()
        try:
            return call(*args, **more)
        finally:
            if first or all_of_them:
                assert made.released.wait(WAIT_S)
                if made.error is not None:
                    raise made.error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, slow)
        try:
            yield made
        finally:
            made.released.set()


def settled(qtbot: QtBot, owner: QObject) -> None:
    """Wait until nothing is on its way that was asked for by this object, or by what belongs to it."""
    qtbot.waitUntil(lambda: not any(one.busy for one in owner.findChildren(Operation)), timeout=WAIT_MS)
