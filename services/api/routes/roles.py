"""Roles: who may do what. They are given at a desk, and so are tokens: a token that leaked raises nobody."""

from __future__ import annotations

from fastapi import APIRouter, Response

from services.api import shapes
from services.api.here import Here

router = APIRouter(prefix="/roles", tags=["roles"])


@router.get("", response_model=shapes.Open, summary="Everybody, and who gave them their role")
def roles(here: Here) -> Response:
    return here.look("role list")
