"""``shop move``: where the browser profile of a shop lives."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from services import assembly
from services.cli import several
from services.cli.context import Context
from services.cli.several import Told
from services.domain.fleet.shop import Shop

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
    several.add_shops(parser)
    parser.add_argument("--node", required=True, metavar="NODE", help="its name; see `worker list`")
    parser.add_argument("--force", action="store_true", help="also where no worker has told of such a node")
    parser.set_defaults(handler=move)


def move(context: Context) -> int:
    """Move shops."""
    args = context.args

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        done = assembly.commands(engine).homes.move(shop.key, args.node, force=args.force)
        warnings = [f"{done.running} of its tasks still run where it was at home"] if done.running else []
        context.warn(warnings)
        text = f"{done.shop} is at home on {done.node}; {done.tasks} waiting tasks go there"
        return Told(document={"moved": msgspec.to_builtins(done), "warnings": warnings}, line=text)

    return several.each(context, "move", act, what=f"move {{shops}} to {args.node}")
