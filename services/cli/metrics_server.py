"""Serves the metrics of a worker over HTTP, on the loopback address unless another one is named."""

from __future__ import annotations

import argparse
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from services.domain.errors import ConsoleError, UsageError
from services.monitor import metrics
from services.monitor.metrics import Metric

LOOPBACK = "127.0.0.1"
#: seconds for which an answer about the fleet is given again: each costs broker and store a look
FRESH_S = 5.0
Source = Callable[[], list[Metric]]


def address(text: str) -> tuple[str, int]:
    """Read ``PORT`` or ``HOST:PORT``.

    Raises:
        argparse.ArgumentTypeError: it is neither.
    """
    host, colon, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535 or (colon and not host):
        raise argparse.ArgumentTypeError(f"takes PORT or HOST:PORT, not {text!r:.60}")
    return host.strip("[]") or LOOPBACK, int(port)


@contextlib.contextmanager
def serving(where: tuple[str, int] | None, own: Source, fleet: Source) -> Iterator[str]:
    """Answer while the block runs; its address, "" for None.

    Raises:
        UsageError: nobody may listen there.
    """
    if where is None:
        yield ""
        return
    kept = _Kept(fleet)

    class Handler(_Handler):
        def page(self) -> str:
            return metrics.text([*own(), *kept.metrics()])

    try:
        server = ThreadingHTTPServer(where, Handler)
    except OSError as exc:
        text = f"{where[0]}:{where[1]} cannot be listened on: {exc.strerror or exc}"
        raise UsageError(text, field="--metrics") from exc
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield f"http://{where[0]}:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Kept:
    """What was told about the fleet a moment ago; what cannot be asked is left out, for the worker itself is well."""

    def __init__(self, source: Source) -> None:
        self._source, self._lock = source, threading.Lock()
        self._found: list[Metric] = []
        self._until = float("-inf")

    def metrics(self) -> list[Metric]:
        with self._lock:
            if time.monotonic() >= self._until:
                try:
                    self._found = self._source()
                except ConsoleError:
                    self._found = []
                self._until = time.monotonic() + FRESH_S
            told: tuple[metrics.Sample, ...] = (({}, float(bool(self._found))),)
            up = Metric("fleetdeck_services_up", "gauge", "1 where broker and store answer", told)
            return [up, *self._found]


class _Handler(BaseHTTPRequestHandler):
    """Two pages, nothing to write to."""

    timeout = 10.0

    def page(self) -> str:
        raise NotImplementedError

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/metrics":
            self._answer(200, self.page(), metrics.CONTENT_TYPE)
        elif self.path == "/healthz":
            self._answer(200, "ok\n", "text/plain")
        else:
            self._answer(404, "metrics are at /metrics\n", "text/plain")

    def _answer(self, status: int, body: str, kind: str) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """A line for each look of Prometheus would be the whole log."""
