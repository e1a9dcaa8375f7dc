"""Dead letters that were republished and died again, or fail again: whoever did it should not do it once more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from services.domain.insight import cause
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import ACTIVE, Status, Triage
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

DAY_MS, LOOKED_AT = 86_400_000, 1_000
WORDS = {
    "attention.republished_again": Words(
        N_("Republished and died again: {cause}"),
        N_(
            "Of {of} republished in the last day {done} succeeded and {again} died again; put the reason right before"
            " more follows"
        ),
    ),
    "attention.republished_running": Words(
        N_("Republished and died again: {cause}"),
        N_(
            "Of {of} republished in the last day {done} succeeded, {again} died again, {left} have not ended yet;"
            " republish no more until then"
        ),
    ),
    "attention.republished_failing": Words(
        N_("Republished and failing again: {cause}"),
        N_(
            "Of {of} republished in the last day {done} succeeded and {failing} failed again. They try again by"
            " themselves, the first in {left}; republish no more until then"
        ),
    ),
    "attention.republished_soon": Words(
        N_("Republished and failing again: {cause}"),
        N_(
            "Of {of} republished in the last day {done} succeeded and {failing} failed again. They try again by"
            " themselves as soon as a slot is free; republish no more until then"
        ),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """One item for each cause of which a republished letter died again, until nobody has it open any more, or fails
    again so far.
    """
    unwell = look.causes or look.number(Status.RETRYING) or look.number(Status.BLOCKED)
    if not look.snapshot.counts.triage.get(Triage.REPUBLISHED, 0) or not unwell:
        return
    terms = (
        equals("status", Status.DEAD),
        equals("triage", Triage.REPUBLISHED),
        Term(field="updated", op=">=", number=float(look.now_ms - DAY_MS)),
    )
    letters = look.store.query(Query(terms=terms, limit=LOOKED_AT, want_total=False)).tasks
    groups: dict[str, list[Task]] = defaultdict(list)
    for letter in letters:
        groups[letter.fingerprint or letter.error_kind].append(letter)
    for print_, group in groups.items():
        ends = [task for task in look.store.get([letter.successor for letter in group]) if task is not None]
        again = [task for task in ends if task.status == Status.DEAD and task.triage == Triage.OPEN]
        failing = [task for task in ends if task.status in ACTIVE and _failed(task, group[0].error_kind)]
        done = sum(task.status == Status.SUCCEEDED for task in ends)
        if again:
            yield _item(print_, again, len(group), sum(task.status in ACTIVE for task in ends), done)
        elif failing:
            yield _failing(print_, failing, group, done, look)


def _failed(task: Task, kind: str) -> bool:
    return bool(task.attempts) and task.attempts[-1].error_kind == kind


def _goes_on(task: Task, opens: Mapping[str, int]) -> int:
    """When it tries again by itself, UTC milliseconds, 0 for as soon as there is room; ``opens``: shops that wait."""
    if task.status == Status.RETRYING:
        return task.due_at
    return opens.get(task.shop, 0) if task.status == Status.BLOCKED else 0


def _failing(print_: str, failing: list[Task], group: list[Task], done: int, look: Look) -> Attention:
    opens = {one.shop: one.until for one in look.store.breakers()}
    left_ms = min(_goes_on(task, opens) for task in failing) - look.now_ms
    params: dict[str, str | int | float] = {"failing": len(failing), "of": len(group), "done": done}
    return Attention(
        key=f"republished:{print_}",
        severity="warning",
        code="attention.republished_failing" if left_ms > 0 else "attention.republished_soon",
        params=params | ({"left_ms": left_ms} if left_ms > 0 else {}),
        cause=cause.title(group[0].error_kind, cause.patterns((task.error_kind, task.error) for task in group)),
        since_ms=min(task.attempts[-1].ended_at for task in failing),
        verbs=(("open_tasks", f"id:{','.join(task.task_id for task in failing[:50])}"),),
    )


def _item(print_: str, again: list[Task], of: int, left: int, done: int) -> Attention:
    worst = again[0]
    verbs = [("open_tasks", f"id:{','.join(task.task_id for task in again[:50])}")]
    if filter.is_fingerprint(worst.fingerprint):
        verbs.insert(0, ("triage", worst.fingerprint))
    return Attention(
        key=f"republished:{print_}",
        severity="dead",
        code="attention.republished_running" if left else "attention.republished_again",
        again=print_,
        params={"again": len(again), "of": of, "left": left, "done": done},
        cause=cause.title(worst.error_kind, cause.patterns((task.error_kind, task.error) for task in again)),
        since_ms=min(task.ended_at for task in again),
        verbs=tuple(verbs),
    )
