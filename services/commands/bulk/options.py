"""How a bulk republish is done, how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from services.commands.bulk.plan import DONE, PAUSED, SCHEMA
from services.commands.outcome import Outcome
from services.domain.errors import UsageError
from services.domain.task.lane import LANES
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.domain.text.said import said

MAX_RATE, MAX_PROBES, MAX_ATTEMPTS = 60_000, 100, 21


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to send. The lane of each, no probes and all at once by default."""

    rate: int = 0  #: at most so many a minute, 0: all at once
    probe: int = 0  #: send so many from different shops first and wait for their ends
    probe_only: bool = False  #: end after the probes and leave the rest
    probe_wait_s: float = 0.0  #: give up on probes that have not ended by then, 0: wait
    if_duplicate: str = "reject"  #: reject | queue | force
    reason: str = ""  #: needed to force, and for one letter that asks for a reason of its own
    skip: frozenset[str] = frozenset({SCHEMA, DONE})  #: states that are left alone: done, paused, schema
    lane: str = ""  #: high | normal | low, "" keeps each its own
    attempts: int = 0  #: how often each may be tried, 0 keeps what it had

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: ``field`` names the option.
        """
        for name, value, most in (("rate", self.rate, MAX_RATE), ("probe", self.probe, MAX_PROBES)):
            if not 0 <= value <= most:
                raise UsageError(said("options.range", name=name, most=most, value=value), field=name)
        if self.if_duplicate not in ("reject", "queue", "force"):
            raise UsageError(said("options.duplicate"), field="if_duplicate")
        if self.if_duplicate == "force" and not self.reason.strip():
            raise UsageError(said("force.reason"), field="reason")
        if not self.skip <= {DONE, PAUSED, SCHEMA}:
            raise UsageError(said("options.skip"), field="skip")
        if self.lane and self.lane not in LANES:
            raise UsageError(said("options.lane"), field="lane")
        if not 0 <= self.attempts <= MAX_ATTEMPTS:
            raise UsageError(said("options.attempts", most=MAX_ATTEMPTS, attempts=self.attempts), field="attempts")

    def detail(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What the audit entry keeps of it."""
        words = {
            "rate": self.rate,
            "probe": self.probe,
            "if_duplicate": self.if_duplicate if self.if_duplicate != "reject" else "",
            "reason": self.reason,
            "lane": self.lane,
            "attempts": self.attempts,
            "fields": dict(fields),
        }
        return {name: value for name, value in words.items() if value}


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """A letter that was tried before the others. ``passed`` is None until its new task has ended."""

    task_id: str
    new_id: str
    shop: str
    status: str = Status.PENDING
    worker: str = ""  #: that has the new task
    kind: str = ""  #: of the new failure
    same: bool = False  #: it failed as it or another one of the plan did before
    passed: bool | None = None


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """``phase``: probing (sending the first ones) | waiting (for their ends) | sending | paused | silent (no store)."""

    phase: str
    total: int
    done: int = 0
    skipped: int = 0
    probes: tuple[Probe, ...] = ()
    next_s: float = 0.0  #: seconds until the next one goes


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. ``why`` is None when everything was sent or answered."""

    outcome: Outcome
    left: tuple[str, ...] = ()  #: letters that stay dead because the run ended early
    probes: tuple[Probe, ...] = ()
    #: bulk.stopped | bulk.left | bulk.probe_same | bulk.probe_failed | bulk.probe_… | bulk.silent
    why: Message | None = None
