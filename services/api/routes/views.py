"""Views of tasks that everybody of the fleet sees: list, show, share, rename, remove."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Filter, Name

router = APIRouter(prefix="/views", tags=["views"])
Title = Annotated[str, Field(min_length=1, max_length=60)]


class Views(shapes.Open):
    """All of them, by title."""

    views: list[dict[str, Any]]


class View(shapes.Body):
    """What it shows; its columns are chosen in the window."""

    filter: Filter = ""
    oldest_first: bool = False


class NewTitle(shapes.Body):
    """What it is called from now on."""

    title: Title


@router.get("", response_model=Views, summary="All, by title")
def views(here: Here) -> Response:
    return here.look("view list")


@router.get("/{view}", response_model=shapes.Open, summary="One, by title or key, and how many tasks it has now")
def show(here: Here, view: Name) -> Response:
    return here.look("view show", view)


@router.put("/{title}", response_model=shapes.Open, summary="Share a filter, in the place of what has this title")
def put(here: Here, title: Title, what: View) -> Response:
    return here.act("view share", title, filter=what.filter, oldest_first=what.oldest_first)


@router.put("/{view}/title", response_model=shapes.Open, summary="Give it another title")
def rename(here: Here, view: Name, new: NewTitle) -> Response:
    return here.act("view rename", view, new.title)


@router.delete("/{view}", response_model=shapes.Open, summary="Let nobody see it any more")
def remove(here: Here, view: Name) -> Response:
    return here.act("view remove", view, yes=True)
