"""The past and what it leaves to do: the fleet at a moment, and the page for who takes over."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Body, Name

router = APIRouter(tags=["past"])
When = Annotated[str, Field(min_length=1, max_length=40)]
Hours = Annotated[list[When], Field(min_length=1, max_length=24)]
Channels = Annotated[list[Name], Field(max_length=50)]


class Moment(shapes.Open):
    """What is known of it on the machine of this server, and what changed around it."""

    at: str
    recorded: bool
    numbers: dict[str, Any] | None
    shops: dict[str, list[str]] | None
    gap: dict[str, Any] | None
    changes: list[dict[str, Any]]


class Page(shapes.Open):
    """What who takes over must know; each number with the filter that gives it again."""

    title: str
    language: str
    doubts: list[str]
    parts: list[dict[str, Any]]


class HandoverTimes(Body):
    """When it is sent every day, and to whom."""

    at: Hours = Field(description="on the fleet's clocks, such as `08:00`")
    to: Channels = Field(default=[], description="channels or groups of them; `duty` where it is left out")


class Send(Body):
    """Of how long, and to whom."""

    since: When = "12h"
    to: Channels = Field(default=[], description="channels or groups of them; `duty` where it is left out")


@router.get("/at", response_model=Moment, summary="The fleet at a moment, and what changed around it")
def at(
    here: Here,
    when: Annotated[When, Query(description="`03:12`, `2026-11-20T03:12`, or `90m` ago")],
    around: When = "10m",
) -> Response:
    return here.look("at", when, around=around)


@router.get("/handover", response_model=Page, summary="What broke, who did what, what waits for whom")
def handover(here: Here, since: When = "12h", language: Literal["en", "zh"] = "en") -> Response:
    return here.look("handover show", since=since, language=language)


@router.get("/handover/plan", response_model=shapes.Open, summary="When it is sent, and to whom")
def plan(here: Here) -> Response:
    return here.look("handover plan")


@router.put("/handover/plan", response_model=shapes.Open, summary="Send it every day at these times")
def put_plan(here: Here, wanted: HandoverTimes) -> Response:
    return here.act("handover set", **wanted.model_dump())


@router.delete("/handover/plan", response_model=shapes.Open, summary="Send it no more")
def remove_plan(here: Here) -> Response:
    return here.act("handover remove")


@router.post("/handover/send", response_model=shapes.Open, summary="Send it now")
def send(here: Here, what: Send | None = None) -> Response:
    return here.act("handover send", **(what or Send()).model_dump())
