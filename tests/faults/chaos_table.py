"""What a chaos run tells at its end, and whether the promise was kept."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.domain.task.record import Task
from services.domain.task.status import TERMINAL
from services.version import VERSION
from tests.faults.chaos_operator import Operator
from tests.faults.chaos_world import Outage, World, starts_of, versions

ENDED = {*map(str, TERMINAL), "held"}


@dataclass(frozen=True)
class Peace:
    """What stands when the faults are over."""

    seconds: float  #: until everything had ended
    clean: bool  #: the workers left by themselves
    faults: dict[str, int]  #: how many of each kind
    slots: str  #: how busy they were
    newcomers: str  #: commands and workers that began meanwhile
    refused: int  #: commands that submit and ended with an error of their own


def tell(world: World, command: str, told: set[str], begun: Sequence[float], operator: Operator, peace: Peace) -> bool:
    """Print the table; False where a task is lost, has two outcomes, or an operator was told what is not true.

    ``told``: ids that a submitting command has answered with. ``begun``: instants (monotonic) at which work began.
    """
    tasks = {task.task_id: task for task in world.tasks()}
    lost = sorted(told - set(tasks)) + [name for name, task in tasks.items() if task.status not in ENDED]
    twice = [name for name, task in tasks.items() if _outcomes(task) > 1]
    untrue = operator.verdict(tasks)
    starts = starts_of(world.seen)
    again = sum(max(0, starts.get(name, 0) - 1 - task.retries) for name, task in tasks.items())
    unknown = set(starts) - set(tasks)
    kinds = Counter(peace.faults).most_common()
    total = sum(peace.faults.values())
    takeovers = [taken for task in tasks.values() for taken in _takeovers(task, world.killed)]
    waits = [_first_start(task) - task.created_at for task in tasks.values() if _first_start(task)]
    overtaken = max(_overtaken(tasks.values()), default=0)
    status = Counter(str(task.status) for task in tasks.values())
    tracebacks = world.printed().count("Traceback (most recent call last)")
    rows: list[tuple[str, str]] = [
        ("date, version", f"{datetime.now(UTC):%Y-%m-%d}, Fleetdeck {VERSION}, {versions(world)}"),
        ("command", f"`{command}`"),
        ("submitted", f"{len(tasks)} recorded (with what was republished), {len(told)} answered"),
        ("ended as", ", ".join(f"{count} {name}" for name, count in status.most_common())),
        ("faults", f"{total}: " + ", ".join(f"{count} {name}" for name, count in kinds if count)),
        ("lost (aim 0)", f"{len(lost) + len(unknown)}"),
        ("recorded twice (aim 0)", f"{len(twice)}"),
        (
            "an operator meanwhile",
            f"{len(operator.cancelled)} cancelled, {operator.moved} moved, {len(operator.republished)} republished;"
            f" {operator.unanswered} times no answer; answered and not true (aim 0): {len(untrue)}",
        ),
        ("duplicate starts", f"{again}, {1000 * again / max(1, total):.0f} per 1,000 faults"),
        ("takeover after a kill, p50 / p99", _spread(takeovers, 1000)),
        ("work goes on after a server is back, p50 / p99", _spread(_returns(world.outages, begun, silent=False), 1)),
        ("the same after a silent cut", _spread(_returns(world.outages, begun, silent=True), 1)),
        ("wait for the first start, p50 / p99", _spread(waits, 1000)),
        ("longest wait for the first start", f"{max(waits, default=0) / 1000:.1f} s"),
        (
            "longest wait while later ones of the lane began",
            f"{overtaken / 1000:.1f} s, gates and new priorities apart",
        ),
        ("all settled after the last fault", f"{peace.seconds:.0f} s"),
        ("slots with work, while more waited than could run", peace.slots),
        ("begun meanwhile", peace.newcomers),
        ("submitting commands that failed", f"{peace.refused}"),
        ("left in the broker; workers left in good order", f"{world.messages()}; {'yes' if peace.clean else 'no'}"),
        ("unforeseen errors in their logs", f"{tracebacks}"),
    ]
    print(f"\n| {world.kind} | |\n| --- | --- |")
    print("\n".join(f"| {name} | {value} |" for name, value in rows), flush=True)
    for name in [one for one, task in tasks.items() if starts.get(one, 0) > 1 + task.retries][:8]:
        print(f"began {starts[name]} times: {name}: {tasks[name].steps}", file=sys.stderr)
    for name in (*lost, *twice, *untrue)[:5]:
        print(f"{name}: {tasks[name].steps if name in tasks else 'no record'}", file=sys.stderr)
    return not (lost or twice or unknown or untrue)


def _outcomes(task: Task) -> int:
    """How often an end was recorded; putting a dead letter away is none."""
    ends = sum(step.to in TERMINAL and step.from_ != step.to for step in task.steps)
    return max(ends, sum(one.outcome == "succeeded" for one in task.attempts))


def _takeovers(task: Task, killed: dict[int, int]) -> list[float]:
    """Milliseconds from the kill of its worker to its next start."""
    found: list[float] = []
    for one in task.attempts:
        at = next((at for pid, at in killed.items() if one.outcome == "lost" and f"-{pid}-" in one.worker), 0)
        after = next((step.at for step in task.steps if at and step.to == "running" and step.at > at), 0)
        if after:
            found.append(after - at)
    return found


def _first_start(task: Task) -> int:
    return next((step.at for step in task.steps if step.to == "running"), 0)


def _overtaken(tasks: Iterable[Task]) -> list[int]:
    """Milliseconds from the first start of a task of its lane that came later, to its own, of each that met no gate and
    whose priority nobody has changed.
    """
    found: list[int] = []
    earliest: dict[str, int] = {}
    for task in sorted(tasks, key=lambda one: one.created_at, reverse=True):
        first = _first_start(task)
        if first and not task.gen and all(step.to != "blocked" for step in task.steps):
            found.append(max(0, first - earliest.get(task.lane, first)))
            earliest[task.lane] = min(first, earliest.get(task.lane, first))
    return found


def _returns(outages: Sequence[Outage], starts: Sequence[float], *, silent: bool) -> list[float]:
    """Seconds from the end of an outage to the next start of a task, where no other outage falls in between."""
    found: list[float] = []
    for one in outages:
        after = next((at for at in starts if at >= one.ended), math.inf)
        alone = all(other is one or other.ended < one.began or other.began > after for other in outages)
        if one.silent == silent and alone and after < math.inf:
            found.append(after - one.ended)
    return found


def _spread(values: Sequence[float], per_second: float) -> str:
    if not values:
        return "none"
    ordered = sorted(values)
    p50, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] / per_second for share in (0.5, 0.99))
    return f"{p50:.1f} s / {p99:.1f} s ({len(ordered)})"
