"""The library that draws curves, loaded ahead: it takes tenths of a second, and no painting may wait for it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from views.support.operation import Operation

if TYPE_CHECKING:
    from views.charts.curves import Scene

_MODULE = "views.charts.curves"
#: what the library brings along that has nothing to do with Qt, so that a thread may load it
_PLAIN = ("numpy", "colorama", "cProfile", "multiprocessing.connection", "pydoc", "xml.etree.ElementTree")
#: names of Qt that are looked up in one turn of the loop: a few milliseconds
_NAMES = 40


class SceneAhead(QObject):
    """One for all charts: the first that is painted has the library loaded.

    Signals:
        ready: scenes can be made now.
    """

    ready = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._loading = Operation(self)
        self._steps: Iterator[None] = iter(())
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._step)

    def make(self) -> Scene | None:
        """A new scene; None while the library is on its way."""
        scene: type[Scene] | None = getattr(sys.modules.get(_MODULE), "Scene", None)
        if scene is not None:
            return scene()
        if not self._loading.busy and not self._timer.isActive():
            self._loading.start(_load_plain, lambda _: self._begin())
        return None

    def _begin(self) -> None:
        self._steps = _load()
        self._timer.start()

    def _step(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self._timer.stop()
            self.ready.emit()
        except BaseException:
            self._timer.stop()
            raise


def _load_plain() -> None:
    for name in _PLAIN:
        importlib.import_module(name)


def _load() -> Iterator[None]:
    """Load the rest, in the GUI thread (see ``console.pages.modules``) and a little in each turn of its loop."""
    for module in (QtCore, QtGui, QtWidgets):
        # the library looks up every name at once, and each is made when it is first asked for
        for number, name in enumerate(dir(module)):
            getattr(module, name, None)
            if number % _NAMES == 0:
                yield
    importlib.import_module("pyqtgraph")
    yield
    importlib.import_module(_MODULE)


_made: SceneAhead | None = None


def scene_ahead() -> SceneAhead:
    """The one of this process; call it in the GUI thread."""
    global _made
    if _made is None or not isValid(_made):
        _made = SceneAhead()
    return _made
