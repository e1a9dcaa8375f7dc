"""The application: every noun's routes under one prefix, every error a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from services.api import shapes
from services.api.callers import Callers
from services.api.desk import Desk
from services.api.follower import Follower
from services.api.problems import MEDIA, REMEDIES, Problem, of_error, plain
from services.api.routes import NOUNS, metrics, pages
from services.domain.errors import ConsoleError
from services.domain.text.visible import visible
from services.version import VERSION

PREFIX = "/api/v1"
#: what any route may answer beside what it is asked for
_PROBLEMS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 503)
ABOUT = (
    "Everything that the command line of Fleetdeck says and does, with the same words, filters, roles and documents."
    " Send a token as `Authorization: Bearer TOKEN`; on the loopback address one may look without."
)


def make(desk: Desk, callers: Callers, follower: Follower) -> FastAPI:
    """The application over an engine."""
    app = _Described(
        title="Fleetdeck",
        version=VERSION,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        responses={status: _documented(status) for status in _PROBLEMS},
    )
    app.state.desk, app.state.callers = desk, callers
    app.state.follower, app.state.metrics = follower, metrics.Kept()
    for noun in NOUNS:
        app.include_router(noun.router, prefix=PREFIX)
    app.include_router(metrics.router)
    app.include_router(pages.router)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(ConsoleError, _console_error)
    app.add_exception_handler(RequestValidationError, _not_valid)
    for status in (404, 405):
        app.add_exception_handler(status, _http)
    return app


class _Described(FastAPI):
    """Says in its description how to show who asks."""

    def openapi(self) -> dict[str, Any]:
        """The description as a document."""
        found = super().openapi()
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["components"]["schemas"]["Problem"] = shapes.Problem.model_json_schema()
        found["security"] = [{"token": []}, {}]
        return found


def _documented(status: int) -> dict[str, Any]:
    # named, and not given as a model: each of 120 routes would build it anew for each status at the first request
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": REMEDIES[status], "content": {MEDIA: {"schema": schema}}}


def _problem(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, Problem)
    request_id = request.scope.get("state", {}).get("request_id", "")
    return Response(exc.body(request_id), status_code=exc.status, headers=exc.headers(), media_type=MEDIA)


def _console_error(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, ConsoleError)
    return _problem(request, of_error(exc))


def _http(request: Request, exc: Exception) -> Response:
    """No path, or no method of one."""
    status, headers = getattr(exc, "status_code", 404), getattr(exc, "headers", None)
    path = visible(request.url.path)[:200]
    text = f"there is nothing at {path!r}" if status == 404 else f"{path!r} has no {request.method}"
    response = _problem(request, Problem(status=status, detail=text))
    response.headers.update(headers or {})
    return response


def _not_valid(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    errors = [{"field": _place(one["loc"]), "error": str(one["msg"])} for one in exc.errors()][:20]
    first = errors[0] if errors else {"field": "", "error": "not acceptable"}
    detail = f"{first['field']}: {first['error']}" if first["field"] else first["error"]
    return _problem(
        request,
        Problem(status=422, detail=visible(detail)[:500], code="usage", field=first["field"], more={"errors": errors}),
    )


def _place(parts: Sequence[Any]) -> str:
    return plain(".".join(visible(str(part))[:80] for part in parts[1:]))
