"""What is known of a work in words: one answer, then the lines that it rests on. Pure but for the language."""

from __future__ import annotations

from dataclasses import dataclass

from services.domain.gates import listed
from services.domain.task import ledger
from services.domain.task.ledger import Day
from services.domain.task.record import Task
from services.domain.task.status import MOVABLE, Status
from services.i18n import _, ngettext
from services.monitor.works import Uncounted, WorkStory
from views.support import heard, shown, text
from views.support.words import kinds, origins

#: so many runs of a day are told one by one
MOST = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The one sentence that was asked for."""

    status: str  #: status name of the design tokens: glyph and tint
    lead: str
    words: str
    known: bool = True  #: False: it may have run all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that is known; with a task or a schedule it leads there."""

    status: str
    words: str
    task_id: str = ""
    schedule: str = ""


def answer(story: WorkStory, now_ms: int) -> Answer:
    """Whether it ran, and if not, since when not."""
    ran = [task for task in story.runs if task.status == Status.SUCCEEDED]
    active = _of_day(story, now_ms)
    at_work = next((task for task in active if task.status == Status.RUNNING), None)
    held = next((task for task in active if task.status == Status.HELD), None)
    if ran:
        return _ran(story, ran, at_work, now_ms)
    since = _not_since(story, now_ms)
    if story.ended is not None and story.ended.succeeded and at_work is None:
        return Answer(status="healthy", lead=_("Yes, it ran"), words=_gone(story.ended, story, now_ms))
    if at_work is not None:
        words = _("Since {when}, by {who}").format(when=_at(at_work.started_at, now_ms), who=_who(at_work))
        return Answer(status="running", lead=_("It is running now"), words=words)
    if held is not None:
        return Answer(status="held", lead=_("Nobody knows: a person has to decide"), words=since)
    if not story.known:
        lead = _("Not known: it may have run")
        return Answer(status="unknown", lead=lead, words=f"{caveat(story)} {since}", known=False)
    if active:
        return Answer(status="waiting", lead=_("Not yet: it waits"), words=since)
    if story.runs or story.ended is not None:
        return Answer(status="dead", lead=_("No: it was tried and did not succeed"), words=since)
    return Answer(status="unconfirmed", lead=_("No: it did not run"), words=since)


def _of_day(story: WorkStory, now_ms: int) -> list[Task]:
    """What has not ended and answers for the day: what waits now was never to run on a day that is over."""
    if story.ends > now_ms:
        return list(story.active)
    began = {task.task_id for task in story.runs}
    return [task for task in story.active if task.task_id in began]


def _ran(story: WorkStory, ran: list[Task], at_work: Task | None, now_ms: int) -> Answer:
    last = max(ran, key=lambda task: task.ended_at)
    words = _("Succeeded at {when}, by {who}").format(when=_at(last.ended_at, now_ms), who=_who(last))
    if len(ran) > 1:
        number = ngettext("{n} task of this day", "{n} tasks of this day", len(ran)).format(n=text.count(len(ran)))
        words = _("{tasks} succeeded, the last at {when}, by {who}").format(
            tasks=number, when=_at(last.ended_at, now_ms), who=_who(last)
        )
    if at_work is not None:
        return Answer(status="running", lead=_("Yes, it ran, and it is running now"), words=words)
    return Answer(status="healthy", lead=_("Yes, it ran"), words=words)


def lines(story: WorkStory, now_ms: int) -> list[Line]:
    """What each task of the day did, what has not ended, what succeeded last, and when it would run next."""
    found = [_run(task, now_ms) for task in story.runs[-MOST:]]
    told = {task.task_id for task in story.runs} | {story.planned.task_id if story.planned is not None else ""}
    found += [_active(task, story, now_ms) for task in story.active if task.task_id not in told][:MOST]
    ran = any(task.status == Status.SUCCEEDED for task in story.runs)
    if story.ended is not None and story.gone:
        ran = ran or story.ended.succeeded > 0
        glyph = "succeeded" if story.ended.succeeded else "dead"
        found.append(Line(status=glyph, words=_gone(story.ended, story, now_ms), task_id=story.ended.last_id))
    if not ran and story.done is not None:
        found.append(Line(status="succeeded", words=_not_since(story, now_ms), task_id=story.done.task_id))
    planned = story.planned
    if planned is None:
        found.append(Line(status="idle", words=_("No further run is planned")))
    else:
        when = _at(planned.at, now_ms)
        words = _("Would run next at {when}").format(when=when)
        if planned.schedule:
            words = _("Would run next at {when}, by a schedule").format(when=when)
        found.append(Line(status="scheduled", words=words, task_id=planned.task_id, schedule=planned.schedule))
    return found


