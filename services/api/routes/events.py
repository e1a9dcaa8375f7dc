"""Events: every change of a task as it happens, and again from where a client was (Server-Sent Events)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from services.api.follower import Follower
from services.api.here import Call, Here
from services.api.problems import Problem
from services.cli import shapes
from services.domain.errors import ConsoleError
from services.domain.fleet.role import VIEWER
from services.domain.task.event import Event, EventBatch
from services.domain.task.status import Status

log = logging.getLogger(__name__)
router = APIRouter(tags=["events"])
#: events read at once; a client that reads slowly holds no more than these
BATCH = 500
#: seconds between two readings, between two signs of life, and after which a client comes back
PACE_S, BEAT_S, RETRY_MS = 0.25, 15.0, 2000
MAX_CURSOR = 200
Words = Annotated[str, Query(max_length=2000, description="several with commas")]


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Until you leave."}
    },
    summary="Every change of a task as it happens",
)
async def events(
    request: Request,
    here: Here,
    platform: Words = "",
    shop: Words = "",
    type: Words = "",
    lane: Words = "",
    to: Words = "",
    after: Annotated[str, Query(max_length=MAX_CURSOR, description="as Last-Event-ID, for who cannot send that")] = "",
    last_event_id: Annotated[str, Header(max_length=MAX_CURSOR)] = "",
) -> Response:
    """A stream of `task` events; `id` is the place to go on from. `reset` says that events were missed, as after an
    outage: ask for the tasks anew. A comment every 15 seconds says that the connection lives.
    """
    follower: Follower = request.app.state.follower
    most = here.plain.settings.api.streams
    if follower.streams >= most:
        raise Problem(status=429, detail=f"{most} streams are open", code="too_many_streams", again_s=10)
    if strange := sorted(_words(to) - set(Status)):
        text = f"{', '.join(strange)[:80]} is no status; there are {', '.join(Status)}"
        raise Problem(status=422, detail=text, code="usage", field="to", remedy="Correct the field that is named.")
    begun = await run_in_threadpool(here.plain.store.events, last_event_id or after, BATCH, 0.0)
    wanted = _wanted(platform=platform, shop=shop, type=type, lane=lane, to=to)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_told(here, follower, begun, wanted), media_type="text/event-stream", headers=headers)


async def _told(
    here: Call, follower: Follower, batch: EventBatch, wanted: Callable[[Event], bool]
) -> AsyncIterator[str]:
    with follower.listening() as happened:
        yield f"retry: {RETRY_MS}\n"
        while True:
            yield _written(batch, wanted)
            full = len(batch.events) == BATCH
            if not full and not await _something(happened):
                yield ": still here\n\n"
            if follower.leaving.is_set():
                return
            happened.clear()
            if not full:
                await asyncio.sleep(PACE_S)  # what comes close together is read together
            try:
                batch = await run_in_threadpool(_read, here, batch.cursor)
            except ConsoleError as exc:  # the client comes back with its place, and hears why it is refused
                log.info("a stream of %s ends: %s", here.caller.name, exc)
                return


async def _something(happened: asyncio.Event) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(BEAT_S):
            await happened.wait()
        return True
    return False


def _read(here: Call, cursor: str) -> EventBatch:
    """What came since, for somebody who may still look."""
    store = here.plain.store
    here.caller.operator.now(store).need(VIEWER)
    return store.events(cursor, BATCH, 0.0)


def _written(batch: EventBatch, wanted: Callable[[Event], bool]) -> str:
    """As it goes out; the place is told also where nothing of it was wanted."""
    if batch.gap:
        text = "events were missed; ask for the tasks anew"
        return f"event: reset\nid: {batch.cursor}\ndata: {json.dumps({'code': 'gap', 'detail': text})}\n\n"
    parts = [
        f"event: task\nid: {one.cursor}\ndata: {json.dumps(document(one), ensure_ascii=False)}\n\n"
        for one in batch.events
        if wanted(one)
    ]
    if not batch.events or not wanted(batch.events[-1]):
        parts.append(f"id: {batch.cursor}\n\n")
    return "".join(parts)


def document(one: Event) -> dict[str, Any]:
    """An event as other programs see it."""
    return {
        "task_id": one.task_id,
        "shop_id": one.shop_id,
        "platform": one.platform,
        "task_type": one.task_type,
        "from": one.from_,
        "to": one.to,
        "at": shapes.iso(one.at),
        "worker": one.worker,
        "gen": one.gen,
        "attempt": one.attempt,
        "lane": one.lane,
    }


def _wanted(*, platform: str, shop: str, type: str, lane: str, to: str) -> Callable[[Event], bool]:
    sets = {name: _words(text) for name, text in locals().items()}

    def wanted(one: Event) -> bool:
        values = {
            "platform": {one.platform},
            "shop": {one.shop_id, f"{one.platform}:{one.shop_id}"},
            "type": {one.task_type},
            "lane": {one.lane},
            "to": {one.to},
        }
        return all(not words or words & values[name] for name, words in sets.items())

    return wanted


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())
