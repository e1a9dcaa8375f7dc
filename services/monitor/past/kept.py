"""What changed that records tell, not the recorder: causes of dead letters that were new, and runs of schedules that
nobody made, that were left out or that began late.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from services.domain.errors import UsageError
from services.domain.insight import cause, cause_rule
from services.domain.insight import schedule as insight
from services.domain.past.turns import CAUSE, RUN, Turn
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import MISSED_RUN, SKIPPED
from services.domain.task.record import Task
from services.domain.task.search.filter import is_fingerprint
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status
from services.domain.text.message import Message, Param
from services.monitor.letters.alike import key_of
from services.ports import Store

#: letters that are looked at, those that changed first after the beginning; and causes of which it is asked whether
#: they were new, those with most letters first
LETTERS, CAUSES = 1_000, 12
#: of the oldest letters of a cause so many are looked at, for what was created first need not have died first
OLDEST = 50


def of_records(store: Store, begin: int, end: int) -> tuple[list[Turn], bool]:
    """After the first instant and not after the second (UTC ms); whether that is all there was. Blocking."""
    causes, whole = _causes(store, begin, end)
    return [*causes, *_runs(store, begin, end)], whole


def _causes(store: Store, begin: int, end: int) -> tuple[list[Turn], bool]:
    dead = equals("status", Status.DEAD)
    since, until = Term(field="updated", op=">=", number=begin), Term(field="created", op="<=", number=end)
    page = store.query(
        Query(terms=(dead, since, until), sort="updated", descending=False, limit=LETTERS, want_total=False)
    )
    rules = cause_rule.read(store.documents(cause_rule.KIND))
    known, by_cause = cause_rule.Causes(rules), defaultdict[str, list[Task]](list)
    for task in page.tasks:
        if begin < task.ended_at <= end:
            by_cause[known.of(key_of(task), task)].append(task)
    found: list[Turn] = []
    for key, letters in sorted(by_cause.items(), key=lambda one: -len(one[1]))[:CAUSES]:
        same = equals("fp", *known.prints(key)) if is_fingerprint(key) else equals("kind", key)
        oldest = store.query(Query(terms=(dead, same), descending=False, limit=OLDEST, want_total=False)).tasks
        if all(task.ended_at > begin for task in oldest):
            newest = max(letters, key=lambda task: task.ended_at)
            shops = {task.shop for task in letters}
            name, kind = rules[key].name if key in rules else "", newest.error_kind
            found.append(
                Turn(
                    at_ms=min(task.ended_at for task in letters),
                    kind=CAUSE,
                    message=Message("past.cause_new", {"n": len(shops), "what": name}),
                    names=(key,),
                    until_ms=newest.ended_at,
                    title=None if name else cause.title(kind, cause.patterns([(kind, newest.error)])),
                )
            )
    return found, page.next is None and len(by_cause) <= CAUSES


def _runs(store: Store, begin: int, end: int) -> Iterator[Turn]:
    for entry in store.schedules():
        try:
            planned = schedules.load(entry.body)
        except UsageError:  # whoever asks for schedules tells of it
            continue
        late = {run.at: run.late_ms for run in planned.past}
        if (
            last := planned.last
        ) is not None and not last.by:  # a program of before wrote it down for the last one only
            late[last.at] = last.base - last.at
        told: list[tuple[int, str, dict[str, Param]]] = [
            (run.at, "past.run_missed" if run.kind == MISSED_RUN else "past.run_left_out", {})
            for run in planned.past
            if run.kind in (MISSED_RUN, SKIPPED)
        ]
        for due, by_ms in late.items():
            if by_ms > insight.LATE_MS:
                told.append((due + by_ms, "past.run_late", {"seconds": by_ms // 1000}))
        for at_ms, code, params in told:
            if begin < at_ms <= end:
                name = planned.schedule.name
                yield Turn(at_ms=at_ms, kind=RUN, message=Message(code, {"name": name, **params}), names=(name,))
