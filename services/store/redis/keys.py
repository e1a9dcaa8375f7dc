"""Every name that Fleetdeck uses in Redis; scripts get them from here when they are loaded.

All of them carry one hash tag, so that a script may touch them together on a cluster. ``executed:{task_id}`` is the one
exception: a projection for workers of other make, never touched by a script.
"""

from __future__ import annotations

from types import MappingProxyType

from services.domain.gates import passing
from services.domain.task import record
from services.domain.task.lane import MAX_PRIORITY, MIN_PRIORITY
from services.domain.task.status import Status

#: 2: dependencies; an older program would end a task without telling those that wait for it, so it may only read
#: 3: tombstones and limits; an older program would run again what ended and was removed, and start tasks past limits
#: 4: sessions; an older program would start tasks of a shop that waits for a person, and bury them
#: 5: homes; an older program would start a task away from the profile of its shop
#: 6: an index of payloads, from the first field on that is declared; an older program would leave tasks out of it
SCHEMA = 6
BASE_SCHEMA = 5  #: what a store is until then
MOST_SCHEMA = 10_000  #: beyond, it is no number of ours
ROOT = "{rpa}:"
EXECUTED = "executed:"
EXECUTED_S = 3600

META = ROOT + "meta"
EVENTS = ROOT + "events"
EVENTS_KEPT = 100_000
OUTBOX = ROOT + "outbox"  #: task by the instant of its outbox mark
LEASES = ROOT + "leases"  #: running task by the end of its lease
PLANNED = ROOT + "due:scheduled"
WATERMARKS = ROOT + "watermarks"  #: by "queue|priority": see Store.delivered
RETRIES = ROOT + "due:retrying"
UPDATED = ROOT + "i:updated"
LOTS = ROOT + "lots"  #: shops with parked tasks
#: "lane|type" with tasks that wait for a worker that can run them, "lane|type@node" with those that wait for their home
UNSERVED = ROOT + "unserved"
HOMES = ROOT + "homes"  #: by shop: since when, and its node
PAUSES = ROOT + "pauses"
SCHEDULES = ROOT + "schedules"
SCHEDULE_VERSIONS = ROOT + "schedules:version"
SCHEDULES_DUE = ROOT + "schedules:due"  #: schedule by the instant of its next run
SHOPS = ROOT + "shops"
LIMITS = ROOT + "limits"  #: "slots starts" by scope
LIMIT_RUNNING = ROOT + "limits:running"  #: running tasks by scope
LIMIT_SCOPES = ROOT + "limits:waiting"  #: scopes at whose limit somebody waits
SESSIONS = ROOT + "sessions"  #: what closed the session gate of shops, where it is closed
LOGINS = ROOT + "logins"  #: by shop, when and by whom it was logged in last
SUCCESSES = ROOT + "successes"  #: by shop, when a task succeeded last
SUCCESSES_OF = ROOT + "successes:"  #: of a type, by shop, when a task of it succeeded last
LAST_RUNS = ROOT + "runs:last"  #: by shop, when and by which worker a task was begun last
BREAKERS = ROOT + "breakers"  #: what is remembered of shops whose attempts fail
BREAKERS_OPEN = ROOT + "breakers:open"  #: shops whose breaker is open by the instant of the next probe
RESERVING = ROOT + "reserving"  #: shops with reservations by the end of the last one
#: by shop, numbers of eight bytes: its slots (0: not registered), then a counter for each of COUNTED; older programs
#: read just as many. Longer than the 64 bytes up to which Redis keeps a small hash as a list that it searches from the
#: start.
BY_SHOP = ROOT + "n:shop"
#: by shop, for each priority but the usual one four bytes: its tasks that a message is under way for (pending, queued).
#: Only a hint about priorities: how many there are in all BY_SHOP tells, which a program keeps too that does not know
#: this key.
UNDER_WAY = ROOT + "n:way"
BY_KIND = ROOT + "n:kind"  #: counters by "platform|type|lane|status|triage|priority": totals without a scan
SHOP_NAMES = ROOT + "i:shops"  #: every shop that ever had a task, in order of its name
PLATFORMS = ROOT + "i:platforms"
BATCHES = ROOT + "i:batches"  #: every batch that has tasks, by the creation of its first one
NEEDED = ROOT + "needed"  #: ids that some task waits for
DEADLINES = ROOT + "deadlines"  #: task that may not begin after this instant, until somebody has looked at it then
UNTOLD = ROOT + "untold"  #: ended tasks that had more dependants than one round tells
WORKERS = ROOT + "workers"
LETTERS = ROOT + "letters"
AUDIT = ROOT + "audit"
AUDIT_ORDER = ROOT + "audit:order"
AUDIT_CLOSED = ROOT + "audit:closed"
AUDIT_ENDS = ROOT + "audit:ends"  #: by entry, the seal of its outcome
AUDIT_HEADS = ROOT + "audit:heads"  #: marks of the links that no other one names yet

