"""Turns a record into lines of a timeline: what happened, what comes next, what it waits for."""

from __future__ import annotations

from collections.abc import Sequence

from services import messages
from services.domain.gates import passing
from services.domain.insight import attempts, same_work
from services.domain.insight.wait import CLOSED, GateView
from services.domain.task.notes import Suppressed
from services.domain.task.record import Attempt, Step, Task
from services.domain.task.status import Status, Triage
from services.i18n import N_, _
from views.pages.tasks import wait_words
from views.support import safe, shown, text
from views.support.words import kinds, origins
from views.widgets.timeline import TimelineEntry

_STEPS: dict[str, str] = {
    Status.PENDING: N_("Sent to the queue"),
    Status.QUEUED: N_("Waits in its lane"),
    Status.BLOCKED: N_("Parked"),
    Status.SCHEDULED: N_("Planned for later"),
    Status.HELD: N_("Held: a person must decide"),
    Status.SUCCEEDED: N_("Succeeded"),
    Status.DEAD: N_("Dead letter"),
    Status.CANCELLED: N_("Cancelled"),
}
#: what a person made of a task whose outcome nobody knew
_DECIDED: dict[str, str] = {
    Status.SUCCEEDED: N_("It ran, confirmed by"),
    Status.PENDING: N_("Runs again, decided by"),
    Status.DEAD: N_("Given up by"),
    Status.CANCELLED: N_("Cancelled by"),
}
_OUTCOMES: dict[str, str] = {
    "succeeded": N_("succeeded"),
    "failed": N_("failed"),
    "timeout": N_("timed out"),
    "cancelled": N_("cancelled"),
    "lost": N_("worker lost"),
    "returned": N_("given back"),
    "preempted": N_("made way for an urgent task"),
    "waiting": N_("goes on when its tasks have ended"),
    "fenced": N_("late, not counted"),
}
_GLYPH_OF_OUTCOME = {
    "succeeded": "succeeded",
    "cancelled": "cancelled",
    "returned": "waiting",
    "preempted": "waiting",
    "waiting": "waiting",
    "fenced": "cancelled",
}
#: checks that have not been made yet, which a tick would say were passed
_AHEAD = frozenset(
    {"gate.parked_message", "gate.delayed_message", "gate.lane_later", "gate.lane_parked", "gate.lane_unsent"}
)
_GATE_GLYPH = {"ok": "succeeded", "closed": "retrying", "next": "waiting"}


def timeline(
    task: Task, now_ms: int, gate: GateView | None = None, met: Sequence[Suppressed] = ()
) -> list[TimelineEntry]:
    """Steps and attempts in one list, oldest first; what is planned stands last, dimmed. ``gate``: where it waits now,
    which is what its last step says of it too; ``met``: who asked for the same work meanwhile.
    """
    entries: list[tuple[int, TimelineEntry]] = []
    recorded = {one.number: one for one in task.attempts if one.outcome != "fenced"}
    apart = [one for one in task.attempts if one.outcome == "fenced"]
    last = task.steps[-1] if task.steps and task.status == Status.BLOCKED else None
    for step in task.steps:
        if step.from_ == Status.RUNNING and (one := recorded.pop(step.attempt, None)) is not None:
            entries.append((min(one.ended_at, step.at), _attempt(one, now_ms)))  # before what became of the task by it
        if (line := _step(task, step, now_ms, gate if step is last else None)) is not None:
            entries.append(line)
    entries += [(one.ended_at, _attempt(one, now_ms)) for one in (*recorded.values(), *apart)]
    entries += [(one.at, _met(one, now_ms)) for one in met]
    entries.sort(key=lambda pair: pair[0])
    return [*(line for _at, line in entries), *_next(task, now_ms)]


def gate_entries(gates: Sequence[GateView]) -> list[TimelineEntry]:
    """The checks in order; the one at which it waits is only named, for its sentence stands above the list."""
    return [
        TimelineEntry(
            time="",
            text="" if gate.state == CLOSED else shown.say(gate.message),
            strong=wait_words.words(gate.name, gate) if gate.state == CLOSED else "",
            status="waiting" if gate.code in _AHEAD else _GATE_GLYPH.get(gate.state, "waiting"),
            future=gate.state == "next" or gate.code in _AHEAD,
        )
        for gate in gates
    ]


def so_far(task: Task, now: int) -> str:
    """How long it has taken until now, which is its age in the list and said as there, or took in all."""
    if task.ended:
        return text.duration(shown.span(task.ended_at - task.created_at)) if task.ended_at else ""
    return _("{span} so far").format(span=text.duration(shown.span(now - task.created_at)))


def _stopped(task: Task, step: Step, now_ms: int) -> TimelineEntry | None:
    """The wish that a running task stops, and its end by that or any other cancel: with who wished it."""
    time = shown.clock(step.at, now_ms)
    if step.from_ == step.to == Status.RUNNING:
        return TimelineEntry(
            time=time, text=_("Asked to stop by"), strong=safe.one_line(step.note, 80), status="cancelled"
        )
    found = attempts.cancelled(task) if step.to == Status.CANCELLED and step.from_ != Status.HELD else None
    if found is None:
        return None
    reason = safe.one_line(found.reason, 120)
    return TimelineEntry(time=time, text=shown.say(found.sentence), tail=reason, status=shown.GLYPHS[step.to])


