"""What a route gets: who asks, and what does it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request, Response

from services.api.callers import Callers
from services.api.problems import Problem
from services.api.runner import Caller, Runner
from services.assembly import Engine
from services.cli import output
from services.domain.text.visible import visible


class Call:
    """One request of somebody who may ask."""

    def __init__(self, runner: Runner, caller: Caller) -> None:
        self._runner, self.caller = runner, caller

    @property
    def engine(self) -> Engine:
        """In the name of the caller."""
        return self._runner.acting(self.caller)

    @property
    def plain(self) -> Engine:
        """In nobody's name, to read; asks nothing of the store to be had."""
        return self._runner.engine

    def ask(self, verb: str, *named: str, **options: Any) -> Any:
        """The document of a command that only looks."""
        return self._runner.ask(self.caller, verb, *named, **options).document

    def look(self, verb: str, *named: str, **options: Any) -> Response:
        """What a command says that only looks, whatever it thinks of what it sees."""
        return answer(self.ask(verb, *named, **options))

    def act(self, verb: str, *named: str, status: int = 200, **options: Any) -> Response:
        """What a command says that changes something."""
        return answer(self._runner.act(self.caller, verb, *named, **options).document, status)

    def act_once(self, key: str, asked: object, verb: str, *, status: int = 200, **options: Any) -> Response:
        """The same, once for each ``key`` (none: each time) with which ``asked`` comes."""
        if not key:
            return self.act(verb, status=status, **options)
        document, before = self._runner.act_once(self.caller, key, asked, verb, **options)
        response = answer(document, status)
        if before:
            response.headers["Idempotency-Replayed"] = "true"
        return response


def answer(document: Any, status: int = 200) -> Response:
    """A document as it goes out: secrets as dots."""
    return Response(output.document(document), status_code=status, media_type="application/json")


def _session(request: Request) -> Call:
    """In a thread, for it asks the store."""
    callers: Callers = request.app.state.callers
    session = Call(request.app.state.runner, callers.of(request))
    _check_words(request)
    return session


def _check_words(request: Request) -> None:
    """A word of the address that means nothing may be misspelt: without ``filter`` all tasks would match.

    Raises:
        Problem: it is none of those that the route takes, or stands there twice.
    """
    if not (given := [name for name, _value in request.query_params.multi_items()]):
        return
    known = [one.alias for one in request.scope["route"].dependant.query_params]
    for place, name in enumerate(given):
        if name not in known or name in given[:place]:
            what = (
                "stands there twice" if name in known else f"means nothing here; there is {', '.join(known) or 'none'}"
            )
            field = visible(name)[:80]
            raise Problem(status=422, detail=f"the parameter {field!r} {what}", code="usage", field=field)


Here = Annotated[Call, Depends(_session)]
