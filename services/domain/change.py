"""What may be asked of the store in one atomic step, and what it answers.

Every driver applies a batch of these operations, each one atomically: record, indexes, counters, gates, outbox mark and
event change together or not at all. Each operation is safe to repeat: asked again after a lost reply it answers as it
did the first time (what it released is not named twice; the outbox has it).

What holds for all of them:

- A *transition* appends one step to the record and one event with the same contents, and sets ``updated_at`` to its
  instant. A change that people should see without another status (new priority, cancel requested, triage, republished)
  is a transition with ``from`` equal to ``to``. Published, Nudge, Renew, Progress and kept evidence are none unless the
  status changes. The step's ``worker`` is set by Claim (run) and Finish only; its ``note`` is the gate, the error kind
  or ``by``.
- The answer carries the record as it stands after the operation, also when it is among the ``released``.
- ``due_at`` is 0 unless scheduled or retrying, ``lease_until`` unless running, ``gate`` is "" unless blocked.
- A terminal status sets ``ended_at`` and drops outbox mark (but dead: see there) and reservation. Whatever frees
  a slot, a reservation or a uniqueness key (Finish, Cancel, Resolve, GiveUp) also does what ``OpenShop`` does for the
  task's shop.
- A task that ends (succeeded, dead, cancelled) is told to those that depend on it, as by ``TellDependants``, in the
  same step, up to ``dependency.AT_ONCE`` of them for all operations of a round; what is left over is in
  ``Store.untold``.
- A task that waits for others (status blocked, gate *dependency*) is in no lot: neither ``OpenShop`` nor a claim lets
  it go, and like a scheduled one it is no twin that goes first. A scheduled one that falls due, or is run now, waits
  there too.
- ``uniq`` never spans shops. A shop that is not registered has concurrency 1; Claim registers it (``unregistered``).
- Operations on a record that does not exist answer ``missing``, but Renew and Progress ``fenced``, Published, Nudge,
  GiveUp and Postpone ``stale``.
"""

from __future__ import annotations

import msgspec

from services.domain.task import Attempt, Task


