"""What may be asked of the store in one atomic step, and what it answers.

Every driver applies a batch of these operations, each one atomically: record, indexes, counters, gates, outbox mark and
event change together or not at all. Each operation is safe to repeat: asked again after a lost reply it answers as it did
the first time.
"""

from __future__ import annotations

import msgspec

from services.domain.task import Attempt, Task


class Op(msgspec.Struct, frozen=True, kw_only=True):
    """Root of the operations."""


class Create(Op):
    """Record a new task.

    ``task.status`` is pending (an outbox mark is set), scheduled (``due_at`` set, no mark) or dead (a letter that never was a
    task, triage open). Instants that are 0 are filled from the store's clock. Answers: ``created`` (also when the very same
    creation is repeated: same id and same ``created_by``/``payload``/``origin``), ``exists`` (another record has this id; it is
    returned), ``duplicate`` (an active task holds ``task.uniq`` and ``on_duplicate`` is reject; that one is returned). With
    ``queue`` the new task gets the mark twin; with ``force`` its ``uniq`` is cleared and it gets the mark forced.
    """

    task: Task
    on_duplicate: str = "reject"  #: reject | queue | force


class Published(Op):
    """The broker confirmed the message of this state: clear the outbox mark; pending becomes queued.

    Only if the record still has this status, gen and attempt. Answers ``ok`` or ``stale``.
    """

    task_id: str
    status: str
    gen: int
    attempt: int


class Claim(Op):
    """Take the lease of a delivered task and set it running.

    Checked in order: no record -> create it from ``adopt`` (status queued) or answer ``missing``; terminal -> ``ended``
    (cancelled too); running by ``owner`` -> ``run`` again; running by another -> ``duplicate``; ``gen``/``attempt`` differ from the
    record's, or held or scheduled -> ``stale``; then the gates in the order paused, shop_busy, twin -> ``blocked`` (status
    blocked, record parked in the shop's lot, gate named); else ``run``: attempt + 1, owner, worker, lease, started_at, the
    shop's slot is taken, its reservation used, outbox mark cleared. The record is returned with every answer but ``missing``.
    ``foreign_done`` (someone else's executed mark without our outcome): the record becomes succeeded by worker ``foreign``,
    answer ``ended``.
    """

    task_id: str
    gen: int
    attempt: int
    owner: str
    worker: str
    lease_ms: int
    adopt: Task | None = None
    foreign_done: bool = False


class Finish(Op):
    """Record how an attempt ended, fenced by ``owner``.

    ``to``: succeeded | retrying | dead | held | cancelled | pending (given back or worker lost: uncounted, outbox mark). retrying
    and dead set an outbox mark; retrying sets ``due_at`` = now + ``delay_ms`` and counts one retry. dead sets triage open. The
    shop's slot is freed and the lot's best task is released (see ``OpenShop``). ``lost`` appends the instant to ``losses``.
    ``if_expired``: only when the lease has run out (the reconciler asks; the owner must still match). Answers ``ok`` (also when this
    owner's outcome is recorded already), ``fenced`` (another owner or state: nothing changed but the evidence is appended to
    ``attempts`` with outcome fenced), ``missing``.
    """

    task_id: str
    owner: str
    to: str
    attempt: Attempt
    delay_ms: int = 0
    error: str = ""
    error_kind: str = ""
    fingerprint: str = ""
    result: str = ""
    lost: bool = False
    if_expired: bool = False


class Renew(Op):
    """Prolong the lease of a running attempt. Answers ``ok`` (record returned; see its ``cancel``) or ``fenced``."""

    task_id: str
    owner: str
    lease_ms: int


class Progress(Op):
    """Show how far a running attempt is; no event. Answers ``ok`` or ``fenced``."""

    task_id: str
    owner: str
    progress: int
    note: str = ""
    stopping: bool = False  #: sets ``cancel`` to stopping


class Cancel(Op):
    """Cancel: a task that has not started ends at once (``ok``), a running one is flagged (``requested``), else ``refused``."""

    task_id: str
    by: str
    reason: str = ""


class Move(Op):
    """Give another priority, or run now: gen + 1 and a new message through the outbox.

    pending, queued, scheduled, retrying -> pending with an outbox mark and ``due_at`` 0 (re-prioritising keeps a scheduled or
    retrying task where it is: new gen and priority; retrying gets an outbox mark, scheduled none). blocked stays parked with
    its new place in the lot; an open gate releases it at once. Answers ``ok`` or ``refused`` (running, held or ended).
    """

    task_id: str
    by: str
    lane: str
    priority: int
    run_now: bool = False


class Republish(Op):
    """Close a dead letter as republished and create its successor, in one step.

    Only dead with triage open, archived or ignored. ``task`` is the new record (pending, parent = ``task_id``). Answers ``ok``
    (new record returned; also when repeated with the same new id), ``refused`` (the dead record returned: see ``successor``),
    ``duplicate`` (an active task holds ``task.uniq``, with reject), ``missing``.
    """

    task_id: str
    task: Task
    by: str
    on_duplicate: str = "reject"


class SetTriage(Op):
    """Archive, ignore or reopen a dead letter, with a note. Answers ``ok``, ``refused``, ``missing``."""

    task_id: str
    triage: str
    by: str
    note: str = ""


class Resolve(Op):
    """A person decides about a held task: ``pending`` (run again), ``succeeded`` or ``dead``. Answers ``ok``, ``refused``."""

    task_id: str
    to: str
    by: str
    note: str = ""


class Nudge(Op):
    """Publish again what the broker seems to have lost: sets the outbox mark of a pending, queued or retrying task.

    Same gen and attempt, so a twin message is harmless. A scheduled task that is due becomes pending. A retrying task past due
    becomes pending, so that its next message goes straight to the lane. Only if gen and attempt still match. Answers
    ``ok`` or ``stale``.
    """

    task_id: str
    gen: int
    attempt: int


class OpenShop(Op):
    """Release what may start of one shop's lot: while slots minus reservations are free and not paused, the parked task with
    the highest priority, then oldest, whose own gates are open gets a reservation (30 s) and becomes pending with an outbox
    mark. Answers ``ok`` with the released records."""

    shop: str  #: platform:shop_id


class Answer(msgspec.Struct, frozen=True):
    """What one operation did."""

    code: str
    task: Task | None = None
    released: tuple[Task, ...] = ()  #: pending records with an outbox mark that the caller should publish now
