"""The library of curves is loaded when the first chart is painted, in parts: the window goes on between them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.util import find_spec, module_from_spec
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
#: how long the first chart waits for its curves: the figures that were asked for with it take the processor first
_AFTER_MS = 300


class SceneLoader(QObject):
    """One for all charts: the first that is painted has the library loaded.

    Signals:
        ready: scenes can be made now.
    """

    ready = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._loading = Operation(self, lasting=True)  # the pool drops what is asked for when a window closes
        self._steps: Iterator[None] = iter(())
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._step)
        self._soon = QTimer(self, interval=_AFTER_MS, singleShot=True)
        self._soon.timeout.connect(self.load)

    @property
    def loaded(self) -> bool:
        """Whether the library is there."""
        return hasattr(sys.modules.get(_MODULE), "Scene")

    @property
    def loading(self) -> bool:
        """Whether it is on its way."""
        return self._loading.busy or self._timer.isActive()

    def make(self) -> Scene | None:
        """A new scene; None while the library is on its way, or will be in a moment."""
        scene: type[Scene] | None = getattr(sys.modules.get(_MODULE), "Scene", None)
        if scene is not None:
            return scene()
        if not self.loading and not self._soon.isActive():
            self._soon.start()
        return None

    def load(self) -> None:
        """Have the library loaded, unless it is there or on its way."""
        if not self.loaded and not self.loading:
            self._loading.start(_load_plain, lambda _: self._begin())

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
        import_module(name)


def _load() -> Iterator[None]:
    """Load the rest, in the GUI thread (see ``console.pages.modules``) and a little in each turn of its loop."""
    for module in (QtCore, QtGui, QtWidgets):
        # the library looks up every name at once, and each is made when it is first asked for
        for number, name in enumerate(dir(module)):
            getattr(module, name, None)
            if number % _NAMES == 0:
                yield
    yield from in_parts("pyqtgraph")
    import_module(_MODULE)


def in_parts(name: str) -> Iterator[None]:
    """Load a package as an import does, but that whoever asks for the next step decides when it goes on. Until it has
    ended nobody else may import it: half of it is there.

    Raises:
        ImportError: it is not there, or a part of it is not.
    """
    spec = find_spec(name) if name not in sys.modules else None
    source = spec.loader.get_source(name) if spec is not None and isinstance(spec.loader, InspectLoader) else None
    if spec is None or source is None:  # it is there, or without its source: in one piece
        import_module(name)
        return
    module = sys.modules[name] = module_from_spec(spec)
    origin = spec.origin or name
    try:
        for statement in ast.parse(source, origin).body:
            exec(compile(ast.Module([statement], []), origin, "exec"), module.__dict__)
            yield
    except BaseException:
        sys.modules.pop(name, None)
        raise


_made: SceneLoader | None = None


def scene_loader() -> SceneLoader:
    """The one of this process; call it in the GUI thread."""
    global _made
    if _made is None or not isValid(_made):
        _made = SceneLoader()
    return _made
