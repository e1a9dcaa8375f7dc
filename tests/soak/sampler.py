"""What is measured every half a minute, and how much of it may rise."""

from __future__ import annotations

import contextlib
import csv
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from redis import RedisError

from services.domain.errors import ConsoleError
from services.store.redis import keys
from tests.soak.account import Account
from tests.soak.verdict import Bound
from tests.soak.world import World

MB = 1 << 20
#: what an act leaves in the audit, which nothing trims (resources/docs/retention.md)
AUDIT_REDIS, AUDIT_SQLITE = 1_200, 900
#: by the end of a series' name. None: it is told and not judged, for it is kept for ever, or rises until it is cleared
#: away at a size that a short run does not reach.
BOUNDS: Mapping[str, Bound | None] = {
    "rss_mb": Bound(5.0),
    "fds": Bound(4.0),
    "threads": Bound(3.0),
    "rabbitmq.rss_mb": Bound(20.0, 0.1),
    "rabbitmq.threads": None,
    "home_mb": Bound(3.0),
    "sqlite_mb": None,
    "sqlite_less_audit_mb": Bound(1.0),
    "wal_mb": Bound(5.0, 0.1),
    "redis.used_mb": None,
    "redis.less_audit_mb": Bound(1.0),
    "redis.file_mb": None,
    "redis.keys": Bound(500.0),
    "redis.clients": Bound(3.0),
    "rabbitmq.memory_mb": Bound(20.0, 0.1),
    "rabbitmq.connections": Bound(2.0),
    "rabbitmq.channels": Bound(4.0),
    "rabbitmq.queues": Bound(1.0),
    "messages": Bound(100.0, 0.1),
    "lag_ms": Bound(250.0, 0.5),
    "look_ms": Bound(250.0, 0.5),
    "p99_start_ms": Bound(500.0, 0.5),
    "unfinished": Bound(100.0, 0.1),
    "rows": Bound(300.0),
    "rows.audit": None,
    "rows.audit_heads": Bound(20.0),
}


def bound_of(series: str) -> Bound | None:
    """The most particular of ``BOUNDS`` that fits.

    Raises:
        KeyError: nobody has said how much it may rise.
    """
    head, _, rest = series.partition(".")
    for name in (series, rest, head):
        if name in BOUNDS:
            return BOUNDS[name]
    raise KeyError(series)


class Sampler:
    """Asks everybody; what does not answer at the moment is left out of that row."""

    def __init__(self, world: World, account: Account) -> None:
        self._world, self._account = world, account

    def sample(self) -> dict[str, float]:
        """Names as in ``BOUNDS``, with what they are of in front."""
        found: dict[str, float] = {}
        for name, pids in self._world.processes().items():
            found |= of_processes(name, pids, most=name == "comers")
        found["home_mb"] = size_of(self._world.home) / MB
        waits, lag = self._account.take()
        found |= {"lag_ms": lag, "unfinished": float(len(self._account.unfinished()))}
        if waits:
            found["p99_start_ms"] = percentile(waits, 0.99)
        with contextlib.suppress(OSError, ValueError):
            told = json.loads(self._world.watched.read_text(encoding="utf-8"))
            found |= {"watcher.lag_ms": float(told["lag_ms"]), "watcher.look_ms": float(told["look_ms"])}
        with contextlib.suppress(ConsoleError):
            depths = self._world.fleet.engine.broker.depths()
            found["messages"] = float(sum(depth.ready + (depth.unacked or 0) for depth in depths))
        # a server that has no answer at the moment, or no numbers yet
        with contextlib.suppress(OSError, ValueError, LookupError, sqlite3.Error, RedisError):
            found |= self._servers() if self._world.kind == "fleet" else self._file()
        return found

    def _file(self) -> dict[str, float]:
        path = self._world.database
        found = {"wal_mb": _size(path.with_name(f"{path.name}-wal")) / MB, "sqlite_mb": _size(path) / MB}
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30.0)) as conn:
            tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                if not table.startswith("sqlite_"):
                    (found[f"rows.{table}"],) = conn.execute(f'SELECT count(*) FROM "{table}"').fetchone()
        found["sqlite_less_audit_mb"] = found["sqlite_mb"] - found.get("rows.audit", 0.0) * AUDIT_SQLITE / MB
        return found

    def _servers(self) -> dict[str, float]:
        link = self._world.redis
        used = float(link.info("memory")["used_memory"])
        audit = float(link.hlen(keys.AUDIT))
        node = self._world.api("/api/nodes")[0]
        totals = self._world.api("/api/overview")["object_totals"]
        return {
            "redis.used_mb": used / MB,
            "redis.less_audit_mb": (used - audit * AUDIT_REDIS) / MB,
            "redis.keys": float(link.dbsize()),
            "redis.clients": float(link.info("clients")["connected_clients"]),
            "redis.file_mb": size_of(self._world.redis_server.directory) / MB,
            "rows.audit": audit,
            "rows.events": float(link.xlen(keys.EVENTS)),
            "rabbitmq.memory_mb": float(node.get("mem_used", 0)) / MB,
            "rabbitmq.connections": float(totals["connections"]),
            "rabbitmq.channels": float(totals["channels"]),
            "rabbitmq.queues": float(totals["queues"]),
        }


def of_processes(name: str, pids: Sequence[int], *, most: bool = False) -> dict[str, float]:
    """Memory, descriptors and threads of each with its children, in all; ``most``: of the largest alone."""
    rows: list[tuple[float, float, float]] = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(pid)
            row = [0.0, 0.0, 0.0]
            for one in (first, *(first.children(recursive=True) if name == "rabbitmq" else ())):
                with contextlib.suppress(psutil.NoSuchProcess):
                    row[0] += one.memory_info().rss / MB
                    row[1] += one.num_fds()
                    row[2] += one.num_threads()
            rows.append((row[0], row[1], row[2]))
    if not rows:
        return {}
    columns = list(zip(*rows, strict=True))
    rss, fds, threads = (max(column) if most else sum(column) for column in columns)
    return {f"{name}.rss_mb": rss, f"{name}.fds": fds, f"{name}.threads": threads}


def size_of(folder: Path) -> int:
    """Bytes on the disk of all files below; what goes away meanwhile is not counted."""
    return sum(_size(path) for path in folder.rglob("*"))


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError:
        return 0
    return 512 * found.st_blocks


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so many do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Table:
    """The samples in the order of time, and their file: what was measured is there whatever happens to the run."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.rows: list[tuple[float, dict[str, float]]] = []
        self._columns: list[str] = []

    def add(self, hours: float, found: Mapping[str, float]) -> None:
        """One row; a series that appears later gets a column then."""
        self.rows.append((hours, dict(found)))
        if fresh := [name for name in found if name not in self._columns]:
            self._columns += fresh
            with self.path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["hours", *self._columns])
                writer.writerows(self._line(*row) for row in self.rows)
            return
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(self._line(hours, found))

    def series(self) -> dict[str, list[tuple[float, float]]]:
        """Points of each, by name."""
        return {name: [(hours, found[name]) for hours, found in self.rows if name in found] for name in self._columns}

    def _line(self, hours: float, found: Mapping[str, float]) -> list[str]:
        return [f"{hours:.4f}", *(f"{found[name]:.6g}" if name in found else "" for name in self._columns)]
