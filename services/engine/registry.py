"""The engine's view of task types and shops: read from the store, refreshed every few seconds, never asked per task."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

import msgspec

from services.domain import errors
from services.domain.fleet import shop_queue
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.domain.types import task_type as kinds
from services.engine import zone
from services.ports import Clock, Store

log = logging.getLogger(__name__)
REFRESH_S = 5.0


class Registry:
    """Task types and shops by name, cached; thread-safe. What was read once outlives a silent store."""

    def __init__(self, store: Store, clock: Clock, defaults: kinds.TaskType) -> None:
        self._store, self._clock, self._defaults = store, clock, defaults
        self._lock = threading.Lock()
        self._types: dict[str, kinds.TaskType] = {}
        self._shops: dict[str, Shop] = {}
        self._listed: list[Shop] = []  #: the same as the store told them
        self._queues: dict[str, shop_queue.ShopQueue] = {}
        self._bodies: Mapping[str, str] = {}  #: of the types, as they were read last
        self._unread: dict[str, str] = {}  #: why, by type
        self._read_at: float | None = None
        self._known = False
        self._zone = ""

    def task_type(self, name: str) -> kinds.TaskType:
        """The named type, or the defaults under that name (see ``knows``)."""
        self._refresh()
        found = self._types.get(name)
        if found is not None:
            return found
        kind = kinds.renamed(self._defaults, name)
        # nobody knows whether it may run twice
        return msgspec.structs.replace(kind, idempotent=False, max_retries=0) if name in self._unread else kind

    def unreadable(self, name: str) -> str:
        """Why nobody knows the policy of a type that somebody defined, "" where it is known, or there is none."""
        self._refresh()
        return "" if name in self._types else self._unread.get(name, "")

    def done_since(self, name: str) -> int:
        """The instant since which a work of this type must not have succeeded to be done again without a reason; 0
        where its type does not ask (``TaskType.window``).
        """
        self._refresh()
        kind = self._types.get(name, self._defaults)  # asked for each new task, so nothing is made for it
        return kinds.done_since(kind, self._store.now_ms(), self._zone or zone.DEFAULT_ZONE) if kind.window else 0

    @property
    def zone(self) -> str:
        """The fleet's time zone as somebody set it and it was read last, "" before. Asks nobody."""
        return self._zone

    @property
    def defaults(self) -> kinds.TaskType:
        """What a type is that nobody has defined."""
        return self._defaults

    def knows(self, name: str) -> bool:
        """Whether somebody defined this type."""
        self._refresh()
        return name in self._types

    def types(self) -> dict[str, kinds.TaskType]:
        """All defined types by name."""
        self._refresh()
        return dict(self._types)

    def shops(self) -> dict[str, Shop]:
        """All shops by ``platform:shop_id``."""
        self._refresh()
        return dict(self._shops)

    def shop_name(self, key: str) -> str:
        """What a shop (``platform:shop_id``) is called; its key where nobody has described it."""
        self._refresh()
        shop = self._shops.get(key)
        return key if shop is None else shop.called

    def placed(self, task: Task) -> Task:
        """The task in the queue that its shop has now."""
        self._refresh()
        known = self._queues.get(task.shop)
        queue = task.shop_id if known is not None and known.state == shop_queue.OPEN else ""
        return task if task.queue == queue else msgspec.structs.replace(task, queue=queue)

    def subscribed_shops(self) -> tuple[str, ...]:
        """Ids of the shops whose own queues workers take from, sorted."""
        self._refresh()
        return tuple(
            sorted(key.partition(":")[2] for key, one in self._queues.items() if one.state != shop_queue.CLOSING)
        )

    def forget(self) -> None:
        """Read again at the next question."""
        with self._lock:
            self._read_at = None

    def _refresh(self) -> None:
        now = self._clock.monotonic()
        if self._read_at is not None and now - self._read_at < REFRESH_S:
            return  # asked several times a task, so without the lock; what is read is replaced, never changed
        if not self._lock.acquire(blocking=not self._known or self._read_at is None):
            return  # one reads ten thousand shops, the others go on with what is known
        try:
            if self._read_at is not None and now - self._read_at < REFRESH_S:
                return
            try:
                self._read()
            except errors.StoreClosed:
                raise  # who asks on with what is known would compute for nobody
            except errors.StoreError as exc:
                if not self._known:
                    raise
                log.warning("task types and shops are as they were: %s", exc)
            self._read_at = now
        finally:
            self._lock.release()

    def _read(self) -> None:
        types: dict[str, kinds.TaskType] = {}
        unread: dict[str, str] = {}
        documents = self._store.documents("type")
        for name, body in documents.items():
            if self._bodies.get(name) == body:
                unread |= {name: self._unread[name]} if name in self._unread else {}
                continue  # checking a schema takes milliseconds, and whoever has a task in hand waits for it
            try:
                types[name] = kinds.stored(body)
            except errors.UsageError as exc:
                known = self._types.get(name)
                how = "runs as before" if known else "waits"
                log.warning("task type %s cannot be read and %s: %s", name, how, exc)
                unread[name] = str(exc)
                if known is not None:
                    types[name] = known
        self._bodies, self._unread = documents, unread
        listed = list(self._store.shops())
        if listed != self._listed:  # hardly ever, and there may be ten thousand
            self._listed, self._shops = listed, {shop.key: shop for shop in listed}
        self._zone = zone.fleet_zone(self._store)
        self._queues = _queues(self._store.documents(shop_queue.KIND))
        # nothing removes a type: one that is gone went with a wiped store, and may still not run twice
        self._types, self._known = {**self._types, **types}, True


def _queues(bodies: Mapping[str, str]) -> dict[str, shop_queue.ShopQueue]:
    found = {}
    for key, body in bodies.items():
        try:
            found[key] = shop_queue.parse(body)
        except errors.UsageError as exc:
            log.warning("shop %s counts as one without a queue of its own: %s", key, exc)
    return found
