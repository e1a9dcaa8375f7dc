"""Audit: who did what."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Filter, Limit

router = APIRouter(prefix="/audit", tags=["audit"])


class Trail(shapes.Open):
    """A page of it."""

    entries: list[dict[str, Any]]


@router.get("", response_model=Trail, summary="Who did what, newest first")
def audit(
    here: Here,
    filter: Filter = "",
    limit: Limit = 50,
    before: Annotated[str, Query(max_length=200, description="`next` of the page before")] = "",
) -> Response:
    return here.look("audit list", filter=filter, limit=limit, before=before)
