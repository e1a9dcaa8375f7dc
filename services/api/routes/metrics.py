"""Metrics: what Prometheus reads of the fleet, beside the prefix, where it looks for it."""

from __future__ import annotations

import threading
import time

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from services.api.follower import Follower
from services.api.here import Here
from services.assembly import Engine
from services.cli.metrics_server import FRESH_S
from services.domain.errors import BrokerUnavailable
from services.domain.insight import depth, schedule
from services.engine import fates
from services.engine.lead import leader
from services.monitor.numbers import metrics
from services.monitor.promises import PromiseQueries

router = APIRouter(tags=["metrics"])
#: so many late schedules are counted
LATE_COUNTED = 1000


class Kept:
    """What was told a moment ago, for each answer costs broker and store a look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: list[Metric] = []
        self._until = float("-inf")

    def of(self, engine: Engine) -> list[Metric]:
        """Everything about the fleet. Blocking."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._found = _fleet(engine)
                self._until = time.monotonic() + FRESH_S
            return self._found


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {CONTENT_TYPE_LATEST: {"schema": {"type": "string"}}}, "description": "As text."}},
    summary="Numbers for Prometheus",
)
def read(request: Request, here: Here) -> Response:
    follower: Follower = request.app.state.follower
    kept: Kept = request.app.state.metrics
    found = [*kept.of(here.engine), *follower.stopwatch.families()]
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(found))
    return Response(generate_latest(registry), headers={"content-type": CONTENT_TYPE_LATEST})


class _Once:
    """Hands out what was found."""

    def __init__(self, found: list[Metric]) -> None:
        self._found = found

    def describe(self) -> list[Metric]:
        """Nothing to compare: a registry of its own for each answer."""
        return []

    def collect(self) -> list[Metric]:
        """All of it."""
        return self._found


def _fleet(engine: Engine) -> list[Metric]:
    store = engine.store
    counts, now = store.counts(), store.now_ms()
    try:
        depths, told = engine.broker.depths(), True
    except BrokerUnavailable:  # what the records tell is true all the same, and wanted most while something is away
        depths, told = [], False
    late = sum(1 for one in store.due_schedules(LATE_COUNTED) if schedule.overdue(one.next_at, now))
    rows = depth.lanes(counts, depths)
    return [
        *metrics.of_fleet(counts, depths, fates.look(store), late_schedules=late, leader=store.leader(leader.ROLE)),
        *metrics.of_lanes(store, rows, unacked=depth.unacked_told(depths), told=told),
        GaugeMetricFamily("fleetdeck_broker_up", "1 where the broker answers", float(told)),
        *metrics.of_promises(PromiseQueries(store, engine.registry).now()),
    ]
