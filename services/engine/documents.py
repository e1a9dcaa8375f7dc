"""What each document in the store must be: one that is none is told by the doctor and set aside by repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from services.domain.alerts import channel as alert_channel
from services.domain.alerts import incident as alert_incident
from services.domain.alerts import outbox as alert_outbox
from services.domain.alerts import rule as alert_rule
from services.domain.fleet import role, shop_queue, token
from services.domain.gates import breaker, passing, quiet_hours
from services.domain.insight import cause_rule, drift, known_issue
from services.domain.past import recorded
from services.domain.plans import schedule
from services.domain.promises import promise, standing
from services.domain.task.record import LIFE
from services.domain.task.search import shared_view
from services.domain.types import task_type
from services.domain.upkeep.damage import SCHEDULE
from services.engine import farewells, homes, unnoticed
from services.engine.lead import leader_link, ledger_keeper, results, run_keeper


def _role(body: str) -> object:
    if not role.parse(body).readable:
        raise ValueError("it names no role")
    return body


def _rule(body: str) -> object:
    rule = msgspec.json.decode(body, type=breaker.Rule)
    breaker.check(rule)
    return rule


def _json(kind: Any) -> Callable[[str], object]:
    return msgspec.json.Decoder(kind).decode


def _type(body: str) -> object:
    return task_type.stored(body)


#: by kind; those whose bodies mean something by their name too are told apart in ``check``
_CHECKS: Mapping[str, Callable[[str], object]] = {
    "type": _type,
    "type_version": _type,
    role.PEOPLE: _json(dict[str, Any]),
    role.KIND: _role,
    token.KIND: token.DOCUMENT.load,
    token.USED: _json(int),
    "bulk": _json(dict[str, Any]),
    "request": _json(list[dict[str, Any]]),
    LIFE: _json(dict[str, int]),
    shop_queue.KIND: shop_queue.parse,
    drift.KIND: drift.DOCUMENT.load,
    known_issue.STATE: known_issue.DOCUMENT.load,
    cause_rule.KIND: _json(cause_rule.CauseRule),
    homes.KIND: homes.DOCUMENT.load,
    farewells.KIND: farewells.DOCUMENT.load,
    farewells.GONE: farewells.DOCUMENT.load,
    quiet_hours.KIND: quiet_hours.DOCUMENT.load,
    quiet_hours.WINDOWS: quiet_hours.WRITTEN_OUT.load,
    passing.KIND: passing.DOCUMENT.load,
    promise.KIND: promise.DOCUMENT.load,
    shared_view.KIND: shared_view.DOCUMENT.load,
    shared_view.VERSIONS: shared_view.DOCUMENT.load,
    recorded.KIND: recorded.DOCUMENT.load,
    promise.VERSIONS: promise.DOCUMENT.load,
    promise.STATE: standing.DOCUMENT.load,
    results.KIND: results.check_place,
    SCHEDULE: schedule.load,
    alert_rule.KIND: alert_rule.DOCUMENT.load,
    alert_rule.VERSIONS: alert_rule.DOCUMENT.load,
    alert_channel.KIND: alert_channel.DOCUMENT.load,
    alert_incident.KIND: alert_incident.DOCUMENT.load,
    alert_incident.ANSWERS: alert_incident.ANSWER.load,
    alert_incident.HISTORY: alert_incident.DOCUMENT.load,
    alert_outbox.KIND: alert_outbox.DOCUMENT.load,
}
_OF_THE_FLEET: Mapping[str, Callable[[str], object]] = {
    breaker.NAME: _rule,
    "time_zone": _json(str),
    ledger_keeper.NAME: _json(int),
    run_keeper.NAME: _json(int),
    unnoticed.NAME: _json(int),
    role.FIRST: _json(str),
    role.DEFAULT: _role,
    "sample": _json(dict[str, Any]),
}


def check(kind: str, name: str, body: str) -> object:
    """Read a document as those do who need it.

    Raises:
        ValueError: it is none; also UsageError, which is none of ours where a program is wrong.
    """
    if kind == leader_link.KIND:
        return (leader_link.LAST if name == leader_link.RESIGNED else leader_link.MET).load(body)
    if kind.startswith("bulk_ids:"):
        return _json(list[str])(body)
    read = _OF_THE_FLEET.get(name) if kind == breaker.DOCUMENT else _CHECKS.get(kind)
    return read(body) if read is not None else None
