"""Tasks: list, show, log, artifacts, create, cancel, retry, create again, run now, prioritize, resolve, try."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from pydantic import BeforeValidator, ConfigDict, Field

from services.api import shapes
from services.api.here import Here
from services.api.runner import KEY
from services.api.shapes import Choice, Cursor, Filter, Id, Limit, Name, Sort, Text
from services.domain.errors import UsageError
from services.domain.gates.dependency import POLICIES
from services.domain.text.said import said

router = APIRouter(prefix="/tasks", tags=["tasks"])


#: also as the number that it is
Priority = Annotated[
    str,
    BeforeValidator(lambda given: str(given) if type(given) is int else given),
    Field(max_length=10, description="high, normal, low or 1-10"),
]


Key = Annotated[
    str,
    Header(
        alias=KEY,
        max_length=200,
        pattern="^[!-~]*$",
        description="your name for this request: sent again within 24 hours it creates nothing and answers the same",
    ),
]


class NewTask(shapes.Body):
    """A task, or the same one for each of several shops."""

    shops: list[Name] = Field(min_length=1, max_length=1000, description="shop id, or platform:shop_id")
    type: Name
    platform: Annotated[str, Field(max_length=64)] = ""
    payload: dict[str, Any] = Field(default={})
    priority: Priority = ""
    delay: Annotated[float, Field(ge=0, le=315_360_000, description="seconds")] = 0
    not_before: Annotated[str, Field(max_length=64)] = ""
    deadline: Annotated[str, Field(max_length=64)] = ""
    depends_on: list[Id] = Field(
        default=[], max_length=100, description="ids, or task types: what is open of these for the same shop"
    )
    on_dependency_failure: Annotated[str, Field(pattern=f"^({'|'.join(POLICIES)})?$")] = ""
    batch: Annotated[str, Field(max_length=64)] = ""
    if_duplicate: Literal["reject", "queue", "force"] = "reject"
    reason: Text = ""
    strict: bool = Field(default=False, description="refuse types that nobody has defined and new platforms")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"shops": ["pdd:s1"], "type": "sync_order", "payload": {"since": "2026-11-20"}}]
        },
    )


class Cancel(Choice):
    """Which ones, and why."""

    reason: Text = Field(default="", description="needed for held ones whose work may be done already")


class Prioritize(Choice):
    """Which ones, and how urgent they are."""

    priority: Annotated[Priority, Field(min_length=1)]


class Resolve(Choice):
    """Which held ones, and what a person knows about them."""

    decision: Literal["succeeded", "again", "dead"]
    note: Text = Field(default="", description="how you know, why again, or why it is given up")


class Try(shapes.Body):
    """Let one attempt through, or take that back."""

    id: Id
    reason: Text = ""
    undo: bool = False


@router.get("", response_model=shapes.TaskPage, summary="Tasks that match a filter")
def tasks(
    here: Here,
    filter: Filter = "",
    sort: Sort = "created",
    reverse: bool = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    return here.look("task list", filter=filter, sort=sort, reverse=reverse, limit=limit, cursor=cursor)


@router.get("/duplicates", response_model=shapes.Open, summary="What met another task with the same work")
def duplicates(here: Here, limit: Limit = 50) -> Response:
    return here.look("task duplicates", limit=limit)


@router.get("/{task_id:path}/log", response_model=shapes.Log, summary="What an attempt has printed")
def log(
    here: Here,
    task_id: Id,
    attempt: Annotated[int, Query(ge=0, le=1000, description="0: the last one")] = 0,
    start: Annotated[int, Query(ge=0, le=2**31 - 1, description="`next` of the lines before")] = 0,
) -> Response:
    return here.look("task log", task_id, attempt=attempt or None, start=start or None)


@router.get("/{task_id:path}/artifacts", response_model=shapes.Open, summary="The files that it left behind")
def artifacts(here: Here, task_id: Id) -> Response:
    return here.look("task artifacts", task_id)


@router.get("/{task_id:path}", response_model=shapes.TaskDetail, summary="One task: why it waits, and what happened")
def task(here: Here, task_id: Id) -> Response:
    return here.look("task show", task_id)


@router.post("", response_model=shapes.Created, status_code=201, summary="Create a task, or one for each shop")
def create(here: Here, new: NewTask, key: Key = "") -> Response:
    fields = new.model_dump(exclude={"shops", "payload"})
    if any("," in shop for shop in new.shops):
        raise UsageError(said("api.comma"), field="shops")
    payload = json.dumps(new.payload, ensure_ascii=False)
    asked = new.model_dump()
    return here.act_once(key, asked, "task create", status=201, shop=new.shops, payload=payload, yes=True, **fields)


@router.post("/cancel", response_model=shapes.Outcome, summary="End what waits, ask what runs to stop")
def cancel(here: Here, chosen: Cancel) -> Response:
    return here.act("task cancel", *chosen.ids, **_words(chosen))


@router.post("/retry", response_model=shapes.Outcome, summary="The next attempt now; a dead one under a new id")
def retry(here: Here, chosen: Cancel) -> Response:
    return here.act("task retry", *chosen.ids, **_words(chosen))


@router.post("/create-again", response_model=shapes.Outcome, summary="Make cancelled ones again")
def create_again(here: Here, chosen: Cancel) -> Response:
    return here.act("task create-again", *chosen.ids, **_words(chosen))


@router.post("/run-now", response_model=shapes.Outcome, summary="To the front")
def run_now(here: Here, chosen: Choice) -> Response:
    return here.act("task run-now", *chosen.ids, **_words(chosen))


@router.post("/prioritize", response_model=shapes.Outcome, summary="Change priority and lane")
def prioritize(here: Here, chosen: Prioritize) -> Response:
    return here.act("task prioritize", *chosen.ids, **_words(chosen))


@router.post("/resolve", response_model=shapes.Outcome, summary="Decide about held ones")
def resolve(here: Here, chosen: Resolve) -> Response:
    fields = _words(chosen)
    return here.act("task resolve", *chosen.ids, **{"as": fields.pop("decision")}, **fields)


@router.post("/try", response_model=shapes.Outcome, summary="One attempt through a pause, quiet hours or a breaker")
def try_anyway(here: Here, one: Try) -> Response:
    if bool(one.reason.strip()) == one.undo:
        raise UsageError(said("api.try"), field="reason")
    return here.act("task try", one.id, reason=one.reason, undo=one.undo)


def _words(chosen: Choice) -> dict[str, Any]:
    return chosen.model_dump(exclude={"ids"})
