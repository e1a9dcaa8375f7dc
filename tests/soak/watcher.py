"""A console without its window, open for as long as the run: ``python -m tests.soak.watcher FACTOR FILE BROKER REDIS``.

It follows events and asks what the pages ask; every two seconds it writes down how late it heard of things.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.soak import hurry

LOOK_S = 2.0


def main() -> int:
    """Watch until SIGTERM."""
    factor, path, broker, redis = sys.argv[1:]
    hurry.apply(float(factor))
    settings: Any = importlib.import_module("services.settings")
    opening: Any = importlib.import_module("console.connection.open_connection")
    errors: Any = importlib.import_module("services.domain.errors")
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    connection = opening.OpenConnection(settings.load(broker=broker, redis=redis))
    failed, worst = 0, 0.0
    try:
        connection.start()
        while not ended.wait(LOOK_S):
            begun = time.monotonic()
            try:
                _look(connection)
            except errors.ConsoleError:
                failed += 1
            worst = time.monotonic() - begun
            seen = connection.live.snapshot()
            _write(Path(path), {"lag_ms": seen.lag_ms, "look_ms": 1000 * worst, "failed": failed})
    finally:
        connection.close(0.0)
    return 0


def _look(connection: Any) -> None:
    """What Overview, Tasks, Dead letters, Queues and Shops ask while they are open."""
    connection.overview.now()
    connection.queries.tasks.page("")
    connection.queries.tasks.page("status:dead", limit=50)
    connection.queries.causes.causes()
    connection.queues.now()
    connection.queries.batches.page(50)


def _write(path: Path, told: dict[str, float]) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(told), encoding="utf-8")
    fresh.replace(path)


if __name__ == "__main__":
    sys.exit(main())
