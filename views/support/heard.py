"""Which workers are not heard of at the moment: what they run is unconfirmed, wherever a task is shown.

What is known comes from the newest snapshot of each fleet that has a window (``know``) and is shared by all pages; the
judgement is the engine's.
"""

from __future__ import annotations

from services.domain.insight import worker as insight
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.i18n import _
from services.monitor.live import Snapshot
from views.support import shown

UNCONFIRMED = "unconfirmed"  #: name of the status in the design


class _Late:
    """The names; replaced as a whole, so any thread may bring new ones."""

    def __init__(self) -> None:
        #: those that are late and those that are heard, by fleet: one window says nothing of the workers of another
        self.of: dict[object, tuple[frozenset[str], frozenset[str]]] = {}
        self.names: frozenset[str] = frozenset()

    def keep(self, of: dict[object, tuple[frozenset[str], frozenset[str]]]) -> None:
        """A task does not say of which fleet it is: a name that is heard in one of them is not taken for late."""
        late = frozenset[str]().union(*(late for late, _heard in of.values()))
        self.of, self.names = of, late.difference(*(heard for _late, heard in of.values()))


_late = _Late()


def know(fleet: object, snapshot: Snapshot) -> None:
    """Remember who is late and who is heard of in a fleet, which is named by whatever stands for it."""
    now = snapshot.fleet()
    living = frozenset(one.name for one in now.workers if one.living)
    _late.keep({**_late.of, fleet: (now.late, living)})


def forget(fleet: object) -> None:
    """Nobody looks at this fleet any more."""
    _late.keep({known: names for known, names in _late.of.items() if known != fleet})


def unconfirmed(task: Task, now_ms: int) -> bool:
    """Whether nobody knows if it still runs."""
    return insight.unconfirmed(task, now_ms, _late.names)


def glyph(task: Task, now_ms: int) -> str:
    """The status name of a task as it is shown."""
    return UNCONFIRMED if unconfirmed(task, now_ms) else shown.GLYPHS.get(Status(task.status), "waiting")


def word(task: Task, now_ms: int) -> str:
    """The word for how a task stands."""
    return _("Unconfirmed") if unconfirmed(task, now_ms) else shown.status_word(task.status)
