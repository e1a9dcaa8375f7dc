"""Tables of the embedded store, step by step; a step that was released is never changed, only followed by another."""

from __future__ import annotations

from services.sqlite.setup import Schema

#: ``data`` is the record (``services.domain.task.record.encode``), the other columns are what indexes and filters look
#: at. ``held_uniq``: its uniqueness key while a task is active; lot: its shop while it is parked; outbox_at: instant of
#: the outbox
#: mark, 0 for none. What waits for a worker that can run it stands in no lot.
_TASKS = """
CREATE TABLE tasks (
    task_id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    triage TEXT NOT NULL,
    platform TEXT NOT NULL,
    shop_id TEXT NOT NULL,
    task_type TEXT NOT NULL,
    lane TEXT NOT NULL,
    priority INTEGER NOT NULL,
    worker TEXT NOT NULL,
    batch TEXT NOT NULL,
    fp TEXT NOT NULL,
    error_kind TEXT NOT NULL,
    gate TEXT NOT NULL,
    uniq TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    held_uniq TEXT,
    lot TEXT,
    outbox_at INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX tasks_created ON tasks (created_at);
CREATE INDEX tasks_updated ON tasks (status, updated_at);
CREATE INDEX tasks_kind ON tasks (status, lane, platform, task_type, created_at);
CREATE INDEX tasks_shop ON tasks (shop_id, created_at);
CREATE INDEX tasks_priority ON tasks (priority, lane);
CREATE INDEX tasks_due ON tasks (due_at, task_id) WHERE due_at > 0;
CREATE INDEX tasks_worker ON tasks (worker, created_at) WHERE worker <> '';
CREATE INDEX tasks_batch ON tasks (batch, created_at) WHERE batch <> '';
CREATE INDEX tasks_fp ON tasks (fp, created_at) WHERE fp <> '';
CREATE INDEX tasks_uniq ON tasks (held_uniq) WHERE held_uniq IS NOT NULL;
CREATE INDEX tasks_lot ON tasks (lot, priority DESC, created_at, task_id) WHERE lot IS NOT NULL;
CREATE INDEX tasks_outbox ON tasks (outbox_at) WHERE outbox_at > 0;
CREATE INDEX tasks_lease ON tasks (lease_until) WHERE lease_until > 0;
CREATE INDEX tasks_waiting ON tasks (lane, priority, created_at) WHERE status = 'queued';
CREATE TABLE tallies (
    lane TEXT NOT NULL,
    platform TEXT NOT NULL,
    task_type TEXT NOT NULL,
    status TEXT NOT NULL,
    triage TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (lane, platform, task_type, status, triage)
) WITHOUT ROWID;
CREATE TABLE shop_tallies (
    shop_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    status TEXT NOT NULL,
    triage TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (shop_id, platform, status, triage)
) WITHOUT ROWID;
CREATE INDEX shop_tallies_parked ON shop_tallies (shop_id, platform) WHERE status = 'blocked' AND n > 0;
CREATE TABLE reservations (
    task_id TEXT PRIMARY KEY,
    platform TEXT NOT NULL,
    shop_id TEXT NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX reservations_shop ON reservations (shop_id);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL,
    shop_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    task_type TEXT NOT NULL,
    from_ TEXT NOT NULL,
    to_ TEXT NOT NULL,
    at INTEGER NOT NULL,
    worker TEXT NOT NULL,
    gen INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    lane TEXT NOT NULL
);
"""

_SIDE = """
CREATE TABLE letters (task_id TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE shops (
    platform TEXT NOT NULL,
    shop_id TEXT NOT NULL,
    concurrency INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (shop_id, platform)
) WITHOUT ROWID;
CREATE TABLE pauses (scope TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE workers (worker TEXT PRIMARY KEY, seen_at INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE worker_orders (id INTEGER PRIMARY KEY, worker TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX worker_orders_worker ON worker_orders (worker);
CREATE TABLE leaders (role TEXT PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE executed (task_id TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX executed_until ON executed (until);
CREATE TABLE logs (
    task_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    place INTEGER NOT NULL,
    at INTEGER NOT NULL,
    stream TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (task_id, attempt, place)
) WITHOUT ROWID;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    entry_id TEXT NOT NULL UNIQUE,
    data BLOB NOT NULL,
    outcome TEXT NOT NULL DEFAULT '',
    closed_at INTEGER NOT NULL DEFAULT 0
);
CREATE TRIGGER audit_is_append_only BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_closed_once BEFORE UPDATE ON audit
WHEN old.outcome <> '' OR old.data IS NOT new.data OR old.entry_id <> new.entry_id
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
"""

_UNSERVED = """
CREATE INDEX tasks_unserved ON tasks (lane, task_type, priority DESC, created_at, task_id) WHERE gate = 'no_worker';
"""

