"""Who wants to know how far an act on many is, portion by portion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WATCHER: ContextVar[Callable[[int], None] | None] = ContextVar("told how many are done", default=None)


@contextmanager
def watched(tell: Callable[[int], None]) -> Iterator[None]:
    """Let this be told how many are done, of the acts within the block and this thread."""
    token = _WATCHER.set(tell)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def done(number: int) -> None:
    """So many are done; of interest to whoever watches."""
    tell = _WATCHER.get()
    if tell is not None:
        tell(number)
