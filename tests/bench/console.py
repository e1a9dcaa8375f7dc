"""The console's budgets: the real window offscreen, over a fleet that another process keeps busy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.domain.fleet.shop import Shop
from services.engine.producer import TaskSpec
from tests.bench import pages
from tests.bench.pairs import CountMismatch, Pair
from tests.bench.traffic import MARKED

EVENTS = 2000
SECONDS = 20.0
FILL = 20_000
COMPILED = ("services", "views", "console", "tests/bench", "tests/support")


def measure(
    home: Path,
    scale: float,
    *,
    shops: int = 500,
    events: float = EVENTS,
    soak: float = 0.0,
    rows: int = 0,
    row_shops: int = pages.SHOPS,
    **urls: str,
) -> dict[str, Any]:
    """Figures of the console over one driver pair; ``stacks`` holds what the GUI thread did while it was late.

    ``rows``: so many records of ``row_shops`` besides, in every status, as some busy weeks would leave them, and no
    message of theirs.
    """
    pair = Pair(home, **urls)
    try:
        _prepare(pair, shops, round(FILL * scale))
        if rows:
            pages.fill(pair.engine.store, rows, row_shops)
    finally:
        pair.close()
    words = _words(home, urls)
    traffic = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.traffic", *words, "--events", str(events), "--shops", str(shops)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert traffic.stdout is not None
        if traffic.stdout.readline() != "ready\n":
            raise CountMismatch("the traffic did not start")
        time.sleep(2.0)
        return _probe(words, max(6.0, SECONDS * scale), soak)
    finally:
        traffic.communicate("", timeout=60)


def at_rest(home: Path, **urls: str) -> dict[str, Any]:
    """The same window over a fleet in which nothing happens: how soon it is there, and what it takes."""
    return dict(_probe(_words(home, urls), 0.0, 0.0, "--rest")["figures"])


def _words(home: Path, urls: Mapping[str, str]) -> list[str]:
    return ["--home", str(home), *(part for name, url in urls.items() for part in (f"--{name}", url))]


def _probe(words: list[str], seconds: float, soak: float, *more: str) -> dict[str, Any]:
    surroundings = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    # as ``make run`` does it: compiling every module would be most of the start, and a first run after a change does
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-m", "compileall", "-q", *COMPILED], env=surroundings, check=True)
    command = [sys.executable, "-m", "tests.bench.console_probe", *words, "--seconds", str(seconds)]
    command += ["--soak", str(soak), "--begun", str(time.time()), *more]
    done = subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _prepare(pair: Pair, shops: int, tasks: int) -> None:
    """Shops, old tasks, and the marked tasks that stay in sight."""
    rows = [Shop(platform="pdd", shop_id=f"shop{number:05d}", name=f"店铺 {number:05d}") for number in range(shops)]
    pair.engine.store.put_shops([*rows, Shop(platform="pdd", shop_id="marked")])
    pair.engine.broker.ensure(platforms={"pdd"})
    marked = [
        TaskSpec(platform="pdd", shop_id="marked", task_type="noop", payload={"n": n}, delay_s=86_400.0, origin="bench")
        for n in range(MARKED)
    ]
    pair.engine.store.put_document("bench", "marked", ",".join(pair.create(marked)))
    for kind, count in (("noop", tasks), ("bench_fail", 200)):
        for first in range(0, count, 5000):
            pair.create(
                [
                    TaskSpec(
                        platform="pdd",
                        shop_id=f"shop{number % shops:05d}",
                        task_type=kind,
                        payload={"n": number - count},
                        origin="bench",
                    )
                    for number in range(first, min(count, first + 5000))
                ]
            )
