"""What the engine asks so that messages, lots and dependants follow the records."""

from __future__ import annotations

from services.domain.change.base import Op


class Published(Op, frozen=True, kw_only=True, gc=False):
    """The broker confirmed the message of this state: clear the outbox mark; pending becomes queued. Of a queued task
    whose message was published once more ``queued_at`` becomes the present instant.

    Only if the record still has this status, gen and attempt. Answers ``ok`` or ``stale``.
    """

    task_id: str
    status: str
    gen: int
    attempt: int


class Nudge(Op, frozen=True, kw_only=True, gc=False):
    """Publish again what the broker seems to have lost: sets the outbox mark of a pending, queued or retrying task.

    Same gen and attempt, so a twin message is harmless. A scheduled task that is due becomes pending. A retrying task
    past due becomes pending, so that its next message goes straight to the lane. In a shop that is crowded or waits for
    a login (see Create) both become blocked and are answered without a mark. Both lose their ``due_at``. Only if gen
    and attempt still match. Answers ``ok`` or ``stale`` (also scheduled and not due, and every other status).
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

    What meets the limit of its platform or type stays; its lot (shop and type) waits at that limit from then on.

    A slot that others will take, at least as urgent and with a message under way, is not free for a parked task. Who
    asks by this operation believes so only until the task has been parked for 30 s, for a message may be lost.
    """

    shop: str  #: platform:shop_id
    most: int = 0  #: so many at most, 0 for all that may


class OpenLimit(Op, frozen=True, kw_only=True, gc=False):
    """Release those that wait at the limit of a platform or type, the best first of all shops, while it has room: like
    ``OpenShop``, but for up to ``most`` tasks. A lot that cannot start for another reason leaves the limit and waits
    there. Answers ``ok`` with the released records.
    """

    scope: str  #: platform:P | type:T
    most: int


class CloseBreaker(Op, frozen=True, kw_only=True, gc=False):
    """A person says that a shop works again: what is remembered of its failures is forgotten, and what waits is
    released as by ``OpenShop``. Answers ``ok``, or ``stale`` where nothing was remembered.
    """

    shop: str  #: platform:shop_id


class CloseSession(Op, frozen=True, kw_only=True, gc=False):
    """A person says that a shop has to be logged in: none of its tasks starts until somebody has done so. Answers
    ``ok``, or ``stale`` where the gate is closed already; what closed it stays.
    """

    shop: str  #: platform:shop_id
    kind: str  #: login_expired | captcha
    by: str
    note: str = ""


class OpenSession(Op, frozen=True, kw_only=True, gc=False):
    """A person has logged a shop in: that is noted (``Store.logins``) and its session gate is opened. What waits there
    is released by ``OpenShop``. Answers ``ok``, or ``stale`` where it was not closed.
    """

    shop: str  #: platform:shop_id
    by: str


class TellDependants(Op, frozen=True, kw_only=True, gc=False):
    """Tell those that depend on an ended task how it ended; for repair, and where they were too many for one step.

    Succeeded: it is struck from what they wait for; who waits for nothing more becomes pending with an outbox mark and
    is among the ``released`` (a scheduled one stays). Dead (not republished) or cancelled: those with
    ``on_dependency_failure`` cancel are cancelled, with their reason, and so on through their own dependants; the
    others stay where they are. Answers ``ok``, ``stale`` for a task that has not ended, ``missing``.
    """

    task_id: str


class Relink(Op, frozen=True, kw_only=True, gc=False):
    """Note anew what a task waits for, from the records, and let it go where that is nothing; for repair.

    A task at the gate *dependency*, or a scheduled one, waits for each of its ``depends_on`` that has not succeeded; an
    unknown one only as long as it is noted. A failed one, also one that was removed, ends it if it asked for that, as
    by ``TellDependants``. Answers ``ok`` where something was wrong, ``stale`` where nothing was, or it waits for
    nobody; ``missing``.
    """

    task_id: str
    look: bool = False  #: only tell, change nothing


class Route(Op, frozen=True, kw_only=True, gc=False):
    """Let the message of a task that has not started go through another queue: "" is its lane's, else the dedicated
    queue of this shop id. gen + 1, so that the message in the old queue is stale.

    pending, queued -> pending with an outbox mark; retrying keeps its time and gets a mark; scheduled and blocked ones
    stay as they are, for their message is yet to be made. Answers ``ok`` (a task that goes there already makes no
    transition), ``refused`` (running, held or ended), ``missing``.
    """

    task_id: str
    queue: str
    by: str


class Rehome(Op, frozen=True, kw_only=True, gc=False):
    """Let a task go that waits for a node where its shop is not at home any more: gen + 1, pending with an outbox mark.

    Answers ``ok``, ``stale`` (it does not wait for a home, or for the right one), ``missing``.
    """

    task_id: str
    by: str


class Forget(Op, frozen=True, kw_only=True, gc=False):
    """Remove the record of an ended task with all that belongs to it (letter, notes, logs, places in indexes), and keep
    a tombstone (``services.domain.task.tombstone``) for ``tomb_ms``; 0 keeps none.

    Counters follow, the counts of its batch keep it, and an event from its status to "" tells those who show it. Only
    if it has ended and ``updated_at`` is as it was seen. Answers ``ok`` (the removed record returned), ``stale``,
    ``missing`` (also when it is gone already), ``needed``: its message is not confirmed yet, a task waits for it or is
    yet to be told, or it was republished as a task that has a record and neither succeeded nor was cancelled.
    """

    task_id: str
    updated_at: int
    tomb_ms: int
