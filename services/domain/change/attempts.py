"""What a worker asks about the attempts it makes."""

from __future__ import annotations

from services.domain.change.base import Op
from services.domain.task.record import Attempt, Task


class Claim(Op, frozen=True, kw_only=True, gc=False):
    """Take the lease of a delivered task and set it running.

    Checked in order: no record -> create it from ``adopt`` (status queued; held if ``adopt`` is) or answer
    ``missing``; terminal -> ``ended`` (cancelled too); running by ``owner`` -> ``run`` again; running by another ->
    ``duplicate``; ``gen``/``attempt`` differ from the record's, or held or scheduled -> ``stale``; then the gates
    in the order paused, session, breaker, shop_busy, quota, twin, home_node, no_worker -> ``blocked`` (status
    blocked, record parked, gate named); else ``run``: attempt + 1, owner, worker, lease, started_at, the shop's
    slot is taken, its reservation used, outbox mark, gate and ``due_at`` cleared, ``cancel``, ``progress`` and
    ``note`` as new. The record is returned with every answer but ``missing``. ``foreign_done`` or an executed mark
    without our outcome (drivers look it up), looked at before the gates: the record becomes succeeded by worker
    ``foreign``, answer ``ended``. With ``adopt`` the message is another program's: the mark *noticed*, set where the
    record was made of a notice of it, goes, and one that meets its record ended is ``stale``, not ``ended``: it is not
    asked for again, it has only come late. That the message of a queued task came, of those published once, moves the
    watermark of its queue and priority (``Store.delivered``).

    The gates: *paused*: a pause of all, the platform, the shop or the type. *session*: the shop asks for a person
    (``services.domain.gates.session``): an attempt ended so, or somebody said so. *breaker*: too many of the last
    attempts of the shop failed (``services.domain.gates.breaker``): none may start until the cool-down is over, then
    one at a time, until one succeeds. *shop_busy*: running tasks of the shop + live reservations of others >= its
    concurrency. *quota*: as many tasks of the platform or of the type run, or have started within the last minute,
    as its limit allows, reservations counted as both; or somebody who waits there goes first (``OpenLimit``; one of
    those may be among the ``released``). *twin*: another active task of the same ``uniq`` (not scheduled) was
    created earlier (ties by task id), or is running or held whenever it was created; the waiting one gets the mark
    twin. *home_node*: the task needs the profile of its shop (``home`` is the claiming node, "" where it needs
    none), and the shop is at home on another node; the gate is ``services.domain.gates.home.gate_of`` that one. A claim
    with ``home`` that runs makes that node the home of a shop that has none. *no_worker*: the claiming worker says
    that it cannot run this type (``able`` is False).

    What waits for the first six is parked in the shop's lot; what waits for a worker that can run it, or for its home,
    is parked by lane and type (``Store.unserved``, ``Store.homebound``), where such workers fetch it: they claim it
    without a message. A parked task loses its outbox mark and its reservation; only at those two gates a reservation is
    kept, for 3 s, so that nobody overtakes it on its way to the right worker. One that is parked already and meets a
    closed gate again makes no transition.

    ``done_since``: where all gates are open, but another task has done the same work since then, nobody knows whether
    it is wanted again: the record becomes held (``ALREADY_DONE``), answer ``stale``. So does what may not run
    twice (``once``), where its work was done since it was created. One that a person gave a reason for (``reason``,
    marks *forced* and *again*) runs all the same.
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
    home: str = ""
    done_since: int = 0
    once: bool = False  #: its type may not run twice


class Finish(Op, frozen=True, kw_only=True, gc=False):
    """Record how an attempt ended, fenced by ``owner``.

    ``to``: succeeded | retrying | dead | held | cancelled | pending (given back or worker lost: uncounted, outbox mark)
    | blocked (the shop asks for a person: the attempt closes its session gate, unless it is closed already, and the
    task is parked there, uncounted and without a mark; if the shop was logged in after the attempt began, its end says
    nothing about that login: the gate stays open, and the task becomes pending). retrying and dead set an outbox mark;
    retrying sets ``due_at`` = now + ``delay_ms`` and counts one retry (not where ``counted`` is False: nothing failed,
    the task goes on later). dead sets triage open. The shop's slot is freed and the lot's best task is released (see
    ``OpenShop``). ``lost`` appends the instant to ``losses``. ``if_expired``: only when the lease has run out (the
    reconciler asks; the owner must still match), else ``fenced`` without evidence. Where a cancel was requested,
    retrying, pending and blocked are recorded as cancelled: the wish came first. error, error_kind, fingerprint and
    result replace the old ones; ``cancel`` and the lease end. Answers ``ok`` (also when this very attempt of this owner
    is recorded already), ``fenced`` (another owner, state or outcome: nothing changed but the evidence is appended,
    once, to ``attempts`` with outcome fenced), ``missing``.

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
    counted: bool = True


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
