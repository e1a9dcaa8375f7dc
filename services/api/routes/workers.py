"""Workers: list, show, drain, resume, stop, slots, refuse, forget; their machines, logs and browsers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name

router = APIRouter(prefix="/workers", tags=["workers"])


class Workers(shapes.Open):
    """All that are known, and what is true of them."""

    workers: list[dict[str, Any]]
    summary: str


class Worker(shapes.Open):
    """One of them."""

    worker: dict[str, Any]


class Nodes(shapes.Open):
    """All machines with a living worker."""

    nodes: list[dict[str, Any]]


class Log(shapes.Open):
    """Lines, the newest last."""

    worker: str
    live: bool = Field(description="false: it is silent, and these are the last lines that it has shown")
    lines: list[dict[str, Any]]


class Browser(shapes.Body):
    """What is done to the browser of a shop."""

    action: Literal["restart", "release", "open", "reload", "done", "close"]
    wait_s: Annotated[float, Field(ge=0, le=60, description="how long to wait until it is done")] = 20.0


class Slots(shapes.Body):
    """How many tasks it runs at once."""

    slots: Annotated[str, Field(min_length=1, max_length=200, description="8, `8,low=1-3` or `auto:2-16`")]


class Grace(shapes.Body):
    """How long running tasks may go on."""

    grace_s: Annotated[float, Field(ge=0, le=86_400)] | None = None


class Types(shapes.Body):
    """What it starts no more; an empty list refuses nothing."""

    types: list[Name] = Field(max_length=200)


@router.get("", response_model=Workers, summary="All workers")
def workers(here: Here) -> Response:
    return here.look("worker list")


@router.get("/nodes", response_model=Nodes, summary="The machines: load, versions, and which differ")
def nodes(here: Here) -> Response:
    return here.look("worker nodes")


@router.get("/windows/{shop}", response_model=shapes.Open, summary="What the open browser of a shop shows")
def window(here: Here, shop: Name) -> Response:
    return here.look("worker window", shop)


@router.post("/{worker}/log", response_model=Log, summary="The last lines that it has logged")
def log(here: Here, worker: Name, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> Response:
    return here.act("worker log", worker, limit=limit)


@router.post("/{worker}/browsers/{shop}", response_model=shapes.Open, summary="Restart, release or open a browser")
def browser(here: Here, worker: Name, shop: Name, how: Browser) -> Response:
    return here.act("worker browser", how.action, worker, shop, yes=True, wait=f"{how.wait_s:f}")


@router.get("/{worker}", response_model=Worker, summary="One worker, its slots and browsers")
def show(here: Here, worker: Name) -> Response:
    return here.look("worker show", worker)


@router.post("/{worker}/drain", response_model=shapes.Open, summary="Take no new tasks")
def drain(here: Here, worker: Name) -> Response:
    return here.act("worker drain", worker)


@router.post("/{worker}/resume", response_model=shapes.Open, summary="Take tasks again")
def resume(here: Here, worker: Name) -> Response:
    return here.act("worker resume", worker)


@router.post("/{worker}/stop", response_model=shapes.Open, summary="Finish and leave")
def stop(here: Here, worker: Name, how: Grace | None = None) -> Response:
    return here.act("worker stop", worker, grace=f"{how.grace_s:f}" if how and how.grace_s is not None else None)


@router.put("/{worker}/slots", response_model=shapes.Open, summary="How many tasks it runs at once")
def slots(here: Here, worker: Name, wanted: Slots) -> Response:
    return here.act("worker slots", worker, wanted.slots)


@router.put("/{worker}/refuses", response_model=shapes.Open, summary="Task types that it starts no more")
def refuse(here: Here, worker: Name, wanted: Types) -> Response:
    return here.act("worker refuse", worker, *wanted.types, none=not wanted.types)


@router.delete("/{worker}", response_model=shapes.Open, summary="Take one that is gone off the list")
def forget(here: Here, worker: Name) -> Response:
    return here.act("worker forget", worker)
