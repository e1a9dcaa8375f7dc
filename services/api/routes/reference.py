"""Reference: what this server can be asked, for programs that read it before they ask."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request, Response

from services.api.here import Here

router = APIRouter(tags=["reference"])


@router.get("/openapi.json", summary="This description")
def description(request: Request, here: Here) -> Response:
    # as it is: it holds nothing of the fleet, and a field that is called `token` is no token
    return Response(json.dumps(request.app.openapi()), media_type="application/json")