SUPPRESSED = ROOT + "dup"  #: tasks that met another one with the same work, by the instant
SUPPRESSED_OF = ROOT + "dup:of"  #: what is told of each
SUPPRESSED_N = ROOT + "dup:n"  #: how many in all, by "outcome|platform:shop|type"
NOTES = ROOT + "notes:"  #: of people on a dead letter

TASK = ROOT + "t:"
TOMB = ROOT + "x:"  #: what is left of a removed record, for a time
BURIED = ROOT + "xb:"  #: by batch, how many of its records were removed, by status
#: what was found where something else should be: a whole key under its name, entries of one as a hash
ASIDE = ROOT + "aside:"
ASIDE_NOTES = ROOT + "aside-notes"  #: when and why, by such a key and the entry in it
BROKEN = ROOT + "broken:"  #: bytes found in the place of a record that are none
UNIQUE = ROOT + "u:"
WORK = ROOT + "w:"  #: by uniqueness key, its last ends and what of it is held or open: scripts/ledger.lua
PAST = ROOT + "wd:"  #: by uniqueness key, the days before the last one on which anything of it ended
LOT = ROOT + "lot:"  #: "shop|type": parked tasks, the best one first
UNSERVED_OF = ROOT + "unserved:"  #: by such a kind: those tasks, the best one first
LOT_TYPES = ROOT + "lots:"  #: types that a shop has parked tasks of
RESERVED = ROOT + "res:"
LIMIT_RESERVED = ROOT + "limits:res:"  #: by scope: tasks with a kept place by its end
LIMIT_STARTS = ROOT + "limits:starts:"  #: by scope: starts by second
LIMIT_WAITING = ROOT + "limits:lots:"  #: by scope: lots ("shop|type") that may start but for the limit, the best first
NEEDS = ROOT + "needs:"  #: ids that a task still waits for
DEPENDANTS = ROOT + "deps:"  #: tasks that wait for it, 1 for those that are cancelled if it fails
BY_STATUS, SHOP, TYPE, WORKER, BATCH, FINGERPRINT = (ROOT + f"i:{letter}:" for letter in "sntwbf")
#: fields of payloads that are indexed, and how far that is; META names those that every new record is noted for
INDEXED = ROOT + "indexed"
PAYLOAD = ROOT + "i:p:"  #: by "field|digest of a value": tasks with it in their payload, by their creation
DOCUMENTS = ROOT + "doc:"
LIVES = DOCUMENTS + record.LIFE  #: documents that name earlier lives of the data, of which people were told
ORDERS = ROOT + "orders:"
LEADER = ROOT + "leader:"
LOG = ROOT + "log:"
NOTHING = ROOT + "nothing"  #: never there

PRIORITIES = range(MIN_PRIORITY, MAX_PRIORITY + 1)
#: what the counters of a shop tell apart, in their order: the active statuses, and dead with triage open
COUNTED = (
    Status.PENDING,
    Status.BLOCKED,
    Status.SCHEDULED,
    Status.QUEUED,
    Status.RUNNING,
    Status.RETRYING,
    Status.HELD,
    Status.DEAD,
)

