"""``make bench``: both driver pairs, the peers and the bare floor in one run, and where the budgets stand."""

from __future__ import annotations

import argparse
import functools
import gc
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench import (
    bare,
    browser,
    bulk,
    charts,
    console,
    dedicated,
    fairness,
    foreign,
    held,
    limited,
    pages,
    peers,
    promises,
    sheet,
    size,
    steps,
    watching,
)
from tests.bench.pairs import Pair, measure
from tests.support.services import RabbitMQ, Redis

PEERS = ("dramatiq", "celery")
PARTS = ("embedded", "fleet", "size", "peers", "bare", "console")
#: only by name, for they take minutes
MORE = (
    "fairness",
    "bulk100k",
    "limits",
    "pages",
    "browser",
    "dedicated",
    "charts",
    "steps",
    "foreign",
    "promises",
    "sheet",
    "watching",
)


def main() -> int:
    """Measure, print tables and ratios."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="|".join(PARTS + MORE))
    parser.add_argument("--scale", type=float, default=1.0, help="0.1 is a quick look")
    parser.add_argument("--fsync", choices=("always", "everysec"), default="always", help="appendfsync of Redis")
    parser.add_argument(
        "--rows",
        type=int,
        default=0,
        help="tasks of the page benchmark (100,000 x scale; pages: 1,000,000), or besides those of the console (none)",
    )
    parser.add_argument("--shops", type=int, default=500, help="shops of the console's fleet")
    parser.add_argument("--row-shops", type=int, default=pages.SHOPS, help="shops that the console's --rows lie in")
    parser.add_argument(
        "--soak", type=float, default=0.0, metavar="SECONDS", help="let the console run that much longer"
    )
    parser.add_argument("--events", type=float, default=console.EVENTS, help="a second while the console is watched")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    gc.collect()
    gc.freeze()  # the parts of this program load a hundred thousand things that no worker has, and each look costs
    found: dict[str, Any] = {}
    if "embedded" in args.parts:
        found["embedded"] = _pair(args)
    if "size" in args.parts:
        found["size, embedded"] = _size(args)
    if "console" in args.parts:
        found["console, embedded"] = _console(args)
    if "fairness" in args.parts:
        found["fairness, embedded"] = fairness.measure(dict, args.scale)
    if "bulk100k" in args.parts:
        found["bulk, embedded"] = bulk.measure(round(bulk.COUNT * args.scale))
    if "limits" in args.parts:
        found["limits, embedded"] = limited.measure(round(limited.COUNT * args.scale))
    if "pages" in args.parts:
        with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
            found["pages, embedded"] = pages.measure("embedded", args.rows or pages.ROWS, Path(folder))
    if "charts" in args.parts:
        found["charts"] = charts.measure()
    if "browser" in args.parts:
        found["browser, embedded"] = browser.measure(args.scale)
    if "promises" in args.parts:
        found["promises, embedded"] = promises.measure(args.scale)
    if "sheet" in args.parts:
        found["files of tasks"] = sheet.measure(args.scale)
    if set(args.parts) - {"embedded", "browser", "charts", "promises", "sheet"}:
        conf = held.SETTINGS if "dedicated" in args.parts else ""
        with RabbitMQ(extra_conf=conf) as rabbit, Redis(appendfsync=args.fsync) as redis:
            _fleet(args, found, rabbit, redis)
    found["ratios"] = ratios(found)
    if args.json:
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        _print(found, args)
    return 0


def ratios(found: dict[str, Any]) -> dict[str, float]:
    """The budgets of the engine as ratios within this run."""
    fleet, floor = found.get("fleet", {}), found.get("bare", {})
    known = [found[name] for name in PEERS if found.get(name)]
    out: dict[str, float] = {}
    if fleet and known:
        best = max(peer["no-op tasks /s"] for peer in known)
        slowest = max(peer["enqueue one by one /s"] for peer in known)
        out["no-op tasks, best peer = 1 (aim 4)"] = fleet["no-op tasks /s, thread"] / best
        out["bulk submit, peers one by one with confirms = 1 (aim 10)"] = fleet["submit in bulk /s"] / slowest
    if fleet and floor:
        out["no-op tasks, bare floor = 1 (aim 0.6)"] = fleet["no-op tasks /s, thread"] / floor["no-op tasks /s"]
    return out


def _pair(args: argparse.Namespace, servers: dict[str, int] | None = None, **urls: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), servers=servers, **urls)
        try:
            return measure(pair, args.scale, args.rows)
        finally:
            pair.close()


def _size(args: argparse.Namespace, **urls: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        pair = Pair(Path(folder), **urls)
        try:
            return size.measure(pair, round(size.COUNT * args.scale))
        finally:
            pair.close()


def _console(args: argparse.Namespace, **urls: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        home, busy = Path(folder), {"shops": args.shops, "events": args.events, "soak": args.soak, "rows": args.rows}
        busy["row_shops"] = args.row_shops
        figures = console.measure(home, args.scale, **busy, **urls)["figures"]
        rest = console.at_rest(home, **urls)
        return {**figures, **{f"at rest: {what}" if "at rest" not in what else what: n for what, n in rest.items()}}


def _fleet(args: argparse.Namespace, found: dict[str, Any], rabbit: RabbitMQ, redis: Redis) -> None:
    if "fleet" in args.parts:
        servers = {"Redis": redis.pid, "RabbitMQ": rabbit.pid}
        found["fleet"] = _pair(args, servers, broker=rabbit.new_vhost(), redis=redis.url)
    if "size" in args.parts:
        redis.flush()
        found["size, fleet (aim 1,500)"] = _size(args, broker=rabbit.new_vhost(), redis=redis.url)
    for name in PEERS if "peers" in args.parts else ():
        redis.flush()
        figures = peers.measure(name, rabbit.new_vhost(), redis.url, round(5000 * args.scale))
        if figures is not None:
            found[name] = figures
    if "console" in args.parts:
        redis.flush()
        found["console, fleet"] = _console(args, broker=rabbit.new_vhost(), redis=redis.url)
    if "fairness" in args.parts:
        found["fairness, fleet"] = fairness.measure(functools.partial(_fresh, rabbit, redis), args.scale)
    if "bulk100k" in args.parts:
        found["bulk, fleet"] = bulk.measure(round(bulk.COUNT * args.scale), **_fresh(rabbit, redis))
        redis.flush()
        floor = bare.measure(rabbit.new_vhost(), redis.url, round(bulk.COUNT * args.scale))
        found["bulk, bare"] = floor
        share = found["bulk, fleet"]["no-op tasks /s, thread"] / floor["no-op tasks /s"]
        found["bulk, fleet"]["no-op tasks, bare floor = 1"] = share
    if "foreign" in args.parts:
        found["messages of another program"] = foreign.measure(foreign.COUNT, functools.partial(_fresh, rabbit, redis))
    if "watching" in args.parts:
        found["1,000 queues"] = watching.figures(rabbit, args.scale, **_fresh(rabbit, redis))
        servers = {"Redis": redis.pid, "RabbitMQ": rabbit.pid}
        found["the engine, watched and not"] = watching.cost(args.scale, servers, **_fresh(rabbit, redis))
    if "limits" in args.parts:
        found["limits, fleet"] = limited.measure(round(limited.COUNT * args.scale), **_fresh(rabbit, redis))
    if "dedicated" in args.parts:
        found["dedicated queues, fleet"] = dedicated.measure(rabbit, args.scale, **_fresh(rabbit, redis))
    if "steps" in args.parts:
        redis.flush()
        found["steps, Redis"] = steps.measure(redis, args.scale)
    if "pages" in args.parts:
        redis.flush()
        found["pages, fleet"] = pages.measure("fleet", args.rows or pages.ROWS, Path(), redis.url)
    if "bare" in args.parts:
        redis.flush()
        found["bare"] = bare.measure(rabbit.new_vhost(), redis.url, round(10_000 * args.scale))


def _fresh(rabbit: RabbitMQ, redis: Redis) -> dict[str, str]:
    """Addresses of an empty fleet."""
    redis.flush()
    return {"broker": rabbit.new_vhost(), "redis": redis.url}


def _print(found: dict[str, Any], args: argparse.Namespace) -> None:
    lines = [f"scale {args.scale:g}, appendfsync {args.fsync}, 8 slots, 500 shops"]
    for name, figures in found.items():
        lines.append(f"\n{name}")
        lines += [f"  {what:<60} {number:>12,.2f}" for what, number in figures.items()]
    lines.append("\nTimings on shared machines are noisy: compare the ratios of one run, not runs.")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
