"""What is true of one worker and of all of them: heard of or not, what it holds, what became of what it held.

Two thresholds: from ``LATE_MS`` on a worker is not relied on any more and its tasks are *unconfirmed*; a claim lasts
longer, and only when it has run out (``SILENT_MS`` usually) the leader decides about its task.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.fleet.worker import (
    AMBER_AFTER_MS,
    NOBODY,
    SILENT_AFTER_MS,
    Farewell,
    SlotState,
    WorkerInfo,
)
from services.domain.task import classify, retry
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.counting import left_s
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_, NN_

LATE_MS, SILENT_MS = AMBER_AFTER_MS, SILENT_AFTER_MS
#: a claim that ran out is judged with the leader's next tick
TICK_MS = 1_000

FINE, DRAINING, STOPPING = "fine", "draining", "stopping"  #: heard of a moment ago
#: heard of a moment ago, and its connections to the broker do not stand: nothing reaches it
CUT_OFF = "cut_off"
LATE, SILENT = "late", "silent"  #: not heard of, and what it held is unconfirmed
GONE, STOPPED = "gone", "stopped"  #: it holds nothing any more; gone without a farewell, or stopped with one
STATES = (FINE, CUT_OFF, DRAINING, STOPPING, LATE, SILENT, GONE, STOPPED)
LIVING = frozenset({FINE, CUT_OFF, DRAINING, STOPPING})
MISSING = frozenset({LATE, SILENT, GONE})

UNCONFIRMED, AGAIN, WAITS, HELD, DEAD = "unconfirmed", "again", "waits", "held", "dead"
CANCELLED, DECIDED = "cancelled", "decided"

SENTENCES: dict[str, str] = {
    "worker.late": NN_("{n} task unconfirmed", "{n} tasks unconfirmed"),
    "worker.late_idle": N_("late; it held no task"),
    "worker.late_freed": N_("late; it holds no task any more"),
    "worker.silent": NN_("silent; {n} task unconfirmed", "silent; {n} tasks unconfirmed"),
    "worker.gone": N_("gone without a farewell"),
    "worker.idle": N_("it held no task"),
    "worker.back": NN_("{n} task goes to another worker in {span}", "{n} tasks go to others in {span}"),
    "worker.back_now": NN_("{n} task goes to another worker now", "{n} tasks go to others now"),
    "worker.back_alone": NN_(
        "{n} task goes back in {span} and waits for a worker", "{n} tasks go back in {span} and wait for a worker"
    ),
    "worker.hold": NN_(
        "{n} task will be held in {span}: a person decides", "{n} tasks will be held in {span}: a person decides"
    ),
    "worker.hold_now": NN_(
        "{n} task will be held now: a person decides", "{n} tasks will be held now: a person decides"
    ),
    "worker.die": NN_("{n} task becomes a dead letter in {span}", "{n} tasks become dead letters in {span}"),
    "worker.die_now": NN_("{n} task becomes a dead letter now", "{n} tasks become dead letters now"),
    "worker.left": NN_(
        "{n} task is unconfirmed until somebody leads", "{n} tasks are unconfirmed until somebody leads"
    ),
    "unheard.silent": N_(
        "{worker} has given no sign of life for {span}: nobody knows whether the task still runs there."
    ),
    "unheard.claim": N_("{worker} has not renewed its claim: nobody knows whether the task still runs there."),
    "unheard.unknown": N_("{worker} is not listed any more: nobody knows whether the task still runs there."),
    "unheard.back": N_("If it stays silent, the task goes to another worker in {span}."),
    "unheard.back_now": N_("It goes to another worker now."),
    "unheard.back_alone": N_("If it stays silent, the task goes back in {span} and waits for a worker; none is there."),
    "unheard.hold": N_("If it stays silent, the task is held in {span}: a person decides, for it may not run twice."),
    "unheard.hold_now": N_("It is held now: a person decides, for it may not run twice."),
    "unheard.die": N_("If it stays silent, the task becomes a dead letter in {span}."),
    "unheard.die_now": N_("It becomes a dead letter now."),
    "unheard.left": N_("It stays so until somebody leads: start a worker."),
    "worker.again": NN_("{n} task was started again (on {where})", "{n} tasks were started again (on {where})"),
    "worker.waits": NN_("{n} task waits to be started again", "{n} tasks wait to be started again"),
    "worker.held": NN_("{n} task is held: a person decides", "{n} tasks are held: a person decides"),
    "worker.dead": NN_("{n} task is a dead letter", "{n} tasks are dead letters"),
    "worker.cancelled": NN_("{n} task is cancelled", "{n} tasks are cancelled"),
    "worker.decided": NN_("{n} task was decided by a person", "{n} tasks were decided by a person"),
    "worker.draining": NN_("draining, {n} task left", "draining, {n} tasks left"),
    "worker.stopping": NN_("stopping, {n} task left", "stopping, {n} tasks left"),
    "worker.stopped": N_("stopped; it holds no task"),
    "worker.restart": N_(
        "Start it again on the machine {machine} (python main.py worker, or its service), or start one here"
    ),
    "worker.instead": N_("{worker} was started there since: it need not be started again"),
    "worker.cut_off": N_("it cannot reach the broker and takes no tasks"),
    "fleet.none": N_("No worker is running"),
    "fleet.last_told": N_("The last one, {worker} on machine {machine}, was stopped by {by} {span} ago"),
    "fleet.last_ended": N_("The last one, {worker} on machine {machine}, ended normally {span} ago"),
    "fleet.last_lost": N_(
        "The last one, {worker} on machine {machine}, has not been heard of for {span} and never said goodbye"
    ),
    "fleet.workers": NN_("{n} worker on {machines} machines", "{n} workers on {machines} machines"),
    "fleet.workers_together": NN_("{n} worker on 1 machine", "{n} workers on 1 machine"),
    "fleet.workers_some": N_("{n} of {known} workers in touch, on {machines} machines"),
    "fleet.workers_some_together": N_("{n} of {known} workers in touch, on 1 machine"),
    "fleet.busy": N_("{busy} of {slots} slots busy"),
    "fleet.no_slots": N_("no slot takes work"),
    "fleet.apart": NN_("{n} more slot takes no work", "{n} more slots take no work"),
    "fleet.cut_off": NN_("{n} cannot reach the broker", "{n} cannot reach the broker"),
    "fleet.draining": NN_("{n} draining", "{n} draining"),
    "fleet.stopping": NN_("{n} stopping", "{n} stopping"),
    "fleet.late": NN_("{n} late", "{n} late"),
    "fleet.silent": NN_("{n} silent", "{n} silent"),
    "fleet.gone": NN_("{n} gone", "{n} gone"),
}


_FREE = SlotState()


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of one task that a worker held when it was heard of last."""

    task_id: str
    what: str  #: unconfirmed | again | waits | held | dead | cancelled | decided
    worker: str = ""  #: where it was started again
    until: int = 0  #: end of its claim while it is unconfirmed, UTC ms
    then: str = ""  #: what becomes of it then: again | held | dead
    slot: SlotState = _FREE  #: as its record tells it; a worker may have claimed it after its last heartbeat


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a person should know of a worker, and the tasks that it is about."""

    message: Message
    tone: str = "text2"  #: text2 | retrying | scheduled | dead: how much it matters
    tasks: tuple[str, ...] = ()


class WorkerNow(msgspec.Struct, frozen=True, kw_only=True):
    """One worker at one moment."""

    info: WorkerInfo
    state: str  #: fine | cut_off | late | silent | draining | stopping | stopped | gone
    silence_ms: int = 0
    fates: tuple[Fate, ...] = ()  #: of what it held, while it is not heard of
    slots: tuple[SlotState, ...] = ()  #: as they are; what it does not have any more is left out
    left_ms: int = 0  #: until the last of its claims has run out and is judged
    ends_ms: int = 0  #: that instant (UTC ms), 0 where it holds nothing
    facts: tuple[Fact, ...] = ()
    instead: str = ""  #: the worker of its machine that was started after its last word and takes what it took

    @property
    def name(self) -> str:
        """What it is called."""
        return self.info.worker

    @property
    def living(self) -> bool:
        """Whether it was heard of a moment ago."""
        return self.state in LIVING

    @property
    def missing(self) -> bool:
        """Whether it is not heard of although it never said goodbye."""
        return self.state in MISSING

    @property
    def takes_work(self) -> bool:
        """Whether its free slots are for tasks that wait."""
        return self.state == FINE

    @property
    def busy(self) -> int:
        """Slots with a task, be it an unconfirmed one."""
        return sum(1 for slot in self.slots if slot.task_id)

    def has_room(self, lane: str = "") -> bool:
        """Whether one of its slots is free, and may be used by one more task of a lane where one is named."""
        _least, most = self.info.shares.get(lane, (0, 0))
        used = sum(1 for slot in self.slots if slot.task_id and slot.lane == lane)
        return self.busy < len(self.slots) and (not most or used < most)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Tasks of which nobody knows whether they still run here."""
        return tuple(fate.task_id for fate in self.fates if fate.what == UNCONFIRMED)

    @property
    def remark(self) -> Message | None:
        """In a few words what is not as it should be, None where all is."""
        if self.state in (LATE, SILENT):
            count = len(self.unconfirmed)
            if count:
                return Message(f"worker.{self.state}", {"n": count})
            return Message("worker.late_freed" if self.fates else "worker.late_idle")
        if self.state == GONE:
            return Message("worker.gone")
        return self.facts[0].message if self.facts else None


