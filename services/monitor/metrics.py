"""What a worker knows of itself and of the fleet, in the text form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight.worker import STATES, FleetNow
from services.domain.task.order import QueueDepth
from services.domain.task.query import Counts

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]
Sample = tuple[Labels, float]


@dataclass(frozen=True, slots=True)
class Metric:
    """One name with its samples."""

    name: str
    kind: str  #: gauge | counter
    help: str
    samples: tuple[Sample, ...]


def of_worker(info: WorkerInfo, *, leads: bool) -> list[Metric]:
    """From its last heartbeat."""
    words = {"worker": info.worker, "host": info.host, "version": info.version, "state": info.state}
    numbers: tuple[tuple[str, str, str, float], ...] = (
        ("slots", "gauge", "Tasks that it runs at once at most", len(info.slots)),
        ("slots_busy", "gauge", "Slots with a task in them", info.busy),
        ("prefetched", "gauge", "Messages that it holds and has not claimed", info.prefetched),
        ("tasks_succeeded_total", "counter", "Tasks that succeeded here", info.done),
        ("tasks_failed_total", "counter", "Attempts that failed here", info.failed),
        ("cpu_percent", "gauge", "Percent of one core, this process alone", info.cpu),
        ("memory_bytes", "gauge", "Resident memory of this process alone", info.memory_mb * 1e6),
        ("machine_cpu_percent", "gauge", "Percent of the whole machine", info.cpu_machine),
        ("machine_memory_percent", "gauge", "Percent of the whole machine", info.memory_machine),
        ("browsers", "gauge", "Browsers that it has running", info.browsers),
        ("leads", "gauge", "1 where this process leads the fleet", float(leads)),
        ("publisher_blocked", "gauge", "1 where the broker holds its messages back", float(info.link.blocked_at > 0)),
        (
            "publishes_unanswered",
            "gauge",
            "Messages given up since the last confirm",
            info.link.unanswered,
        ),
        ("started_seconds", "gauge", "When it began, seconds since 1970", info.started_at / 1000),
    )
    known = [
        Metric(f"fleetdeck_worker_{name}", kind, text, (({}, value),))
        for name, kind, text, value in numbers
        if value >= 0
    ]
    return [Metric("fleetdeck_worker_info", "gauge", "1, with what it is in the labels", ((words, 1.0),)), *known]


def of_fleet(
    counts: Counts, depths: Iterable[QueueDepth], fleet: FleetNow | None = None, *, late_schedules: int = 0
) -> list[Metric]:
    """The same from every worker of a fleet: take the maximum, not the sum."""
    lanes = [depth for depth in depths if depth.kind == "lane"]
    statuses = tuple(({"status": str(name)}, float(number)) for name, number in sorted(counts.status.items()))
    workers = (
        [
            Metric(
                "fleetdeck_workers",
                "gauge",
                "Workers by what is true of them",
                tuple(({"state": state}, float(fleet.number(state))) for state in STATES),
            ),
            Metric("fleetdeck_slots", "gauge", "Slots of workers that take work", (({}, float(fleet.slots)),)),
            Metric("fleetdeck_slots_busy", "gauge", "Those of them with a task", (({}, float(fleet.busy)),)),
            Metric(
                "fleetdeck_schedules_late",
                "gauge",
                "Schedules past due that nobody fired",
                (({}, float(late_schedules)),),
            ),
        ]
        if fleet is not None
        else []
    )
    return [
        *workers,
        Metric(
            "fleetdeck_tasks_unsent",
            "gauge",
            "Tasks recorded whose message is not in the broker",
            (({}, float(counts.unsent)),),
        ),
        Metric("fleetdeck_tasks", "gauge", "Records by status", statuses),
        Metric(
            "fleetdeck_lane_ready",
            "gauge",
            "Messages of a lane that nobody holds",
            tuple(({"lane": depth.name.removeprefix("rpa_tasks_")}, float(depth.ready)) for depth in lanes),
        ),
        Metric(
            "fleetdeck_dead_letters_open",
            "gauge",
            "Dead letters that nobody has decided about",
            (({}, float(counts.triage.get("open", 0))),),
        ),
    ]


def text(metrics: Iterable[Metric]) -> str:
    """The page."""
    lines: list[str] = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        lines += [f"{metric.name}{_labels(labels)} {value:.15g}" for labels, value in metric.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
