"""Shops: list, show, pause, resume, limits, a queue of their own, login, failures, home."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services import assembly
from services.api import shapes
from services.api.here import Here, answer
from services.api.shapes import Name, Note
from services.cli import known_shops

router = APIRouter(prefix="/shops", tags=["shops"])
_FILTER = "words, or such as `platform:temu state:login,dead dead>0 group:a*`"


class Shops(shapes.Open):
    """All of them, with what is true of each."""

    shops: list[dict[str, Any]]


class Shop(shapes.Open):
    """One of them, with what its types did last."""

    shop: dict[str, Any]


class Concurrency(shapes.Body):
    """How many of its tasks run at once at most."""

    concurrency: Annotated[int, Field(ge=1, le=1000)]


class Login(Note):
    """What is asked for there, and why."""

    kind: Literal["login_expired", "captcha"] = "login_expired"


class Home(shapes.Body):
    """Where its browser profile lives."""

    node: Name
    force: bool = Field(default=False, description="also where no worker has told of such a node")


@router.get("", response_model=Shops, summary="All shops, and what is true of them")
def shops(here: Here, filter: Annotated[str, Query(max_length=2000, description=_FILTER)] = "") -> Response:
    return here.look("shop list", filter=filter)


@router.get("/{shop}", response_model=Shop, summary="One shop, why it stands, and what a person can do")
def show(here: Here, shop: Name) -> Response:
    return here.look("shop show", shop)


@router.post("/{shop}/pause", response_model=shapes.Open, summary="Start none of its tasks")
def pause(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop pause", shop, note=why.note if why else "", yes=True)


@router.post("/{shop}/resume", response_model=shapes.Open, summary="Start them again")
def resume(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop resume", shop, note=why.note if why else "", yes=True)


@router.put("/{shop}/limits", response_model=shapes.Open, summary="How many of its tasks run at once")
def limits(here: Here, shop: Name, wanted: Concurrency) -> Response:
    engine = here.engine
    key = known_shops.find(engine, shop).key
    assembly.commands(engine).fleet.set_concurrency(key, wanted.concurrency)
    return answer({"shop": key, "concurrency": wanted.concurrency})


@router.post("/{shop}/dedicate", response_model=shapes.Open, summary="Give it a queue of its own")
def dedicate(here: Here, shop: Name) -> Response:
    return here.act("shop dedicate", shop, yes=True)


@router.post("/{shop}/undedicate", response_model=shapes.Open, summary="Let its tasks go through the lanes again")
def undedicate(here: Here, shop: Name) -> Response:
    return here.act("shop undedicate", shop, yes=True)


@router.post("/{shop}/session/open", response_model=shapes.Open, summary="It is logged in: let its tasks go")
def open_session(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop session open", shop, note=why.note if why else "", yes=True)


@router.post("/{shop}/session/close", response_model=shapes.Open, summary="Somebody must log in first")
def close_session(here: Here, shop: Name, why: Login | None = None) -> Response:
    return here.act("shop session close", shop, yes=True, **(why or Login()).model_dump())


@router.post("/{shop}/breaker/close", response_model=shapes.Open, summary="It works again: forget its failures")
def close_breaker(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop breaker", shop, close=True, note=why.note if why else "", yes=True)


@router.put("/{shop}/home", response_model=shapes.Open, summary="The node on which its browser profile lives")
def move(here: Here, shop: Name, wanted: Home) -> Response:
    return here.act("shop move", shop, yes=True, **wanted.model_dump())