class FleetNow(msgspec.Struct, frozen=True, kw_only=True):
    """All workers at one moment; ``slots``, ``busy`` and ``free`` are those of workers that take work now."""

    workers: tuple[WorkerNow, ...] = ()
    slots: int = 0
    busy: int = 0
    apart: int = 0  #: slots of those that take no work: draining, stopping, not heard of
    machines: int = 0  #: with a living worker
    by_machine: Mapping[str, int] = {}  #: its living workers
    farewell: Farewell = NOBODY  #: of the last one that left, as far as somebody has asked

    @property
    def free(self) -> int:
        """Slots that take a task now."""
        return self.slots - self.busy

    @property
    def living(self) -> int:
        """Workers heard of a moment ago."""
        return sum(1 for one in self.workers if one.living)

    @property
    def known(self) -> int:
        """Workers that should be there: all but those that said goodbye."""
        return sum(1 for one in self.workers if one.state != STOPPED)

    def number(self, *states: str) -> int:
        """Workers in any of these states."""
        return sum(1 for one in self.workers if one.state in states)

    def find(self, name: str) -> WorkerNow | None:
        """One of them."""
        return next((one for one in self.workers if one.name == name), None)

    @property
    def late(self) -> frozenset[str]:
        """Names of those whose running tasks are unconfirmed."""
        return frozenset(one.name for one in self.workers if one.missing)

    def free_for(self, lane: str) -> int:
        """Slots that a task of this lane could start in now."""
        return sum(len(one.slots) - one.busy for one in self.taking(lane))

    def taking(self, lane: str) -> list[WorkerNow]:
        """Workers that take tasks of this lane now."""
        return [one for one in self.workers if one.takes_work and lane in one.info.open_lanes]


