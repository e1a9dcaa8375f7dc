"""What is left of a task whose record was removed: enough to know it again, and to say how it ended."""

from __future__ import annotations

import hashlib

import msgspec

from services.domain.task.record import Task
from services.domain.upkeep.stored import Instant

DIGEST_HEX = 8


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """Kept for a time of its own after the record."""

    task_id: str
    status: str  #: succeeded | dead | cancelled
    ended_at: Instant
    successor: str = ""  #: task it was republished as, or that did its work later
    digest: str = ""  #: of the work, see ``digest``


def digest(task: Task) -> str:
    """A few letters that differ where platform, shop, type or the text of the payload do."""
    text = "\n".join((task.platform, task.shop_id, task.task_type, task.payload))
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:DIGEST_HEX]


def write(stone: Tombstone) -> str:
    """The stored form; the id is its key."""
    return f"{stone.status}|{stone.ended_at}|{stone.successor}|{stone.digest}"


def read(task_id: str, text: str) -> Tombstone:
    """From the stored form; later fields are left alone."""
    status, ended_at, successor, mark = [*text.split("|"), "", "", ""][:4]
    at = int(ended_at) if ended_at.isdigit() else 0
    return Tombstone(task_id=task_id, status=status, ended_at=at, successor=successor, digest=mark)