class Op(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Root of the operations."""


class Create(Op, frozen=True, kw_only=True, gc=False):
    """Record a new task.

    ``task.status`` is pending (an outbox mark is set), scheduled (``due_at`` set, no mark) or dead (a letter that never
    was a task, triage open). Instants that are 0 are filled from the store's clock. Answers: ``created`` (also when the
    very same creation is repeated: same id and same ``created_by``/``payload``/``origin``), ``exists`` (another record
    has this id; it is returned), ``duplicate`` (an active task holds ``task.uniq`` and ``on_duplicate`` is reject; that
    one is returned). If one holds it, ``queue`` gives the new task the mark twin, and ``force`` clears its ``uniq`` and
    gives it the mark forced; if none holds it both create as usual. The id is looked at before the uniqueness.

    ``task.depends_on``: what has not succeeded yet is noted, and a pending task is created as blocked at the gate
    *dependency*, without a mark. An id means the task that it was republished as. Answers ``unknown``, and creates
    nothing, where one of them has no record. If one of them has failed already (dead, cancelled) and
    ``on_dependency_failure`` is cancel, the new task is cancelled in the same step.
    """

    task: Task
    on_duplicate: str = "reject"  #: reject | queue | force


class Published(Op, frozen=True, kw_only=True, gc=False):
    """The broker confirmed the message of this state: clear the outbox mark; pending becomes queued. Of a queued task
    whose message was published once more ``queued_at`` becomes the present instant.

    Only if the record still has this status, gen and attempt. Answers ``ok`` or ``stale``.
    """

    task_id: str
    status: str
    gen: int
    attempt: int


class Claim(Op, frozen=True, kw_only=True, gc=False):
    """Take the lease of a delivered task and set it running.

    Checked in order: no record -> create it from ``adopt`` (status queued; held if ``adopt`` is) or answer
    ``missing``; terminal -> ``ended`` (cancelled too); running by ``owner`` -> ``run`` again; running by another ->
    ``duplicate``; ``gen``/``attempt`` differ from the record's, or held or scheduled -> ``stale``; then the gates
    in the order paused, shop_busy, twin, no_worker -> ``blocked`` (status blocked, record parked, gate named); else
    ``run``: attempt + 1, owner, worker, lease, started_at, the shop's slot is taken, its reservation
    used, outbox mark, gate and ``due_at`` cleared, ``cancel``, ``progress`` and ``note`` as new. The record is
    returned with every answer but ``missing``. ``foreign_done`` or an executed mark without our outcome (drivers
    look it up), looked at before the gates: the record becomes succeeded by worker ``foreign``, answer ``ended``.
    That the message of a queued task came, of those published once, moves the watermark of its queue and priority
    (``Store.delivered``).

    The gates: *paused*: a pause of all, the platform, the shop or the type. *shop_busy*: running tasks of the shop +
    live reservations of others >= its concurrency. *twin*: another active task of the same ``uniq`` (not scheduled) was
    created earlier (ties by task id), or is running or held whenever it was created; the waiting one gets the mark
    twin. *no_worker*: the claiming worker says that it cannot run this type (``able`` is False).

    What waits for the first three is parked in the shop's lot; what waits for a worker that can run it is parked by
    lane and type (``Store.unserved``), where such workers fetch it: they claim it without a message. A parked task
    loses its outbox mark and its reservation; only at no_worker a reservation is kept, for 3 s, so that nobody
    overtakes it on its way to the right worker. One that is parked already and meets a closed gate again makes no
    transition.
    """

    task_id: str
    gen: int
    attempt: int
    owner: str
    worker: str
    lease_ms: int
    adopt: Task | None = None
    foreign_done: bool = False
    able: bool = True


class Finish(Op, frozen=True, kw_only=True, gc=False):
    """Record how an attempt ended, fenced by ``owner``.

    ``to``: succeeded | retrying | dead | held | cancelled | pending (given back or worker lost: uncounted, outbox
    mark). retrying and dead set an outbox mark; retrying sets ``due_at`` = now + ``delay_ms`` and counts one retry.
    dead sets triage open. The shop's slot is freed and the lot's best task is released (see ``OpenShop``). ``lost``
    appends the instant to ``losses``. ``if_expired``: only when the lease has run out (the reconciler asks; the owner
    must still match), else ``fenced`` without evidence. Where a cancel was requested, retrying and pending are recorded
    as cancelled: the wish came first. error, error_kind, fingerprint and result replace the old ones; ``cancel`` and
    the lease end. Answers ``ok`` (also when this very attempt of this owner is recorded already), ``fenced`` (another
    owner, state or outcome: nothing changed but the evidence is appended, once, to ``attempts`` with outcome fenced),
    ``missing``.

    A record that waits (pending, queued, blocked, retrying) with one attempt less than ``attempt.number`` stands as it
    stood before this owner's claim: a server that does not write every change to disk went back in time. No claim of
    somebody else can lead there, so the attempt is taken up again (a transition to running with the note rolled_back)
    and its end is recorded; not for ``if_expired``.
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


class Renew(Op, frozen=True, kw_only=True, gc=False):
    """Prolong the lease of a running attempt. Answers ``ok`` (record returned; see its ``cancel``) or ``fenced``.

    ``attempt``, ``worker`` and ``started_at`` (as the claim answered them) let a record that went back in time be
    running again; see Finish.
    """

    task_id: str
    owner: str
    lease_ms: int
    attempt: int = 0
    worker: str = ""
    started_at: int = 0


class Progress(Op, frozen=True, kw_only=True, gc=False):
    """Show how far a running attempt is; no event. A negative ``progress`` and an empty ``note`` leave the old one.
    ``ok`` or ``fenced``.
    """

    task_id: str
    owner: str
    progress: int
    note: str = ""
    stopping: bool = False  #: sets ``cancel`` to stopping


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


