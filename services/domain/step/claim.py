"""Claims: whether a delivered task may start, and where it waits if not."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.change import Answer, Claim
from services.domain.gates import home, listed, paused
from services.domain.step import at_limit, passes, slots, starting, transitions, twins
from services.domain.step.dependants import conclude, forget_needs
from services.domain.step.view import Mark, View
from services.domain.task.record import Task
from services.domain.task.status import HELD, QUEUED, RUNNING, SCHEDULED

_EXCUSED = frozenset({"forced", transitions.AGAIN})


def claim(view: View, op: Claim) -> Answer:
    """Take the lease, or name the closed gate."""
    record = view.get(op.task_id)
    known = record is not None
    task = record or _adopt(view, op)
    if isinstance(task, Answer):
        return task
    code = _answer_without_gates(task, op)
    noticed = op.adopt is not None and transitions.NOTICED in task.marks
    if noticed:
        task = view.put(transitions.unnoticed(task))
    if code:
        return Answer("stale" if noticed and code == "ended" else code, task)
    if known and not noticed:
        view.delivered(task)
    view.shops.register(task.shop)
    if op.foreign_done:
        slots.give_back(view, task)
        done = view.put(transitions.foreign_done(task, view.now), Mark.CLEAR)
        forget_needs(view, task.task_id)
        return Answer("ended", done, conclude(view, done))
    released: list[Task] = []
    gate, scope = starting.closed_gate(view, task, released)
    gate = gate or _of_worker(view, task, op)
    if gate:
        return Answer("blocked", _park(view, task, gate, scope, released), tuple(released))
    return _hold_done(view, task, op, released) or _start(view, task, op, released)


def _start(view: View, task: Task, op: Claim, released: list[Task]) -> Answer:
    slots.give_back(view, task)
    passes.used(view, task.task_id)
    running = view.put(transitions.started(task, op, view.now), Mark.CLEAR)
    view.limits.started(running)
    if op.home:
        view.homes.settle(task.shop, op.home)
    return Answer("run", running, tuple(released))


def _hold_done(view: View, task: Task, op: Claim, released: list[Task]) -> Answer | None:
    """What another task has done already waits for a person, unless one has given a reason."""
    if not op.done_since and not op.once:
        return None
    done = view.works.done(task, _not_since(task, op))
    if done is None or task.reason or not _EXCUSED.isdisjoint(task.marks):
        return None
    slots.give_back(view, task)
    forget_needs(view, task.task_id)
    held = view.put(transitions.done_already(task, done, view.now), Mark.CLEAR)
    return Answer("stale", held, (*released, *conclude(view, held)))


def _not_since(task: Task, op: Claim) -> int:
    """Since when its work must not have succeeded, 0 for whenever: the window of its type, and of what may not run
    twice since it was created, for what came behind a twin was asked for before that one's success, whoever asked.
    """
    if not op.once or not task.steps:
        return op.done_since
    asked = task.steps[0].at
    return min(op.done_since, asked) if op.done_since else asked


def _of_worker(view: View, task: Task, op: Claim) -> str:
    """The gate that is closed for this worker alone."""
    node = view.homes.of(task.shop) if op.home else ""
    if node is None:  # at home somewhere, and nobody knows where
        return paused.GATE
    if node not in ("", op.home):
        return home.gate_of(node)
    return "" if op.able else home.NO_WORKER


def _park(view: View, task: Task, gate: str, scope: str, released: list[Task]) -> Task:
    """Let a task wait at a gate. Its promised slot goes to others, unless it is on its way to a capable worker."""
    fetched = home.is_fetched(gate)
    promised = task.task_id in view.shops.whole(task.shop).promised
    if not fetched:
        slots.give_back(view, task)
    elif promised:
        slots.promise(view, task, transitions.HANDOVER_MS)
    if gate == listed.TWIN:
        twins.note(view, task, "waits", twins.first(view, task.guard))
    parked = view.put(transitions.parked(task, gate, view.now), Mark.CLEAR)
    if scope:
        at_limit.wait(view, task, scope)
    if promised and not fetched:
        at_limit.freed(view, parked, released)
    return parked


def _adopt(view: View, op: Claim) -> Task | Answer:
    if op.adopt is None:
        return Answer("missing")
    if view.stones.get(op.task_id) is not None:
        return Answer("forgotten")
    status = HELD if op.adopt.status == HELD else QUEUED
    adopted = replace(op.adopt, task_id=op.task_id, status=status)
    return view.put(transitions.created(adopted, view.now))


def _answer_without_gates(task: Task, op: Claim) -> str:
    if task.ended:
        return "ended"
    if task.status == RUNNING:
        return "run" if task.owner == op.owner else "duplicate"
    same = (task.gen, task.attempt) == (op.gen, op.attempt)
    return "stale" if not same or task.status in (HELD, SCHEDULED) else ""
