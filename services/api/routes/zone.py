"""Time zone of the fleet: what naive times, schedules and promises mean."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here

router = APIRouter(prefix="/time-zone", tags=["time zone"])


class Zone(shapes.Body):
    """Its name."""

    zone: Annotated[str, Field(min_length=1, max_length=64, description="such as `Asia/Shanghai`")]


@router.get("", response_model=shapes.Open, summary="The time zone of the fleet")
def zone(here: Here) -> Response:
    return here.look("schedule zone")


@router.put("", response_model=shapes.Open, summary="Set the time zone of the fleet")
def set_zone(here: Here, wanted: Zone) -> Response:
    return here.act("schedule zone", wanted.zone)
