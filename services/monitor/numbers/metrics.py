"""What a worker knows of itself and of the fleet, in the text form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight.depth import LaneDepth
from services.domain.insight.worker import STATES, FleetNow
from services.domain.promises.judge import STATES as PROMISE_STATES
from services.domain.task.lane import LANE_QUEUE, LANES
from services.domain.task.order import QueueDepth
from services.domain.task.search.query import Counts, equals
from services.domain.task.status import WAITING, Status
from services.monitor.numbers.oldest import waited_ms
from services.monitor.promises import DISABLED, UNJUDGED, PromisesNow
from services.ports import Store

#: of a promise that was judged, but not of late
STALE = "stale"


def of_worker(info: WorkerInfo, *, leads: bool) -> list[Metric]:
    """From its last heartbeat."""
    words = {"worker": info.worker, "host": info.host, "version": info.version, "state": info.state}
    counter, gauge = CounterMetricFamily, GaugeMetricFamily
    numbers: tuple[tuple[str, type[CounterMetricFamily | GaugeMetricFamily], str, float], ...] = (
        ("slots", gauge, "Tasks that it runs at once at most", len(info.slots)),
        ("slots_busy", gauge, "Slots with a task in them", info.busy),
        ("prefetched", gauge, "Messages that it holds and has not claimed", info.prefetched),
        ("tasks_succeeded_total", counter, "Tasks that succeeded here", info.done),
        ("tasks_failed_total", counter, "Attempts that failed here", info.failed),
        ("cpu_percent", gauge, "Percent of one core, this process alone", info.cpu),
        ("memory_bytes", gauge, "Resident memory of this process alone", info.memory_mb * 1e6),
        ("machine_cpu_percent", gauge, "Percent of the whole machine", info.cpu_machine),
        ("machine_memory_percent", gauge, "Percent of the whole machine", info.memory_machine),
        ("browsers", gauge, "Browsers that it has running", info.browsers),
        ("leads", gauge, "1 where this process leads the fleet", float(leads)),
        ("publisher_blocked", gauge, "1 where the broker holds its messages back", float(info.link.blocked_at > 0)),
        (
            "publishes_unanswered",
            gauge,
            "Messages given up since the last confirm",
            info.link.unanswered,
        ),
        ("started_seconds", gauge, "When it began, seconds since 1970", info.started_at / 1000),
    )
    known = [family(f"fleetdeck_worker_{name}", text, value) for name, family, text, value in numbers if value >= 0]
    # a gauge, not an Info: its labels say what may change while it runs
    named = GaugeMetricFamily("fleetdeck_worker_info", "1, with what it is in the labels", labels=list(words))
    named.add_metric(list(words.values()), 1.0)
    return [named, *known]


def of_fleet(
    counts: Counts,
    depths: Iterable[QueueDepth],
    fleet: FleetNow | None = None,
    *,
    late_schedules: int = 0,
    leader: str = "",
) -> list[Metric]:
    """The same from every worker of a fleet: take the maximum, not the sum. ``leader``: who leads, "" for nobody."""
    workers = (
        [
            _by("fleetdeck_workers", "Workers by what is true of them", "state", {s: fleet.number(s) for s in STATES}),
            GaugeMetricFamily("fleetdeck_slots", "Slots of workers that take work", fleet.slots),
            GaugeMetricFamily("fleetdeck_slots_busy", "Those of them with a task", fleet.busy),
            GaugeMetricFamily("fleetdeck_led", "1 where a process leads the fleet, worker or not", float(bool(leader))),
            GaugeMetricFamily("fleetdeck_schedules_late", "Schedules past due that nobody fired", late_schedules),
        ]
        if fleet is not None
        else []
    )
    lanes = {depth.name.removeprefix(LANE_QUEUE): depth.ready for depth in depths if depth.kind == "lane"}
    unsent, open_letters = counts.unsent, counts.triage.get("open", 0)
    # also those of which there is none now: what is left out is no 0 to Prometheus, and a rule on it never fires
    records = dict.fromkeys(sorted(Status), 0) | counts.status
    return [
        *workers,
        GaugeMetricFamily("fleetdeck_tasks_unsent", "Tasks recorded whose message is not in the broker", unsent),
        _by("fleetdeck_tasks", "Records by status", "status", records),
        _by("fleetdeck_lane_ready", "Messages of a lane that nobody holds", "lane", lanes),
        GaugeMetricFamily("fleetdeck_dead_letters_open", "Dead letters that nobody has decided about", open_letters),
    ]


def of_lanes(store: Store, rows: Iterable[LaneDepth], *, unacked: bool, told: bool = True) -> list[Metric]:
    """Lane by lane, ``dedicated`` for all queues of single shops. ``unacked``: the broker tells what consumers hold;
    ``told``: it tells anything. Blocking.
    """
    known = list(rows)
    text = "Messages that nobody holds, and what is parked"
    found = [_by("fleetdeck_lane_depth", text, "lane", {row.lane: row.depth for row in known})] if told else []
    found += [
        _by("fleetdeck_lane_parked", "Tasks parked at gates", "lane", {r.lane: r.blocked for r in known}),
        _by(
            "fleetdeck_lane_retrying",
            "Tasks that wait for their next attempt",
            "lane",
            {r.lane: r.retrying for r in known},
        ),
    ]
    if unacked:
        text = "Messages that consumers hold and have not settled"
        found.append(_by("fleetdeck_lane_unacked", text, "lane", {row.lane: row.unacked for row in known}))
    text = "Age of the task that has waited longest, 0 where none waits"
    return [*found, _by("fleetdeck_lane_oldest_wait_seconds", text, "lane", oldest(store))]


def of_promises(now: PromisesNow) -> list[Metric]:
    """Promises by state, and of each one its shops by state. What nobody has judged of late has the state ``stale`` and
    no shops: a number of yesterday would be a good one.
    """
    states: dict[str, float] = dict.fromkeys((*PROMISE_STATES, UNJUDGED, STALE), 0.0)
    text = "Shops of a promise by state, as they were judged last"
    shops = GaugeMetricFamily("fleetdeck_promise_shops", text, labels=["promise", "state"])
    for row in now.rows:
        if row.state == DISABLED:
            continue
        stale = row.stale or row.standing is None
        states[(UNJUDGED if row.state == UNJUDGED else STALE) if stale else row.state] += 1
        if row.standing is not None and not stale:
            for state in PROMISE_STATES:
                shops.add_metric([row.name, state], getattr(row.standing, state))
    return [_by("fleetdeck_promises", "Promises that are judged, by state", "state", states), shops]


def oldest(store: Store) -> dict[str, float]:
    """Seconds that the oldest waiting task of each lane has waited. Blocking."""
    waits = equals("status", *sorted(WAITING))
    return {lane: waited_ms(store, waits, equals("lane", lane)) / 1000 for lane in LANES}


def _by(name: str, text: str, label: str, numbers: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, number in numbers.items():
        family.add_metric([str(value)], number)
    return family
