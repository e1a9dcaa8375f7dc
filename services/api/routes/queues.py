"""Queues: depths, what holds tasks back, the switches of a platform or a type, limits of a platform."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name, Note
from services.domain.errors import UsageError

router = APIRouter(prefix="/queues", tags=["queues"])
Figure = Annotated[int, Field(ge=0, le=1_000_000, description="0: no limit")]


class Queues(shapes.Open):
    """Depths as the broker tells them, and what is closed."""

    queues: list[dict[str, Any]]
    pauses: list[dict[str, Any]]
    closed: list[dict[str, Any]]
    limits: list[dict[str, Any]]


class Limits(shapes.Body):
    """What is left out stays as it is."""

    concurrency: Figure | None = None
    per_minute: Figure | None = None


@router.get("", response_model=Queues, summary="Depths, and what holds tasks back")
def queues(here: Here) -> Response:
    return here.look("queue list")


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
        raise UsageError("say concurrency, per_minute or both", field="concurrency")
    words: dict[str, Any] = {name: "none" if number == 0 else str(number) for name, number in figures.items()}
    return here.act("queue limit", scope, **words)
