"""Tables of the embedded broker; a step that was released is never changed, only followed by another."""

from __future__ import annotations

from services.sqlite_setup import Schema

#: ``queue`` is where a message is ready or, while ``visible_at`` > 0, will be; ``owner`` is the consumer that holds it
_MESSAGES = """
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    routing_key TEXT NOT NULL,
    message_id TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL,
    delay_s INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    owner INTEGER NOT NULL DEFAULT 0,
    redelivered INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX messages_ready ON messages (queue, priority DESC, id) WHERE owner = 0 AND visible_at = 0;
CREATE INDEX messages_delayed ON messages (visible_at, delay_s) WHERE visible_at > 0;
CREATE INDEX messages_held ON messages (owner, queue) WHERE owner > 0;
CREATE TABLE consumers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    queues TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_started REAL NOT NULL,
    beat_at INTEGER NOT NULL
);
CREATE TABLE delays (seconds INTEGER PRIMARY KEY);
"""

#: dedicated queues and what they take
_SHOPS = "CREATE TABLE shop_queues (queue TEXT PRIMARY KEY, routing_key TEXT NOT NULL UNIQUE) WITHOUT ROWID"

SCHEMA = Schema("broker", (_MESSAGES, _SHOPS))
