"""Queues: depths, what waits in one and how it is emptied, what holds tasks back; switches and limits of a scope."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Limit, Name, Note, Text
from services.domain.errors import UsageError
from services.domain.text.said import said

router = APIRouter(prefix="/queues", tags=["queues"])
OneQueue = Annotated[str, Query(max_length=300, description="only of this queue, or of this lane")]
Figure = Annotated[int, Field(ge=0, le=1_000_000, description="0: no limit")]


class Queues(shapes.Open):
    """Depths as the broker tells them, and what is closed."""

    queues: list[dict[str, Any]]
    pauses: list[dict[str, Any]]
    closed: list[dict[str, Any]]
    limits: list[dict[str, Any]]


class Peeked(shapes.Open):
    """The first that wait, the oldest first."""

    queue: str
    tasks: list[dict[str, Any]]
    more: bool = Field(description="whether others wait behind them")


class HoldersPage(shapes.Open):
    """What workers hold of the queues, and what the broker counts beyond that."""

    queues: list[dict[str, Any]] = Field(description="of each: what the broker counts, and what of it nobody explains")
    held: list[dict[str, Any]] = Field(description="a task, its worker and slot, since when, and its lease")
    at: str
    told: bool = Field(description="whether the broker counts what consumers hold")
    more: bool


class Purge(shapes.Body):
    """Its name once more, so that none is emptied by a slip."""

    confirm: Text = Field(default="", description="the name of the queue, as GET /queues shows it")
    reason: Text = Field(default="", description="kept with the tasks and in the audit")
    dry_run: bool = Field(default=False, description="only tell which tasks")


class Limits(shapes.Body):
    """What is left out stays as it is."""

    concurrency: Figure | None = None
    per_minute: Figure | None = None


@router.get("", response_model=Queues, summary="Depths, and what holds tasks back")
def queues(here: Here) -> Response:
    return here.look("queue list")


@router.get("/held", response_model=HoldersPage, summary="Who holds which message that is not settled, and since when")
def held(here: Here, name: OneQueue = "") -> Response:
    return here.look("queue held", *([name] if name else []))


@router.get("/{name}/tasks", response_model=Peeked, summary="What waits in one, by the records alone")
def peek(here: Here, name: Name, limit: Limit = 10) -> Response:
    return here.look("queue peek", name, limit=limit)


@router.post("/{name}/purge", response_model=shapes.Outcome, summary="Cancel what waits in one; read its tasks before")
def purge(here: Here, name: Name, wanted: Purge) -> Response:
    return here.act("queue purge", name, no_export=True, **wanted.model_dump())


@router.post("/{scope}/pause", response_model=shapes.Open, summary="Start nothing of all, platform:P or type:T")
def pause(here: Here, scope: Name, why: Note | None = None) -> Response:
    return here.act("queue pause", scope, note=why.note if why else "", yes=True)


@router.post("/{scope}/resume", response_model=shapes.Open, summary="Start it again")
def resume(here: Here, scope: Name, why: Note | None = None) -> Response:
    return here.act("queue resume", scope, note=why.note if why else "", yes=True)


@router.put("/{scope}/limits", response_model=shapes.Open, summary="How much of platform:P runs and starts")
def limits(here: Here, scope: Name, wanted: Limits) -> Response:
    figures = wanted.model_dump(exclude_none=True)
    if not figures:
        raise UsageError(said("api.limits"), field="concurrency")
    words: dict[str, Any] = {name: "none" if number == 0 else str(number) for name, number in figures.items()}
    return here.act("queue limit", scope, **words)
