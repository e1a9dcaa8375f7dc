"""Shops: list, show, put, pause, resume, limits, a queue of their own, login, failures, home."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services import assembly
from services.api import shapes
from services.api.here import Here, answer
from services.api.shapes import Name, Note, Text
from services.commands.sheet import shop_file
from services.domain.errors import UsageError
from services.domain.fleet.shop import MOST_AT_ONCE, Shop
from services.domain.gates import breaker
from services.domain.text.said import said

router = APIRouter(tags=["shops"])
_FILTER = "words, or such as `platform:temu state:login,dead dead>0 group:a*`"


class Shops(shapes.Open):
    """All of them, with what is true of each."""

    shops: list[dict[str, Any]]


class OneShop(shapes.Open):
    """One of them, with what its types did last."""

    shop: dict[str, Any]


class NewShop(shapes.Body):
    """A shop; of one that is known, what is left out stays as it is."""

    platform: Annotated[str, Field(min_length=1, max_length=64)]
    shop_id: Name
    name: Text | None = None
    name_en: Text | None = None
    group: Text | None = None
    tags: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=20)] | None = None
    concurrency: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] | None = None
    dedicated: bool | None = None
    enabled: bool | None = None


class NewShops(shapes.Body):
    """All or none of them."""

    shops: list[NewShop] = Field(min_length=1, max_length=1000)


class Rule(shapes.Body):
    """What changes; the rest stays as it is."""

    failures: Annotated[int, Field(ge=0, le=breaker.MAX_WINDOW, description="0: never")] | None = None
    of: Annotated[int, Field(ge=1, le=breaker.MAX_WINDOW)] | None = None
    cooldown_s: Annotated[int, Field(ge=1, le=86_400)] | None = None
    max_cooldown_s: Annotated[int, Field(ge=1, le=86_400)] | None = None


class Concurrency(shapes.Body):
    """How many of its tasks run at once at most."""

    concurrency: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)]


class Login(Note):
    """What is asked for there, and why."""

    kind: Literal["login_expired", "captcha"] = "login_expired"


class Home(shapes.Body):
    """Where its browser profile lives."""

    node: Name
    force: bool = Field(default=False, description="also where no worker has told of such a node")


@router.get("/shops", response_model=Shops, summary="All shops, and what is true of them")
def shops(here: Here, filter: Annotated[str, Query(max_length=2000, description=_FILTER)] = "") -> Response:
    return here.look("shop list", filter=filter)


@router.post("/shops", response_model=shapes.Open, summary="Insert shops, or change known ones")
def put(here: Here, new: NewShops) -> Response:
    engine = here.engine
    known = {shop.key: shop for shop in engine.store.shops()}
    found: dict[str, Shop] = {}
    for place, one in enumerate(new.shops):
        try:
            shop = shop_file.merged(one.model_dump(exclude_none=True), known)
            if shop.key in found:
                raise UsageError(said("api.twice", key=shop.key), field="shop_id")
        except UsageError as exc:
            exc.field = f"shops.{place}.{exc.field}"
            raise
        found[shop.key] = shop
    return answer({"imported": assembly.commands(engine).fleet.import_shops([*found.values()]), "errors": []})


@router.get("/shops/{shop}", response_model=OneShop, summary="One shop, why it stands, and what a person can do")
def show(here: Here, shop: Name) -> Response:
    return here.look("shop show", shop)


@router.post("/shops/{shop}/pause", response_model=shapes.Open, summary="Start none of its tasks")
def pause(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop pause", shop, note=why.note if why else "", yes=True)


@router.post("/shops/{shop}/resume", response_model=shapes.Open, summary="Start them again")
def resume(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop resume", shop, note=why.note if why else "", yes=True)


@router.put("/shops/{shop}/limits", response_model=shapes.Open, summary="How many of its tasks run at once")
def limits(here: Here, shop: Name, wanted: Concurrency) -> Response:
    return here.act("shop limit", shop, concurrency=wanted.concurrency, yes=True)


@router.post("/shops/{shop}/dedicate", response_model=shapes.Open, summary="Give it a queue of its own")
def dedicate(here: Here, shop: Name) -> Response:
    return here.act("shop dedicate", shop, yes=True)


@router.post("/shops/{shop}/undedicate", response_model=shapes.Open, summary="Let its tasks go through the lanes again")
def undedicate(here: Here, shop: Name) -> Response:
    return here.act("shop undedicate", shop, yes=True)


@router.post("/shops/{shop}/session/open", response_model=shapes.Open, summary="It is logged in: let its tasks go")
def open_session(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop session open", shop, note=why.note if why else "", yes=True)


@router.post("/shops/{shop}/session/close", response_model=shapes.Open, summary="Somebody must log in first")
def close_session(here: Here, shop: Name, why: Login | None = None) -> Response:
    return here.act("shop session close", shop, yes=True, **(why or Login()).model_dump())


@router.post("/shops/{shop}/breaker/close", response_model=shapes.Open, summary="It works again: forget its failures")
def close_breaker(here: Here, shop: Name, why: Note | None = None) -> Response:
    return here.act("shop breaker", shop, close=True, note=why.note if why else "", yes=True)


@router.put("/shops/{shop}/home", response_model=shapes.Open, summary="The node on which its browser profile lives")
def move(here: Here, shop: Name, wanted: Home) -> Response:
    return here.act("shop move", shop, yes=True, **wanted.model_dump())


@router.get("/sessions", response_model=shapes.Open, summary="Shops that wait for a login, since when, and who told so")
def sessions(here: Here, all: bool = False) -> Response:
    return here.look("shop session list", all=all)


@router.get("/breakers", response_model=shapes.Open, summary="Shops that fail too often, and when that is")
def breakers(here: Here) -> Response:
    return here.look("shop breaker")


@router.put("/breakers/rule", response_model=shapes.Open, summary="After how many failures a shop rests, and how long")
def set_rule(here: Here, rule: Rule) -> Response:
    figures = rule.model_dump(exclude_none=True)
    if not figures:
        raise UsageError(said("api.rule"), field="failures")
    words: dict[str, Any] = {name.removesuffix("_s"): str(number) for name, number in figures.items()}
    if words.get("failures") == "0":
        words["failures"] = "off"
    return here.act("shop breaker", **words)
