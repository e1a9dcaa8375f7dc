"""Dead letters and their causes: list, show, republish, archive, ignore, restore, note, runs."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from services.api import shapes
from services.api.here import Here
from services.api.shapes import Choice, Cursor, Filter, Id, Limit, Name, Text
from services.commands.bulk.options import MAX_PROBES
from services.domain.task.status import Triage

router = APIRouter(tags=["dead letters"])
States = Annotated[str, Field(pattern=f"^({'|'.join((*map(str, Triage), 'all'))})$")]


class Page(shapes.TaskPage):
    """A page of dead letters; without a filter with their causes."""

    causes: list[dict[str, Any]]


class Causes(shapes.Open):
    """Causes, the most frequent first, and whether their letters would pass if they ran now."""

    causes: list[dict[str, Any]]


class Aside(Choice):
    """Which ones, and why."""

    note: Text = ""


class Republish(Choice):
    """Which ones, and how."""

    payload: dict[str, Any] | None = Field(default=None, description="edited; of one letter")
    if_duplicate: Literal["reject", "queue", "force"] = "reject"
    reason: Text = Field(default="", description="needed with `force`, and where the work has succeeded since")
    probe: Annotated[int, Field(ge=0, le=MAX_PROBES)] = Field(
        default=0, description="so many from different shops first; the rest only if all of them succeed"
    )
    probe_wait_s: Annotated[int, Field(ge=1, le=60)] = Field(default=30, description="give up on them after so long")
    skip: Annotated[str, Field(max_length=60, description="schema, done, paused; or none")] = ""
    overtaken: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(
        default=None, description="with skip none: of how many the work has succeeded since, as dry_run counts them"
    )


class NewNote(shapes.Body):
    """What you know, for whoever looks next."""

    id: Id
    text: Annotated[str, Field(min_length=1, max_length=2000)]


class KnownIssue(shapes.Body):
    """What is decided about a cause, in the place of what was."""

    owner: Annotated[str, Field(max_length=80)] = ""
    park: Annotated[str, Field(max_length=20, description="its shops pause for so long after each letter: 2h")] = ""
    retry_at: Annotated[str, Field(max_length=5, description="HH:MM of the fleet: its letters run again then")] = ""
    alert_once: bool = False
    to: list[Name] = Field(default_factory=list, max_length=20, description="channels or groups that hear of it")
    link: Annotated[str, Field(max_length=500, description="http or https: where it is followed up")] = ""
    note: Annotated[str | None, Field(max_length=2000, description="what was found out; left out: as it was")] = None


class Called(shapes.Body):
    """What it is called; what is left out is taken away."""

    name: Annotated[str, Field(max_length=80)] = ""
    note: Annotated[str, Field(max_length=2000)] = ""


class Ignored(shapes.Body):
    """For how long."""

    span: Annotated[str, Field(max_length=20, description="such as 1d; left out: until its text changes")] = ""


class Place(shapes.Body):
    """One of them: which of its letters are a cause of their own. None: a cause that was merged stands by itself."""

    shop: Annotated[str, Field(max_length=200, description="platform:shop_id")] = ""
    platform: Annotated[str, Field(max_length=100)] = ""
    worker: Annotated[str, Field(max_length=200)] = ""


class Merged(shapes.Body):
    """What it counts to."""

    into: Name


@router.get("/dead", response_model=Page, summary="Dead letters, newest first")
def letters(
    here: Here, filter: Filter = "", triage: States | None = None, limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    return here.look("dead list", filter=filter, triage=triage, limit=limit, cursor=cursor)


@router.get("/causes", response_model=Causes, summary="Why tasks died, and whether they would pass now")
def causes(here: Here, triage: Triage = Triage.OPEN) -> Response:
    return here.look("causes", triage=str(triage))


@router.get("/causes/{fingerprint}", response_model=shapes.Open, summary="One cause: how far it reaches, since when")
def cause(here: Here, fingerprint: Name, triage: Triage = Triage.OPEN) -> Response:
    return here.look("causes", fingerprint, triage=str(triage))


@router.put("/causes/{fingerprint}", response_model=shapes.Open, summary="Who is at it, and what is done by itself")
def know(here: Here, fingerprint: Name, rule: KnownIssue) -> Response:
    words = rule.model_dump()
    return here.act("cause know", fingerprint, **words)


@router.delete("/causes/{fingerprint}/rule", response_model=shapes.Open, summary="Nothing is done by itself any more")
def forget(here: Here, fingerprint: Name) -> Response:
    return here.act("cause forget", fingerprint)


@router.put("/causes/{fingerprint}/name", response_model=shapes.Open, summary="Give it a name and a note")
def name(here: Here, fingerprint: Name, called: Called) -> Response:
    return here.act("cause name", fingerprint, **called.model_dump())


@router.post("/causes/{fingerprint}/ignore", response_model=shapes.Outcome, summary="Ignore its letters, and new ones")
def ignore_cause(here: Here, fingerprint: Name, wanted: Ignored) -> Response:
    return here.act("cause ignore", fingerprint, span=wanted.span)


@router.post("/causes/{fingerprint}/lift", response_model=shapes.Outcome, summary="Ignore it no longer")
def lift(here: Here, fingerprint: Name) -> Response:
    return here.act("cause lift", fingerprint)


@router.post("/causes/{fingerprint}/merge", response_model=shapes.Open, summary="Count it to another cause")
def merge(here: Here, fingerprint: Name, merged: Merged) -> Response:
    return here.act("cause merge", fingerprint, into=merged.into)


@router.post(
    "/causes/{fingerprint}/split",
    response_model=shapes.Open,
    summary="Split a shop, platform or worker off; or unmerge",
)
def split(here: Here, fingerprint: Name, at: Place | None = None) -> Response:
    return here.act("cause split", fingerprint, **(at.model_dump(exclude_defaults=True) if at is not None else {}))


@router.post("/causes/{fingerprint}/join", response_model=shapes.Open, summary="Let it count to its cause again")
def join(here: Here, fingerprint: Name) -> Response:
    return here.act("cause join", fingerprint)


@router.get("/drift", response_model=shapes.Open, summary="Flows that are slower than before, or bring fewer rows")
def drift(here: Here) -> Response:
    return here.look("drift")


@router.get("/dead/runs", response_model=shapes.Open, summary="Bulk republishing: what went how far")
def runs(here: Here) -> Response:
    return here.look("dead runs")


@router.get("/dead/{task_id:path}", response_model=shapes.TaskDetail, summary="The reason beside the original message")
def letter(here: Here, task_id: Id) -> Response:
    return here.look("dead show", task_id)


@router.post("/dead/republish", response_model=shapes.Outcome, summary="A new task of each, linked to the old one")
def republish(here: Here, chosen: Republish) -> Response:
    words = chosen.model_dump(exclude={"ids", "payload", "probe_wait_s"})
    words["probe_wait"] = chosen.probe_wait_s if chosen.probe else None
    payload = "" if chosen.payload is None else json.dumps(chosen.payload, ensure_ascii=False)
    return here.act("dead republish", *chosen.ids, payload=payload, **words)


@router.post("/dead/archive", response_model=shapes.Outcome, summary="Put away")
def archive(here: Here, chosen: Aside) -> Response:
    return here.act("dead archive", *chosen.ids, **chosen.model_dump(exclude={"ids"}))


@router.post("/dead/ignore", response_model=shapes.Outcome, summary="Hide")
def ignore(here: Here, chosen: Aside) -> Response:
    return here.act("dead ignore", *chosen.ids, **chosen.model_dump(exclude={"ids"}))


@router.post("/dead/restore", response_model=shapes.Outcome, summary="Take archived or ignored ones back")
def restore(here: Here, chosen: Aside) -> Response:
    return here.act("dead restore", *chosen.ids, **chosen.model_dump(exclude={"ids"}))


@router.post("/dead/note", response_model=shapes.Outcome, summary="Write down what you know")
def note(here: Here, new: NewNote) -> Response:
    return here.act("dead note", new.id, new.text)
