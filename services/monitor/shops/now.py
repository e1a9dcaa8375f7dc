"""How shops stand now: a few questions for all of them, never one for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from services.domain.fleet.shop import Shop, stranger
from services.domain.insight import shop
from services.domain.insight.shop import ShopNow
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.monitor import live
from services.monitor.shops.states import FleetFacts
from services.ports import Store

SHOPS_AT_ONCE = 100
#: newest records looked at for each hundred shops, once those that ended well and once those that did not
NEWEST = 500
_ENDS = ((Status.SUCCEEDED,), (Status.DEAD, Status.RETRYING, Status.RUNNING))


def shops_now(store: Store, shops: Sequence[str], known: Mapping[str, Shop]) -> dict[str, ShopNow]:
    """State of each shop (``platform:shop_id``). Blocking."""
    wanted = list(dict.fromkeys(shops))
    tasks: dict[str, list[Task]] = defaultdict(list)
    for start in range(0, len(wanted), SHOPS_AT_ONCE):
        some = wanted[start : start + SHOPS_AT_ONCE]
        for statuses in _ENDS:
            terms = (equals("shop", *some), equals("status", *statuses))
            page = store.query(Query(terms=terms, sort="updated", limit=NEWEST, want_total=False))
            for task in page.tasks:
                tasks[task.shop].append(task)
    snapshot = live.look(store)
    fleet = FleetFacts(store, snapshot)
    return {
        key: shop.judge(fleet.of(known.get(key) or stranger(key), tasks=tasks[key]), snapshot.at_ms) for key in wanted
    }
