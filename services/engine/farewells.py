"""How workers ended: each writes that down as it leaves, for its heartbeat goes with it. Who had told it to leave is
written down with the order, which names nobody. Where a worker ran and in which version is known for a day longer: what
failed there is judged by it after it was stopped, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.domain.fleet.worker import NOBODY, Farewell, WorkerInfo
from services.domain.insight import worker as insight
from services.domain.upkeep.stored import Document
from services.ports import Store

KIND, LAST, TOLD = "farewell", "last", "told:"
GONE = "worker_gone"  #: kind of the documents of those that left within a day; the name is the worker's
GONE_MS, GONE_MOST = 24 * 3_600_000, 500

DOCUMENT = Document(Farewell)


def told(store: Store, worker: str, by: str) -> None:
    """Write down who tells a worker to leave, before it is told. What was written for workers that are not listed any
    more goes.
    """
    known = {f"{TOLD}{info.worker}" for info in store.workers()}
    for name in store.documents(KIND):
        if name.startswith(TOLD) and name not in known:
            store.remove_document(KIND, name)
    _put(store, f"{TOLD}{worker}", Farewell(worker=worker, by=by, at=store.now_ms()))


def leave(store: Store, info: WorkerInfo) -> None:
    """Say goodbye: take the worker off the list, and write down when it left and who had told it to.

    Raises:
        StoreError: the store does not answer; it stays listed.
    """
    name = f"{TOLD}{info.worker}"
    by = DOCUMENT.read(store.documents(KIND).get(name), NOBODY).by
    _put(store, LAST, Farewell(worker=info.worker, machine=insight.machine(info), by=by, at=store.now_ms()))
    if by:
        store.remove_document(KIND, name)
    remember(store, info)
    store.forget_worker(info.worker)


def remember(store: Store, info: WorkerInfo) -> None:
    """Write down what is known of a worker that goes off the list, and let those go that left a day ago."""
    now = store.now_ms()
    said = Farewell(
        worker=info.worker, machine=insight.machine(info), at=now, version=info.version, proxies=info.proxies
    )
    before = sorted(gone(store).values(), key=lambda one: one.at, reverse=True)
    for place, one in enumerate(before, 1):
        if place >= GONE_MOST or one.at < now - GONE_MS:
            store.remove_document(GONE, one.worker)
    store.put_document(GONE, info.worker, DOCUMENT.dump(said))


def gone(store: Store) -> dict[str, Farewell]:
    """Those that went off the list of late, by worker. Blocking."""
    found = DOCUMENT.readable(store.documents(GONE)).values()
    return {one.worker: one for one in found if one.worker}


def last(store: Store) -> Farewell:
    """Of the last worker that said goodbye; empty where none did. Blocking."""
    return DOCUMENT.read(store.documents(KIND).get(LAST), NOBODY)


def asked_for(store: Store, workers: Sequence[WorkerInfo], now_ms: int) -> Farewell:
    """The same for who looks at the fleet: while a worker lives nobody has to know, so nothing is asked. Blocking."""
    living = any(info.state != insight.STOPPED and not insight.missed(info, now_ms) for info in workers)
    return NOBODY if living else last(store)


def _put(store: Store, name: str, said: Farewell) -> None:
    store.put_document(KIND, name, DOCUMENT.dump(said))