#: who waits for whom (``needs``), by the ids that were named; cancels: 1 where the failure of one ends the other.
#: untold: ended tasks that had more dependants than one step tells
_DEPENDENCIES = """
CREATE TABLE dependencies (
    needs TEXT NOT NULL,
    cancels INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    PRIMARY KEY (needs, cancels, task_id)
) WITHOUT ROWID;
CREATE INDEX dependencies_task ON dependencies (task_id);
CREATE TABLE untold (task_id TEXT PRIMARY KEY) WITHOUT ROWID;
"""

#: next_at: instant of the next run, 0 for none
_SCHEDULES = """
CREATE TABLE schedules (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at > 0;
"""

#: the latest instant of queueing of the tasks whose message came out of a queue
_WATERMARKS = """
CREATE TABLE watermarks (
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (queue, priority)
) WITHOUT ROWID;
"""

#: the instant by which a task must have begun, until somebody has looked at it then
_DEADLINES = """
CREATE TABLE deadlines (task_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX deadlines_at ON deadlines (at);
"""

#: what is left of removed records until an instant, and how many of them each batch had; dead letters that a person is
#: done with by the instant of that
_REMOVED = """
CREATE TABLE tombstones (task_id TEXT PRIMARY KEY, until INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX tombstones_until ON tombstones (until);
CREATE TABLE buried (
    batch TEXT NOT NULL,
    status TEXT NOT NULL,
    n INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (batch, status)
) WITHOUT ROWID;
CREATE INDEX buried_until ON buried (until);
CREATE INDEX tasks_triaged ON tasks (triage, updated_at, task_id) WHERE triage NOT IN ('', 'open');
"""

#: limits of platforms and types by scope (``platform:pdd``, ``type:sync_order``); places that are kept for released
#: tasks; starts by second; lots (``shop|type``) that may start but for the limit, by the rank of their first task
_LIMITS = """
CREATE TABLE limits (
    scope TEXT PRIMARY KEY,
    concurrency INTEGER NOT NULL,
    per_minute INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE limit_reservations (
    scope TEXT NOT NULL,
    task_id TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (scope, task_id)
) WITHOUT ROWID;
CREATE INDEX limit_reservations_task ON limit_reservations (task_id);
CREATE TABLE limit_starts (
    scope TEXT NOT NULL,
    second INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (scope, second)
) WITHOUT ROWID;
CREATE TABLE limit_waits (
    scope TEXT NOT NULL,
    lot TEXT NOT NULL,
    rank INTEGER NOT NULL,
    PRIMARY KEY (scope, lot)
) WITHOUT ROWID;
CREATE INDEX limit_waits_rank ON limit_waits (scope, rank, lot);
CREATE INDEX tasks_lot_type ON tasks (lot, task_type, priority DESC, created_at, task_id) WHERE lot IS NOT NULL;
"""

_REMARKS = """
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL,
    note_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (task_id, note_id)
);
CREATE TABLE suppressed (id INTEGER PRIMARY KEY, task_id TEXT NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE suppressed_counts (
    outcome TEXT NOT NULL,
    shop TEXT NOT NULL,
    task_type TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (outcome, shop, task_type)
) WITHOUT ROWID;
"""

#: what is remembered of shops whose attempts fail; until: 0 while the breaker is closed
_BREAKERS = """
CREATE TABLE breakers (
    shop TEXT PRIMARY KEY,
    outcomes TEXT NOT NULL,
    until INTEGER NOT NULL,
    since INTEGER NOT NULL,
    times INTEGER NOT NULL,
    kind TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX breakers_open ON breakers (until) WHERE until > 0;
"""

#: the order by priority, with its ties
_RANK = """
DROP INDEX tasks_priority;
CREATE INDEX tasks_rank ON tasks (priority, task_id);
"""

#: what a message is under way for, by shop
_UNDER_WAY = """
CREATE INDEX tasks_under_way ON tasks (shop_id, platform, priority) WHERE status IN ('pending', 'queued');
"""

#: shops whose session gate is closed, and why; when each shop was last logged in. at: of the row of succeeded
#: tasks, the last success
_SESSIONS = """
CREATE TABLE sessions (shop TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE logins (shop TEXT PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL) WITHOUT ROWID;
ALTER TABLE shop_tallies ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
"""

#: where shops are at home, and what waits for a home elsewhere
_HOMES = """
CREATE TABLE homes (shop TEXT PRIMARY KEY, node TEXT NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX tasks_homebound ON tasks (gate, lane, task_type, priority DESC, created_at, task_id)
    WHERE gate > 'home_node:' AND gate < 'home_node;';
"""

#: marks of the links of the audit that no other one names yet; the seal of an outcome
_AUDIT = """
CREATE TABLE audit_heads (mark TEXT PRIMARY KEY) WITHOUT ROWID;
ALTER TABLE audit ADD COLUMN ending BLOB;
"""

