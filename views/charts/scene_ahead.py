"""The library that draws curves, loaded beside the window: it takes tenths of a second, and no painting may wait."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from views.support.operation import Operation

if TYPE_CHECKING:
    from views.charts.curves import Scene

_MODULE = "views.charts.curves"


class SceneAhead(QObject):
    """One for all charts: the first that is painted has the library loaded.

    Signals:
        ready: scenes can be made now.
    """

    ready = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._loading = Operation(self)

    def make(self) -> Scene | None:
        """A new scene; None while the library is on its way."""
        # the class is there only when everything above it in its module is, also while another thread loads that
        scene: type[Scene] | None = getattr(sys.modules.get(_MODULE), "Scene", None)
        if scene is not None:
            return scene()
        if not self._loading.busy:
            self._loading.start(_load, lambda _: self.ready.emit())
        return None


def _load() -> None:
    importlib.import_module(_MODULE)


_made: SceneAhead | None = None


def scene_ahead() -> SceneAhead:
    """The one of this process; call it in the GUI thread."""
    global _made
    if _made is None or not isValid(_made):
        _made = SceneAhead()
    return _made