def machine(info: WorkerInfo) -> str:
    """What workers that share a machine and its browser profiles share."""
    return info.node or info.host


def silence_ms(info: WorkerInfo, now_ms: int) -> int:
    """How long ago it was heard of."""
    return max(0, now_ms - info.seen_at)


def missed(info: WorkerInfo, now_ms: int) -> bool:
    """Whether it should have been heard of long ago."""
    return info.state != STOPPED and silence_ms(info, now_ms) >= LATE_MS


def takes_work(info: WorkerInfo, now_ms: int) -> bool:
    """Whether it would start a task now, as far as one can know."""
    return not missed(info, now_ms) and _heard(info) == FINE


def cut_off(info: WorkerInfo, now_ms: int) -> bool:
    """Whether it would, if its broker could be reached from where it runs."""
    return not missed(info, now_ms) and _heard(info) == CUT_OFF


def lost_at(info: WorkerInfo) -> int:
    """Since when one that is cut off cannot reach the broker, UTC ms; one that never could, since its start."""
    return max(info.link.lost_at, info.started_at)


def unconfirmed(task: Task, now_ms: int, late: Container[str]) -> bool:
    """Whether nobody knows if this task still runs. ``late``: workers that are not heard of."""
    return task.status == Status.RUNNING and (task.worker in late or 0 < task.lease_until <= now_ms)


