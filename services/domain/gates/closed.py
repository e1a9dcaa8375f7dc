"""What the store knows of the gates that are closed now, of one moment and in one answer."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates.breaker import Breaker
from services.domain.gates.limit import LimitNow
from services.domain.gates.passing import Pass
from services.domain.gates.session import ClosedSession
from services.domain.task.status import UNDER_WAY, Status

#: statuses of the tasks of a shop that decide whether it has room
ROOM = frozenset({Status.RUNNING, Status.BLOCKED, *UNDER_WAY})
#: begun work, which its twins wait for
BEGUN = (Status.RUNNING, Status.HELD)


class Closed(msgspec.Struct, frozen=True, kw_only=True):
    """Each as ``Store`` answers it by itself, in the same order."""

    pauses: tuple[Pause, ...] = ()  #: ``Store.switches``
    sessions: tuple[ClosedSession, ...] = ()
    breakers: tuple[Breaker, ...] = ()
    limits: tuple[LimitNow, ...] = ()
    workers: tuple[WorkerInfo, ...] = ()
    #: ``platform:shop_id`` -> status -> n: where something runs, and where tasks are parked all of ``ROOM``
    shops: Mapping[str, Mapping[str, int]] = {}
    passes: Mapping[str, Pass] = {}  #: by task, those that one of its attempts may still use
    begun: frozenset[str] = frozenset()  #: uniqueness keys of tasks that run or are held, as far as asked for
