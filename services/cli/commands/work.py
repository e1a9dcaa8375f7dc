"""``work``: did it run? Asked of a shop and a type, whichever task did it."""

from __future__ import annotations

from typing import Any

from services import assembly
from services.cli import json_text, known_shops, lexicon, output, shapes, spoken
from services.cli.context import EXIT_OK, Context, examples
from services.cli.guesses import near
from services.domain.errors import NotFound, UsageError
from services.domain.gates import listed
from services.domain.insight.verdict import asks_why_given_up
from services.domain.task import classify, ledger
from services.domain.task.ledger import Day, Done, Failure
from services.domain.task.record import Task
from services.domain.task.search import filter_time
from services.domain.task.status import Status
from services.i18n import N_
from services.monitor.works import Planned, TypeRow, Uncounted, WorkStory

MORE = N_("it has more tasks than were looked at; see `task list`")
WHY_UNCOUNTED = {
    Uncounted.OLD: N_("runs are counted for {days} days, and records of that day may be gone"),
    Uncounted.MANY: N_("runs whose records are gone are counted by their parameters: ask with --payload"),
    Uncounted.UNREAD: N_("its entry in the ledger cannot be read; see `doctor`, `repair` sets it aside"),
    Uncounted.NEVER: N_("runs of this type are not counted, and records of that day may be gone"),
}

EXAMPLES = (
    "work pdd:s1 sync_order",
    "work pdd:s1 sync_order --day yesterday",
    "work s1 goods --payload '{\"page\":2}'",
)


def add(nouns: Any) -> None:
    text = "did it run? what a shop's tasks of one type did on a day, their last success, and when the next is planned"
    parser = nouns.add_parser("work", handler=show, help=text, **examples(EXAMPLES))
    parser.add_argument("shop", help="platform:shop_id, or the bare id where only one platform has it")
    parser.add_argument("type", help="task type")
    parser.add_argument("--day", default="today", help="today, yesterday or a date, in the fleet's time zone")
    parser.add_argument("--payload", default="", help="JSON object: only the work with these parameters")


def show(context: Context) -> int:
    """Print what is known."""
    args = context.args
    payload = json_text.read_object(args.payload, "--payload") if args.payload else None
    with context.engine() as engine:
        works = assembly.queries(engine).works
        day = works.day(args.day)
        if day is None:
            raise UsageError(
                spoken.phrase(
                    "--day takes today, yesterday or a date such as 2026-11-22, not {day}", day=f"{args.day!r:.40}"
                ),
                "--day",
            )
        shop = known_shops.find(engine, args.shop)
        story = works.story(shop.key, args.type, day, payload)
        if not engine.registry.knows(args.type) and not _known(story):
            # "it has not run" of a misspelt type would be taken for the answer
            known = list(engine.registry.types())
            like = near(args.type, known)
            words = {"type": f"{args.type!r:.70}", "shop": shop.key}
            if like:
                told = spoken.phrase("there is no type {type} and {shop} has no task of it", **words)
                raise NotFound(spoken.meant(told, like), "type")
            told = spoken.phrase("there is no type {type} and {shop} has no task of it; see `type list`", **words)
            raise NotFound(told, "type")
    context.show(document(story), lines(story))
    return EXIT_OK


def _known(story: WorkStory) -> bool:
    """Whether anything was ever seen of it."""
    return bool(story.runs or story.active or story.done or story.failed or story.planned or story.ended)


def document(story: WorkStory) -> dict[str, Any]:
    """The answer for programs; instants in UTC."""
    done, planned = story.done, story.planned
    return {
        "shop": story.shop,
        "type": story.task_type,
        "day": {"from": shapes.iso(story.begins), "to": shapes.iso(story.ends), "zone": story.zone},
        "ran": [_run(task) for task in story.runs],
        "ended": _ended(story.ended, story.gone) if story.ended is not None else None,
        "active": [_run(task) | {"gate": story.gates.get(task.task_id, "")} for task in story.active],
        "last_success": _done(done) if done is not None else None,
        "last_failure": _failure(story.failed, story.letter) if story.failed is not None else None,
        "next": _planned(planned) if planned is not None else None,
        "complete": story.complete,
        "counted": story.counted,
    }


def of_type(row: TypeRow) -> dict[str, Any]:
    """One type of a shop for programs."""
    done, planned = row.done, row.planned
    return {
        "type": row.task_type,
        "last_success": _done(done) if done is not None else None,
        "last_failure": _failure(row.failed, row.letter) if row.failed is not None else None,
        "next": _planned(planned) if planned is not None else None,
    }


def cells(row: TypeRow, zone: str) -> tuple[object, ...]:
    """One type of a shop for people."""
    done = (
        spoken.phrase("{at} by {by}", at=shapes.clock(row.done.at, zone), by=row.done.by)
        if row.done is not None
        else ""
    )
    failed = f"{shapes.clock(row.failed.at, zone)} {row.failed.kind}" if row.failed is not None else ""
    return row.task_type, done, failed, shapes.clock(row.planned.at, zone) if row.planned is not None else ""


def _done(done: Done) -> dict[str, Any]:
    return {"id": done.task_id, "at": shapes.iso(done.at), "by": done.by, "worker": done.worker}


def _failure(failed: Failure, letter: Task | None) -> dict[str, Any]:
    """As a run; of one whose record is gone what the ledger keeps."""
    if letter is not None:
        return _run(letter)
    known = {"id": failed.task_id, "status": str(Status.DEAD), "triage": "", "started_at": None}
    known |= {"ended_at": shapes.iso(failed.at), "by": failed.by, "origin": "", "worker": failed.worker}
    return known | {"error": "", "error_kind": failed.kind}