#: rows that could not be read and were taken out of the way: their table, key, columns and values
_ASIDE = """
CREATE TABLE aside (
    id INTEGER PRIMARY KEY,
    place TEXT NOT NULL,
    entry TEXT NOT NULL,
    at INTEGER NOT NULL,
    why TEXT NOT NULL,
    ref BLOB NOT NULL,
    data BLOB NOT NULL
);
"""

#: when an order was left: one that nobody fetched within a day is forgotten, as on the server
_ORDERS_END = """
ALTER TABLE worker_orders ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
UPDATE worker_orders SET at = CAST(strftime('%s', 'now') AS INTEGER) * 1000;
"""

#: parked tasks by the gate that their records name
_GATE = """
CREATE INDEX tasks_gate ON tasks (gate, created_at) WHERE gate <> '';
"""

#: the last success of each work, by uniqueness key; until: NULL while its record is there, then the end of its
#: tombstone. What of a work a person has still to decide about. Successes of before are known by their column.
_WORKS = """
CREATE TABLE works (
    work TEXT PRIMARY KEY,
    task_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    worker TEXT NOT NULL,
    until INTEGER
) WITHOUT ROWID;
CREATE INDEX works_until ON works (until) WHERE until IS NOT NULL;
CREATE INDEX tasks_red ON tasks (uniq) WHERE uniq <> '' AND (status = 'held' OR triage = 'open');
INSERT INTO works SELECT uniq, task_id, max(updated_at), '', worker, NULL FROM tasks
    WHERE status = 'succeeded' AND uniq <> '' GROUP BY uniq;
"""

#: the last failure of each work, and what ended on the day of its last end (one success unless told otherwise);
#: gone_at: NULL while a record of either is there, then when nothing of it is kept any more. Days before that one. What
#: ended before this step is counted by the leader, once (``engine/lead/ledger_keeper.py``).
_WORK_DAYS = """
ALTER TABLE works ADD COLUMN succeeded INTEGER NOT NULL DEFAULT 1;
ALTER TABLE works ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE works ADD COLUMN first_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE works ADD COLUMN first_id TEXT NOT NULL DEFAULT '';
ALTER TABLE works ADD COLUMN failed_id TEXT NOT NULL DEFAULT '';
ALTER TABLE works ADD COLUMN failed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE works ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE works ADD COLUMN failed_by TEXT NOT NULL DEFAULT '';
ALTER TABLE works ADD COLUMN failed_worker TEXT NOT NULL DEFAULT '';
ALTER TABLE works ADD COLUMN failed_until INTEGER;
ALTER TABLE works ADD COLUMN gone_at INTEGER;
UPDATE works SET gone_at = until;
DROP INDEX works_until;
CREATE INDEX works_gone ON works (gone_at) WHERE gone_at IS NOT NULL;
CREATE TABLE work_days (
    work TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    first_id TEXT NOT NULL,
    last_id TEXT NOT NULL,
    PRIMARY KEY (work, first_at)
) WITHOUT ROWID;
CREATE INDEX work_days_last ON work_days (last_at);
"""

#: the last success of each type in each shop; kept when its record goes
_SUCCESSES = """
CREATE TABLE successes (
    task_type TEXT NOT NULL,
    shop TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_type, shop)
) WITHOUT ROWID;
INSERT INTO successes SELECT task_type, platform || ':' || shop_id, max(updated_at) FROM tasks
    WHERE status = 'succeeded' GROUP BY 1, 2;
"""

#: fields of payloads that are indexed, and how far that is: built up to a row, whole (built is NULL), or being
#: forgotten; what the index keeps of each task (``search.payload_match``)
_PAYLOADS = """
CREATE TABLE payload_fields (
    name TEXT PRIMARY KEY,
    built INTEGER,
    forgotten INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE payload_terms (term TEXT NOT NULL, task_id TEXT NOT NULL, PRIMARY KEY (term, task_id)) WITHOUT ROWID;
"""

#: dead letters by what was decided about them, in the order in which all of them are read
_LETTERS = """
CREATE INDEX tasks_letters ON tasks (triage, created_at, task_id, status) WHERE triage <> '';
"""

#: in the row of a shop's running tasks: when and by which worker one was begun last
_LAST_RUNS = """
ALTER TABLE shop_tallies ADD COLUMN worker TEXT NOT NULL DEFAULT '';
"""

_STEPS = (
    *(_TASKS + _SIDE, _UNSERVED, _DEPENDENCIES, _SCHEDULES, _WATERMARKS, _DEADLINES, _REMOVED, _LIMITS, _REMARKS),
    _BREAKERS,
    _RANK,
    _UNDER_WAY,
    _SESSIONS,
    _HOMES,
    _AUDIT,
    _ASIDE,
    _ORDERS_END,
    _GATE,
    _WORKS,
    _WORK_DAYS,
    _SUCCESSES,
    _PAYLOADS,
    _LETTERS,
    _LAST_RUNS,
)
SCHEMA = Schema("store", _STEPS)
