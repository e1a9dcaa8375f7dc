"""Audit: who did what."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Body, Filter, Limit, Text

router = APIRouter(prefix="/audit", tags=["audit"])


class AuditPage(shapes.Open):
    """A page of it."""

    entries: list[dict[str, Any]]


class Verdict(shapes.Open):
    """Whether it is as it was written."""

    ok: bool
    entries: int
    wrong: list[dict[str, Any]]


class Known(Body):
    """Why what is wrong now is known."""

    note: Text = Field(min_length=1, description="kept in the audit")


@router.get("", response_model=AuditPage, summary="Who did what, newest first")
def audit(
    here: Here,
    filter: Filter = "",
    limit: Limit = 50,
    before: Annotated[str, Query(max_length=200, description="`next` of the page before")] = "",
) -> Response:
    return here.look("audit list", filter=filter, limit=limit, before=before)


@router.get("/verify", response_model=Verdict, summary="What was altered, removed, moved or put in")
def verify(here: Here) -> Response:
    return here.look("audit verify")


@router.post("/accept", response_model=shapes.Open, summary="Say that what is wrong now is known")
def accept(here: Here, why: Known) -> Response:
    return here.act("audit accept", note=why.note, yes=True)
