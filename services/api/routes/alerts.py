"""Alerts: incidents that people were told of, the rules behind them, and the channels."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Body, Limit, Name, Note, Text
from services.domain.alerts import channel as kinds
from services.domain.alerts import rule as levels
from services.domain.errors import UsageError
from services.domain.text.said import said

router = APIRouter(prefix="/alerts", tags=["alerts"])
Severity = Annotated[str, Field(pattern=f"^({'|'.join(levels.SEVERITIES)})$")]
Kind = Annotated[str, Field(pattern=f"^({'|'.join(kinds.KINDS)})$")]
Language = Annotated[str, Field(pattern=f"^({'|'.join(kinds.LANGUAGES)})$")]
Seconds = Annotated[int, Field(ge=0, le=2**31 - 1)]


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

    until: Text = Field(
        min_length=1, description="a time, a duration such as `2h`, or `changed`: until it becomes worse or is over"
    )
    reason: Text = Field(min_length=1, description="everybody sees it")


class RuleWords(Body):
    """What changes; the rest stays as it is."""

    measure: Annotated[str, Field(max_length=64, description="of a new rule: the name of a default one")] = ""
    limits: dict[Annotated[str, Field(min_length=1, max_length=64)], Annotated[float, Field(ge=0, le=1e12)]] = Field(
        default={}, max_length=20, description="such as `high_minutes`"
    )
    for_s: Seconds | None = Field(default=None, description="must hold so long before anybody is told")
    calm_s: Seconds | None = Field(default=None, description="must be gone so long before it is resolved")
    again_s: Seconds | None = Field(default=None, description="told again until somebody answers; 0 never")
    escalate_s: Seconds | None = Field(default=None, description="to the next group without an answer; 0 never")
    severity: Severity | None = None
    channels: list[Name] = Field(default=[], max_length=50, description="or groups of them")
    escalate_to: list[Name] = Field(default=[], max_length=50)
    action: Text | None = Field(default=None, description="pause, pause:SCOPE, mark, run:NAME, or none")
    enabled: bool | None = None


class ChannelWords(Body):
    """What changes; the rest stays as it is. The address is a secret of the machines that lead, and never sent here."""

    kind: Kind | None = None
    language: Language | None = None
    group: Annotated[str, Field(max_length=64, description="duty is told first, lead when nobody answers")] = ""
    secret: Annotated[str, Field(max_length=64, description="name of its address among the secrets")] = ""
    to: Annotated[str, Field(max_length=500, description="of kind mail: who gets it, with commas between")] = ""
    rate: Annotated[int, Field(ge=1, le=kinds.MOST_RATE, description="messages a minute at most")] | None = None
    enabled: bool | None = None


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


@router.put("/rules/{name}", response_model=shapes.Open, summary="Change a rule, or add one of a known measure")
def set_rule(here: Here, name: Name, words: RuleWords) -> Response:
    if any("=" in one for one in words.limits):
        raise UsageError(said("api.limit_name"), field="limits")
    spans: dict[str, Any] = {
        one: str(span)
        for one in ("for", "calm", "again", "escalate")
        if (span := getattr(words, f"{one}_s")) is not None
    }
    return here.act(
        "alert rule set",
        name,
        measure=words.measure,
        limit=[f"{limit}={number:f}" for limit, number in words.limits.items()],
        **spans,
        severity=words.severity,
        channel=words.channels,
        escalate_to=words.escalate_to,
        action=words.action,
        **_switch(words.enabled),
    )


@router.post("/rules/{name}/reset", response_model=shapes.Open, summary="As it was delivered; an added rule goes")
def reset_rule(here: Here, name: Name) -> Response:
    return here.act("alert rule reset", name)


@router.get("/channels", response_model=Channels, summary="All channels, and what each has not taken")
def channels(here: Here) -> Response:
    return here.look("alert channel list")


@router.post("/channels/{name}/test", response_model=shapes.Open, summary="Send a test from the server, now")
def test(here: Here, name: Name) -> Response:
    return here.act("alert channel test", name)


@router.put("/channels/{name}", response_model=shapes.Open, summary="Add a channel, or change the one of this name")
def set_channel(here: Here, name: Name, words: ChannelWords) -> Response:
    fields = words.model_dump(exclude={"enabled"})
    return here.act("alert channel set", name, **fields, **_switch(words.enabled))


@router.delete("/channels/{name}", response_model=shapes.Open, summary="Take a channel away")
def remove_channel(here: Here, name: Name) -> Response:
    return here.act("alert channel remove", name)


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


def _switch(enabled: bool | None) -> dict[str, bool]:
    return {} if enabled is None else {"on": enabled, "off": not enabled}
