"""What may be asked of the store in one atomic step, and what it answers.

Every driver applies a batch of these operations, each one atomically: record, indexes, counters, gates, outbox mark and
event change together or not at all. Each operation is safe to repeat: asked again after a lost reply it answers as it
did the first time (what it released is not named twice, the outbox has it; nor is what it ended in its wake).

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
  task's shop, and lets one task go for each limit of its platform and type (see ``OpenLimit``).
- A task that ends (succeeded, dead, cancelled) is told to those that depend on it, as by ``TellDependants``, in the
  same step, up to ``dependency.AT_ONCE`` of them for all operations of a round; what is left over is in
  ``Store.untold``.
- A success is written down for its work (``Task.work``, ``Store.last_done``), and closes in the same step what of that
  work is held or dead and open since before it ended: those become dead with triage *overtaken* and that task as
  ``successor`` (held ones with an outbox mark; what comes free by that is ``released``). An id that depends on one of
  them means the ``successor``, as with republished ones.
- A task that waits for others (status blocked, gate *dependency*) is in no lot: neither ``OpenShop`` nor a claim lets
  it go, and like a scheduled one it is no twin that goes first. A scheduled one that falls due, or is run now, waits
  there too.
- ``uniq`` never spans shops. A shop that is not registered has concurrency 1; Claim registers it (``unregistered``).
- Of a record that was removed (``Forget``) a tombstone may be left. A Claim that would adopt a message under its id
  answers ``forgotten``. A Create answers ``exists`` without a record, unless it died: then the tombstone makes room. As
  a dependency a removed task that succeeded counts as such; any other is unknown.
- Operations on a record that does not exist answer ``missing``, but Renew and Progress ``fenced``, Published, Nudge,
  GiveUp and Postpone ``stale``.
- An operation that meets something in the store that cannot be read answers ``unreadable``, with the reason in
  ``words``, and has written nothing; the others of its batch go on.
- Where that is what is known of a work, nobody knows whether it was done, which is asked as if it was: a Create or
  Republish with ``done_since`` answers ``unsure``, a Claim holds the task. Only a success is written over it.
"""

from __future__ import annotations

from services.domain.change.attempts import Claim, Finish, Progress, Renew
from services.domain.change.base import DONE, UNREADABLE, UNSURE, Answer, Op
from services.domain.change.operator import (
    Annotate,
    Cancel,
    Create,
    Move,
    Republish,
    Resolve,
    SetTriage,
    TakeBackTry,
    Try,
)
from services.domain.change.upkeep import (
    CloseBreaker,
    CloseSession,
    Forget,
    GiveUp,
    Nudge,
    OpenLimit,
    OpenSession,
    OpenShop,
    Postpone,
    Published,
    Rehome,
    Relink,
    Route,
    TellDependants,
)

__all__ = [
    "DONE",
    "UNREADABLE",
    "UNSURE",
    "Annotate",
    "Answer",
    "Cancel",
    "Claim",
    "CloseBreaker",
    "CloseSession",
    "Create",
    "Finish",
    "Forget",
    "GiveUp",
    "Move",
    "Nudge",
    "Op",
    "OpenLimit",
    "OpenSession",
    "OpenShop",
    "Postpone",
    "Progress",
    "Published",
    "Rehome",
    "Relink",
    "Renew",
    "Republish",
    "Resolve",
    "Route",
    "SetTriage",
    "TakeBackTry",
    "TellDependants",
    "Try",
]
