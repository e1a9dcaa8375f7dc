"""Serves the metrics of a worker over HTTP, on the loopback address unless another one is named."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import ThreadingHTTPServer

from prometheus_client import CollectorRegistry, MetricsHandler
from prometheus_client.core import GaugeMetricFamily, Metric

from services.cli import spoken
from services.domain.errors import ConsoleError, UsageError

#: seconds for which an answer about the fleet is given again: each costs broker and store a look
FRESH_S = 5.0
Source = Callable[[], list[Metric]]


@contextlib.contextmanager
def serving(where: tuple[str, int], own: Source, fleet: Source) -> Iterator[str]:
    """Answer while the block runs; the address of its page.

    Raises:
        UsageError: nobody may listen there.
    """
    registry = CollectorRegistry(support_collectors_without_names=True)
    registry.register(_Numbers(own, fleet))
    try:
        server = ThreadingHTTPServer(where, _Handler.factory(registry))
    except OSError as exc:
        place, why = f"{where[0]}:{where[1]}", spoken.told(exc)
        text = spoken.phrase("{place} cannot be listened on: {why}", place=place, why=why)
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


class _Numbers:
    """The worker's own, and what was told about the fleet a moment ago.

    What cannot be asked is left out, for the worker itself is well.
    """

    def __init__(self, own: Source, fleet: Source) -> None:
        self._own, self._fleet, self._lock = own, fleet, threading.Lock()
        self._found: list[Metric] = []
        self._until = float("-inf")

    def collect(self) -> Iterable[Metric]:
        """Every number as it is now."""
        return [*self._own(), *self._of_fleet()]

    def _of_fleet(self) -> list[Metric]:
        with self._lock:
            if time.monotonic() >= self._until:
                try:
                    self._found = self._fleet()
                except ConsoleError:
                    self._found = []
                self._until = time.monotonic() + FRESH_S
            answered = float(bool(self._found))
            return [
                GaugeMetricFamily("fleetdeck_services_up", "1 where broker and store answer", answered),
                *self._found,
            ]


class _Handler(MetricsHandler):
    """Two pages, nothing to write to."""

    timeout = 10.0

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            super().do_GET()
        elif path == "/healthz":
            self._answer(200, b"ok\n")
        else:
            self._answer(404, b"metrics are at /metrics\n")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
