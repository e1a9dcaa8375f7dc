"""The verbs on tasks, one list: menu, action bar, panel, keys and palette are made of it.

A new verb is an entry of ``VERBS``: its words, which tasks it suits, what its preview says, what it sends and how that
is taken back. What they all do alike is in ``views/kit``.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.commands.outcome import Outcome
from services.commands.tasks import join
from services.domain.gates import passing
from services.domain.insight import attempts, wait
from services.domain.task import lane
from services.domain.task.record import Task
from services.domain.task.status import CANCELLABLE, CLAIMABLE, MOVABLE, Status, Triage
from services.i18n import N_, _, ngettext
from services.monitor.tasks import Pick
from views.context import CommandSet
from views.kit.task_verb import (
    Standing,
    TaskVerb,
    again_of_cancelled,
    explain_again,
    standing_of,
    told_cancelled,
    told_created_again,
    undecided,
)
from views.kit.verb import Place
from views.pages.tasks.wait_words import no_help
from views.support import priorities, shown, text
from views.support.acting import REPUBLISH, Reverse

STEPS = (2, 6, 10)
#: what *Run now* is called where no attempt follows
RUN_LAST = N_("Run the last try now")


def retrying(standing: Standing) -> bool:
    """Whether all of a selection wait for another attempt: of these, *Retry* and *Run now* would do the same."""
    return bool(standing) and all(status == Status.RETRYING for (status, _triage), n in standing.items() if n)


def run_now(task: Task | None) -> tuple[str, str]:
    """What *Run now* is called for this one task (source text), and what must be known before."""
    last = attempts.last(task) if task is not None and task.status == Status.RETRYING else None
    return (N_("Run now"), "") if last is None else (RUN_LAST, shown.say(last))


def _retry_is_shown(place: Place, standing: Standing) -> bool:
    """Not where *Run now* does the same; in the bar not where the answers of a person stand in its place."""
    if place == Place.PALETTE:
        return True
    alone = all(status == Status.HELD for (status, _triage), number in standing.items() if number)
    return not retrying(standing) and not (place == Place.BAR and undecided(standing) and alone)


# why one is disabled


def _not_failed(n: int, of: int) -> str:
    if of == 1:
        return _("This task has not failed")
    return ngettext("{n} of {of} is not failed", "{n} of {of} are not failed", n).format(n=n, of=of)


def _over(n: int, of: int) -> str:
    if of == 1:
        return _("This task is over")
    return ngettext("{n} of {of} is over", "{n} of {of} are over", n).format(n=n, of=of)


def _not_waiting(n: int, of: int) -> str:
    if of == 1:
        return _("This task is not waiting")
    return ngettext("{n} of {of} is not waiting", "{n} of {of} are not waiting", n).format(n=n, of=of)


def _known(n: int, of: int) -> str:
    if of == 1:
        return _("This task is not to be confirmed")
    return ngettext("{n} of {of} is not to be confirmed", "{n} of {of} are not to be confirmed", n).format(n=n, of=of)


def _not_cancelled(n: int, of: int) -> str:
    if of == 1:
        return _("This task was not cancelled")
    return ngettext("{n} of {of} was not cancelled", "{n} of {of} were not cancelled", n).format(n=n, of=of)


# what a preview says


def interrupts(picks: Sequence[Pick]) -> int:
    """How many running tasks a cancel would stop."""
    return sum(1 for one in picks if one.status == Status.RUNNING)


def _explain_retry(picks: Sequence[Pick]) -> str:
    words = _(
        "Dead tasks become new ones, linked to the old; the others run again under their own id. "
        "What is active already is left out and named."
    )
    if not undecided(standing_of(picks)):
        return words
    doubt = _("Those to be confirmed are left out and named: decide about them by themselves, and say why.")
    return text.sentences([words, doubt])


def _explain_cancel(picks: Sequence[Pick]) -> str:
    running = interrupts(picks)
    if not running:
        return _("They end at once and do not run. They can be created again, under new ids.")
    if len(picks) == 1:
        return _("It runs now and is asked to stop: its flow ends in the middle.")
    stopped = ngettext(
        "{n} of them runs now and is asked to stop: its flow ends in the middle.",
        "{n} of them run now and are asked to stop: their flows end in the middle.",
        running,
    )
    return stopped.format(n=text.count(running))


def _explain_raise(_picks: Sequence[Pick]) -> str:
    return _("One step up: low to normal, normal to high. Undo takes it back for ten seconds.")


def _explain_lower(_picks: Sequence[Pick]) -> str:
    return _("One step down: high to normal, normal to low. Undo takes it back for ten seconds.")


def _explain_run_now(_picks: Sequence[Pick]) -> str:
    return _("They go to the front of the high lane, without a delay. Other tasks wait for them.")


def _explain_try(_picks: Sequence[Pick]) -> str:
    return _(
        "Its next attempt starts although a pause, quiet hours or the failures of its shop hold it back. They go on for"
        " all others, and if this attempt fails, the next one waits again."
    )


# what is done, and told


def retry(commands: CommandSet, picks: Sequence[Pick]) -> Outcome:
    """Republish dead tasks, run held and retrying ones again under their own id. Blocking."""
    dead = [one.task_id for one in picks if one.status == Status.DEAD]
    others = [one.task_id for one in picks if one.status != Status.DEAD]
    outcome = Outcome()
    if dead:
        outcome = join(outcome, commands.dead_letters.republish(dead))
    if others:
        outcome = join(outcome, commands.tasks.retry_waiting(others))
    return outcome


def once_more(commands: CommandSet, picks: Sequence[Pick], why: str) -> Outcome:
    """Republish dead tasks whose work has succeeded since. Blocking."""
    return commands.dead_letters.republish([one.task_id for one in picks if one.status == Status.DEAD], reason=why)


def raise_priority(commands: CommandSet, picks: Sequence[Pick]) -> Outcome:
    """One step up for each task: low to normal to high. Blocking."""
    return priorities.give(commands, {one.task_id: _next(one.priority) for one in picks})


def lower_priority(commands: CommandSet, picks: Sequence[Pick]) -> Outcome:
    """One step down for each task: high to normal to low. Blocking."""
    return priorities.give(commands, {one.task_id: _previous(one.priority) for one in picks})


def _ids(picks: Sequence[Pick]) -> list[str]:
    return [one.task_id for one in picks]


def _next(priority: int) -> int:
    return next((step for step in STEPS if step > priority), lane.MAX_PRIORITY)


def _previous(priority: int) -> int:
    return next((step for step in reversed(STEPS) if step < priority), min(priority, STEPS[0]))


def _retried(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task runs again", "{n} tasks run again", number).format(n=text.count(number))


def _raised(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task raised", "{n} tasks raised", number).format(n=text.count(number))


def _lowered(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task lowered", "{n} tasks lowered", number).format(n=text.count(number))


def _moved(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task moved to the front", "{n} tasks moved to the front", number).format(n=text.count(number))


def _let_through(outcome: Outcome) -> str:
    number = len(outcome.done)
    words = ngettext("{n} task is let through once", "{n} tasks are let through once", number)
    return words.format(n=text.count(number))


def _take_back_try(commands: CommandSet, picks: Sequence[Pick]) -> Reverse:
    return Reverse(call=lambda _outcome: commands.tasks.take_back_try(picks[0].task_id))


def _ran(outcome: Outcome) -> str:
    number = len(outcome.done)
    words = ngettext("{n} task recorded as succeeded", "{n} tasks recorded as succeeded", number)
    return words.format(n=text.count(number))


def _given_up(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task is a dead letter now", "{n} tasks are dead letters now", number).format(
        n=text.count(number)
    )


# the list

_PLAIN = frozenset({Place.MENU, Place.PALETTE})
_HELD = frozenset({Status.HELD})

#: what a person may decide about a task whose outcome nobody knows; the key is what the record becomes
RAN = TaskVerb(
    key=Status.SUCCEEDED, text=N_("It ran"), icon="ph.check-circle", places=_PLAIN, special=True,
    suits=_HELD, misfit=_known, decides=Status.SUCCEEDED,
    effect=N_("The shop shows that it was done: it ends as succeeded, nothing runs."),
    title=N_("Confirm that it ran"), done=_ran,
    count=lambda n: ngettext("{n} task ran", "{n} tasks ran", n).format(n=text.count(n)),
)  # fmt: skip
AGAIN = TaskVerb(
    key=Status.PENDING, text=N_("Run again"), icon="ph.arrow-clockwise", places=_PLAIN, special=True,
    suits=_HELD, misfit=_known, decides=Status.PENDING,
    effect=N_("The shop shows that it was not done: it runs again. What was done after all is done twice."),
    title=N_("Run it again"), done=_retried,
    count=lambda n: ngettext("Run {n} task again", "Run {n} tasks again", n).format(n=text.count(n)),
)  # fmt: skip
GIVE_UP = TaskVerb(
    key=Status.DEAD, text=N_("Give up"), icon="ph.x-circle", places=_PLAIN, special=True, danger=True,
    suits=_HELD, misfit=_known, decides=Status.DEAD,
    effect=N_("Nobody can tell: it becomes a dead letter, nothing runs; it can be republished later."),
    title=N_("Make it a dead letter"), done=_given_up,
    count=lambda n: ngettext("Give up {n} task", "Give up {n} tasks", n).format(n=text.count(n)),
)  # fmt: skip
CREATE_AGAIN = TaskVerb(
    key="create_again", text=N_("Create again"), icon="ph.arrow-counter-clockwise", special=True,
    suits=frozenset({Status.CANCELLED}), misfit=_not_cancelled,
    title=N_("Create tasks again"), explain=lambda _picks: explain_again(),
    count=lambda n: ngettext("Create {n} task again", "Create {n} tasks again", n).format(n=text.count(n)),
    run=lambda commands, picks: commands.tasks.create_again(_ids(picks)), done=told_created_again,
    again=lambda commands, picks, why: commands.tasks.create_again(_ids(picks), reason=why),
    undo=lambda commands, _picks: Reverse(call=lambda outcome: commands.tasks.cancel(list(outcome.made.values()))),
)  # fmt: skip
RETRY = TaskVerb(
    key="retry", text=N_("Retry"), icon="ph.arrow-clockwise", shortcut="tasks.retry",
    suits=frozenset({Status.DEAD, Status.HELD, Status.RETRYING}), closed_to=frozenset({Triage.REPUBLISHED}),
    misfit=_not_failed, also=lambda chosen: chosen.refused(), shown_for=_retry_is_shown, decides=AGAIN.key,
    title=N_("Retry tasks"), explain=_explain_retry, careful=lambda picks: undecided(standing_of(picks)),
    count=lambda n: ngettext("Retry {n} task", "Retry {n} tasks", n).format(n=text.count(n)),
    soon=lambda n: ngettext("Retrying {n} task in {s} s", "Retrying {n} tasks in {s} s", n),
    # the retry of a dead one is what the page of dead letters calls republish
    about=lambda one: REPUBLISH if one.status == Status.DEAD else "retry",
    run=lambda commands, picks: retry(commands, picks), again=once_more, done=_retried,
)  # fmt: skip
CANCEL = TaskVerb(
    key="cancel", text=N_("Cancel"), icon="ph.prohibit", shortcut="tasks.cancel", danger=True,
    suits=CANCELLABLE | {Status.RUNNING}, misfit=_over,
    effect=N_("It is not wanted any more: it ends as cancelled, nothing runs."),
    title=N_("Cancel tasks"), explain=_explain_cancel, leave=N_("Do not cancel"),
    count=lambda n: ngettext("Cancel {n} task", "Cancel {n} tasks", n).format(n=text.count(n)),
    careful=lambda picks: bool(interrupts(picks)),
    soon=lambda n: ngettext("Cancelling {n} task in {s} s", "Cancelling {n} tasks in {s} s", n), now=N_("Cancel now"),
    # a person has read what ends and said yes; the list of interrupted tasks would only age
    unheld=lambda picks: bool(interrupts(picks)),
    run=lambda commands, picks: commands.tasks.cancel(_ids(picks)), done=told_cancelled,
    again=lambda commands, picks, why: commands.tasks.cancel(_ids(picks), reason=why),
    undo=lambda commands, _picks: again_of_cancelled(commands.tasks),
)  # fmt: skip
RAISE = TaskVerb(
    key="raise", text=N_("Raise priority"), icon="ph.caret-double-up", shortcut="tasks.raise",
    suits=MOVABLE, misfit=_not_waiting, title=N_("Raise the priority"), explain=_explain_raise,
    count=lambda n: ngettext("Raise {n} task", "Raise {n} tasks", n).format(n=text.count(n)),
    run=lambda commands, picks: raise_priority(commands, picks), done=_raised,
    undo=priorities.back, given_back=True,
)  # fmt: skip
RUN_NOW = TaskVerb(
    key="run_now", text=N_("Run now"), icon="ph.lightning", shortcut="tasks.run_now",
    suits=MOVABLE, misfit=_not_waiting, called=run_now, useless=lambda chosen: no_help(chosen.gate),
    title=N_("Run tasks now"), explain=_explain_run_now,
    count=lambda n: ngettext("Run {n} task now", "Run {n} tasks now", n).format(n=text.count(n)),
    soon=lambda n: ngettext("{n} task runs now in {s} s", "{n} tasks run now in {s} s", n),
    run=lambda commands, picks: commands.tasks.run_now(_ids(picks)), done=_moved,
)  # fmt: skip
LOWER = TaskVerb(
    key="lower", text=N_("Lower priority"), icon="ph.caret-double-down", shortcut="tasks.lower", places=_PLAIN,
    suits=MOVABLE, misfit=_not_waiting,
    title=N_("Lower the priority"), explain=_explain_lower,
    count=lambda n: ngettext("Lower {n} task", "Lower {n} tasks", n).format(n=text.count(n)),
    run=lambda commands, picks: lower_priority(commands, picks), done=_lowered,
    undo=priorities.back, given_back=True,
)  # fmt: skip
#: one attempt goes through what a person closed, or what closed because the shop keeps failing
TRY_ANYWAY = TaskVerb(
    key=wait.TRY_ANYWAY, text=N_("Try this one anyway"), icon="ph.sign-in", places=_PLAIN,
    suits=CLAIMABLE, misfit=_not_waiting, where=lambda chosen: chosen.waits_at in passing.GATES,
    title=N_("Try one task anyway"), explain=_explain_try, count=lambda _n: _("Try once"),
    note=N_("Why can it not wait? It is kept with the task and in the audit."),
    note_needed=N_("Write down first why it cannot wait"),
    noted=lambda commands, picks, note: commands.tasks.try_anyway(picks[0].task_id, reason=note), done=_let_through,
    undo=_take_back_try,
)  # fmt: skip
DECISIONS = (RAN, AGAIN, GIVE_UP)
VERBS = (*DECISIONS, CREATE_AGAIN, RETRY, CANCEL, RAISE, RUN_NOW, LOWER, TRY_ANYWAY)
#: stops the task that stands before another one; only that one's panel offers it
STOP_HOLDER = TaskVerb(
    key="stop_holder", text=N_("Stop that one"), icon="ph.stop-circle", suits=MOVABLE, misfit=_not_waiting, danger=True
)
