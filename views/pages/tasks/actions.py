"""Runs verbs on tasks: a few at once or held with Undo, many after a preview counted from their present state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.commands.tasks import join
from services.domain.task import lane
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.i18n import _, ngettext
from services.monitor.tasks import Pick
from views.context import CommandSet, PageContext
from views.dialogs.confirm import ConfirmDialog, confirm_limit
from views.pages.tasks.panel.deciding import Deciding
from views.pages.tasks.preview import interrupts, question
from views.pages.tasks.verbs import (
    AGAIN,
    CANCEL,
    CREATE_AGAIN,
    DECISIONS,
    FEW,
    LOWER,
    RAISE,
    RETRY,
    Standing,
    Verb,
    standing_of,
    undecided,
)
from views.support import priorities, text
from views.support.acting import HOLD_MANY_S, HOLD_S, REPUBLISH, Acting, Reverse
from views.support.operation import Operation

STEPS = (2, 6, 10)
#: done at once, since all of it can be taken back
AT_ONCE = (RAISE, LOWER, CREATE_AGAIN)


class TaskActions(QObject):
    """Signals:
    acted: something was asked for these ids (tuple); a selection of them has done its duty.
    """

    acted = Signal(object)

    def __init__(self, context: PageContext, acting: Acting, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._acting, self._owner = context, acting, owner
        self._look = Operation(self, latest=True)
        self._deciding = Deciding(context, acting, owner)
        self._deciding.decided.connect(self.acted)
        self._forbidden = ""

    def reason(self, verb: Verb, standing: Standing) -> str:
        """Why a verb cannot be used on a selection now, "" when it can."""
        return self.barred() or verb.reason(standing)

    def forbid(self, reason: str) -> None:
        """Change nothing from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def barred(self) -> str:
        """Why nothing can be changed at all, "" when it can."""
        if self._forbidden:
            return self._forbidden
        latest = self._context.feed.latest
        if latest.at_ms and not latest.store.connected:
            return _("Not while the connection is lost")
        if self._context.role == "viewer":
            return _("Your role may only look")
        return ""

    def run(self, verb: Verb, picks: Sequence[Pick]) -> None:
        """Act on those of ``picks`` that the verb suits; after a preview where they are many, run and would be stopped,
        or nobody knows how they ended.
        """
        if self.barred():
            return
        doubtful = verb is RETRY and undecided(standing_of(picks))
        if verb in DECISIONS or (doubtful and all(one.status == Status.HELD for one in picks)):
            self._deciding.ask(verb if verb in DECISIONS else AGAIN, picks)
            return
        if len(picks) > self._few(verb) or doubtful or (verb is CANCEL and interrupts(picks)):
            ids = [one.task_id for one in picks]
            self._look.start(partial(self._context.tasks.picks_of, ids), partial(self._ask, verb))
            return
        self._start(verb, picks, HOLD_S)

    def edit(self, task: Task) -> None:
        """Open the dialog of a new task, filled in as this one."""
        self._context.new_task(
            {
                "platform": task.platform,
                "shops": [task.shop],
                "task_type": task.task_type,
                "payload": task.payload,
                "priority": task.priority,
            }
        )

    def undo(self) -> bool:
        """Take the newest action back while that is offered."""
        return self._acting.undo()

    def _few(self, verb: Verb) -> int:
        """What can be reversed has a preview only above the limit."""
        if verb not in AT_ONCE:
            return FEW
        return confirm_limit(self._context.environment)

    def _ask(self, verb: Verb, picks: Sequence[Pick]) -> None:
        dialog = ConfirmDialog(question(verb, picks, self._context.environment), self._owner)
        dialog.confirmed.connect(partial(self._start, verb, picks, HOLD_MANY_S))
        dialog.open()

    def _start(self, verb: Verb, picks: Sequence[Pick], seconds: int) -> None:
        fit = [one for one in picks if verb.fits(one.status, one.triage)]
        if fit and verb not in AT_ONCE:
            fit = self._free(verb, fit)
        if not fit:
            return
        {
            "retry": self._retry,
            "cancel": self._cancel,
            "raise": self._raise,
            "lower": self._lower,
            "run_now": self._run_now,
            "create_again": self._create_again,
        }[verb.key](fit, seconds)
        self.acted.emit(tuple(one.task_id for one in picks))

    def _free(self, verb: Verb, picks: Sequence[Pick]) -> list[Pick]:
        """Those for which the same is not about to happen already, here or on another page."""
        free: set[str] = set()
        for name in {_name(verb.key, one) for one in picks}:
            free |= set(self._acting.free(name, [one.task_id for one in picks if _name(verb.key, one) == name]))
        return [one for one in picks if one.task_id in free]

    def _retry(self, picks: Sequence[Pick], seconds: int) -> None:
        words = ngettext("Retrying {n} task in {s} s", "Retrying {n} tasks in {s} s", len(picks))
        self._hold("retry", picks, words, seconds, partial(retry, self._context.commands, picks), _retried)

    def _cancel(self, picks: Sequence[Pick], seconds: int) -> None:
        call = partial(self._context.commands.tasks.cancel, [one.task_id for one in picks])
        if interrupts(picks):
            # a person has read what ends and said yes; the list of interrupted tasks would only age
            self._acting.at_once(call, _cancelled, self._again())
            return
        words = ngettext("Cancelling {n} task in {s} s", "Cancelling {n} tasks in {s} s", len(picks))
        self._hold("cancel", picks, words, seconds, call, _cancelled, self._again())

    def _again(self) -> Reverse:
        """What was waiting and is cancelled can be created again; what ran has begun and cannot."""
        tasks = self._context.commands.tasks
        return Reverse(
            call=lambda outcome: tasks.create_again(outcome.done), text=CREATE_AGAIN.text, told=_created_again
        )

    def _create_again(self, picks: Sequence[Pick], _seconds: int) -> None:
        tasks = self._context.commands.tasks
        ids = [one.task_id for one in picks]
        back = Reverse(call=lambda outcome: tasks.cancel(list(outcome.made.values())))
        self._acting.at_once(partial(tasks.create_again, ids), _created_again, back)

    def _raise(self, picks: Sequence[Pick], _seconds: int) -> None:
        self._move(raise_priority, picks, _raised)

    def _lower(self, picks: Sequence[Pick], _seconds: int) -> None:
        self._move(lower_priority, picks, _lowered)

    def _move(
        self,
        move: Callable[[CommandSet, Sequence[Pick]], Outcome],
        picks: Sequence[Pick],
        told: Callable[[Outcome], str],
    ) -> None:
        commands = self._context.commands
        before = {one.task_id: one.priority for one in picks}
        self._acting.at_once(partial(move, commands, picks), told, Reverse(call=partial(give_back, commands, before)))

    def _run_now(self, picks: Sequence[Pick], seconds: int) -> None:
        words = ngettext("{n} task runs now in {s} s", "{n} tasks run now in {s} s", len(picks))
        call = partial(self._context.commands.tasks.run_now, [one.task_id for one in picks])
        self._hold("run_now", picks, words, seconds, call, _moved)

    def _hold(
        self,
        verb: str,
        picks: Sequence[Pick],
        words: str,
        seconds: int,
        call: Callable[[], Outcome],
        done: Callable[[Outcome], str],
        reverse: Reverse | None = None,
    ) -> None:
        about = [(_name(verb, one), one.task_id) for one in picks]
        self._acting.held(
            words.format(n=text.count(len(picks)), s=seconds), call, done, seconds, about=about, reverse=reverse
        )


