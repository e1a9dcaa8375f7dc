"""Task types: list, show."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Name

router = APIRouter(prefix="/types", tags=["types"])


class Types(shapes.Open):
    """All of them."""

    types: list[dict[str, Any]]


class Type(shapes.Open):
    """One of them, and its versions."""

    type: dict[str, Any]
    versions: list[int]


@router.get("", response_model=Types, summary="All task types")
def types(here: Here) -> Response:
    return here.look("type list")


@router.get("/{name}", response_model=Type, summary="One task type, and its versions")
def show(here: Here, name: Name, version: Annotated[int, Query(ge=0, le=2**31 - 1)] | None = None) -> Response:
    return here.look("type show", name, version=None if version is None else str(version))
