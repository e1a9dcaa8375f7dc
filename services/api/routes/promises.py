"""Promises: how old the work of shops may be, or by when it is done, and whether that is kept."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name, Note, Text

router = APIRouter(prefix="/promises", tags=["promises"])
Word = Annotated[str, Field(max_length=64)]


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


class New(shapes.Body):
    """What is promised: `never_older_than` or `by`, and for which shops: some, platforms, groups, or all."""

    type: Name
    never_older_than: Word = Field(default="", description="of the last success, such as `60m`")
    by: Word = Field(default="", description="done by this hour, such as `08:00`")
    start: Word = Field(default="", description="with `by`: what is done before this hour is not")
    days: Word = Field(default="", description="such as `mon-fri`; daily where it is left out")
    hours: Word = Field(default="", description="with `never_older_than`: only in these hours, such as `08:00-20:00`")
    shops: list[Name] = Field(default=[], max_length=1000)
    platforms: list[Name] = Field(default=[], max_length=100)
    groups: list[Name] = Field(default=[], max_length=100)
    all: bool = False
    owner: Annotated[str, Field(max_length=200, description="who answers for it")] = ""
    note: Text = ""
    disabled: bool = Field(default=False, description="keep it, but do not judge it yet")
    dry_run: bool = Field(default=False, description="only tell how it would stand now, and would have stood before")


@router.get("", response_model=Promises, summary="All promises, and how they stand")
def promises(here: Here) -> Response:
    return here.look("promise list")


@router.get("/{name}", response_model=Promise, summary="One promise: its shops that are not kept, and why")
def show(here: Here, name: Name) -> Response:
    return here.look("promise show", name)


@router.put("/{name}", response_model=shapes.Open, summary="Promise it, in the place of what has this name")
def put(here: Here, name: Name, new: New) -> Response:
    fields = new.model_dump(exclude={"shops", "platforms", "groups", "start"})
    who: dict[str, Any] = {"shop": new.shops, "platform": new.platforms, "group": new.groups, "from": new.start}
    return here.act("promise set", name, yes=True, **fields, **who)


@router.post("/{name}/enable", response_model=shapes.Open, summary="Judge it again")
def enable(here: Here, name: Name, why: Note | None = None) -> Response:
    return here.act("promise enable", name, note=why.note if why else "", yes=True)


@router.post("/{name}/disable", response_model=shapes.Open, summary="Judge it no longer")
def disable(here: Here, name: Name, why: Note | None = None) -> Response:
    return here.act("promise disable", name, note=why.note if why else "", yes=True)


@router.delete("/{name}", response_model=shapes.Open, summary="Take it away; what it was stays in the audit")
def remove(here: Here, name: Name, note: Text = "") -> Response:
    return here.act("promise remove", name, note=note, yes=True)
