"""Dead letters that were republished and died again, or fail again: whoever did it should not do it once more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from services.domain.insight import cause
from services.domain.task import filter
from services.domain.task.query import Query, Term, equals
from services.domain.task.record import Task
from services.domain.task.status import ACTIVE, Status, Triage
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

DAY_MS, LOOKED_AT = 86_400_000, 1_000
WORDS = {
    "attention.republished_again": Words(
        N_("Republished and died again: {cause}"),
        N_("{again} of {of} republished in the last day died again; put the reason right first"),
    ),
    "attention.republished_running": Words(
        N_("Republished and died again: {cause}"),
        N_("{again} of {of} republished in the last day died again, {left} have not ended yet"),
    ),
    "attention.republished_failing": Words(
        N_("Republished and failing again: {cause}"),
        N_("{failing} of {of} republished in the last day fail again and retry; wait for them before more follows"),
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
        if again:
            yield _item(print_, again, len(group), sum(task.status in ACTIVE for task in ends))
        elif failing:
            yield _failing(print_, failing, group)


def _failed(task: Task, kind: str) -> bool:
    return bool(task.attempts) and task.attempts[-1].error_kind == kind


def _failing(print_: str, failing: list[Task], group: list[Task]) -> Attention:
    return Attention(
        key=f"republished:{print_}",
        severity="warning",
        code="attention.republished_failing",
        params={"failing": len(failing), "of": len(group)},
        cause=cause.title(group[0].error_kind, cause.patterns((task.error_kind, task.error) for task in group)),
        since_ms=min(task.attempts[-1].ended_at for task in failing),
        verbs=(("open_tasks", f"id:{','.join(task.task_id for task in failing[:50])}"),),
    )


def _item(print_: str, again: list[Task], of: int, left: int) -> Attention:
    worst = again[0]
    verbs = [("open_tasks", f"id:{','.join(task.task_id for task in again[:50])}")]
    if len(worst.fingerprint) == filter.FINGERPRINT_LENGTH:
        verbs.insert(0, ("triage", worst.fingerprint))
    return Attention(
        key=f"republished:{print_}",
        severity="dead",
        code="attention.republished_running" if left else "attention.republished_again",
        params={"again": len(again), "of": of, "left": left},
        cause=cause.title(worst.error_kind, cause.patterns((task.error_kind, task.error) for task in again)),
        since_ms=min(task.ended_at for task in again),
        verbs=tuple(verbs),
    )
