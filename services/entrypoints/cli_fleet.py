"""``shop``, ``queue``, ``stats``, ``worker list|drain|stop|slots``, ``type``, ``audit``."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from services import assembly, table_files
from services.domain.errors import UsageError
from services.domain.lane import LANES
from services.domain.order import QueueDepth
from services.domain.query import Counts
from services.domain.shop import Shop
from services.domain.worker import SILENT_AFTER_MS
from services.entrypoints import shapes
from services.entrypoints.context import EXIT_OK, MAX_ROWS, Context, table, whole

TRUE = frozenset({"1", "true", "yes", "on", "是"})


def add(nouns: Any, common: argparse.ArgumentParser) -> None:
    """Declare the nouns."""
    _shops(
        nouns.add_parser("shop", parents=[common], help="shops of the fleet").add_subparsers(
            required=True, metavar="VERB"
        ),
        common,
    )
    queues = nouns.add_parser("queue", parents=[common], help="queues").add_subparsers(required=True, metavar="VERB")
    queues.add_parser("list", parents=[common], help="live depths").set_defaults(handler=queue_list)
    nouns.add_parser("stats", parents=[common], help="counts by status and lane").set_defaults(handler=stats)
    kinds = nouns.add_parser("type", parents=[common], help="task types").add_subparsers(required=True, metavar="VERB")
    kinds.add_parser("list", parents=[common], help="all task types").set_defaults(handler=type_list)
    audit = nouns.add_parser("audit", parents=[common], help="who did what").add_subparsers(
        required=True, metavar="VERB"
    )
    listing = audit.add_parser("list", parents=[common], help="newest first")
    listing.add_argument("--limit", type=whole(1, MAX_ROWS), default=50)
    listing.set_defaults(handler=audit_list)


def _shops(verbs: Any, common: argparse.ArgumentParser) -> None:
    verbs.add_parser("list", parents=[common], help="all shops").set_defaults(handler=shop_list)
    for name, handler in (("show", shop_show), ("pause", shop_pause), ("resume", shop_resume)):
        parser = verbs.add_parser(name, parents=[common])
        parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
        parser.set_defaults(handler=handler)
        if name == "pause":
            parser.add_argument("--reason", default="")
    importing = verbs.add_parser("import", parents=[common], help="insert or replace shops from a CSV file")
    importing.add_argument("file")
    importing.set_defaults(handler=shop_import)


def shop_list(context: Context) -> int:
    """Print shops with their active counts."""
    with context.engine() as engine:
        shops = sorted(engine.registry.shops().values(), key=lambda shop: shop.key)
        counts = engine.store.counts().shops
        paused = {pause.scope for pause in engine.store.pauses()}
    rows = [_shop(shop, counts.get(shop.key, {}), paused) for shop in shops]
    lines = [
        (row["platform"], row["shop_id"], row["name"], row["concurrency"], row["paused"], row["active"], row["dead"])
        for row in rows
    ]
    context.show({"shops": rows}, table(("platform", "shop", "name", "limit", "paused", "active", "dead"), lines))
    return EXIT_OK


def shop_show(context: Context) -> int:
    """Print one shop."""
    with context.engine() as engine:
        shop = _find(engine, context.args.shop)
        row = _shop(
            shop, engine.store.counts().shops.get(shop.key, {}), {pause.scope for pause in engine.store.pauses()}
        )
    context.show({"shop": row}, [f"{name:<14} {value}" for name, value in row.items()])
    return EXIT_OK


def shop_pause(context: Context) -> int:
    """Stop starting tasks of a shop."""
    with context.engine() as engine:
        shop = _find(engine, context.args.shop)
        assembly.commands(engine).fleet.pause(f"shop:{shop.key}", reason=context.args.reason)
    context.show({"paused": shop.key}, [f"{shop.key} is paused; running tasks go on, waiting ones stay"])
    return EXIT_OK


def shop_resume(context: Context) -> int:
    """Start tasks of a shop again."""
    with context.engine() as engine:
        shop = _find(engine, context.args.shop)
        was = assembly.commands(engine).fleet.resume(f"shop:{shop.key}")
    context.show(
        {"resumed": shop.key, "was_paused": was}, [f"{shop.key} runs again" if was else f"{shop.key} was not paused"]
    )
    return EXIT_OK


def shop_import(context: Context) -> int:
    """Read shops from CSV: platform, shop_id, name, name_en, group, concurrency, dedicated, enabled."""
    rows = read_shops(Path(context.args.file))
    with context.engine() as engine:
        count = assembly.commands(engine).fleet.import_shops(rows)
    context.show({"imported": count}, [f"{count} shops imported"])
    return EXIT_OK


def read_shops(path: Path) -> list[Shop]:
    """Shops of a CSV file.

    Raises:
        UsageError: the file or one of its lines is not readable; the sentence names the line.
    """
    if not path.is_file():
        raise UsageError(f"{path} is not a file", field="file")
    found: dict[str, Shop] = {}
    reader = csv.DictReader(io.StringIO(table_files.decode(path), newline=""), strict=True)
    try:
        for row in reader:
            shop = _read_shop(row, reader.line_num)
            if shop.key in found:
                raise UsageError(f"line {reader.line_num}: {shop.key} stands twice", field="shop_id")
            found[shop.key] = shop
    except csv.Error as exc:
        raise UsageError(f"line {reader.line_num}: not valid CSV: {exc}", field="file") from exc
    if not found:
        raise UsageError(f"{path.name} holds no shop; the header must name platform and shop_id", field="file")
    return list(found.values())


def queue_list(context: Context) -> int:
    """Print queue depths."""
    with context.engine() as engine:
        depths = engine.broker.depths()
    document = {
        "queues": [
            {"name": one.name, "kind": one.kind, "ready": one.ready, "unacked": one.unacked, "consumers": one.consumers}
            for one in depths
        ]
    }
    rows = [
        (one.name, one.kind, one.ready, "?" if one.unacked is None else one.unacked, one.consumers) for one in depths
    ]
    context.show(document, table(("queue", "kind", "ready", "unacked", "consumers"), rows))
    return EXIT_OK


def stats(context: Context) -> int:
    """Print the numbers that the console shows."""
    with context.engine() as engine:
        counts = engine.store.counts()
        depths = engine.broker.depths()
        now = engine.store.now_ms()
        workers = sum(1 for info in engine.store.workers() if now - info.seen_at < SILENT_AFTER_MS)
    by_lane = {depth.name.removeprefix("rpa_tasks_"): depth for depth in depths if depth.kind == "lane"}
    lanes = {str(lane): _lane(counts, lane, by_lane.get(lane)) for lane in LANES}
    lanes["dedicated"] = _dedicated([depth for depth in depths if depth.kind == "shop"])
    document = {
        "status": counts.status,
        "lanes": lanes,
        "dead_open": counts.triage.get("open", 0),
        "workers": workers,
        "total": counts.total,
    }
    lines = [f"{name:<10} {number}" for name, number in sorted(counts.status.items())]
    lines += table(
        ("lane", "ready", "blocked", "unacked", "retrying"), [(lane, *row.values()) for lane, row in lanes.items()]
    )
    lines.append(f"dead letters open: {document['dead_open']}, workers: {document['workers']}")
    context.show(document, lines)
    return EXIT_OK


def type_list(context: Context) -> int:
    """Print task types."""
    with context.engine() as engine:
        kinds = sorted(engine.registry.types().values(), key=lambda kind: kind.name)
    document = {"types": [msgspec.to_builtins(kind) for kind in kinds]}
    rows = [
        (kind.name, kind.executor, kind.timeout_s, kind.max_retries, kind.idempotent, kind.uniqueness) for kind in kinds
    ]
    context.show(document, table(("type", "executor", "timeout", "retries", "idempotent", "uniqueness"), rows))
    return EXIT_OK


def audit_list(context: Context) -> int:
    """Print the audit trail."""
    with context.engine() as engine:
        entries = engine.store.audit(context.args.limit)
    document = {"entries": [msgspec.to_builtins(entry) | {"at": shapes.iso(entry.at)} for entry in entries]}
    rows = [
        (shapes.iso(entry.at), entry.who, entry.action, len(entry.target), entry.outcome, entry.detail)
        for entry in entries
    ]
    context.show(document, table(("at", "who", "action", "targets", "outcome", "detail"), rows))
    return EXIT_OK


def _find(engine: assembly.Engine, text: str) -> Shop:
    shops = engine.registry.shops()
    if text in shops:
        return shops[text]
    found = [shop for shop in shops.values() if shop.shop_id == text]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{text!r} is on several platforms: {', '.join(shop.key for shop in found)}", field="shop")
    raise UsageError(f"there is no shop {text!r:.80}; see `shop list`", field="shop")


def _shop(shop: Shop, counts: dict[str, int], paused: set[str]) -> dict[str, Any]:
    return msgspec.structs.asdict(shop) | {
        "paused": f"shop:{shop.key}" in paused,
        "active": sum(number for status, number in counts.items() if status != "dead"),
        "dead": counts.get("dead", 0),
    }


def _read_shop(row: dict[str, Any], line: int) -> Shop:
    platform, shop_id = str(row.get("platform") or "").strip(), str(row.get("shop_id") or row.get("shop") or "").strip()
    if not platform or not shop_id:
        raise UsageError(f"line {line}: platform and shop_id must not be empty", field="shop_id")
    text = str(row.get("concurrency") or "1").strip()
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"line {line}: concurrency must be a whole number, not {text!r:.40}", field="concurrency")
    return Shop(
        platform=platform,
        shop_id=shop_id,
        name=str(row.get("name") or "").strip(),
        name_en=str(row.get("name_en") or "").strip(),
        group=str(row.get("group") or "").strip(),
        concurrency=int(text),
        dedicated=str(row.get("dedicated") or "").strip().lower() in TRUE,
        enabled=str(row.get("enabled") or "true").strip().lower() in TRUE,
    )


def _lane(counts: Counts, lane: str, depth: QueueDepth | None) -> dict[str, Any]:
    own = counts.lanes.get(lane, {})
    return {
        "ready": depth.ready if depth is not None else own.get("queued", 0),
        "blocked": own.get("blocked", 0),
        "unacked": depth.unacked if depth is not None else None,
        "retrying": own.get("retrying", 0),
    }


def _dedicated(depths: Sequence[QueueDepth]) -> dict[str, Any]:
    """Queues of single shops; what is parked or retrying counts in its lane."""
    known = [depth.unacked for depth in depths if depth.unacked is not None]
    unacked = sum(known) if len(known) == len(depths) else None
    return {"ready": sum(depth.ready for depth in depths), "blocked": 0, "unacked": unacked, "retrying": 0}