def _ended(day: Day, gone: int) -> dict[str, Any]:
    return {
        "count": day.count,
        "succeeded": day.succeeded,
        "failed": day.failed,
        "first": {"id": day.first_id, "at": shapes.iso(day.first_at)},
        "last": {"id": day.last_id, "at": shapes.iso(day.last_at)},
        "records_gone": gone,
    }


def _planned(planned: Planned) -> dict[str, Any]:
    return {"at": shapes.iso(planned.at), "schedule": planned.schedule, "task": planned.task_id}


def lines(story: WorkStory) -> list[str]:
    """The answer for people; instants in the zone of the fleet."""
    done, planned = story.done, story.planned
    ran = any(task.status == Status.SUCCEEDED for task in story.runs)
    ran = ran or (story.ended is not None and story.ended.succeeded > 0)
    told = [f"{story.shop} {story.task_type}, {_at(story.begins, story)[:10]} ({story.zone})"]
    told += [
        spoken.phrase(
            "ran at {at}, by {by}: {result} ({task_id})",
            at=_at(task.started_at, story),
            by=_by(task),
            result=_result(task),
            task_id=task.task_id,
        )
        for task in story.runs
    ]
    told += [_gone(story.ended, story)] if story.ended is not None and story.gone else []
    if not ran and not story.known:
        told.append(spoken.phrase("not known whether it ran: {why}", why=_why_unknown(story)))
        if done is not None:
            told.append(
                spoken.phrase(
                    "the last success that is known: {at}, {task_id}, by {by}",
                    at=_at(done.at, story),
                    task_id=done.task_id,
                    by=done.by,
                )
            )
    elif not ran and story.later is not None:
        at = _at(story.later.at, story)
        told.append(
            spoken.phrase(
                "it did not succeed on that day, but later: {at}, {task_id}, by {by}",
                at=at,
                task_id=story.later.task_id,
                by=story.later.by,
            )
        )
    elif not ran and done is not None:
        told.append(
            spoken.phrase(
                "not run since {at}, when {task_id} succeeded, by {by}",
                at=_at(done.at, story),
                task_id=done.task_id,
                by=done.by,
            )
        )
    elif not ran:
        told.append(spoken.phrase("it has not succeeded, as far as is known"))
    told += [_active(task, story) for task in story.active if task not in story.runs]
    if planned is not None:
        by = spoken.phrase("schedule {name}", name=planned.schedule) if planned.schedule else planned.task_id
        told.append(spoken.phrase("would run next at {at}, by {by}", at=_at(planned.at, story), by=by))
    else:
        told.append(spoken.phrase("no further run is planned"))
    if ran and not story.complete:
        told.append(spoken.phrase(MORE))
    return told


def _why_unknown(story: WorkStory) -> str:
    if not story.complete:
        return spoken.phrase(MORE)
    return spoken.phrase(WHY_UNCOUNTED[story.uncounted], days=ledger.KEPT_MS // ledger.DAY_MS)


def _run(task: Task) -> dict[str, Any]:
    return {
        "id": task.task_id,
        "status": task.status,
        "triage": task.triage,
        "started_at": shapes.iso(task.started_at),
        "ended_at": shapes.iso(task.ended_at),
        "by": _by(task),
        "origin": task.origin,
        "worker": task.worker,
        "error": task.error,
        "error_kind": task.error_kind,
    }


def _gone(day: Day, story: WorkStory) -> str:
    """What the ledger knows of tasks whose records are gone."""
    if story.gone < day.count:
        return spoken.phrase("{times} in all; the records of {gone} are gone", times=_times(day), gone=story.gone)
    told = N_("{times}, at {first} ({first_id}); the records are gone")
    if day.count > 1:
        told = N_("{times}, first at {first} ({first_id}), last at {last} ({last_id}); the records are gone")
    first, last = _at(day.first_at, story), _at(day.last_at, story)
    return spoken.phrase(told, times=_times(day), first=first, first_id=day.first_id, last=last, last_id=day.last_id)


def _times(day: Day) -> str:
    if day.count == 1:
        return spoken.phrase("ran once and failed") if day.failed else spoken.phrase("ran once")
    failed = spoken.phrase(", {failed} of them failed", failed=day.failed) if day.failed else ""
    return spoken.phrase("ran {count} times", count=day.count) + failed


def _active(task: Task, story: WorkStory) -> str:
    gate = listed.BY_NAME.get(story.gates.get(task.task_id, ""))
    told = N_("{status} now: {id}, by {by}") if gate is None else N_("{status} now: {id}, by {by}; it waits: {gate}")
    status, why = lexicon.called("status", task.status), spoken.phrase(gate.short) if gate is not None else ""
    return spoken.phrase(told, status=status, id=task.task_id, by=_by(task), gate=why)


def _result(task: Task) -> str:
    if task.status == Status.DEAD:
        return spoken.phrase(
            "failed, {why}", why=spoken.error(output.masked_text(classify.headline(task.error))) or task.error_kind
        )
    if asks_why_given_up(task):
        return spoken.phrase("held, nobody knows whether it was done")
    return lexicon.called("status", task.status)


def _by(task: Task) -> str:
    return task.created_by or task.origin


def _at(instant_ms: int, story: WorkStory) -> str:
    return filter_time.iso(instant_ms, story.zone)[:19].replace("T", " ")
