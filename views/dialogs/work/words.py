"""What is known of a work in words: one answer, then the lines that it rests on. Pure but for the language."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.gates import listed
from services.domain.insight.verdict import SAFE, safe_to_run_again
from services.domain.promises import judge
from services.domain.task import ledger
from services.domain.task.ledger import Day
from services.domain.task.record import Task
from services.domain.task.status import MOVABLE, Status
from services.i18n import N_, _, ngettext
from services.messages import render
from services.monitor.promises import WorkPromise
from services.monitor.shops.day import (
    CANCELLED,
    DEAD,
    HELD,
    MISSED,
    OVERTAKEN,
    PLANNED,
    RETRIED,
    RUNNING,
    SKIPPED,
    SUCCEEDED,
    UNKNOWN,
    WAITS,
    DayAttempt,
    ShopDay,
)
from services.monitor.works import Uncounted, WorkStory
from views.support import heard, shown, text
from views.support.words import kinds, origins, type_names
from views.support.words import shop as shop_words
from views.widgets.card import Told

#: so many runs of a day are told one by one
MOST = 30
#: row of the strip of thirty days
DAYS = "days"
NEXT, PROMISE, AGAIN = "next", "promise", "again"
#: how a work is done once more: in place at once, in place with a reason, or all of it filled in
AT_ONCE, WITH_REASON, FILL_IN = "at once", "with reason", "fill in"
AGAIN_VERBS = {
    AT_ONCE: N_("Run now"),
    WITH_REASON: N_("Run again with reason…"),
    FILL_IN: N_("Run it now…"),
}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The one sentence that was asked for."""

    status: str  #: status name of the design tokens: glyph and tint
    lead: str
    words: str
    known: bool = True  #: False: it may have run all the same
    short: str = ""  #: the answer in a word or two
    beside: str = ""  #: what stands beside that: the rest of the lead, or the words where it says all
    task_id: str = ""  #: the task that the answer rests on, "" where there is none

    @property
    def under(self) -> str:
        """The words, where they do not stand beside already."""
        return "" if self.beside == self.words else self.words


class Line(msgspec.Struct, frozen=True, kw_only=True):
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
        return _ran(ran, at_work, now_ms)
    since = _not_since(story, now_ms)
    if story.ended is not None and story.ended.succeeded and at_work is None:
        gone = _gone(story.ended, story, now_ms)
        return Answer(status="healthy", lead=_("Yes, it ran"), words=gone, short=_("Yes"), beside=gone)
    if at_work is not None:
        words = _("Since {when}, by {who}").format(when=shown.clock(at_work.started_at, now_ms), who=_who(at_work))
        lead = _("It is running now")
        return Answer(
            status="running", lead=lead, words=words, short=_("Running"), beside=words, task_id=at_work.task_id
        )
    if held is not None:
        lead = _("Nobody knows: a person has to decide")
        return Answer(
            status="held",
            lead=lead,
            words=since,
            short=_("Not known"),
            beside=_("A person has to decide"),
            task_id=held.task_id,
        )
    if not story.known:
        lead, words = _("Not known: it may have run"), f"{caveat(story)} {since}"
        beside = _("It may have run")
        return Answer(status="unknown", lead=lead, words=words, known=False, short=_("Not known"), beside=beside)
    if active:
        lead, beside = _("Not yet: it waits"), _("It waits")
        found = active[-1].task_id
        return Answer(status="waiting", lead=lead, words=since, short=_("Not yet"), beside=beside, task_id=found)
    if story.runs or story.ended is not None:
        lead, beside = _("No: it was tried and did not succeed"), _("It was tried and did not succeed")
        found = story.runs[-1].task_id if story.runs else ""
        return Answer(status="dead", lead=lead, words=since, short=_("No"), beside=beside, task_id=found)
    lead = _("No: it did not run")
    return Answer(status="unconfirmed", lead=lead, words=since, short=_("No"), beside=_("It did not run"))


def _of_day(story: WorkStory, now_ms: int) -> list[Task]:
    """What has not ended and answers for the day: what waits now was never to run on a day that is over."""
    if story.ends > now_ms:
        return list(story.active)
    began = {task.task_id for task in story.runs}
    return [task for task in story.active if task.task_id in began]


