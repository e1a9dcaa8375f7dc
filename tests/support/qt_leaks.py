"""Finds what a GUI test left behind: top-level widgets, running timers, threads."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from views.charts.loading import scene_loader
from views.support import operation

#: A thread that was told to end may need a moment to do so.
THREAD_GRACE_SECONDS = 2.0
#: what is there once for all windows of a process, whichever test began it
OF_THE_PROCESS = frozenset({"SceneLoader", "Ticks", "Turns"})


class TimerWatch:
    """Remembers every QTimer started through Python while it is installed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._started: list[weakref.ref[QTimer]] = []
        original = QTimer.start

        def start(timer: QTimer, *arguments: Any) -> None:
            self._started.append(weakref.ref(timer))
            original(timer, *arguments)

        monkeypatch.setattr(QTimer, "start", start)

    def running(self) -> list[QTimer]:
        """Timers that still tick."""
        timers = {id(timer): timer for ref in self._started if (timer := ref()) is not None}
        running = [timer for timer in timers.values() if shiboken6.isValid(timer) and timer.isActive()]
        return [timer for timer in running if type(timer.parent()).__name__ not in OF_THE_PROCESS]


def settle() -> None:
    """Let Qt carry out pending deletions and queued calls, and Python its cycles."""
    for _ in range(2):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QCoreApplication.processEvents()
        gc.collect(1)


def leaked_widgets(before: set[int]) -> list[QWidget]:
    """Top-level widgets that were not there before and are nobody's child."""
    return [widget for widget in QApplication.topLevelWidgets() if id(widget) not in before and widget.parent() is None]


def leaked_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads that were not there before and do not end by themselves within the grace."""
    deadline = time.monotonic() + THREAD_GRACE_SECONDS
    while scene_loader().loading:  # once in a process, begun by whichever test was the first to paint a chart
        QCoreApplication.processEvents()
        if not scene_loader().loading:
            operation.shut_down()
    while (left := [t for t in threading.enumerate() if t not in before]) and time.monotonic() < deadline:
        time.sleep(0.01)
        QCoreApplication.processEvents()
    return left


def describe(thing: object) -> str:
    """A line that lets a person find the leak."""
    if isinstance(thing, QTimer):
        parent = thing.parent()
        owner = parent.objectName() or type(parent).__name__ if parent is not None else "nobody"
        return f"QTimer every {thing.interval()} ms of {owner}"
    if isinstance(thing, QWidget):
        return f"{type(thing).__name__} {thing.objectName()!r} {thing.windowTitle()!r}"
    return repr(thing)


def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compare the world after a test with the one before; fail with the list of what is new."""
    widgets_before = QApplication.topLevelWidgets()  # kept alive, so that an id is not used twice
    threads_before = set(threading.enumerate())
    timers = TimerWatch(monkeypatch)
    yield
    settle()
    left: list[object] = [
        *leaked_widgets({id(widget) for widget in widgets_before}),
        *timers.running(),
        *leaked_threads(threads_before),
    ]
    if not left:
        return
    for thing in left:
        _remove(thing)
    found = [describe(thing) for thing in left]
    settle()
    pytest.fail("left behind by this test:\n  " + "\n  ".join(found), pytrace=False)


def _remove(thing: object) -> None:
    # One leak must not fail the tests after it.
    if isinstance(thing, QWidget):
        thing.close()
        thing.deleteLater()
    elif isinstance(thing, QTimer):
        thing.stop()
