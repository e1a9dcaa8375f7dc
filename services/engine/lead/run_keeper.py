"""Since when claims note who began the last task of each shop, so that nobody has to ask the records for that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from services.domain.fleet.worker import WorkerInfo
from services.engine.lead.duty import Seldom
from services.ports import Clock, Store

#: an instant (UTC ms); not there while a worker of an older program is about, whose claims note nothing
KIND, NAME = "fleet", "runs_noted"
LOOK_S = 60.0


class RunKeeper:
    """One ``tick`` looks who is about; the leader calls it about once a second."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._seldom = Seldom(clock, LOOK_S)

    def tick(self) -> None:
        """Look when it is time; raises only the errors of the store."""
        if not self._seldom.due():
            return
        known = _since(self._store) > 0
        if _some_older(self._store.workers()):
            if known:
                self._store.remove_document(KIND, NAME)
        elif not known:
            self._store.put_document(KIND, NAME, json.dumps(self._store.now_ms()))


def last_runs(store: Store) -> Mapping[str, tuple[int, str]]:
    """When (UTC ms) and by which worker a task of each shop was begun last, only where no program can have begun a
    later one without a note. Of the others the records tell.
    """
    since = _since(store)
    if not since or _some_older(store.workers()):
        return {}
    return {shop: last for shop, last in store.last_runs().items() if last[0] >= since}


def _some_older(workers: Iterable[WorkerInfo]) -> bool:
    return not all(info.notes_runs for info in workers)


def _since(store: Store) -> int:
    try:
        return int(json.loads(store.document(KIND, NAME) or "0"))
    except (ValueError, TypeError, RecursionError):
        return 0