def _ran(ran: list[Task], at_work: Task | None, now_ms: int) -> Answer:
    last = max(ran, key=lambda task: task.ended_at)
    words = _("Succeeded at {when}, by {who}").format(when=shown.clock(last.ended_at, now_ms), who=_who(last))
    if len(ran) > 1:
        number = ngettext("{n} task of this day", "{n} tasks of this day", len(ran)).format(n=text.count(len(ran)))
        words = _("{tasks} succeeded, the last at {when}, by {who}").format(
            tasks=number, when=shown.clock(last.ended_at, now_ms), who=_who(last)
        )
    lead, found = _("Yes, it ran"), last.task_id
    if at_work is not None:
        lead = _("Yes, it ran, and it is running now")
        return Answer(status="running", lead=lead, words=words, short=_("Yes"), beside=words, task_id=found)
    return Answer(status="healthy", lead=lead, words=words, short=_("Yes"), beside=words, task_id=found)


def brief(story: WorkStory, now_ms: int) -> tuple[str, str, str]:
    """Status name, the answer in a few words, and what stands below it: the row of one of many works."""
    found = answer(story, now_ms)
    names = [type_names.name(story.task_type)]
    by_id = {task.task_id: task for task in (*story.runs, *story.active)}
    task, strong = by_id.get(found.task_id), found.lead
    if task is not None and task.status == Status.SUCCEEDED:
        strong = _("Yes, at {when}").format(when=shown.clock(task.ended_at, now_ms))
    elif task is not None and task.status == Status.RUNNING:
        strong = _("Running for {span}").format(span=_long(now_ms - task.started_at))
    elif task is not None and task.status == Status.RETRYING:
        strong = _("Not yet: tried again {soon}").format(soon=text.until(shown.span(task.due_at - now_ms)))
    elif task is not None and (gate := listed.BY_NAME.get(story.gates.get(task.task_id, ""))) is not None:
        strong = _("Not yet: {why}").format(why=_(gate.short))
    elif found.status == "unconfirmed" and story.planned is not None and now_ms <= story.planned.at < story.ends:
        strong = _("Not yet, planned {when}").format(when=shown.clock(story.planned.at, now_ms))
    if story.planned is not None and story.planned.at >= now_ms:
        names.append(_("next {when}").format(when=shown.minute(story.planned.at, now_ms)))
    if found.status not in ("healthy", "running") and story.done is not None:
        names.append(_("last success {when}").format(when=shown.clock(story.done.at, now_ms)))
    return found.status, strong, text.listed(names)


def facts(task: Task, now_ms: int) -> list[tuple[str, str, str]]:
    """What else is known of the task that the answer rests on: words, and the page and request that they lead to."""
    found = [(_("task {id}").format(id=task.task_id), "tasks", task.task_id)]
    if task.worker:
        found.append((_("on {worker}").format(worker=task.worker), "workers", task.worker))
    asked = _("asked for by {who}").format(who=_who(task))
    found.append((asked, "schedules", "") if task.origin == "schedule" else (asked, "", ""))
    if task.attempt > 1:
        found.append((_("attempt {n}").format(n=task.attempt), "", ""))
    elif task.attempt:
        found.append((_("first attempt"), "", ""))
    if task.started_at and (ends := task.ended_at or (now_ms if task.status == Status.RUNNING else 0)):
        found.append((_long(ends - task.started_at), "", ""))
    return found


def tiles(story: WorkStory, promised: Sequence[WorkPromise], now_ms: int, *, stale: bool = False) -> list[Told]:
    """When it runs next, what is promised of it, and whether it may be done again, which is not known while nothing
    newer is (``stale``).
    """
    if stale:
        again_ = Told(AGAIN, N_("Safe to run again?"), _("Not known"), _("nothing newer is known"), glyph="unknown")
    else:
        again_ = _again(story, now_ms)
    return [_next(story, now_ms), _promise(promised, now_ms), again_]


def _next(story: WorkStory, now_ms: int) -> Told:
    planned = story.planned
    if planned is None:
        return Told(NEXT, N_("Next run"), _("Nothing is planned"), glyph="scheduled")
    soon = text.until(shown.span(planned.at - now_ms)) if planned.at > now_ms else _("due")
    when, door = shown.clock(planned.at, now_ms), text.listed(part for part in (planned.schedule,) if part)
    return Told(NEXT, N_("Next run"), when, soon, glyph="scheduled", door=door or _("Open task"))


_PROMISED = {
    judge.KEPT: (N_("Kept"), "text", "healthy"),
    judge.AT_RISK: (N_("At risk"), "retrying", "warning"),
    judge.BROKEN: (N_("Broken"), "dead", "dead"),
    judge.NOT_DUE: (N_("Not due"), "text", "idle"),
}


def _promise(promised: Sequence[WorkPromise], now_ms: int) -> Told:
    if not promised:
        return Told(PROMISE, N_("Promise"), _("None"), _("nothing is promised of it"), glyph="idle")
    worst = promised[0]
    word, tone, glyph = _PROMISED.get(worst.state, (N_("Not judged"), "text", "unknown"))
    what = shop_words.said(worst.row.sentence[0])
    if worst.break_at:
        what = text.listed([what, _("until {when}").format(when=shown.clock(worst.break_at, now_ms))])
    return Told(PROMISE, N_("Promise"), _(word), what, tone, glyph=glyph, door=worst.row.name)


