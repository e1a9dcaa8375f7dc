"""The head of a record as the Redis store reads it: what a filter can ask for, and nothing behind it."""

from __future__ import annotations

import msgspec

from services.domain.task.record import Step
from services.domain.upkeep.stored import Instant


class Glance(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a record that a filter can ask for; what stands behind them is passed over unread."""

    task_id: str
    shop_id: str
    platform: str
    task_type: str
    packed_payload: msgspec.Raw
    lane: str
    priority: int
    queue: str
    status: str
    gate: str
    gen: int
    attempt: int
    retries: int
    max_retries: int
    created_at: Instant
    updated_at: Instant
    due_at: Instant
    queued_at: Instant
    started_at: Instant
    ended_at: Instant
    owner: str
    lease_until: Instant
    worker: str
    cancel: str
    error: str
    error_kind: str
    fingerprint: str
    result: msgspec.Raw
    progress: int
    note: str
    batch: str
    origin: str
    created_by: str
    reason: str
    parent: str
    successor: str
    triage: str
    triage_note: str
    uniq: str

    @property
    def payload(self) -> str:
        """Its JSON, read only where a filter asks for it: it may be half a megabyte."""
        return msgspec.msgpack.decode(self.packed_payload, type=str)

    @property
    def shop(self) -> str:
        """Shop identity ``platform:shop_id``."""
        return f"{self.platform}:{self.shop_id}"


class Traced(Glance, frozen=True, array_like=True):
    """The same with the steps, for a filter that asks for what was."""

    marks: msgspec.Raw
    losses: msgspec.Raw
    timeout_s: msgspec.Raw
    idempotent: msgspec.Raw
    expected_s: msgspec.Raw
    steps: tuple[Step, ...]
