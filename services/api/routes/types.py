"""Task types: list, show, change."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services import assembly
from services.api import shapes
from services.api.here import Here, answer
from services.api.problems import Problem
from services.api.shapes import Name

router = APIRouter(prefix="/types", tags=["types"])


class Types(shapes.Open):
    """All of them."""

    types: list[dict[str, Any]]


class Type(shapes.Open):
    """One of them, and its versions."""

    type: dict[str, Any]
    versions: list[int]


class Changed(shapes.Body):
    """Task types whole, as `show` tells them; all or none are taken."""

    types: list[dict[str, Any]] = Field(min_length=1, max_length=200)
    dry_run: bool = Field(default=False, description="only tell what would change")
    force: bool = Field(default=False, description="also over a version that it was not made from")


@router.get("", response_model=Types, summary="All task types")
def types(here: Here) -> Response:
    return here.look("type list")


@router.get("/{name}", response_model=Type, summary="One task type, and its versions")
def show(here: Here, name: Name, version: Annotated[int, Query(ge=0, le=2**31 - 1)] | None = None) -> Response:
    return here.look("type show", name, version=None if version is None else str(version))


@router.post("", response_model=shapes.Open, summary="Insert or change task types; each change is a new version")
def put(here: Here, wanted: Changed) -> Response:
    bodies = [json.dumps(one, ensure_ascii=False) for one in wanted.types]
    fleet = assembly.commands(here.engine).fleet
    if wanted.dry_run:
        changes, faults = fleet.plan_types(bodies, force=wanted.force)
    else:
        changes, faults = list(fleet.import_types(bodies, force=wanted.force)), []
    errors = [{"place": f"types.{one.place}", "field": one.field, "error": one.error} for one in faults]
    if errors:
        first = errors[0]
        raise Problem(status=422, detail=first["error"], code="usage", field=first["field"], more={"errors": errors})
    done = [
        {"name": one.kind.name, "what": one.what, "version": one.kind.version, "fields": list(one.fields)}
        for one in changes
    ]
    return answer({"types": done, "dry_run": wanted.dry_run})
