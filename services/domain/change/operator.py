"""What producers and operators ask for: a task, its end, its place, a decision about it."""

from __future__ import annotations

from services.domain.change.base import Op
from services.domain.task.record import Task


class Create(Op, frozen=True, kw_only=True, gc=False):
    """Record a new task; its shop is registered if it is not known.

    ``task.status`` is pending (an outbox mark is set), scheduled (``due_at`` set, no mark), queued (another program has
    sent its message: no mark, and ``exists`` where a tombstone of any end has this id) or dead (a letter that never was
    a task, triage open). Instants that are 0 are filled from the store's clock. Answers: ``created`` (also when the
    very same creation is repeated: same id and same ``created_by``/``payload``/``origin``), ``exists`` (another record
    has this id; it is returned), ``duplicate`` (an active task holds ``task.uniq`` and ``on_duplicate`` is reject; that
    one is returned). If one holds it, ``queue`` gives the new task the mark twin, and ``force`` puts ``FORCED`` before
    its ``uniq`` and gives it the mark forced; ``hold`` does so with the mark twin and creates it as held, with
    ``transitions.HELD_TWIN`` as its error; if none holds it all three create as usual. The id is looked at before the
    uniqueness.

    ``task.depends_on``: what has not succeeded yet is noted, and a pending task is created as blocked at the gate
    *dependency*, without a mark. An id means the task that it was republished as. Answers ``unknown``, and creates
    nothing, where one of them has no record. If one of them has failed already (dead, cancelled) and
    ``on_dependency_failure`` is cancel, the new task is cancelled in the same step.

    ``done_since``: where its work (``Task.work``) has succeeded since then, nothing is created and the answer is
    ``done``, with the record of that success if it is there; an active task that holds the key comes first.

    A pending task of a *crowded* shop is created as blocked at *shop_busy*, without a mark: running tasks and those
    that a message is under way for (pending, queued, at least as urgent) take all its slots and ``LOOK_AHEAD`` more, or
    all its slots while tasks of the shop are parked. One whose session gate is closed: at *session*. So is a plan that
    falls due (Nudge, Move).
    """

    task: Task
    on_duplicate: str = "reject"  #: reject | queue | force | hold
    done_since: int = 0  #: its work must not have succeeded since this instant, 0 for whenever


class Cancel(Op, frozen=True, kw_only=True, gc=False):
    """Cancel: a task that has not started ends at once (``ok``, also if it is cancelled already), a running one is
    flagged (``requested``; asked again: the same, no second transition), else ``refused``. ``reason`` is kept in the
    record.
    """

    task_id: str
    by: str
    reason: str = ""


class Move(Op, frozen=True, kw_only=True, gc=False):
    """Give another priority, or run now: gen + 1 and a new message through the outbox.

    pending, queued, scheduled, retrying -> pending with an outbox mark and ``due_at`` 0 (re-prioritising keeps a
    scheduled or retrying task where it is: new gen and priority; retrying gets an outbox mark, scheduled none). blocked
    stays parked with its new place there and the shop is opened, so that an open gate releases it at once. Answers
    ``ok`` or ``refused`` (running, held or ended).
    """

    task_id: str
    by: str
    lane: str
    priority: int
    run_now: bool = False


class Try(Op, frozen=True, kw_only=True, gc=False):
    """Give a waiting task a pass (``services.domain.gates.passing``): its next attempt starts although a pause, quiet
    hours or an open breaker holds it back; all other gates hold. That attempt's Claim uses it up. A parked task whose
    other gates are open is released in the same step, with a reservation; another one waits where it is for them.

    A transition to the same status, whose note is ``passing.note``. Answers ``ok`` (also where it has a pass already:
    no second transition), ``open`` (none of these gates is closed for it, nothing changed), ``many`` (``passing.MOST``
    have one), ``refused`` (scheduled, running, held or ended), ``missing``.
    """

    task_id: str
    by: str
    reason: str


class TakeBackTry(Op, frozen=True, kw_only=True, gc=False):
    """Take a pass away that no attempt has begun with; the gates hold the task again.

    A transition to the same status, whose note is ``passing.note_back``. Answers ``ok`` (also when repeated: no second
    transition), ``no_pass`` (it has none, or none that still holds), ``missing``.
    """

    task_id: str
    by: str


class Republish(Op, frozen=True, kw_only=True, gc=False):
    """Close a dead letter as republished and create its successor, in one step.

    Only dead with triage open, archived or ignored. ``task`` is the new record (pending, parent = ``task_id``). Answers
    ``ok`` (new record returned; also when repeated with the same new id), ``refused`` (the dead record returned: see
    ``successor``), ``duplicate`` (an active task holds ``task.uniq``, with reject; that one is returned), ``missing``.
    ``on_duplicate`` and ``done_since`` (answer ``done``) as in Create.
    """

    task_id: str
    task: Task
    by: str
    on_duplicate: str = "reject"
    done_since: int = 0


class SetTriage(Op, frozen=True, kw_only=True, gc=False):
    """Archive, ignore or reopen a dead letter, with a note ("" keeps the old one). ``refused`` unless it is dead and
    not republished; one that was overtaken loses its ``successor``. Asked again with the same triage and note: ``ok``,
    no second transition. Answers ``ok``, ``refused``, ``missing``.
    """

    task_id: str
    triage: str
    by: str
    note: str = ""


class Annotate(Op, frozen=True, kw_only=True, gc=False):
    """Write a note beside a dead letter, whatever became of it (``Store.notes``); an event from dead to dead, but no
    transition. The same ``note_id`` again changes nothing. Answers ``ok``, ``refused`` (not dead), ``missing``.
    """

    task_id: str
    by: str
    text: str
    note_id: str


class Resolve(Op, frozen=True, kw_only=True, gc=False):
    """A person decides about a held task: ``pending`` (run again), ``succeeded`` or ``dead`` (triage open). pending and
    dead get an outbox mark; one that is to run again gets the mark *again*: a person has said so. ``note`` goes to
    ``triage_note``. Answers ``ok`` (also for the same decision by the same person again), ``refused``.
    """

    task_id: str
    to: str
    by: str
    note: str = ""
