"""What the documents of the command line look like, for the description of this server and its tests."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from services.domain.task.search.query import SORTS


class Open(BaseModel):
    """A document of which more may become known."""

    model_config = ConfigDict(extra="allow")


class Problem(Open):
    """Why not (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="for people, in English")
    code: str = Field(description="for programs; stays from version to version")
    params: dict[str, Any] = Field(description="what the sentence is about")
    field: str = Field(description="of the request, empty where it is none of them")
    remedy: str
    request_id: str


class TaskPage(Open):
    """A page of tasks."""

    tasks: list[dict[str, Any]]
    next: str | None = Field(description="the cursor of the next page")
    total: int | None
    at_least: int | None = None


class TaskDetail(Open):
    """One task: record, attempts, gates, events; where it waits and when it starts, as far as one can tell."""

    task: dict[str, Any]
    attempts: list[dict[str, Any]]
    gates: list[dict[str, Any]]
    events: list[dict[str, Any]]


class Created(Open):
    """What came of it."""

    created: list[str]
    duplicates: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    batch: str = ""


class Outcome(Open):
    """Item by item; with ``dry_run`` only what would be touched."""

    done: list[str] = []
    requested: list[str] = []
    created: dict[str, str] = {}
    skipped: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []


class Log(Open):
    """Lines of an attempt."""

    task_id: str
    attempt: int
    lines: list[dict[str, Any]]
    next: int = Field(description="`start` of the lines after these")


Text = Annotated[str, Field(max_length=500)]
Filter = Annotated[str, Field(max_length=2000, description="as in the window: `status:dead platform:temu age>1h`")]
Cursor = Annotated[str, Field(max_length=500, description="`next` of the page before")]
Limit = Annotated[int, Field(ge=1, le=1000)]
Name = Annotated[str, Field(min_length=1, max_length=140)]
Id = Annotated[str, Field(min_length=1, max_length=220)]
Sort = Annotated[str, Field(pattern=f"^({'|'.join(SORTS)})$")]


class Body(BaseModel):
    """What a request says; a word that is none is refused, for it may be misspelt, and so is a value of another kind:
    `"yes": "off"` is no yes.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


class Choice(Body):
    """Which ones: by their ids, or all that match a filter, frozen before the act."""

    ids: list[Id] = Field(default=[], max_length=1000)
    filter: Filter = ""
    dry_run: bool = Field(default=False, description="only tell which ones")
    yes: bool = Field(default=False, description="needed for several, as the command line asks before it")


class Note(Body):
    """Why; kept in the audit."""

    note: Text = ""