class Republish(Op, frozen=True, kw_only=True, gc=False):
    """Close a dead letter as republished and create its successor, in one step.

    Only dead with triage open, archived or ignored. ``task`` is the new record (pending, parent = ``task_id``). Answers
    ``ok`` (new record returned; also when repeated with the same new id), ``refused`` (the dead record returned: see
    ``successor``), ``duplicate`` (an active task holds ``task.uniq``, with reject; that one is returned), ``missing``.
    ``on_duplicate`` as in Create.
    """

    task_id: str
    task: Task
    by: str
    on_duplicate: str = "reject"


class SetTriage(Op, frozen=True, kw_only=True, gc=False):
    """Archive, ignore or reopen a dead letter, with a note ("" keeps the old one). ``refused`` unless it is dead and
    not republished. Asked again with the same triage and note: ``ok``, no second transition. Answers ``ok``,
    ``refused``, ``missing``.
    """

    task_id: str
    triage: str
    by: str
    note: str = ""


class Resolve(Op, frozen=True, kw_only=True, gc=False):
    """A person decides about a held task: ``pending`` (run again), ``succeeded`` or ``dead`` (triage open). pending and
    dead get an outbox mark. ``note`` goes to ``triage_note``. Answers ``ok`` (also for the same decision by the same
    person again), ``refused``.
    """

    task_id: str
    to: str
    by: str
    note: str = ""


class Nudge(Op, frozen=True, kw_only=True, gc=False):
    """Publish again what the broker seems to have lost: sets the outbox mark of a pending, queued or retrying task.

    Same gen and attempt, so a twin message is harmless. A scheduled task that is due becomes pending. A retrying task
    past due becomes pending, so that its next message goes straight to the lane. Both lose their ``due_at``. Only if
    gen and attempt still match. Answers ``ok`` or ``stale`` (also scheduled and not due, and every other status).
    """

    task_id: str
    gen: int
    attempt: int


class GiveUp(Op, frozen=True, kw_only=True, gc=False):
    """End a task that no message can be made of: dead, triage open, no attempt counted and no outbox mark, for there is
    nothing to publish. With ``to`` held a queued task waits for a person instead; any other is ``stale``.

    Only if gen and attempt still match and it is pending, queued, blocked or retrying. A dead one loses its outbox mark
    and nothing else, so asking again is safe. Answers ``ok`` or ``stale``.
    """

    task_id: str
    gen: int
    attempt: int
    error: str
    error_kind: str
    fingerprint: str = ""
    to: str = "dead"  #: dead | held


class Postpone(Op, frozen=True, kw_only=True, gc=False):
    """Give an outbox mark a new instant, so that what cannot be published lets others go first; no transition. Answers
    ``ok`` or ``stale`` (no mark).
    """

    task_id: str


class OpenShop(Op, frozen=True, kw_only=True, gc=False):
    """Release what may start of one shop's lot: while slots minus reservations are free and not paused, the parked task
    with the highest priority, then oldest (``created_at``, task id), whose own gates (type paused, twin) are open gets
    a reservation (30 s) and becomes pending with an outbox mark. Answers ``ok`` with the released records.
    """

    shop: str  #: platform:shop_id


class TellDependants(Op, frozen=True, kw_only=True, gc=False):
    """Tell those that depend on an ended task how it ended; for repair, and where they were too many for one step.

    Succeeded: it is struck from what they wait for; who waits for nothing more becomes pending with an outbox mark and
    is among the ``released`` (a scheduled one stays). Dead (not republished) or cancelled: those with
    ``on_dependency_failure`` cancel are cancelled, with their reason, and so on through their own dependants; the
    others stay where they are. Answers ``ok``, ``stale`` for a task that has not ended, ``missing``.
    """

    task_id: str


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What one operation did."""

    code: str
    task: Task | None = None
    released: tuple[Task, ...] = ()  #: pending records with an outbox mark that the caller should publish now
