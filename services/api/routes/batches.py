"""Batches: list, show, cancel, retry."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Cursor, Limit, Name, Text

router = APIRouter(prefix="/batches", tags=["batches"])


class Batches(shapes.Open):
    """A page of them."""

    batches: list[dict[str, Any]]
    next: str | None


class Batch(shapes.Open):
    """How one stands."""

    batch: str
    status: dict[str, int]
    total: int
    ended: int


class Change(shapes.Body):
    """Why, or only a look."""

    reason: Text = ""
    dry_run: bool = Field(default=False, description="only tell which tasks")


class Look(shapes.Body):
    """Or only a look."""

    dry_run: bool = Field(default=False, description="only tell which tasks")


@router.get("", response_model=Batches, summary="Those that began last first")
def batches(here: Here, limit: Limit = 20, cursor: Cursor = "") -> Response:
    return here.look("batch list", limit=limit, cursor=cursor)


@router.get("/{name}", response_model=Batch, summary="Counts, progress and an estimate")
def show(here: Here, name: Name) -> Response:
    return here.look("batch show", name)


@router.post("/{name}/cancel", response_model=shapes.Outcome, summary="End what waits, ask what runs to stop")
def cancel(here: Here, name: Name, change: Change | None = None) -> Response:
    return here.act("batch cancel", name, yes=True, **(change or Change()).model_dump())


@router.post("/{name}/retry", response_model=shapes.Outcome, summary="Its dead letters once more, retrying ones now")
def retry(here: Here, name: Name, change: Look | None = None) -> Response:
    return here.act("batch retry", name, yes=True, **(change or Look()).model_dump())


@router.post("/{name}/raise", response_model=shapes.Outcome, summary="Let what waits go through the high lane")
def raise_waiting(here: Here, name: Name, change: Look | None = None) -> Response:
    return here.act("batch raise", name, yes=True, **(change or Look()).model_dump())
