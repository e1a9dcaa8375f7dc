"""Promises: how old the work of shops may be, or by when it is done, and whether that is kept."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name, Note

router = APIRouter(prefix="/promises", tags=["promises"])


class Promises(shapes.Open):
    """All of them, and how they stand."""

    promises: list[dict[str, Any]]
    time_zone: str
    leader: str


class Promise(shapes.Open):
    """One of them, with what holds its shops."""

    name: str
    promise: str
    state: str
    causes: list[dict[str, Any]]
    shops: list[dict[str, Any]]


@router.get("", response_model=Promises, summary="All promises, and how they stand")
def promises(here: Here) -> Response:
    return here.look("promise list")


@router.get("/{name}", response_model=Promise, summary="One promise: its shops that are not kept, and why")
def show(here: Here, name: Name) -> Response:
    return here.look("promise show", name)


@router.post("/{name}/enable", response_model=shapes.Open, summary="Judge it again")
def enable(here: Here, name: Name, why: Note | None = None) -> Response:
    return here.act("promise enable", name, note=why.note if why else "", yes=True)


@router.post("/{name}/disable", response_model=shapes.Open, summary="Judge it no longer")
def disable(here: Here, name: Name, why: Note | None = None) -> Response:
    return here.act("promise disable", name, note=why.note if why else "", yes=True)


@router.delete("/{name}", response_model=shapes.Open, summary="Take it away; what it was stays in the audit")
def remove(here: Here, name: Name) -> Response:
    return here.act("promise remove", name, yes=True)
