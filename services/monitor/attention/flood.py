"""A shop, or a group of shops, that takes most of the fleet or has a long queue of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from services import spans
from services.domain.insight.shop import LOGIN, PAUSED, ShopNow
from services.domain.task.search.query import Query, equals
from services.domain.task.status import WAITING
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

#: so many waiting tasks, and this share of all that wait, are a flood
LEAST, SHARE = 50, 0.5
#: that many shops are named in a filter
NAMED = 20
#: shops with at least this share of the longest queue are named beside it, and no more than that many
BESIDE, TOGETHER = 0.5, 3
WORDS = {
    "attention.flood_shop": Words(
        N_("{name} floods the queues"),
        N_("{tasks} of {all} waiting tasks are its own; it has {share} of the running ones while {others_n} wait"),
    ),
    "attention.flood_alone": Words(
        N_("{name} has a long queue of its own"),
        N_("{tasks} tasks waiting, {running} running; nobody else waits. Its limit of tasks at once is on its page"),
    ),
    "attention.flood_shops": Words(
        N_("{names} flood the queues"),
        N_("{tasks} of {all} waiting tasks are theirs; they have {share} of the running ones while {others_n} wait"),
    ),
    "attention.flood_shops_alone": Words(
        N_("{names} have long queues of their own"),
        N_("{tasks} tasks waiting, {running} running; nobody else waits. Their limits are on their pages"),
    ),
    "attention.flood_group": Words(
        N_("Group {name} floods the queues"),
        N_("{tasks} of {all} waiting tasks are its own; it has {share} of the running ones while {others_n} wait"),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one: the shop, the few shops, or else the group, with most of what waits."""
    waiting = [shop for shop in look.shops if shop.waiting and shop.state not in (LOGIN, PAUSED)]
    if not waiting:
        return
    worst = max(waiting, key=lambda shop: shop.waiting)
    groups: dict[str, list[ShopNow]] = defaultdict(list)
    for shop in waiting:
        if shop.group:
            groups[shop.group].append(shop)
    many = [(name, group) for name, group in groups.items() if len(group) > 1]
    # with queues of much the same length none of the shops is to blame more than the others
    beside = sorted((shop for shop in waiting if shop.waiting >= BESIDE * worst.waiting), key=lambda one: -one.waiting)
    found = [("flood_shop", worst.name, [worst])] if len(beside) == 1 else []
    of_one_group = worst.group and all(shop.group == worst.group for shop in beside)
    if 1 < len(beside) <= TOGETHER and not of_one_group:
        found = [("flood_shops", "\n".join(shop.name for shop in beside), beside)]
    found += [("flood_group", name, group) for name, group in sorted(many, key=lambda one: -_sum(one[1]))[:1]]
    for code, name, shops in found:
        others = len(waiting) - len(shops)
        if _sum(shops) >= max(LEAST, SHARE * _sum(waiting)) and (others or code != "flood_group"):
            alone = {"flood_shop": "flood_alone", "flood_shops": "flood_shops_alone"}
            yield _item(look, code if others else alone[code], name, shops, others)
            return


def _item(look: Look, code: str, name: str, shops: Sequence[ShopNow], others: int) -> Attention:
    running = sum(shop.running for shop in look.shops)
    keys = [shop.key for shop in shops][:NAMED]
    terms = (equals("shop", *keys), equals("status", *sorted(WAITING)))
    oldest = look.store.query(Query(terms=terms, descending=False, limit=1, want_total=False)).tasks
    # first what lets the others pass without stopping anything, or with nobody behind it the page where its limit is
    # set; a pause holds up what is urgent too
    list_ = f"shop:{','.join(keys)} status:waiting"
    tasks, shop = ("open_tasks", list_), ("open_shop", keys[0])  # of several the one with the longest queue
    own = [shop] if code != "flood_group" else []
    # with nobody behind it a lower priority changes nothing, and a pause would only make it worse
    verbs = [("lower_tasks", list_), tasks, *own] if others else [*own, tasks]
    if len(shops) == 1 and code != "flood_alone":
        verbs.append(("pause", f"shop:{keys[0]}"))
    return Attention(
        key=f"flood:{name if code == 'flood_group' else ','.join(sorted(keys))}",
        severity="warning",
        code=f"attention.{code}",
        params={
            "names" if "\n" in name else "name": name,
            "tasks": _sum(shops),
            "all": _sum(look.shops),
            "share": spans.percent(sum(shop.running for shop in shops) / running if running else 0.0),
            "others": others,
            "running": sum(shop.running for shop in shops),
        },
        since_ms=oldest[0].created_at if oldest else 0,
        verbs=tuple(verbs),
    )


def _sum(shops: Iterable[ShopNow]) -> int:
    return sum(shop.waiting for shop in shops)