def _name(verb: str, one: Pick) -> str:
    """What a verb is for this task: the retry of a dead one is what the page of dead letters calls republish."""
    return REPUBLISH if verb == RETRY.key and one.status == Status.DEAD else verb


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


def raise_priority(commands: CommandSet, picks: Sequence[Pick]) -> Outcome:
    """One step up for each task: low to normal to high. Blocking."""
    return priorities.give(commands, {one.task_id: _next(one.priority) for one in picks})


def lower_priority(commands: CommandSet, picks: Sequence[Pick]) -> Outcome:
    """One step down for each task: high to normal to low. Blocking."""
    return priorities.give(commands, {one.task_id: _previous(one.priority) for one in picks})


def give_back(commands: CommandSet, before: Mapping[str, int], outcome: Outcome) -> Outcome:
    """Give back the priorities of before to what was moved. Blocking."""
    return priorities.give(commands, {task_id: before[task_id] for task_id in outcome.done})


def _next(priority: int) -> int:
    return next((step for step in STEPS if step > priority), lane.MAX_PRIORITY)


def _previous(priority: int) -> int:
    return next((step for step in reversed(STEPS) if step < priority), min(priority, STEPS[0]))


def _retried(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task runs again", "{n} tasks run again", number).format(n=text.count(number))


def _cancelled(outcome: Outcome) -> str:
    number = len(outcome.done)
    ended = ngettext("{n} task cancelled", "{n} tasks cancelled", number).format(n=text.count(number))
    if not outcome.pending:
        return ended
    asked = ngettext("{n} running task asked to stop", "{n} running tasks asked to stop", len(outcome.pending))
    asked = asked.format(n=text.count(len(outcome.pending)))
    return asked if not outcome.done else text.listed((ended, asked), ";")


def _created_again(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task created again", "{n} tasks created again", number).format(n=text.count(number))


def _raised(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task raised", "{n} tasks raised", number).format(n=text.count(number))


def _lowered(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task lowered", "{n} tasks lowered", number).format(n=text.count(number))


def _moved(outcome: Outcome) -> str:
    number = len(outcome.done)
    return ngettext("{n} task moved to the front", "{n} tasks moved to the front", number).format(n=text.count(number))
