"""``shop breaker``: shops whose tasks wait after too many failures, and when that is."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import msgspec

from services import assembly
from services.cli import known_shops, several, shapes
from services.cli.context import EXIT_OK, Context, seconds, table, whole
from services.cli.several import Told
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.gates import breaker
from services.domain.gates.breaker import Breaker, Rule

EXAMPLES = (
    "shop breaker",
    "shop breaker pdd:s1 --close --note 'logged in again'",
    "shop breaker --failures 5 --of 10 --cooldown 60 --max-cooldown 30m",
)


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser = verbs.add_parser(
        "breaker",
        parents=[common],
        help="shops whose tasks wait after too many failures",
        description="When enough of the last attempts of a shop failed for a reason that lies with the shop, its"
        " breaker opens and its tasks wait. After the cool-down one of them tries; if it fails, the cool-down doubles,"
        " if it succeeds, the others follow. Without options: what is open, and the rule.",
    )
    several.add_shops(parser, least="*")
    parser.add_argument("--close", action="store_true", help="the shop works again: forget its failures")
    parser.add_argument("--note", default="", help="why; kept in the audit")
    parser.add_argument("--failures", type=_failures, metavar="N|off", help="so many failed attempts open it")
    parser.add_argument("--of", type=whole(1, breaker.MAX_WINDOW), metavar="N", help="of the last so many")
    parser.add_argument("--cooldown", type=seconds, metavar="TIME", help="until the first try, such as 60 or 5m")
    parser.add_argument("--max-cooldown", type=seconds, metavar="TIME", help="however often it fails")
    parser.set_defaults(handler=run)


def run(context: Context) -> int:
    """Show breakers, close one, or change the rule.

    Raises:
        UsageError: the options do not go together, or no such rule can be.
    """
    args = context.args
    changes = _changes(args)
    if args.close and not args.shops:
        raise UsageError("say of which shop: shop breaker SHOP --close", field="shop")
    if changes and args.shops:
        raise UsageError("the rule is one for all shops: leave the shop away", field="shop")
    if args.close:
        return several.each(context, "close", partial(_close, args.note), what="close the breaker of {shops}")
    with context.engine() as engine:
        commands = assembly.commands(engine).breakers
        if changes:
            commands.set_rule(msgspec.structs.replace(commands.rule(), **changes))
        keys = {known_shops.find(engine, one).key for one in args.shops}
        rule, found = commands.rule(), [one for one in engine.store.breakers() if not keys or one.shop in keys]
    document = {"breakers": [_row(one) for one in found], "rule": msgspec.to_builtins(rule)}
    header = ("shop", "failed", "last", "since", "next try")
    rows = [
        (one.shop, f"{one.failed} of {len(one.outcomes)}", one.kind, shapes.iso(one.since), shapes.iso(one.until))
        for one in found
    ]
    context.show(document, [*(table(header, rows) if rows else ["no breaker is open"]), _words(rule)])
    return EXIT_OK


def _close(note: str, engine: assembly.Engine, shop: Shop) -> Told:
    was = assembly.commands(engine).breakers.close(shop.key, note=note)
    text = f"the breaker of {shop.key} is closed" if was else f"the breaker of {shop.key} was not open"
    return Told(document={"closed": shop.key, "was_open": was}, line=text)


def _changes(args: argparse.Namespace) -> dict[str, int]:
    named = {
        "failures": args.failures,
        "of": args.of,
        "cooldown_s": args.cooldown,
        "max_cooldown_s": args.max_cooldown,
    }
    return {name: round(value) for name, value in named.items() if value is not None}


def _failures(text: str) -> int:
    return 0 if text == "off" else whole(1, breaker.MAX_WINDOW)(text)


def _row(one: Breaker) -> dict[str, Any]:
    return {
        "shop": one.shop,
        "failed": one.failed,
        "attempts": len(one.outcomes),
        "kind": one.kind,
        "since": shapes.iso(one.since),
        "next_try": shapes.iso(one.until),
        "times": one.times,
    }


def _words(rule: Rule) -> str:
    if not rule.failures:
        return "rule: off"
    return (
        f"rule: opens when {rule.failures} of the last {rule.of} attempts failed, tries after {rule.cooldown_s} s,"
        f" at the latest after {rule.max_cooldown_s} s"
    )