def _again(story: WorkStory, now_ms: int) -> Told:
    """Whether creating it now does nothing twice."""
    value, why, tone, glyph = again(story, now_ms)
    return Told(AGAIN, N_("Safe to run again?"), value, why, tone, glyph=glyph)


def again(story: WorkStory, now_ms: int) -> tuple[str, str, str, str]:
    """The answer to that: the word, why, tone and status name. Safe is only what may be repeated, or has not begun."""
    if any(task.status == Status.HELD for task in story.active):
        return _("Needs a decision"), _("one of it may be done, a person has to say"), "retrying", "warning"
    if story.apart and (story.active or story.done is not None or not story.repeatable):
        return _("Not known"), _("its works differ by their parameters: fill them in"), "retrying", "unknown"
    if story.active:
        return _("Not needed"), _("it waits or runs already"), "text", "waiting"
    if story.uncounted == Uncounted.UNREAD:
        return _("Not known"), _("its entry in the ledger cannot be read"), "retrying", "warning"
    if needs_reason(story):
        age = text.age(shown.span(now_ms - story.done.at)) if story.done is not None else ""
        return _("Needs a reason"), _("it would repeat what was done {ago}").format(ago=age), "retrying", "warning"
    if story.repeatable:
        return _("It is safe"), _("nothing is done wrong by repeating it"), "text", "healthy"
    return _unrepeatable(story, now_ms)


def way_again(story: WorkStory, now_ms: int) -> str:
    """One of ``AGAIN_VERBS``; where it is neither safe nor known to repeat what is done, all of it is looked at."""
    if needs_reason(story):
        return WITH_REASON if not story.active and not story.apart else FILL_IN
    _value, _why, _tone, glyph = again(story, now_ms)
    return AT_ONCE if glyph == "healthy" and story.runs else FILL_IN


def _unrepeatable(story: WorkStory, now_ms: int) -> tuple[str, str, str, str]:
    """The same of a type whose work must not be done twice."""
    if story.done is not None:
        age = text.age(shown.span(now_ms - story.done.at))
        return _("Check first"), _("done {ago}, and not to be done twice").format(ago=age), "retrying", "warning"
    if story.failed is not None:
        judged = safe_to_run_again(story.letter) if story.letter is not None else None
        if judged is None or judged.level != SAFE:
            why = _("the last attempt may have done it") if judged is None else render(judged.message)
            return _("Check first"), why, "retrying", "warning"
    if not (story.one_work and story.complete):
        return _("Not known"), _("nothing tells whether it was done before"), "retrying", "unknown"
    return _("It is safe"), _("nothing would be done twice"), "text", "healthy"


def needs_reason(story: WorkStory) -> bool:
    """Whether creating it asks why: its work has succeeded so lately."""
    return bool(story.asks_since) and story.done is not None and story.done.at >= story.asks_since


def counted(day: ShopDay) -> str:
    """What a strip shows, in numbers; what was due and did not come is never left out."""
    found: list[tuple[Callable[[int], str], int]] = []
    for states, words in (
        ((SUCCEEDED,), lambda _n: _("{n} succeeded")),
        ((RUNNING,), lambda _n: _("{n} running")),
        ((RETRIED,), lambda n: ngettext("{n} attempt failed", "{n} attempts failed", n)),
        ((DEAD,), lambda n: ngettext("{n} dead", "{n} dead", n)),
        ((OVERTAKEN,), lambda n: ngettext("{n} died and was overtaken", "{n} died and were overtaken", n)),
        ((HELD,), lambda n: ngettext("{n} to confirm", "{n} to confirm", n)),
        ((CANCELLED,), lambda n: ngettext("{n} was stopped", "{n} were stopped", n)),
        ((MISSED,), lambda n: ngettext("{n} was due and did not come", "{n} were due and did not come", n)),
        ((SKIPPED,), lambda n: ngettext("{n} left this shop out", "{n} left this shop out", n)),
        ((UNKNOWN,), lambda _n: _("{n} not known for this shop")),
        ((WAITS,), lambda n: ngettext("{n} waits", "{n} wait", n)),
        ((PLANNED,), lambda n: ngettext("{n} planned", "{n} planned", n)),
    ):
        number = sum(run.count for run in day.runs if run.state in states)
        if number:
            found.append((words, number))
    said = [words(number).format(n=text.count(number)) for words, number in found]
    return text.listed(said) if said else _("nothing ran, nothing is planned")


