"""Shops with a queue of their own: opened, their waiting tasks moved there and back, and closed without losing any."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from services.domain.change import Op, Route
from services.domain.errors import ConsoleError
from services.domain.fleet import shop_queue
from services.domain.fleet.shop import Shop
from services.domain.fleet.shop_queue import CLOSING, LEAVING, OPEN, ShopQueue
from services.domain.task import lane
from services.domain.task.order import QueueDepth
from services.domain.task.status import ACTIVE, MOVABLE
from services.engine.lead.duty import Seldom
from services.engine.paged_tasks import BATCH, tasks_of
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Broker, Clock, Store

log = logging.getLogger(__name__)
LOOK_S = 5.0
#: beyond the longest delay, after which no message with the old key can be on its way any more
HOLD_S = 60.0
#: what workers need to hear that they should let a queue go: a refresh of what they know, and a heartbeat
CLOSING_MS = 15_000


class ShopQueues:
    """``Shop.dedicated`` is the wish; a document says how far the queue has come. Every step may be repeated."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        steps: Steps,
        registry: Registry,
        clock: Clock,
        *,
        hold_ms: int | None = None,
        closing_ms: int = CLOSING_MS,
        look_s: float = LOOK_S,
    ) -> None:
        self._store, self._broker, self._steps = store, broker, steps
        self._registry = registry
        self._hold_ms = round((steps.dispatcher.longest_delay_s + HOLD_S) * 1000) if hold_ms is None else hold_ms
        self._closing_ms = closing_ms
        self._seldom = Seldom(clock, look_s)

    # ------------------------------------------------------------------------------------------------------ asked for
    def settle(self, shop: Shop, by: str) -> int:
        """Do for one shop what its wish asks for; how many tasks were sent another way.

        Raises:
            TopologyMismatch: its queue exists with other arguments.
        """
        return self._open(shop, by) if shop.dedicated else self._leave(shop.key, by)

    def _open(self, shop: Shop, by: str) -> int:
        known = self._all().get(shop.key)
        self._broker.open_shop(shop.platform, shop.shop_id)
        if known is None or known.state != OPEN:
            self._write(shop.key, OPEN)
        return self._route(shop.key, shop.shop_id, by)

    def _leave(self, key: str, by: str) -> int:
        known = self._all().get(key)
        if known is None:
            return 0
        if known.state == OPEN:
            self._write(key, LEAVING)
        return self._route(key, "", by)

    # ------------------------------------------------------------------------------------------------------ leader
    def tick(self) -> None:
        """Bring every queue one step on, about every five seconds."""
        if not self._seldom.due():
            return
        known = self._all()
        shops = self._registry.shops()
        wanted = {key: shop for key, shop in shops.items() if shop.dedicated}
        if not known and not wanted:
            return
        self._broker.know([_shop_id(key) for key in known])
        depths = {depth.name: depth for depth in self._broker.depths() if depth.kind == "shop"}
        for key in sorted(known.keys() | wanted.keys()):
            try:
                self._step(key, wanted.get(key), known.get(key), depths.get(lane.shop_queue(_shop_id(key))))
            except ConsoleError as exc:
                log.warning("the queue of shop %s stays as it is: %s", key, exc)

    def _step(self, key: str, wish: Shop | None, known: ShopQueue | None, depth: QueueDepth | None) -> None:
        if wish is not None:
            if known is None or known.state != OPEN or depth is None:
                log.info("shop %s has a queue of its own; %d tasks moved", key, self._open(wish, "leader"))
        elif known is not None and known.state == OPEN:
            log.info("shop %s leaves its queue; %d tasks moved", key, self._leave(key, "leader"))
        elif known is not None and known.state == LEAVING:
            self._may_close(key, known, depth)
        elif known is not None:
            self._close(key, known, depth)

    def _may_close(self, key: str, known: ShopQueue, depth: QueueDepth | None) -> None:
        """What ran when the shop left comes back with the old key; so does a retry, after its delay."""
        self._route(key, "", "leader")
        if self._store.now_ms() - known.since < self._hold_ms or (depth is not None and depth.ready):
            return
        if not any(task.queue for task in tasks_of(self._store, key, sorted(ACTIVE))):
            self._write(key, CLOSING)

    def _close(self, key: str, known: ShopQueue, depth: QueueDepth | None) -> None:
        now = self._store.now_ms()
        if now - known.since < self._closing_ms:
            return
        platform, _, shop_id = key.partition(":")
        if self._broker.close_shop(platform, shop_id):
            self._store.remove_document(shop_queue.KIND, key)
            self._registry.forget()
            log.info("the queue of shop %s is gone", key)
        elif depth is not None and depth.ready:  # somebody still publishes there: workers must take it
            self._write(key, LEAVING, now - self._hold_ms)

    # ----------------------------------------------------------------------------------------------------- helpers
    def _all(self) -> Mapping[str, ShopQueue]:
        return {key: shop_queue.parse(body) for key, body in self._store.documents(shop_queue.KIND).items()}

    def _write(self, key: str, state: str, since: int | None = None) -> None:
        at = self._store.now_ms() if since is None else since
        self._store.put_document(shop_queue.KIND, key, shop_queue.DOCUMENT.dump(ShopQueue(state=state, since=at)))
        self._registry.forget()

    def _route(self, key: str, queue: str, by: str) -> int:
        """Send what waits another way; what runs is left alone."""
        count = 0
        ops: list[Op] = []
        for task in tasks_of(self._store, key, sorted(MOVABLE)):
            if task.queue != queue:
                ops.append(Route(task_id=task.task_id, queue=queue, by=by))
            if len(ops) == BATCH:
                count += self._apply(ops)
                ops = []
        return count + self._apply(ops)

    def _apply(self, ops: Sequence[Op]) -> int:
        return sum(answer.code == "ok" for answer in self._steps.apply(ops))


def _shop_id(key: str) -> str:
    return key.partition(":")[2]
