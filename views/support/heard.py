"""Which workers are not heard of at the moment: what they run is unconfirmed, wherever a task is shown.

What is known comes from the newest snapshot (``know``) and is shared by all pages; the judgement is the engine's.
"""

from __future__ import annotations

from services.domain.insight import worker as insight
from services.domain.task.record import Task
from services.i18n import _
from services.monitor.live import Snapshot
from views.support import shown

UNCONFIRMED = "unconfirmed"  #: name of the status in the design


class _Late:
    """The names; replaced as a whole, so any thread may bring new ones."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()


_late = _Late()


def know(snapshot: Snapshot) -> None:
    """Remember who is late."""
    _late.names = snapshot.fleet().late


def forget() -> None:
    """Nothing is heard any more: nobody is known to be late."""
    _late.names = frozenset()


def unconfirmed(task: Task, now_ms: int) -> bool:
    """Whether nobody knows if it still runs."""
    return insight.unconfirmed(task, now_ms, _late.names)


def silent(worker: str) -> bool:
    """Whether a worker is not heard of."""
    return worker in _late.names


def glyph(task: Task, now_ms: int) -> str:
    """The status name of a task as it is shown."""
    return UNCONFIRMED if unconfirmed(task, now_ms) else shown.GLYPHS.get(task.status, "unknown")


def word(task: Task, now_ms: int) -> str:
    """The word for how a task stands."""
    return _("Unconfirmed") if unconfirmed(task, now_ms) else shown.status_word(task.status)