def month(story: WorkStory, now_ms: int) -> ShopDay:
    """The last thirty days as the ledger has them, a cell for each on which anything ended."""
    runs = []
    for day in story.days:
        state = DEAD if not day.succeeded else RETRIED if day.failed else SUCCEEDED
        runs.append(
            DayAttempt(
                task_type=story.task_type,
                state=state,
                begins=day.first_at,
                ends=day.last_at,
                task_id=day.last_id,
                count=day.count,
                asked=DAYS,
            )
        )
    begins = now_ms - ledger.KEPT_MS + ledger.DAY_MS
    return ShopDay(
        shop=story.shop, begins=begins, ends=now_ms + ledger.DAY_MS // 2, now=now_ms, types=(DAYS,), runs=tuple(runs)
    )


def notable(story: WorkStory, day: ShopDay | None, now_ms: int) -> list[Line]:
    """What a person should know of the day, the latest first: all but plain successes at the first attempt."""
    tasks = {task.task_id: task for task in story.runs}
    plain = {name for name, task in tasks.items() if task.status == Status.SUCCEEDED and task.attempt <= 1}
    said = [one for one in lines(story, now_ms) if one.status not in ("scheduled", "idle")]  # a tile tells what is next
    kept = [one for one in said if one.task_id not in plain or one.status != "succeeded"]
    found = [_with_more(one, tasks.get(one.task_id)) for one in reversed(kept)]
    absent = [run for run in (day.runs if day is not None else ()) if run.state in (MISSED, SKIPPED)]
    for run in absent[-MOST:]:
        due = _("Due at {when}, did not come") if run.state == MISSED else _("Due at {when}, left this shop out")
        glyph = "warning" if run.state == MISSED else "cancelled"
        words = due.format(when=shown.clock(run.begins, now_ms))
        found.append(Line(status=glyph, words=words, schedule=run.schedule))
    if more := sum(run.count for run in absent[:-MOST]):
        found.append(Line(status="warning", words=_("and {n} before that").format(n=text.count(more))))
    return found


def _with_more(one: Line, task: Task | None) -> Line:
    """The line with what only the record tells: attempts before the one that succeeded, and who did the work since."""
    if task is None:
        return one
    if task.status == Status.DEAD and task.successor:
        return replace(one, words=text.listed([one.words, _("overtaken by {id}").format(id=task.successor)]))
    bad = [tried for tried in task.attempts if tried.error or tried.error_kind]
    if task.status != Status.SUCCEEDED or not bad:
        return one
    number = ngettext("after {n} failed attempt: {why}", "after {n} failed attempts: {why}", len(bad))
    why = kinds.title(bad[-1].error_kind) or bad[-1].error_kind or _("failed")
    return replace(one, status="retrying", words=text.listed([one.words, number.format(n=len(bad), why=why)]))


def copied(story: WorkStory, shop: str, day: ShopDay | None, now_ms: int) -> str:
    """The answer as text, for who asked."""
    found = answer(story, now_ms)
    head = _("{type} of {shop} ({key})").format(type=type_names.name(story.task_type), shop=shop, key=story.shop)
    said = [one.words for one in lines(story, now_ms)]
    parts = [head, text.sentences([found.lead, found.words]), *(f"- {one}" for one in said)]
    if day is not None:
        parts.append(counted(day))
    return "\n".join(parts)


def _long(milliseconds: int) -> str:
    return text.duration(shown.span(max(0, milliseconds)))


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
        when = shown.clock(planned.at, now_ms)
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
                first=shown.clock(day.first_at, now_ms), last=shown.clock(day.last_at, now_ms)
            )
        )
    else:
        parts.append(_("at {when}").format(when=shown.clock(day.last_at, now_ms)))
    if story.gone:
        parts.append(
            _("the records are gone")
            if story.gone >= day.count
            else _("the records of {n} are gone").format(n=text.count(story.gone))
        )
    return text.listed(parts)


def _run(task: Task, now_ms: int) -> Line:
    words = _("Ran at {when}, by {who}: {result}").format(
        when=shown.clock(task.started_at, now_ms), who=_who(task), result=_result(task, now_ms)
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
            when=shown.clock(story.done.at, now_ms), who=origins.who(story.done.by)
        )
    if story.later is not None:
        return _("Not on that day, but later: {when}, by {who}").format(
            when=shown.clock(story.later.at, now_ms), who=origins.who(story.later.by)
        )
    return _("Not run since {when}; that was by {who}").format(
        when=shown.clock(story.done.at, now_ms), who=origins.who(story.done.by)
    )


def _who(task: Task) -> str:
    return origins.who(task.created_by or task.origin)
