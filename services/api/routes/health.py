"""How the fleet stands: numbers, and what the doctor says."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from services.api import shapes
from services.api.here import Here

router = APIRouter(tags=["health"])


class Stats(shapes.Open):
    """The numbers that the window shows."""

    headline: str
    status: dict[str, int]
    lanes: dict[str, dict[str, Any]]
    dead_open: int
    workers: int
    attention: list[dict[str, Any]]


class Findings(shapes.Open):
    """What is wrong, the worst first, each with its remedy."""

    findings: list[dict[str, Any]]
    errors: int


@router.get("/stats", response_model=Stats, summary="Counts by status and lane, flow, what needs a person")
def stats(here: Here) -> Response:
    return here.look("stats")


@router.get("/drain", response_model=shapes.Open, summary="When what waits will have run, and what it misses")
def drain(here: Here) -> Response:
    return here.look("drain")


@router.get("/doctor", response_model=Findings, summary="What the fleet stands on, what is wrong, what to do")
def doctor(here: Here) -> Response:
    return here.look("doctor")
