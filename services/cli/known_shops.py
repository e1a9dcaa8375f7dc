"""Which shop a word on the command line means."""

from __future__ import annotations

from services import assembly
from services.cli import spoken
from services.domain.errors import NotFound, UsageError
from services.domain.fleet import shop as shops
from services.domain.fleet.shop import Shop, stranger
from services.domain.task.search.query import Query, equals

ANYWHERE = 200
#: shops of one name that are told
CALLED = 5


def find(engine: assembly.Engine, text: str) -> Shop:
    """The shop that is meant; one that only tasks tell of is found too.

    Raises:
        UsageError: there is none, or a bare id is on several platforms.
    """
    there = known(engine, engine.store.counts().shops)
    if text in there:
        return there[text]
    _, _, shop_id = text.rpartition(":")
    found = {shop.key: shop for shop in there.values() if shop.shop_id == text}
    if not found and shops.valid_shop_id(shop_id):  # nothing of it is active or dead, but it may have had tasks
        page = engine.store.query(Query(terms=(equals("shop", text),), limit=ANYWHERE, want_total=False))
        found = {task.shop: stranger(task.shop) for task in page.tasks}
    if len(found) > 1:
        found = {key: shop for key, shop in found.items() if not shop.nowhere}
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise UsageError(
            spoken.phrase("{text} is on several platforms: {names}", text=f"{text!r}", names=", ".join(sorted(found))),
            field="shop",
        )
    called = sorted(shop.key for shop in there.values() if text and text in (shop.name, shop.name_en))
    if called:
        raise NotFound(
            spoken.phrase(
                "{text} is the name of {shops}; give the id", text=f"{text!r:.80}", shops=", ".join(called[:CALLED])
            ),
            field="shop",
        )
    raise NotFound(
        spoken.phrase("there is no shop {text} and no task of it; see `shop list`", text=f"{text!r:.80}"), field="shop"
    )


def known(engine: assembly.Engine, counts: dict[str, dict[str, int]]) -> dict[str, Shop]:
    """Registered shops, and those that only the counters of tasks tell of."""
    registered = engine.registry.shops()
    return {key: stranger(key) for key in counts if key not in registered} | registered