#: names by the word that scripts use for them (``K.task``)
IN_SCRIPTS = MappingProxyType(
    {
        "meta": META,
        "events": EVENTS,
        "outbox": OUTBOX,
        "leases": LEASES,
        "planned": PLANNED,
        "retries": RETRIES,
        "watermarks": WATERMARKS,
        "updated": UPDATED,
        "lots": LOTS,
        "unserved": UNSERVED,
        "unserved_of": UNSERVED_OF,
        "homes": HOMES,
        "pauses": PAUSES,
        "shops": SHOPS,
        "limits": LIMITS,
        "limit_running": LIMIT_RUNNING,
        "limit_scopes": LIMIT_SCOPES,
        "limit_reserved": LIMIT_RESERVED,
        "limit_starts": LIMIT_STARTS,
        "limit_waiting": LIMIT_WAITING,
        "sessions": SESSIONS,
        "logins": LOGINS,
        "successes": SUCCESSES,
        "successes_of": SUCCESSES_OF,
        "last_runs": LAST_RUNS,
        "breakers": BREAKERS,
        "breakers_open": BREAKERS_OPEN,
        "fleet_documents": DOCUMENTS + "fleet",
        "passes": DOCUMENTS + passing.KIND,
        "reserving": RESERVING,
        "by_shop": BY_SHOP,
        "under_way": UNDER_WAY,
        "by_kind": BY_KIND,
        "shop_names": SHOP_NAMES,
        "platforms": PLATFORMS,
        "batches": BATCHES,
        "needed": NEEDED,
        "untold": UNTOLD,
        "deadlines": DEADLINES,
        "task": TASK,
        "tomb": TOMB,
        "buried": BURIED,
        "letters": LETTERS,
        "notes": NOTES,
        "suppressed": SUPPRESSED,
        "suppressed_of": SUPPRESSED_OF,
        "suppressed_n": SUPPRESSED_N,
        "log": LOG,
        "broken": BROKEN,
        "aside": ASIDE,
        "documents": DOCUMENTS,
        "schedules": SCHEDULES,
        "schedule_versions": SCHEDULE_VERSIONS,
        "audit": AUDIT,
        "unique": UNIQUE,
        "work": WORK,
        "past": PAST,
        "lot": LOT,
        "lot_types": LOT_TYPES,
        "reserved": RESERVED,
        "needs": NEEDS,
        "dependants": DEPENDANTS,
        "by_status": BY_STATUS,
        "shop": SHOP,
        "type": TYPE,
        "worker": WORKER,
        "batch": BATCH,
        "fingerprint": FINGERPRINT,
        "indexed": INDEXED,
        "payload": PAYLOAD,
    }
)


def task(task_id: str) -> str:
    """The record."""
    return TASK + task_id


def log(task_id: str, attempt: int) -> str:
    """Log lines of one attempt."""
    return f"{LOG}{attempt}:{task_id}"


def executed(task_id: str) -> str:
    """The projection for workers of other make."""
    return EXECUTED + task_id


def status(name: str, priority: int, part: str = "") -> str:
    """Tasks of one status and priority by their creation; ``part``: the lane while queued, the triage when dead."""
    return f"{BY_STATUS}{name}:{part}:{min(max(priority, MIN_PRIORITY), MAX_PRIORITY)}"


def queued(lane: str) -> list[str]:
    """The parts of the status index that hold the queued tasks of a lane, the lowest priority first."""
    return [status(Status.QUEUED, priority, lane) for priority in PRIORITIES]


def unserved(lane: str, task_type: str, node: str = "") -> str:
    """Tasks of one lane and type that wait for a worker that can run them, or for this node."""
    return f"{UNSERVED_OF}{lane}|{task_type}" + (f"@{node}" if node else "")


def kind(member: str) -> tuple[str, str, str]:
    """Lane, type and node of a member of ``UNSERVED``."""
    lane, _, rest = member.partition("|")
    task_type, _, node = rest.partition("@")
    return lane, task_type, node
