"""``shop move``: where the browser profile of a shop lives."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from services import assembly
from services.cli import known_shops
from services.cli.context import EXIT_FAILED, EXIT_OK, Context

EXAMPLES = ("shop move pdd:s1 --node desk-01-3f2a",)


def add(verbs: Any, common: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    text = "let it be at home on another node: tasks that need its browser profile start only there"
    parser = verbs.add_parser(
        "move",
        parents=[common],
        help=text,
        description="Tasks that waited for the old node go to the new one. The profile itself is not copied: copy its"
        " folder before, or the shop has to log in again there.",
    )
    parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
    parser.add_argument("--node", required=True, metavar="NODE", help="its name; see `worker list`")
    parser.add_argument("--force", action="store_true", help="also where no worker has told of such a node")
    parser.add_argument("--yes", action="store_true", help="do not ask (asked where the profile says PROD)")
    parser.set_defaults(handler=move)


def move(context: Context) -> int:
    """Move a shop."""
    args = context.args
    with context.engine() as engine:
        shop = known_shops.find(engine, args.shop)
        profile = engine.settings.profiles.get(engine.settings.profile)
        asks = profile is not None and profile.environment.upper() == "PROD"
        if asks and not context.confirm(f"move {shop.key} to {args.node}"):
            return EXIT_FAILED
        done = assembly.commands(engine).homes.move(shop.key, args.node, force=args.force)
    lines = [f"{done.shop} is at home on {done.node}; {done.tasks} waiting tasks go there"]
    warnings = [f"{done.running} of its tasks still run where it was at home"] if done.running else []
    context.warn(warnings)
    context.show({"moved": msgspec.to_builtins(done), "warnings": warnings}, lines)
    return EXIT_OK
