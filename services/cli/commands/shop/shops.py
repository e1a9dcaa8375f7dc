"""``shop``: list, show, import, pause, resume, dedicate, undedicate; move, breaker and session are told elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from services import assembly
from services.cli import known_shops, several, shapes
from services.cli.commands import work
from services.cli.commands.shop import breakers, login, sessions
from services.cli.commands.shop import homes as cli_homes
from services.cli.context import EXIT_OK, EXIT_USAGE, Context, examples, plain, table
from services.cli.several import Told
from services.commands.sheet import shop_file
from services.domain.fleet import shop_filter
from services.domain.fleet.shop import Shop
from services.domain.gates import paused
from services.domain.gates.home import Home
from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.domain.task.lane import shop_queue
from services.monitor.shops.states import ShopStates, stranger

EXAMPLES = (
    "shop list",
    "shop list --filter 'platform:temu state:login,dead group:a*'",
    "shop import shops.csv --skip-bad",
    "shop pause pdd:s1 --note 'stock-taking'",
    "shop pause pdd:s1 pdd:s2 temu:9 --note 'risk control' --yes",
    "shop resume pdd:s1",
    "shop dedicate pdd:s1",
    *cli_homes.EXAMPLES,
    *breakers.EXAMPLES,
    *login.EXAMPLES,
    *sessions.EXAMPLES,
)
#: of the list, by their heading
COLUMNS = {
    "platform": "platform",
    "shop": "shop_id",
    "name": "name",
    "limit": "concurrency",
    "own queue": "dedicated",
    "active": "active",
    "dead": "dead",
    "state": "state_word",
    "why": "reason",
}
#: how a person does here what a verb of the window does
COMMANDS = {
    "open_tasks": "task list --filter '{what}'",
    "login_shop": "shop login {what}",
    "open_session": "shop session open {what}",
    "close_breaker": "shop breaker {what} --close",
    "start_worker": "worker",
}


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the noun."""
    noun = nouns.add_parser("shop", parents=[common], help="shops of the fleet", **examples(EXAMPLES))
    verbs = noun.add_subparsers(required=True, metavar="VERB")
    listing = verbs.add_parser("list", parents=[common], help="shops, and what is true of each")
    listing.add_argument("--filter", metavar="EXPR", default="", help=f"words, or by {', '.join(shop_filter.FIELDS)}")
    listing.set_defaults(handler=list_shops)
    for name, handler, text in (
        ("show", show, "one shop"),
        ("pause", pause, "start none of its tasks; running ones go on, waiting ones stay"),
        ("resume", resume, "start its tasks again"),
        ("dedicate", dedicate, "give it a queue of its own, single_shop_ID; its waiting tasks move there"),
        ("undedicate", undedicate, "let its tasks go through the lanes again; the queue ends when nothing can come"),
    ):
        parser = verbs.add_parser(name, parents=[common], help=text)
        parser.set_defaults(handler=handler)
        if name == "show":
            parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
        else:
            several.add_shops(parser)
        if name in ("pause", "resume"):
            parser.add_argument("--note", "--reason", dest="note", default="", help="why; shown and kept in the audit")
    importing = verbs.add_parser(
        "import",
        parents=[common],
        help="insert shops, or change known ones, from a CSV, TSV or XLSX file",
        description="Columns: platform, shop_id, name, name_en, group, tags, concurrency, dedicated, enabled. What the"
        " file has no column for stays as it is. With a bad line nothing is imported and every fault is listed.",
    )
    importing.add_argument("file")
    importing.add_argument("--skip-bad", action="store_true", help="import the good lines all the same; exit code 2")
    importing.set_defaults(handler=import_shops)
    cli_homes.add(verbs, common)
    breakers.add(verbs, common)
    login.add(verbs, common)
    sessions.add(verbs, common)


def list_shops(context: Context) -> int:
    """Print shops with what is true of them, those that are known from tasks alone among them."""
    wanted = shop_filter.parse(context.args.filter)
    with context.engine(looking=True) as engine:
        found = ShopStates(engine.store, engine.registry, engine.broker.health).look()
        counts, known = engine.store.counts().shops, engine.registry.shops()
        homes, at_ms = engine.store.homes(), engine.store.now_ms()
    rows = [
        _row(known.get(now.key) or stranger(now.key), counts.get(now.key, {}), homes.get(now.key), now, at_ms)
        for now in found
    ]
    rows = [row for row in rows if wanted(row)]
    lines = [tuple(row[field] for field in COLUMNS.values()) for row in rows]
    context.show({"shops": rows}, table(tuple(COLUMNS), lines))
    return EXIT_OK


