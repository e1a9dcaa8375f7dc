"""What RabbitMQ writes on a message that it dead-letters, and what of it must not travel on."""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.task.order import GivenUp

#: must not travel on when a message is published again: the broker may take them for a cycle, or expire it
STRIPPED_HEADERS = frozenset(
    {"x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason", "x-last-death-exchange",
     "x-last-death-queue", "x-last-death-reason", "x-delivery-count", "x-acquired-count", "CC", "BCC"}
)  # fmt: skip
_DEATHS, _REASON, _QUEUE = "x-death", "x-first-death-reason", "x-first-death-queue"


def read(headers: Mapping[str, object]) -> GivenUp | None:
    """Why the broker put a message aside the last time; None where it tells of none, or somebody else wrote it."""
    if _DEATHS not in headers and _REASON not in headers:
        return None
    # the newest first: a retry has left a delay queue as expired before
    newest = _newest(headers.get(_DEATHS))
    reason = _text(newest.get("reason")) or _text(headers.get(_REASON))
    if not reason:
        return None
    queue = _text(newest.get("queue")) or _text(headers.get(_QUEUE))
    return GivenUp(reason, queue, by_sender=newest.get("reason") == "expired" and "original-expiration" in newest)


def _newest(deaths: object) -> Mapping[str, object]:
    newest = deaths[0] if isinstance(deaths, list) and deaths else None
    return newest if isinstance(newest, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
