"""Schedules: list, show, enable, disable, skip, run, remove."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name

router = APIRouter(prefix="/schedules", tags=["schedules"])


class Schedules(shapes.Open):
    """All of them."""

    schedules: list[dict[str, Any]]
    time_zone: str


class Schedule(shapes.Open):
    """One of them, with its next runs."""

    schedule: dict[str, Any]


@router.get("", response_model=Schedules, summary="All schedules")
def schedules(here: Here) -> Response:
    return here.look("schedule list")


@router.get("/{name}", response_model=Schedule, summary="One schedule with its next runs")
def show(here: Here, name: Name, next: Annotated[int, Query(ge=1, le=1000)] = 5) -> Response:
    return here.look("schedule show", name, next=next)


@router.post("/{name}/enable", response_model=shapes.Open, summary="Let it run again")
def enable(here: Here, name: Name) -> Response:
    return here.act("schedule enable", name)


@router.post("/{name}/disable", response_model=shapes.Open, summary="Keep it and run it no more")
def disable(here: Here, name: Name) -> Response:
    return here.act("schedule disable", name)


@router.post("/{name}/skip", response_model=shapes.Open, summary="Leave its next run out")
def skip(here: Here, name: Name) -> Response:
    return here.act("schedule skip", name)


@router.post("/{name}/run", response_model=shapes.Open, summary="Run it now; its next run stays as planned")
def run(here: Here, name: Name) -> Response:
    return here.act("schedule run", name, yes=True)


@router.delete("/{name}", response_model=shapes.Open, summary="Strike it off; the tasks it has made stay")
def remove(here: Here, name: Name) -> Response:
    return here.act("schedule remove", name, yes=True)