def caveat(story: WorkStory) -> str:
    """Why it is not known what else ran on that day, "" when it is."""
    if not story.complete:
        return _("It has more tasks than were looked at; see the list of its tasks.")
    if story.uncounted == Uncounted.OLD:
        days = ledger.KEPT_MS // ledger.DAY_MS
        words = ngettext(
            "Runs are counted for {n} day, and records of that day may be gone.",
            "Runs are counted for {n} days, and records of that day may be gone.",
            days,
        )
        return words.format(n=text.count(days))
    if story.uncounted == Uncounted.MANY:
        return _("Runs whose records are gone are counted by their parameters: fill them in to ask for those.")
    if story.uncounted == Uncounted.UNREAD:
        return _("Its entry in the ledger cannot be read; Doctor finds it, and its repair sets it aside.")
    if story.uncounted == Uncounted.NEVER:
        return _("Runs of this type are not counted, and records of that day may be gone.")
    return ""


def left_out(story: WorkStory, found: Answer) -> str:
    """What neither the answer nor the lines tell, "" where they tell all."""
    if found.known and not story.complete:
        return caveat(story)
    more = max(0, len(story.runs) - MOST) + max(0, len(story.active) - MOST)
    told = ngettext("{n} more task is not told here.", "{n} more tasks are not told here.", more)
    return told.format(n=text.count(more)) if more else ""


def _gone(day: Day, story: WorkStory, now_ms: int) -> str:
    """What is known of a day of which records are gone."""
    words = ngettext("{n} task of this day ended", "{n} tasks of this day ended", day.count)
    parts = [words.format(n=text.count(day.count))]
    if day.failed:
        parts.append(_("{n} of them failed").format(n=text.count(day.failed)))
    if day.count > 1:
        parts.append(
            _("the first at {first}, the last at {last}").format(
                first=_at(day.first_at, now_ms), last=_at(day.last_at, now_ms)
            )
        )
    else:
        parts.append(_("at {when}").format(when=_at(day.last_at, now_ms)))
    if story.gone:
        parts.append(
            _("the records are gone")
            if story.gone >= day.count
            else _("the records of {n} are gone").format(n=text.count(story.gone))
        )
    return text.listed(parts)


def _run(task: Task, now_ms: int) -> Line:
    words = _("Ran at {when}, by {who}: {result}").format(
        when=_at(task.started_at, now_ms), who=_who(task), result=_result(task, now_ms)
    )
    return Line(status=heard.glyph(task, now_ms), words=words, task_id=task.task_id)


def _active(task: Task, story: WorkStory, now_ms: int) -> Line:
    words = _("{status} now, by {who}").format(status=heard.word(task, now_ms), who=_who(task))
    gate = listed.BY_NAME.get(story.gates.get(task.task_id, ""))
    if gate is not None:
        words = text.listed([words, _(gate.short)])
    return Line(status=heard.glyph(task, now_ms), words=words, task_id=task.task_id)


def _result(task: Task, now_ms: int) -> str:
    word = heard.word(task, now_ms).lower()
    why = kinds.title(task.error_kind) or task.error_kind
    failed = _("failed, {why}").format(why=why) if why else ""
    if task.status == Status.DEAD:
        return failed or word
    if task.status in MOVABLE:  # it began once, and goes on later: "ran: blocked" would be neither
        return _("{result}, and {status} now").format(result=failed or _("not finished"), status=word)
    return word


def _not_since(story: WorkStory, now_ms: int) -> str:
    if story.done is None:
        return _("It has not succeeded, as far as is known")
    if not story.known:
        return _("The last success that is known: {when}, by {who}").format(
            when=_at(story.done.at, now_ms), who=origins.who(story.done.by)
        )
    if story.later is not None:
        return _("Not on that day, but later: {when}, by {who}").format(
            when=_at(story.later.at, now_ms), who=origins.who(story.later.by)
        )
    return _("Not run since {when}; that was by {who}").format(
        when=_at(story.done.at, now_ms), who=origins.who(story.done.by)
    )


def _who(task: Task) -> str:
    return origins.who(task.created_by or task.origin)


def _at(instant_ms: int, now_ms: int) -> str:
    return shown.clock(instant_ms, now_ms)
