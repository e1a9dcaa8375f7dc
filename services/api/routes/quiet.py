"""Quiet hours: list, show, set, remove."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name, Text

router = APIRouter(prefix="/quiet-hours", tags=["quiet hours"])
#: an instant, or `now`; as the first it may also be one, as the second a span
Instant = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z:.+\- ]{0,63}$")]


class QuietHours(shapes.Open):
    """All of them, and when they hold next."""

    quiet_hours: list[dict[str, Any]]
    time_zone: str


class Hours(shapes.Body):
    """What holds, and why; every waiting task and the audit say it."""

    scope: Name = Field(description="all, platform:P, shop:P:ID or type:T")
    weekly: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(default=[], max_length=50)
    once: list[Annotated[list[Instant], Field(min_length=2, max_length=2)]] = Field(default=[], max_length=50)
    note: Annotated[str, Field(min_length=1, max_length=500)]


@router.get("", response_model=QuietHours, summary="All, and when they hold next")
def quiet_hours(here: Here) -> Response:
    return here.look("quiet list")


@router.get("/{name}", response_model=shapes.Open, summary="One of them")
def show(here: Here, name: Name) -> Response:
    return here.look("quiet show", name)


@router.put("/{name}", response_model=shapes.Open, summary="Set some, in the place of what has this name")
def put(here: Here, name: Name, hours: Hours) -> Response:
    words = hours.model_dump(exclude={"scope"})
    return here.act("quiet set", name, hours.scope, yes=True, **words)


@router.delete("/{name}", response_model=shapes.Open, summary="Take some away; what waits goes on")
def remove(here: Here, name: Name, note: Text = "") -> Response:
    return here.act("quiet remove", name, note=note, yes=True)
