"""When a waiting task starts, as far as one can tell: from its gates and how long such tasks run. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.domain import explain
from services.domain.explain import Facts, GateView
from services.domain.message import Message
from services.domain.task import Task

#: gates that open by themselves at a time that can be told; any other needs a person, a worker or another task's end
_TOLD = frozenset(
    {
        *("gate.retry_delay", "gate.scheduled", "gate.breaker", "gate.shop_busy", "gate.quota_running"),
        *("gate.quota_starts", "gate.twin_running", "gate.behind", "gate.home_fetched"),
    }
)
_BY_INSTANT = frozenset({"gate.retry_delay", "gate.scheduled", "gate.breaker"})


def starts_in_s(task: Task, facts: Facts) -> float | None:
    """Seconds until it starts, None where nobody can tell."""
    closed = [gate for gate in explain.why_waiting(task, facts) if gate.state != explain.OK]
    if any(gate.code not in _TOLD for gate in closed):
        return None
    lengths = [_length(gate, task, facts) for gate in closed]
    known = [length for length in lengths if length is not None]
    return max(known, default=0.0) if len(known) == len(lengths) else None


def sentence(seconds: float) -> Message:
    """The estimate in words."""
    whole = round(seconds)
    return Message("gate.estimate", {"seconds": whole}) if whole else Message("gate.estimate_now", {})


def _length(gate: GateView, task: Task, facts: Facts) -> float | None:
    params = gate.params
    if gate.code in _BY_INSTANT:
        return float(params["seconds"])
    if gate.code == "gate.quota_starts":
        return float(params["seconds"]) + 60.0 * int(params["ahead"]) / int(params["limit"])
    if gate.code == "gate.home_fetched":
        return _until_fetched(facts)
    if facts.usual_s <= 0:
        return None
    if gate.code == "gate.shop_busy":
        return _until_free(facts.holders, facts.concurrency, facts.shop_ahead, facts)
    if gate.code == "gate.quota_running":
        return _until_free(facts.limit_holders, int(params["limit"]), facts.limit_ahead, facts)
    if gate.code == "gate.twin_running":
        return max(0.0, facts.usual_s - float(params["seconds"]))
    return facts.ahead * facts.usual_s / max(1, facts.slots)


def _until_fetched(facts: Facts) -> float | None:
    if facts.home is not None and facts.home.free > 0:
        return 1.0  # a heartbeat
    return facts.usual_s if facts.usual_s > 0 else None


def _until_free(holders: Sequence[Task], slots: int, ahead: int, facts: Facts) -> float:
    """Until one of ``slots`` is free for the task behind ``ahead`` others."""
    ran = max((facts.now_ms - holder.started_at for holder in holders), default=0) / 1000
    return max(0.0, facts.usual_s - ran) + ahead * facts.usual_s / max(1, slots)
