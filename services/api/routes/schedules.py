"""Schedules: list, show, put, enable, disable, skip, run, backfill, remove."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name, Text

router = APIRouter(prefix="/schedules", tags=["schedules"])
Word = Annotated[str, Field(max_length=64)]


class Schedules(shapes.Open):
    """All of them."""

    schedules: list[dict[str, Any]]
    time_zone: str


class Schedule(shapes.Open):
    """One of them, with its next runs."""

    schedule: dict[str, Any]


class New(shapes.Body):
    """What is created, when, and for which shops: some, platforms, groups, or all."""

    type: Name
    payload: dict[str, Any] = Field(default={})
    priority: Annotated[str, Field(max_length=10, description="high, normal, low or 1-10")] = ""
    cron: Annotated[str, Field(max_length=200, description="minute hour day month weekday, or `@hourly`, `@daily`")] = (
        ""
    )
    every: Word = Field(default="", description="such as `30m`, in the place of `cron`")
    start: Word = Field(default="", description="first run of `every`")
    zone: Word = Field(default="", description="time zone; the fleet's where it is left out")
    missed: Literal["once", "skip"] = Field(default="once", description="runs that nobody could start in time")
    overlap: Literal["skip", "queue"] = Field(default="skip", description="where the run before is not through")
    spread: Word = Field(default="", description="start the shops evenly over this time")
    shops: list[Name] = Field(default=[], max_length=1000)
    platforms: list[Name] = Field(default=[], max_length=100)
    groups: list[Name] = Field(default=[], max_length=100)
    all: bool = False
    note: Text = ""
    disabled: bool = Field(default=False, description="keep it, but do not run it yet")
    replace: bool = Field(default=False, description="change the one of this name")
    dry_run: bool = Field(default=False, description="only tell its next runs")


class RunNow(shapes.Body):
    """Or only a look."""

    dry_run: bool = Field(default=False, description="only tell for which shops")


class Span(shapes.Body):
    """From a day or moment to another; what succeeded in it is left out."""

    since: Word = Field(description="such as `2026-11-20` or `2026-11-20T08:00`")
    until: Word = Field(default="now", description="last day, or the moment before which")
    each: bool = Field(default=False, description="a task for each run that a shop lacks, not one for all")
    dry_run: bool = Field(default=False, description="only tell what is missing")


@router.get("", response_model=Schedules, summary="All schedules")
def schedules(here: Here) -> Response:
    return here.look("schedule list")


@router.get("/{name}", response_model=Schedule, summary="One schedule with its next runs")
def show(here: Here, name: Name, next: Annotated[int, Query(ge=1, le=1000)] = 5) -> Response:
    return here.look("schedule show", name, next=next)


@router.put("/{name}", response_model=shapes.Open, summary="Add a schedule, or with `replace` change it")
def put(here: Here, name: Name, new: New) -> Response:
    fields = new.model_dump(exclude={"shops", "platforms", "groups", "payload"})
    who: dict[str, Any] = {"shop": new.shops, "platform": new.platforms, "group": new.groups}
    payload = json.dumps(new.payload, ensure_ascii=False) if new.payload else ""
    return here.act("schedule add", name, payload=payload, **fields, **who)


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
def run(here: Here, name: Name, how: RunNow | None = None) -> Response:
    return here.act("schedule run", name, yes=True, dry_run=bool(how and how.dry_run))


@router.post("/{name}/backfill", response_model=shapes.Open, summary="Make up for runs that are missing by the ledger")
def backfill(here: Here, name: Name, span: Span) -> Response:
    return here.act("schedule backfill", name, yes=True, **span.model_dump())


@router.delete("/{name}", response_model=shapes.Open, summary="Strike it off; the tasks it has made stay")
def remove(here: Here, name: Name) -> Response:
    return here.act("schedule remove", name, yes=True)