def show(context: Context) -> int:
    """Print one shop, what is true of it, and what a person can do."""
    with context.engine(looking=True) as engine:
        shop = known_shops.find(engine, context.args.shop)
        now = next(
            one
            for one in ShopStates(engine.store, engine.registry, engine.broker.health).look([shop.key])
            if one.key == shop.key
        )
        counts, at_ms = engine.store.counts().shops.get(shop.key, {}), engine.store.now_ms()
        row = _row(shop, counts, engine.store.homes([shop.key]).get(shop.key), now, at_ms)
        row |= sessions.standing(engine, shop.key)
        works = assembly.queries(engine).works.of_shop(shop.key)
    told = {name: value for name, value in row.items() if name not in ("reasons", "held_by", "can")}
    lines = [f"{name:<14} {plain(value)}" for name, value in told.items()]
    lines += [f"{'can':<14} {_command(verb, what)}" for verb, what in insight.acts(now)]
    row["types"] = [work.of_type(one) for one in works]
    header = ("type", "last_success", "last_failure", "next")
    lines += ["", *table(header, [work.cells(one) for one in works])] if works else []
    context.show({"shop": row}, lines)
    return EXIT_OK


def pause(context: Context) -> int:
    """Stop starting tasks of shops."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        assembly.commands(engine).fleet.pause(f"shop:{shop.key}", reason=context.args.note)
        text = f"{shop.key} is paused; running tasks go on, waiting ones stay"
        return Told(document={"paused": shop.key}, line=text)

    return several.each(context, "pause", act)


def resume(context: Context) -> int:
    """Start tasks of shops again."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        was = assembly.commands(engine).fleet.resume(f"shop:{shop.key}", note=context.args.note)
        text = f"{shop.key} runs again" if was else f"{shop.key} was not paused"
        return Told(document={"resumed": shop.key, "was_paused": was}, line=text)

    return several.each(context, "resume", act)


def dedicate(context: Context) -> int:
    """Give shops queues of their own."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        moved, queue = assembly.commands(engine).fleet.dedicate(shop.key), shop_queue(shop.shop_id)
        text = f"{shop.key} has the queue {queue}; {moved} waiting tasks moved there"
        document = {"dedicated": shop.key, "queue": queue, "moved": moved}
        return Told(document=document, line=f"{text}; running workers take it up in seconds")

    return several.each(context, "dedicate", act, what="give {shops} a queue of its own")


def undedicate(context: Context) -> int:
    """Let shops share the lanes."""

    def act(engine: assembly.Engine, shop: Shop) -> Told:
        moved = assembly.commands(engine).fleet.undedicate(shop.key)
        text = (
            f"{shop.key} shares the lanes; {moved} waiting tasks moved there; the leader deletes"
            f" {shop_queue(shop.shop_id)} when nothing can come there any more"
        )
        return Told(document={"undedicated": shop.key, "moved": moved}, line=text)

    return several.each(context, "undedicate", act, what="let {shops} share the lanes")


def import_shops(context: Context) -> int:
    """Import a file: all of it, or with ``--skip-bad`` its good lines."""
    args = context.args
    with context.engine() as engine:
        known = {shop.key: shop for shop in engine.store.shops()}
        file = shop_file.read(Path(args.file), known)
        wanted = file.shops if args.skip_bad or not file.faults else ()
        count = assembly.commands(engine).fleet.import_shops(wanted) if wanted else 0
    errors = [{"line": fault.line, "field": fault.field, "error": fault.error} for fault in file.faults]
    document: dict[str, Any] = {"imported": count, "errors": errors, "warnings": list(file.warnings)}
    lines = [f"line {fault.line}: {fault.field}: {fault.error}" for fault in file.faults]
    if file.faults:
        first = file.faults[0]
        text = f"{len(file.faults)} bad lines, the first is line {first.line}: {first.error}"
        document |= {"error": text, "field": first.field}
        lines.append("mend them, or import the others with --skip-bad" if not args.skip_bad else "")
    context.warn(file.warnings)
    context.show(document, [*filter(None, lines), f"{count} shops imported"])
    return EXIT_USAGE if file.faults else EXIT_OK


def _command(verb: str, what: str) -> str:
    """What to type to do that."""
    if verb == "resume":
        head, _colon, name = what.partition(":")
        return f"shop resume {name}" if head == "shop" else f"queue resume {what}"
    return COMMANDS[verb].format(what=what)


def _row(shop: Shop, counts: dict[str, int], home: Home | None, now: ShopNow, at_ms: int) -> dict[str, Any]:
    return (
        msgspec.structs.asdict(shop)
        | {
            "paused": any((one.gate, one.scope) == (paused.GATE, f"shop:{shop.key}") for one in now.pauses),
            "active": sum(number for status, number in counts.items() if status != "dead"),
            "dead": counts.get("dead", 0),
            "home": home.node if home is not None else "",
        }
        | shapes.shop_now(now, at_ms)
    )