def _met(one: Suppressed, now_ms: int) -> TimelineEntry:
    time, by = shown.clock(one.at, now_ms), safe.one_line(one.by or one.origin, 60)
    if one.outcome == same_work.REFUSED:
        words = _("The same work was asked for again, and refused")
        return TimelineEntry(time=time, text=words, tail=by, status="cancelled")
    words = _("The same work was asked for again, created as")
    return TimelineEntry(time=time, text=words, strong=safe.one_line(one.task_id, 80), status="waiting")


def _step(task: Task, step: Step, now_ms: int, gate: GateView | None) -> tuple[int, TimelineEntry] | None:
    if (stopped := _stopped(task, step, now_ms)) is not None:
        return step.at, stopped
    time = shown.clock(step.at, now_ms)
    if not step.from_:
        return step.at, _created(task, time)
    if step.from_ == step.to:
        return step.at, _replaced(task, step, time) or _changed(step, time)
    if step.to == Status.RUNNING:
        return step.at, TimelineEntry(
            time=time, text=_("Attempt {n} started on").format(n=step.attempt), strong=step.worker, status="running"
        )
    if step.to == Status.RETRYING:
        return None
    if step.from_ == Status.HELD and step.note and step.to in _DECIDED:
        why = safe.one_line(same_work.decided(task, step), 120)
        by, glyph = safe.one_line(step.note, 80), shown.GLYPHS[step.to]
        return step.at, TimelineEntry(time=time, text=_(_DECIDED[step.to]), strong=by, tail=why, status=glyph)
    word = _STEPS.get(step.to)
    if word is None or (step.to == Status.PENDING and step.from_ == ""):
        return None
    at = wait_words.words(gate.name, gate) if gate is not None else shown.gate_word(step.note)
    tail = at if step.to == Status.BLOCKED else ""
    return step.at, TimelineEntry(time=time, text=_(word), tail=tail, status=shown.GLYPHS[step.to])


def _created(task: Task, time: str) -> TimelineEntry:
    why = safe.one_line(messages.noted(same_work.why_again(task)), 120)
    words = _("Asked for again by") if same_work.asked(task) is not None else _("Created by")
    by = origins.who(task.created_by or task.origin)
    if task.origin == "republish" and task.parent:
        words, source = _("Republished by"), _("from {id}").format(id=safe.one_line(task.parent, 80))
        why = text.listed([part for part in (source, why) if part], ";")
    return TimelineEntry(time=time, text=words, strong=by, tail=why, status="")


def _replaced(task: Task, step: Step, time: str) -> TimelineEntry | None:
    """That another task stands for a dead one from this step on: by whom, and which."""
    if not task.successor or step is not task.steps[-1] or step.to != Status.DEAD:
        return None
    other = safe.one_line(task.successor, 80)
    if task.triage == Triage.REPUBLISHED:
        tail = _("as {id}").format(id=other)
        return TimelineEntry(
            time=time, text=_("Republished by"), strong=safe.one_line(step.note, 80), tail=tail, status="succeeded"
        )
    if task.triage == Triage.OVERTAKEN:
        return TimelineEntry(time=time, text=_("The same work succeeded later as"), strong=other, status="succeeded")
    return None


def _changed(step: Step, time: str) -> TimelineEntry:
    if back := passing.told_back(step.note):
        by = safe.one_line(back, 80)
        return TimelineEntry(time=time, text=_("No longer let through, taken back by"), strong=by, status="")
    given = passing.told(step.note)
    if given is None:
        return TimelineEntry(time=time, text=_("Changed by"), strong=safe.one_line(step.note, 80), status="")
    by, why = (safe.one_line(one, 120) for one in given)
    return TimelineEntry(time=time, text=_("Let through once by"), strong=by, tail=why, status="")


def _attempt(one: Attempt, now_ms: int) -> TimelineEntry:
    word = _(_OUTCOMES.get(one.outcome, one.outcome))
    return TimelineEntry(
        time=shown.clock(one.ended_at, now_ms),
        text=_("Attempt {n} {word}").format(n=one.number, word=word),
        tail=kinds.telling(one.error, 120),
        span=text.duration(shown.span(one.ended_at - one.started_at), precise=True),
        status=_GLYPH_OF_OUTCOME.get(one.outcome, "dead"),
    )


def _next(task: Task, now_ms: int) -> list[TimelineEntry]:
    if task.status == Status.RETRYING and task.due_at:
        total = max(1, task.due_at - task.updated_at)
        share = min(1.0, max(0.0, (now_ms - task.updated_at) / total))
        left = text.until(shown.span(task.due_at - now_ms)) if task.due_at > now_ms else _("due")
        tail = _("the last; then a dead letter") if attempts.last(task) is not None else ""
        return [
            TimelineEntry(time="", text=_("Waits for its next attempt"), span=left, share=share, status="retrying"),
            TimelineEntry(
                time=shown.clock(task.due_at, now_ms),
                text=_("Attempt {n}").format(n=task.attempt + 1),
                tail=tail,
                future=True,
            ),
        ]
    if task.status == Status.SCHEDULED and task.due_at:
        return [TimelineEntry(time=shown.clock(task.due_at, now_ms), text=_("Starts"), future=True, status="scheduled")]
    return []
