"""Records as the JSON documents of the command line."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from services import messages
from services.assembly import Engine
from services.cli import lexicon, spoken, tables
from services.clock import machine_zone
from services.domain.errors import UsageError
from services.domain.fleet.shop import Pause
from services.domain.gates import home
from services.domain.insight import known_issue
from services.domain.insight import shop as insight_shop
from services.domain.insight.cause import Worth
from services.domain.insight.forecast.estimate import Estimate
from services.domain.insight.reach import Reach, Share
from services.domain.insight.shop import ShopNow
from services.domain.insight.verdict import Verdict
from services.domain.insight.wait import GateView
from services.domain.plans import recurrence
from services.domain.task.record import Task
from services.domain.task.search.filter import format_terms
from services.domain.task.tombstone import Tombstone
from services.domain.text.message import Message
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.i18n import N_
from services.monitor.letters.causes import Cause
from services.monitor.overview import Attention
from services.monitor.tasks import TaskDetail

INSTANTS = frozenset(
    {"created_at", "updated_at", "due_at", "queued_at", "started_at", "ended_at", "lease_until", "deadline"}
)
_JSON_TEXTS = frozenset({"payload", "result", "extra"})
_PARTS = frozenset({"steps", "attempts"})


def task(record: Task, gate: str | None = None) -> dict[str, Any]:
    """All fields of the record: instants as ISO 8601 in UTC (null when not yet), JSON texts as JSON. ``gate``: where it
    waits now, in the place of the gate that it met first, which becomes ``parked_at``.
    """
    fields = {name: _field(name, getattr(record, name)) for name in record.__struct_fields__ if name not in _PARTS}
    if gate is None:
        return fields
    if gate == home.GATE and home.node_of(record.gate):
        gate = record.gate  # with the machine that it waits for
    return fields | {"gate": gate, "parked_at": record.gate}


def document(record: Task, gates: list[Any], gate: str | None = None) -> dict[str, Any]:
    """The document of ``task show``; ``gate`` as of ``task``."""
    return {"task": task(record, gate), "attempts": attempts(record), "gates": gates, "events": events(record)}


def wait(gate: GateView | None, starts: Estimate | None) -> dict[str, Any]:
    """Where a task waits and when it starts, as far as one can tell; {} for one that does not wait."""
    if gate is None:
        return {}
    found: dict[str, Any] = {"gate": gate.name, "sentence": spoken.say(gate.message), "estimate": None}
    if starts is not None:
        seconds = {"low_s": starts.low_s, "mid_s": starts.mid_s, "high_s": starts.high_s}
        found["estimate"] = {name: round(value, 1) for name, value in seconds.items()} | {"basis": starts.basis}
        found["starts_in_s"] = round(starts.mid_s, 1)
    return found


def attention(item: Attention) -> dict[str, Any]:
    """One item of what needs a person, the same for every command."""
    return {
        "key": item.key,
        "code": item.code,
        "params": dict(item.params),
        "since_ms": item.since_ms,
        "verbs": [{"verb": verb, "target": target} for verb, target in item.verbs],
        "text": spoken.item(item),
    }


def message(one: Message) -> dict[str, Any]:
    """What is said, for programs and in words."""
    return {"code": one.code, "params": dict(one.params), "text": spoken.say(one)}


def shop_now(now: ShopNow, at_ms: int) -> dict[str, Any]:
    """What is true of a shop: its state as a code and a word, why, since when, who holds it, and what helps."""
    told = insight_shop.reasons(now, at_ms)
    return {
        "state": now.state,
        "state_word": insight_shop.WORDS[now.state],
        "under": now.under or None,
        "state_since": iso(now.since_ms) if now.since_ms else None,
        "reason": "; ".join(messages.in_one(told, spoken.say)),
        "reasons": [message(one) for one in told],
        "held_by": [
            {
                "gate": one.gate,
                "scope": one.scope,
                "by": one.by,
                "since": iso(one.at) if one.at else None,
                "until": iso(one.until) if one.until else None,
                "reason": one.reason,
            }
            for one in now.pauses
        ],
        "can": [{"verb": verb, "target": target} for verb, target in insight_shop.acts(now)],
    }


def attempts(record: Task) -> list[dict[str, Any]]:
    """Every attempt, oldest first."""
    return [
        {
            **msgspec.structs.asdict(one),
            "started_at": iso(one.started_at),
            "ended_at": iso(one.ended_at),
            "artifacts": [{**msgspec.structs.asdict(file), "at": iso(file.at)} for file in one.artifacts],
        }
        for one in record.attempts
    ]


def events(record: Task) -> list[dict[str, Any]]:
    """The transitions kept in the record, oldest first."""
    return [
        {
            "at": iso(step.at),
            "from": step.from_,
            "to": step.to,
            "worker": step.worker,
            "gen": step.gen,
            "attempt": step.attempt,
            "note": step.note,
        }
        for step in record.steps
    ]


def iso(instant_ms: int) -> str | None:
    """ISO 8601 with milliseconds in UTC, None for 0."""
    if not instant_ms:
        return None
    return dt.datetime.fromtimestamp(instant_ms / 1000, dt.UTC).isoformat(timespec="milliseconds")


def zone(engine: Engine) -> str:
    """The zone in which people read and write instants: the fleet's; before somebody set it that of the settings, else
    of this machine, where that tells.
    """
    return fleet_zone(engine.store) or engine.settings.time_zone or machine_zone() or DEFAULT_ZONE


def clock(instant_ms: int, zone: str, to: str = "seconds") -> str:
    """An instant as people read it, with the offset of the zone (UTC where this machine knows it not), "" for 0.

    ``to``: how fine, as ``datetime.isoformat`` calls it.
    """
    if not instant_ms:
        return ""
    try:
        return recurrence.iso(instant_ms, zone, to)
    except UsageError:
        return recurrence.iso(instant_ms, DEFAULT_ZONE, to)


def local(row: Mapping[str, Any], zone: str, *names: str) -> dict[str, Any]:
    """A row for programs with what ``iso`` told under these names as people read it."""
    told = {name: row[name] for name in names if row[name]}
    return {
        **row,
        **{name: clock(round(dt.datetime.fromisoformat(at).timestamp() * 1000), zone) for name, at in told.items()},
    }


def _field(name: str, value: Any) -> Any:
    if name in INSTANTS:
        return iso(value)
    if name in _JSON_TEXTS:
        return _parsed(value)
    return [*value] if isinstance(value, tuple) else value


def _parsed(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def removed(stone: Tombstone, zone: str) -> str:
    """What can still be said about a task whose record was removed, with its instant in that zone."""
    told = (
        N_("the record of {task} was removed: it was {status} on {at} and its work went on as {successor}")
        if stone.successor
        else N_("the record of {task} was removed: it was {status} on {at}")
    )
    status = lexicon.called("status", stone.status)
    at = clock(stone.ended_at, zone)
    return spoken.phrase(told, task=stone.task_id, status=status, at=at, successor=stone.successor)


def verdict(said: Verdict | None) -> dict[str, Any] | None:
    """Whether its work would be done twice."""
    if said is None:
        return None
    return {"level": said.level, **message(said.message)}


def same_work(said: Message) -> dict[str, Any]:
    """The last success of the same work as another task; where nobody can read it, only the sentence says so."""
    params = said.params
    at = iso(int(params["since"])) if "since" in params else ""
    return {"id": params.get("id", ""), "by": params.get("by", ""), "at": at, "text": spoken.say(said)}


def cause(one: Cause) -> dict[str, Any]:
    """One cause of dead letters, the same for every command."""
    return {
        "fingerprint": one.fingerprint,
        "kind": one.kind,
        "name": one.rule.name,
        "note": one.rule.note,
        "known": {
            "owner": one.rule.owner,
            "park_s": one.rule.park_s,
            "retry_at": one.rule.retry_at,
            "alert_once": one.rule.alert_once,
            "to": list(one.rule.route),
            "link": one.rule.link,
            "by": one.rule.known_by,
            "at": iso(one.rule.known_at),
            "parked": sorted(shop for shop, parked in one.issue.parked.items() if parked.on),
            "retried_at": iso(one.issue.retried_at),
            "text": "; ".join(spoken.say(each) for each in known_issue.told(one.rule, one.issue)),
        },
        "parts": list(one.parts),
        "of": one.rule.of,
        "where": one.rule.where,
        "apart": list(one.apart),
        "filter": format_terms(one.terms),
        "title": spoken.say(one.title),
        "headline": one.headline,
        "count": one.count,
        "shops": one.shops,
        "types": list(one.types),
        "platforms": list(one.platforms),
        "scope": one.scope,
        "reach": reach(one.reach),
        "trend": one.trend,
        "first_at": iso(one.first_at),
        "last_at": iso(one.last_at),
        "worth": worth(one.worth),
    }


def reach(found: Reach) -> dict[str, Any]:
    """Where a cause lies, and of each place how many of the shops that ran the work there failed of it."""
    # of what was split off, and of the smallest of very many causes, nobody has asked what ran meanwhile
    said = [spoken.say(one) for one in (found.message, *found.rest)] if found.until else []

    def rows(shares: Iterable[Share]) -> list[dict[str, Any]]:
        return [{"name": one.value, "failed": one.failed, "ran": one.ran} for one in shares]

    return {
        "text": "; ".join(said),
        "at": found.at,
        "values": list(found.values),
        "failed": found.failed,
        "ran": found.ran,
        "elsewhere": {"failed": found.out_failed, "ran": found.out_ran},
        "beside": [{"at": at, "value": value} for at, value in found.beside],
        "by": {name: rows(shares) for name, shares in found.tables.items()},
        "shops": rows(found.shops),
        "since": iso(found.since),
        "until": iso(found.until),
    }


def worth(said: Worth | None) -> dict[str, Any] | None:
    """Whether it would pass if it ran now."""
    if said is None:
        return None
    but = spoken.say(said.but) if said.but is not None else ""
    text = " ".join(part for part in (spoken.say(said.message), but) if part)
    return {"level": said.level, "code": said.code, "params": dict(said.params), "text": text}


def again(detail: TaskDetail) -> list[str]:
    """Both answers and what would be refused, a line each."""
    lines = []
    for name, said in (("again?", verdict(detail.verdict)), ("worth it?", worth(detail.worth))):
        if said is not None:
            lines.append(tables.fact(name, f"{lexicon.called('verdict', said['level'])}: {said['text']}", 14))
    if detail.refusal is not None:
        lines.append(tables.fact("refused", spoken.say(detail.refusal), 14))
    return lines


def paused_before(key: str, was: Pause, note: str) -> str:
    """What became of the pause that stood there already."""
    if note:
        return spoken.phrase(
            "{key} was paused already, by {by}; your name and note stand there now instead", key=key, by=was.by
        )
    return spoken.phrase("{key} was paused already, by {by}; it stays so", key=key, by=was.by)
