"""Files of tasks as large as may be, read in a thread: how long each keeps the interpreter from all others."""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from services.commands.sheet import columns, table
from services.domain.errors import UsageError
from tests.bench.console_probe import queued_ms

ROWS, FILLING = 100_000, 410  #: together some 50 MB
HEAD = "platform,shop_id,task_type,note,n"
LOOK_S = 0.001


def measure(scale: float) -> dict[str, float]:
    """Processor seconds of each file, and of them the longest ms in which no other thread could run."""
    out: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="fleetdeck-bench-") as folder:
        for name, write in _FILES.items():
            path = Path(folder) / name
            path.write_bytes(write(round(ROWS * scale)))
            out |= _read(path)
            path.unlink()
    return out


def _read(path: Path) -> dict[str, float]:
    spent: list[float] = []

    def read() -> None:
        with contextlib.suppress(UsageError):  # a file of more rows than one may have is refused once they are counted
            table.read(path, known=columns.is_heading)
        spent.append(time.thread_time())

    reader = threading.Thread(target=read)
    reader.start()
    longest = _longest(reader, spent)
    reader.join()
    of = f"{path.name}, {path.stat().st_size / 1e6:.0f} MB"
    return {f"{of}: processor s": spent[0], f"{of}: held all other threads, longest ms": longest * 1000}


def _longest(reader: threading.Thread, spent: list[float]) -> float:
    """What it computed while we could have run: that we waited for a processor is left out."""
    assert reader.ident is not None
    clock, longest = time.pthread_getcpuclockid(reader.ident), 0.0
    before, looked, queued = time.clock_gettime(clock), time.perf_counter(), queued_ms()
    while not spent:
        time.sleep(LOOK_S)
        try:
            now = time.clock_gettime(clock)
        except OSError:  # it has ended
            break
        waited = time.perf_counter() - looked - (queued_ms() - queued) / 1000
        longest = max(longest, min(now - before, waited))
        before, looked, queued = now, time.perf_counter(), queued_ms()
    return longest


def _lines(rows: int) -> str:
    return "\n".join([HEAD, *(f'pdd,s{n % 5000},sync,"店铺 {n}, {"x" * FILLING}",{n}' for n in range(rows))])


def _objects(rows: int) -> list[dict[str, object]]:
    return [{"platform": "pdd", "shop_id": f"s{n % 5000}", "note": "店" + "x" * FILLING, "n": n} for n in range(rows)]


_FILES: dict[str, Callable[[int], bytes]] = {
    "utf-8.csv": lambda rows: _lines(rows).encode(),
    "gbk.csv": lambda rows: _lines(rows).encode("gb18030"),
    "utf-16.csv": lambda rows: _lines(rows // 2).encode("utf-16"),
    "lines.jsonl": lambda rows: "\n".join(json.dumps(one, ensure_ascii=False) for one in _objects(rows)).encode(),
    "list.json": lambda rows: json.dumps(_objects(rows), ensure_ascii=False).encode(),
    "narrow.csv": lambda rows: "\n".join([HEAD, *(f"pdd,s{n},sync,x,{n}" for n in range(20 * rows))]).encode(),
}