def unheard(task: Task, fleet: FleetNow, now_ms: int, leader: str | None = None) -> tuple[Message, ...]:
    """Why nobody knows whether a task still runs, and what becomes of it when; () where that is known."""
    one = fleet.find(task.worker)
    if not unconfirmed(task, now_ms, fleet.late if one is not None else {task.worker}):
        return ()
    params: dict[str, Param] = {"worker": task.worker}
    why = Message("unheard.unknown" if one is None else "unheard.claim", params)
    if one is not None and one.missing:
        why = Message("unheard.silent", params | {"seconds": one.silence_ms // 1000, "since": one.info.seen_at})
    fate = fate_of(task, task.worker, 0, now_ms)
    if fate is None:
        return (why,)
    able = any(other.takes_work for other in fleet.workers)
    (fact,) = _lost((fate,), task.lease_until + TICK_MS, now_ms, leader, able=able)
    return why, Message(f"unheard.{fact.message.code.removeprefix('worker.')}", fact.message.params)


def fate_of(task: Task, worker: str, attempt: int, now_ms: int) -> Fate | None:
    """What became of a task that a worker held with this attempt (0: its last one there); None where the attempt
    ended by itself.
    """
    same = not attempt or task.attempt == attempt
    if task.status == Status.RUNNING and task.worker == worker and same:
        then = retry.decide(task, classify.WORKER_LOST, retry.RetryPolicy(), now_ms).to
        words = {Status.HELD: HELD, Status.DEAD: DEAD}.get(then, AGAIN)
        slot = SlotState(
            task_id=task.task_id, task_type=task.task_type, shop=task.shop, lane=task.lane, attempt=task.attempt,
            since=task.started_at, progress=task.progress,
        )  # fmt: skip
        return Fate(task_id=task.task_id, what=UNCONFIRMED, until=task.lease_until, then=words, slot=slot)
    lost = [
        one.number
        for one in task.attempts
        if one.worker == worker and one.outcome == "lost" and attempt in (0, one.number)
    ]
    if not lost:
        return None
    again = task.attempt > lost[-1]
    ends: dict[str, str] = {Status.HELD: HELD, Status.DEAD: DEAD, Status.CANCELLED: CANCELLED}
    what = ends.get(task.status, AGAIN if again else DECIDED if task.status == Status.SUCCEEDED else WAITS)
    return Fate(task_id=task.task_id, what=what, worker=task.worker if again else "")


def look(
    workers: Iterable[WorkerInfo],
    now_ms: int,
    fates: Mapping[str, Sequence[Fate]] | None = None,
    *,
    leader: str | None = None,
    farewell: Farewell = NOBODY,
) -> FleetNow:
    """Judge heartbeats. ``fates``: of what late workers held, by worker, as far as somebody has looked; ``leader``:
    who decides about lost tasks, "" for nobody, None where that is not known; ``farewell``: of the last that left.
    """
    known = list(workers)
    able = any(takes_work(info, now_ms) for info in known)
    judged = tuple(_judge(info, now_ms, (fates or {}).get(info.worker), leader, able=able) for info in known)
    judged = _with_successors(judged)
    by_machine: dict[str, int] = {}
    for one in judged:
        if one.living:
            by_machine[machine(one.info)] = by_machine.get(machine(one.info), 0) + 1
    taking = [one for one in judged if one.takes_work]
    apart = [one for one in judged if not one.takes_work and one.state not in (STOPPED, GONE)]
    return FleetNow(
        workers=judged,
        slots=sum(len(one.slots) for one in taking),
        busy=sum(one.busy for one in taking),
        apart=sum(len(one.slots) for one in apart),
        machines=len(by_machine),
        by_machine=by_machine,
        farewell=farewell,
    )


def _with_successors(judged: tuple[WorkerNow, ...]) -> tuple[WorkerNow, ...]:
    """The same, each that is gone with who was started on its machine since, one for one: who came back after a crash
    goes by a new name.
    """
    gone = sorted((one for one in judged if one.state == GONE), key=lambda one: one.info.seen_at)
    started = sorted((one.info for one in judged if one.living), key=lambda info: info.started_at) if gone else []
    found: dict[str, str] = {}
    for one in gone:
        successor = next((info for info in started if _replaces(info, one.info)), None)
        if successor is not None:
            started.remove(successor)
            found[one.name] = successor.worker
    return tuple(replace(one, instead=found[one.name]) if one.name in found else one for one in judged)


def _replaces(info: WorkerInfo, gone: WorkerInfo) -> bool:
    return (
        info.started_at >= gone.seen_at
        and machine(info) == machine(gone)
        and set(info.lanes) >= set(gone.lanes)
        and set(info.handlers) >= set(gone.handlers)
    )


def last(fleet: FleetNow, now_ms: int) -> Message | None:
    """While no worker is heard of: which one was the last, how it ended and when; None where nobody knows of any."""
    if fleet.living:
        return None
    silent = max((one.info for one in fleet.workers if one.missing), key=lambda info: info.seen_at, default=None)
    left = fleet.farewell
    if silent is not None and silent.seen_at >= left.at:
        code, name, where, at, by = "fleet.last_lost", silent.worker, machine(silent), silent.seen_at, ""
    elif left.worker:
        code, name, where, at, by = "fleet.last_ended", left.worker, left.machine, left.at, left.by
        code = "fleet.last_told" if by else code
    else:
        return None
    params: dict[str, Param] = {"worker": name, "machine": where, "by": by}
    return Message(code, params | {"seconds": max(0, now_ms - at) // 1000, "since": at})


def summary(fleet: FleetNow) -> tuple[Message, ...]:
    """All workers in a few words: how many where, busy slots, and what is not as it should be."""
    if not fleet.known:
        return (Message("fleet.none"),)
    parts = []
    if fleet.living:
        together = "_together" if fleet.machines == 1 else ""
        some = "_some" if fleet.living != fleet.known else ""  # as many as there are cards, and as the chip counts
        counts: dict[str, Param] = {"n": fleet.living, "known": fleet.known, "machines": fleet.machines}
        parts.append(Message(f"fleet.workers{some}{together}", counts))
        busy = Message("fleet.busy", {"busy": fleet.busy, "slots": fleet.slots})
        parts.append(busy if fleet.slots else Message("fleet.no_slots"))
    else:
        parts.append(Message("fleet.none"))
    if fleet.apart and fleet.slots:
        parts.append(Message("fleet.apart", {"n": fleet.apart}))
    for state in (CUT_OFF, DRAINING, STOPPING, LATE, SILENT, GONE):
        if count := fleet.number(state):
            parts.append(Message(f"fleet.{state}", {"n": count}))
    return tuple(parts)


def kept(one: WorkerNow, now_ms: int) -> Message | None:
    """Why this worker cannot be struck off the list, None where it can."""
    if one.living:
        return Message("worker.lives", {"worker": one.name})
    ends = [fate.until for fate in one.fates if fate.what == UNCONFIRMED and fate.until > now_ms]
    if ends:
        params: dict[str, Param] = {
            "worker": one.name,
            "tasks": len(ends),
            "seconds": left_s(max(ends), now_ms),
            "until": max(ends),
        }
        return Message("worker.holds", params)
    return Message("worker.lives", {"worker": one.name}) if one.state == LATE else None


def remedy(one: WorkerNow) -> Message | None:
    """What a person does about a worker that is not heard of, None for any other."""
    if one.instead:
        return Message("worker.instead", {"worker": one.instead})
    return Message("worker.restart", {"machine": machine(one.info)}) if one.missing else None


def _judge(info: WorkerInfo, now_ms: int, known: Sequence[Fate] | None, leader: str | None, *, able: bool) -> WorkerNow:
    silence = silence_ms(info, now_ms)
    if not missed(info, now_ms):
        state = _heard(info)
        slots = info.slots if state != STOPPED else tuple(SlotState() for _ in info.slots)
        return WorkerNow(info=info, state=state, silence_ms=silence, slots=slots, facts=_calm(info, state))
    held = [slot.task_id for slot in info.slots if slot.task_id]
    guess = [Fate(task_id=task_id, what=UNCONFIRMED, then=AGAIN) for task_id in held]
    fates = tuple(guess if known is None else known)
    open_ = [fate for fate in fates if fate.what == UNCONFIRMED]
    usual = info.seen_at + SILENT_MS
    ends = max(fate.until or usual for fate in open_) + TICK_MS if open_ else 0
    state = LATE if silence < SILENT_MS else SILENT if open_ else GONE
    here = {fate.task_id for fate in open_}
    return WorkerNow(
        info=info,
        state=state,
        silence_ms=silence,
        fates=fates,
        slots=_may_run(info.slots, here, open_),
        left_ms=max(0, ends - now_ms),
        ends_ms=ends,
        facts=_lost(fates, ends, now_ms, leader, able=able) or (Fact(message=Message("worker.idle")),),
    )


def _may_run(told: Sequence[SlotState], here: Container[str], open_: Iterable[Fate]) -> tuple[SlotState, ...]:
    """The slots of one that is not heard of: what may still run there, also what it claimed after it told of them."""
    kept_ = [slot if slot.task_id in here else SlotState() for slot in told]
    listed = {slot.task_id for slot in kept_}
    later = iter([fate.slot for fate in open_ if fate.slot.task_id and fate.task_id not in listed])
    return tuple(slot if slot.task_id else next(later, slot) for slot in kept_)


def _heard(info: WorkerInfo) -> str:
    """The state of one that is heard of."""
    said = {"draining": DRAINING, "stopping": STOPPING, "stopped": STOPPED}.get(info.state, FINE)
    return CUT_OFF if said == FINE and info.link.lost_at else said


def _calm(info: WorkerInfo, state: str) -> tuple[Fact, ...]:
    if state in (DRAINING, STOPPING):
        tasks = tuple(slot.task_id for slot in info.slots if slot.task_id)
        return (Fact(message=Message(f"worker.{state}", {"n": info.busy}), tone="scheduled", tasks=tasks),)
    if state == CUT_OFF:
        return (Fact(message=Message("worker.cut_off"), tone="retrying"),)
    return (Fact(message=Message("worker.stopped")),) if state == STOPPED else ()


def _lost(fates: Sequence[Fate], ends_ms: int, now_ms: int, leader: str | None, *, able: bool) -> tuple[Fact, ...]:
    """What becomes of its tasks, and what became of them: the decisions of a person first. ``ends_ms``: when the last
    of its claims has run out and is judged (UTC ms).
    """
    found: list[Fact] = []
    open_ = [fate for fate in fates if fate.what == UNCONFIRMED]
    if open_ and leader == "":
        tasks = tuple(fate.task_id for fate in open_)
        found.append(Fact(message=Message("worker.left", {"n": len(tasks)}), tone="retrying", tasks=tasks))
        open_ = []
    for then, code, tone in ((HELD, "hold", "retrying"), (DEAD, "die", "dead"), (AGAIN, "back", "retrying")):
        tasks = tuple(fate.task_id for fate in open_ if fate.then == then)
        if tasks:
            seconds = left_s(ends_ms, now_ms)
            late = "_now" if not seconds else "_alone" if code == "back" and not able else ""
            params = {"n": len(tasks), "seconds": seconds, "until": ends_ms}
            found.append(Fact(message=Message(f"worker.{code}{late}", params), tone=tone, tasks=tasks))
    for what, tone in ((HELD, "retrying"), (DEAD, "dead"), (WAITS, "text2"), (AGAIN, "text2"), (DECIDED, "text2"),
                       (CANCELLED, "text2")):  # fmt: skip
        of = [fate for fate in fates if fate.what == what]
        if of:
            where = ", ".join(sorted({fate.worker for fate in of if fate.worker}))
            found.append(
                Fact(
                    message=Message(f"worker.{what}", {"n": len(of), "where": where}),
                    tone=tone,
                    tasks=tuple(fate.task_id for fate in of),
                )
            )
    return tuple(found)
