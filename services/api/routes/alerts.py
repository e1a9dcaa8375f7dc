"""Alerts: incidents that people were told of, the rules behind them, and the channels."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Body, Limit, Name, Note, Text

router = APIRouter(prefix="/alerts", tags=["alerts"])


class Incidents(shapes.Open):
    """What is not over, what nobody has answered first."""

    incidents: list[dict[str, Any]]


class Incident(shapes.Open):
    """One: extent, facts, time line, messages."""

    id: str
    state: str
    title: str
    timeline: list[dict[str, Any]]
    messages: list[dict[str, Any]]


class Acted(shapes.Open):
    """What people have said to it."""

    incident: str
    answer: dict[str, Any]


class Rules(shapes.Open):
    """When people are told, and who."""

    rules: list[dict[str, Any]]


class Rule(shapes.Open):
    """One of them, and what it was before."""

    name: str
    version: int
    before: list[dict[str, Any]]


class Channels(shapes.Open):
    """Where people are told, and what each has not taken."""

    channels: list[dict[str, Any]]


class Mute(Body):
    """How long nobody is told, and why."""

    until: Text = Field(min_length=1, description="a time, or a duration such as `2h`")
    reason: Text = Field(min_length=1, description="everybody sees it")


@router.get("", response_model=Incidents, summary="Incidents that are not over")
def incidents(here: Here) -> Response:
    return here.look("alert list")


@router.get("/history", response_model=Incidents, summary="Incidents that are over, the newest first")
def history(here: Here, limit: Annotated[Limit, Query()] = 50) -> Response:
    return here.look("alert history", limit=limit)


@router.get("/rules", response_model=Rules, summary="All rules")
def rules(here: Here) -> Response:
    return here.look("alert rule list")


@router.get("/rules/{name}", response_model=Rule, summary="One rule, and what it was before")
def rule(here: Here, name: Name) -> Response:
    return here.look("alert rule show", name)


@router.post("/rules/{name}/enable", response_model=shapes.Open, summary="Switch a rule on")
def enable(here: Here, name: Name) -> Response:
    return here.act("alert rule set", name, on=True)


@router.post("/rules/{name}/disable", response_model=shapes.Open, summary="Switch a rule off")
def disable(here: Here, name: Name) -> Response:
    return here.act("alert rule set", name, off=True)


@router.get("/channels", response_model=Channels, summary="All channels, and what each has not taken")
def channels(here: Here) -> Response:
    return here.look("alert channel list")


@router.post("/channels/{name}/test", response_model=shapes.Open, summary="Send a test from the server, now")
def test(here: Here, name: Name) -> Response:
    return here.act("alert channel test", name)


@router.get("/{incident}", response_model=Incident, summary="One incident")
def show(here: Here, incident: Name) -> Response:
    return here.look("alert show", incident)


@router.post("/{incident}/answer", response_model=Acted, summary="Take it: it is not told again and does not escalate")
def answer(here: Here, incident: Name, why: Note | None = None) -> Response:
    return here.act("alert answer", incident, note=why.note if why else "")


@router.post("/{incident}/unanswer", response_model=Acted, summary="Give it back: it is nobody's again")
def unanswer(here: Here, incident: Name) -> Response:
    return here.act("alert unanswer", incident)


@router.post("/{incident}/mute", response_model=Acted, summary="Tell nobody of it until an instant")
def mute(here: Here, incident: Name, how: Mute) -> Response:
    return here.act("alert mute", incident, until=how.until, reason=how.reason)


@router.post("/{incident}/unmute", response_model=Acted, summary="Tell of it again")
def unmute(here: Here, incident: Name) -> Response:
    return here.act("alert unmute", incident)


@router.post("/{incident}/escalate", response_model=Acted, summary="Tell the next group now")
def escalate(here: Here, incident: Name) -> Response:
    return here.act("alert escalate", incident)
