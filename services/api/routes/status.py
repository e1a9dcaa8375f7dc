"""Status: what the page for a phone shows, in the language of who looks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from services import assembly, i18n, messages
from services.api import shapes
from services.api.here import Here, answer
from services.api.language import chosen
from services.assembly import Engine
from services.cli import shapes as documents
from services.clock import machine_zone
from services.domain.alerts import incident as incidents
from services.domain.insight.forecast import flow
from services.domain.promises import judge
from services.domain.task.status import Status, Triage
from services.engine.zone import fleet_zone
from services.i18n import _, fill
from services.monitor import attention
from services.monitor.alerts import wording
from services.monitor.overview import Attention
from services.monitor.promises import UNJUDGED

router = APIRouter(tags=["status"])
#: of what needs a person, and of the promises that are not kept
MOST = 50
_WAITING = (Status.PENDING, Status.QUEUED, Status.BLOCKED)


class Standing(shapes.Open):
    """Sentences for people; numbers with their words."""

    language: str
    state: str
    headline: str
    at: str
    counts: list[dict[str, Any]]
    needs_person: list[dict[str, Any]]
    alerts: list[dict[str, Any]]
    promises: list[dict[str, Any]]


@router.get("/status", response_model=Standing, summary="How the fleet stands, in words, for people")
def status(here: Here, accept_language: Annotated[str, Header(max_length=500)] = "") -> Response:
    with i18n.speaking(chosen(accept_language)):
        return answer(_standing(here.engine))


def _standing(engine: Engine) -> dict[str, Any]:
    snapshot, told, items = assembly.standing(engine)
    counts, fleet = snapshot.counts, snapshot.fleet()
    numbers = (
        ("waiting", _("Waiting"), sum(counts.status.get(one, 0) for one in _WAITING)),
        ("running", _("Running"), counts.status.get(Status.RUNNING, 0)),
        ("retrying", _("Retrying"), counts.status.get(Status.RETRYING, 0)),
        ("held", _("To confirm"), counts.status.get(Status.HELD, 0)),
        ("dead", _("Dead letters"), counts.triage.get(Triage.OPEN, 0)),
        ("workers", _("Workers"), fleet.living),
    )
    return {
        "language": i18n.language(),
        "state": told.state,
        "headline": messages.headline(flow.headline(told)),
        "at": documents.iso(snapshot.at_ms),
        "counts": [{"name": name, "word": word, "number": number} for name, word, number in numbers],
        "needs_person": [_item(one) for one in items[:MOST]],
        "more": max(0, len(items) - MOST),
        "alerts": _alerts(engine),
        "promises": _promises(engine),
    }


def _item(one: Attention) -> dict[str, Any]:
    title, sentence = attention.present(one)
    return {
        "code": one.code,
        "severity": one.severity,
        "title": title,
        "text": sentence,
        "since": documents.iso(one.since_ms),
    }


def _alerts(engine: Engine) -> list[dict[str, Any]]:
    """Incidents that people were told of and that are not over, what nobody has answered first."""
    zone = fleet_zone(engine.store) or engine.settings.time_zone or machine_zone()
    told = {incidents.OPEN: "", incidents.MUTED: _("Muted"), incidents.CALMING: _("Is ending")}
    found = []
    for one in assembly.queries(engine).alerts.now(addresses=False).incidents:
        incident = one.incident
        if one.state not in (*told, incidents.ANSWERED):
            continue
        extent = _("{count} of {of}") if incident.of else "{count}"
        found.append(
            {
                "id": incident.id,
                "severity": incident.rule.severity,
                "state": one.state,
                "word": told.get(one.state) or incident.answer.answered_by,
                "title": wording.title(incident.words, zone, incident.first_at),
                "extent": ": ".join(
                    part
                    for part in (
                        fill(extent, {"count": incident.count, "of": incident.of}),
                        ", ".join(incident.names[:5]),
                    )
                    if part
                ),
                "since": documents.iso(incident.first_at),
            }
        )
    return found[:MOST]


def _promises(engine: Engine) -> list[dict[str, Any]]:
    """All but those that somebody has switched off, the worst first."""
    words = {
        judge.BROKEN: _("Broken"),
        judge.AT_RISK: _("At risk"),
        UNJUDGED: _("Not judged yet"),
        judge.KEPT: _("Kept"),
        judge.NOT_DUE: _("Not due"),
    }
    order = list(words)
    rows = sorted(
        (row for row in assembly.queries(engine).promises.now().rows if row.state in words),
        key=lambda row: (order.index(row.state), row.name),
    )
    return [
        {
            "name": row.name,
            "state": row.state,
            "word": words[row.state],
            "stale": row.stale,
            "why": [wording.say(one.message) for one in row.holds[:3]],
        }
        for row in rows[:MOST]
    ]
