"""What a worker can be told: the words of an order, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.domain.fleet import autoscale
from services.domain.fleet.autoscale import Range
from services.domain.gates import lane_share
from services.domain.gates.lane_share import Share
from services.domain.task import ids

VERBS = ("drain", "resume", "stop", "slots", "refuse")
MAX_GRACE_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOrder:
    """``drain`` and ``resume``; ``stop`` or ``stop=GRACE_SECONDS``; ``slots=8,low=1-3`` or ``slots=auto:2-16``;
    ``refuse=TYPE,TYPE``, all that it shall refuse from now on (``refuse=`` for none).
    """

    verb: str
    grace_s: float | None = None  #: of a stop; None for the worker's own
    slots: int = 0
    shares: Mapping[str, Share] = field(default_factory=dict)
    auto: Range | None = None  #: instead of ``slots``
    types: tuple[str, ...] = ()  #: to refuse


def parse(text: str) -> WorkerOrder:
    """Read an order.

    Raises:
        ValueError: the text says what is wrong.
    """
    verb, equals, value = text.partition("=")
    if verb not in VERBS:
        raise ValueError(f"a worker can be told {', '.join(VERBS)}, not {text!r:.80}")
    if verb == "slots":
        auto = autoscale.parse(value)
        if auto is not None:
            return WorkerOrder(verb=verb, auto=auto)
        slots, shares = lane_share.parse_slots(value)
        return WorkerOrder(verb=verb, slots=slots, shares=shares)
    if verb == "refuse":
        if not equals:
            raise ValueError("refuse needs task types: refuse=TYPE,TYPE, or refuse= for none")
        return WorkerOrder(verb=verb, types=_types(value))
    if verb == "stop" and value:
        return WorkerOrder(verb=verb, grace_s=_grace(value))
    if equals:
        raise ValueError(f"{verb} takes nothing behind it, not {value!r:.40}")
    return WorkerOrder(verb=verb)


def _types(value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(word.strip() for word in value.split(",") if word.strip()))
    bad = [name for name in names if not ids.valid_task_type(name)]
    if bad:
        raise ValueError(f"a task type is 1-64 of A-Z a-z 0-9 _ -, not {bad[0]!r:.60}")
    return names


def _grace(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_GRACE_S:
        raise ValueError(f"the grace of a stop is 0 to {MAX_GRACE_S} seconds, not {value!r:.40}")
    return seconds
