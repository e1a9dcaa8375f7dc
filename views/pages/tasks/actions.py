"""The verbs of the task pages: which tasks they suit, what they are called, and the command behind each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from services.commands.outcome import Outcome
from services.commands.tasks import join
from services.domain import lane
from services.domain.status import CANCELLABLE, MOVABLE, Status
from services.domain.task import Task
from services.i18n import N_, _, ngettext
from views.context import CommandSet
from views.support import text
from views.support.acting import Acting

_RETRY = frozenset({Status.DEAD, Status.HELD, Status.RETRYING})
_CANCEL = CANCELLABLE | {Status.RUNNING}
STEPS = (2, 6, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One action on tasks."""

    key: str
    text: str  #: source text
    icon: str
    shortcut: str
    suits: frozenset[Status]
    danger: bool = False

    def fits(self, task: Task) -> bool:
        """Whether it can do something for this task."""
        if self.key == "retry" and task.triage == "republished":
            return False
        return task.status in self.suits

    def reason(self, tasks: Sequence[Task]) -> str:
        """Why it is disabled, "" when it is not."""
        if not tasks:
            return _("Select a task first")
        unfit = sum(1 for task in tasks if not self.fits(task))
        if unfit < len(tasks):
            return ""
        return ngettext("This task is not suitable", "None of the {n} tasks is suitable", unfit).format(n=unfit)


RETRY = Verb(key="retry", text=N_("Retry"), icon="ph.arrow-clockwise", shortcut="R", suits=_RETRY)
CANCEL = Verb(key="cancel", text=N_("Cancel"), icon="ph.prohibit", shortcut="Del", suits=_CANCEL, danger=True)
RAISE = Verb(key="raise", text=N_("Raise priority"), icon="ph.caret-double-up", shortcut="P", suits=MOVABLE)
RUN_NOW = Verb(key="run_now", text=N_("Run now"), icon="ph.lightning", shortcut="Ctrl+Return", suits=MOVABLE)
VERBS = (RETRY, CANCEL, RAISE, RUN_NOW)


class TaskActions:
    """Runs verbs on tasks through the commands."""

    def __init__(self, commands: CommandSet, acting: Acting) -> None:
        self._commands, self._acting = commands, acting

    def run(self, verb: Verb, tasks: Sequence[Task]) -> None:
        """Act on those of ``tasks`` that the verb suits."""
        fit = [task for task in tasks if verb.fits(task)]
        if not fit:
            return
        handler: Callable[[list[Task]], None] = getattr(self, f"_{verb.key}")
        handler(fit)

    def _retry(self, tasks: list[Task]) -> None:
        ids = [task.task_id for task in tasks]
        announce = ngettext("Retrying {n} task in 5 s", "Retrying {n} tasks in 5 s", len(ids)).format(n=len(ids))
        self._acting.held(announce, partial(self._commands.tasks.retry_waiting, ids), _retried)

    def _cancel(self, tasks: list[Task]) -> None:
        ids = [task.task_id for task in tasks]
        announce = ngettext("Cancelling {n} task in 5 s", "Cancelling {n} tasks in 5 s", len(ids)).format(n=len(ids))
        self._acting.held(announce, partial(self._commands.tasks.cancel, ids), _cancelled)

    def _raise(self, tasks: list[Task]) -> None:
        self._acting.at_once(partial(raise_priority, self._commands, tasks), _raised)

    def _run_now(self, tasks: list[Task]) -> None:
        ids = [task.task_id for task in tasks]
        self._acting.at_once(partial(self._commands.tasks.run_now, ids), _moved)


def raise_priority(commands: CommandSet, tasks: Sequence[Task]) -> Outcome:
    """One step up for each task: low to normal to high. Blocking."""
    outcome = Outcome()
    for level in STEPS:
        ids = [task.task_id for task in tasks if _next(task.priority) == level]
        if ids:
            outcome = join(outcome, commands.tasks.prioritize(ids, level))
    return outcome


def _next(priority: int) -> int:
    return next((step for step in STEPS if step > priority), lane.MAX_PRIORITY)


def _retried(outcome: Outcome) -> str:
    return ngettext("{n} task runs again", "{n} tasks run again", len(outcome.done)).format(n=len(outcome.done))


def _cancelled(outcome: Outcome) -> str:
    ended = ngettext("{n} task cancelled", "{n} tasks cancelled", len(outcome.done)).format(n=len(outcome.done))
    if not outcome.pending:
        return ended
    asked = ngettext("{n} running task asked to stop", "{n} running tasks asked to stop", len(outcome.pending))
    asked = asked.format(n=len(outcome.pending))
    return asked if not outcome.done else text.listed((ended, asked), ";")


def _raised(outcome: Outcome) -> str:
    return ngettext("{n} task raised", "{n} tasks raised", len(outcome.done)).format(n=len(outcome.done))


def _moved(outcome: Outcome) -> str:
    return ngettext("{n} task moved to the front", "{n} tasks moved to the front", len(outcome.done)).format(
        n=len(outcome.done)
    )
