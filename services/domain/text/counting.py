"""Sentences that count: the engine hands over an instant, and how far away it is, is said by whoever reads it.

A duration would be true of the moment at which it was asked only, and two places that asked at different moments would
name two times for one event. So a message keeps the number of seconds for machines, and beside it

    until     UTC ms: ``seconds`` is how far that is ahead
    since     UTC ms: ``seconds`` is how long ago that was
    asked_at  UTC ms: ``low_s``, ``mid_s`` and ``high_s`` are ahead of that
"""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.text.message import Message, Param

#: what is said once a count-down is over, until somebody has asked anew
OVER: Mapping[str, str] = {
    "gate.scheduled": "gate.due",
    "gate.retry_delay": "gate.due",
    "gate.retry_last": "gate.due",
    "gate.breaker": "gate.breaker_try",
    "gate.paused_rule": "gate.paused_rule_over",
    "gate.estimate_instant": "gate.estimate_now",
    "shop.breaker": "shop.breaker_now",
    **{f"worker.{code}": f"worker.{code}_now" for code in ("back", "hold", "die")},
    **{f"unheard.{code}": f"unheard.{code}_now" for code in ("back", "hold", "die")},
    "worker.back_alone": "worker.back_now",
    "unheard.back_alone": "unheard.back_now",
}
_AHEAD = ("low_s", "mid_s", "high_s")


def left_s(until_ms: int, now_ms: int) -> int:
    """Whole seconds to an instant, begun ones counted: 0 only once it has come."""
    return max(0, -(-(until_ms - now_ms) // 1000))


def counts(message: Message) -> bool:
    """Whether it says something else as time goes by."""
    params = message.params
    ends = isinstance(params.get("until"), int) or bool(params.get("since"))
    return ("seconds" in params and ends) or isinstance(params.get("asked_at"), int)


def read_at(message: Message, now_ms: int) -> Message:
    """The sentence as it is true at this instant (UTC ms)."""
    params = message.params
    until, since, asked = (params.get(name) for name in ("until", "since", "asked_at"))
    if "seconds" in params and isinstance(until, int):
        seconds = left_s(until, now_ms)
        code = OVER.get(message.code, message.code) if not seconds else message.code
        return Message(code, {**params, "seconds": seconds})
    if "seconds" in params and isinstance(since, int) and since:
        return Message(message.code, {**params, "seconds": max(0, now_ms - since) // 1000})
    if isinstance(asked, int):
        gone = max(0, now_ms - asked) / 1000
        fresh: dict[str, Param] = {name: max(0.0, float(params[name]) - gone) for name in _AHEAD if name in params}
        return Message(message.code, {**params, **fresh})
    return message
