"""Work: did it run?"""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Query, Response

from services.api import shapes
from services.api.here import Here
from services.api.problems import of_json
from services.api.shapes import Name
from services.domain.errors import UsageError
from services.domain.text.said import said
from services.domain.types import strict_json

router = APIRouter(prefix="/work", tags=["work"])


@router.get("", response_model=shapes.Open, summary="Did a type run for a shop on a day?")
def work(
    here: Here,
    shop: Name,
    type: Name,
    day: Annotated[str, Query(max_length=40, description="today, yesterday or a date")] = "today",
    payload: Annotated[str, Query(max_length=8000, description="JSON object: only the work with these")] = "",
) -> Response:
    try:
        found = strict_json.loads(payload) if payload else None
    except (ValueError, RecursionError) as exc:
        raise UsageError(said("api.not_json", error=of_json(exc)), field="payload") from exc
    words = json.dumps(found, ensure_ascii=False) if found is not None else ""
    return here.look("work", shop, type, day=day, payload=words)
