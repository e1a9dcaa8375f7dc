"""Acts on one shop or several: all are looked up first, each has its entry in the audit, one summary tells of all."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import msgspec

from services import assembly
from services.cli import known_shops, spoken
from services.cli.context import EXIT_CONNECT, EXIT_FAILED, EXIT_OK, Context
from services.cli.progress import bar
from services.domain.errors import BrokerUnavailable, ConsoleError, NotAllowed, StoreUnavailable
from services.domain.fleet.environment import is_production
from services.domain.fleet.shop import Shop

PREVIEW = 20


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to one shop."""

    document: dict[str, Any]
    line: str


def add_shops(parser: argparse.ArgumentParser, *, least: str = "+") -> None:
    """Shops, and the yes to the question about several."""
    text = "platform:shop_id, or the bare id where only one platform has it; several are possible"
    parser.add_argument("shops", nargs=least, metavar="SHOP", help=text)
    text = "do not ask (asked in production, and where it is about several)"
    parser.add_argument("--yes", action="store_true", help=text)


def each(context: Context, verb: str, act: Callable[[assembly.Engine, Shop], Told], *, what: str = "") -> int:
    """Do it to every shop that is named; one that cannot be found keeps all from being touched.

    With one shop the document is that of the act; with several it lists them as ``done`` and ``failed``. ``what``: the
    question, with ``{shops}``.
    """
    with context.engine() as engine:
        shops = list(
            {shop.key: shop for shop in (known_shops.find(engine, one) for one in context.args.shops)}.values()
        )
        if not _sure(context, engine, (what or f"{verb} {{shops}}"), shops):
            return EXIT_FAILED
        if len(shops) == 1:
            told = act(engine, shops[0])
            context.show(told.document, [told.line])
            return EXIT_OK
        return _all(context, engine, verb, act, shops)


def _all(
    context: Context,
    engine: assembly.Engine,
    verb: str,
    act: Callable[[assembly.Engine, Shop], Told],
    shops: list[Shop],
) -> int:
    done: dict[str, Told] = {}
    failed: list[dict[str, str]] = []
    lost = False
    with bar(verb, len(shops), quiet=context.json) as show:
        for number, shop in enumerate(shops, 1):
            try:
                done[shop.key] = act(engine, shop)
            except NotAllowed:  # it is the same for all
                raise
            except ConsoleError as exc:
                failed.append({"id": shop.key, "code": getattr(exc, "field", ""), "reason": spoken.told(exc)})
                if lost := isinstance(exc, BrokerUnavailable | StoreUnavailable):
                    break
            show(number)
    left = [shop.key for shop in shops[len(done) + len(failed) :]]
    document = {
        "verb": verb,
        "done": list(done),
        "failed": failed,
        "left": left,
        "shops": [told.document for told in done.values()],
    }
    lines = [told.line for told in done.values()] + [f"{one['id']}: {one['reason']}" for one in failed]
    summary = spoken.plural(
        "{verb}: {done} of {count} shop done",
        "{verb}: {done} of {count} shops done",
        len(shops),
        verb=verb,
        done=len(done),
    )
    summary += spoken.phrase(", {count} not", count=len(failed)) if failed else ""
    summary += spoken.phrase(", {count} not tried", count=len(left)) if left else ""
    context.show(document, [*lines, summary])
    return EXIT_CONNECT if lost else EXIT_FAILED if failed else EXIT_OK


def _sure(context: Context, engine: assembly.Engine, what: str, shops: list[Shop]) -> bool:
    asks = is_production(engine.settings.environment)
    named = shops[0].key if len(shops) == 1 else spoken.phrase("{count} shops", count=len(shops))
    preview = [shop.key for shop in shops[:PREVIEW]] if len(shops) > 1 else []
    preview += ["…"] if len(shops) > PREVIEW else []
    return (not asks and len(shops) == 1) or context.confirm(spoken.phrase(what, shops=named), preview=preview)
