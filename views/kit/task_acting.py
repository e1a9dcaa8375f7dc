"""How a verb on tasks goes, whichever it is: a few at once or held with Undo, many after a preview of their present
state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.commands.outcome import Outcome
from services.i18n import _
from services.monitor.tasks import Pick
from views.context import PageContext
from views.dialogs.again import ask_why
from views.dialogs.confirm import ConfirmDialog, confirm_limit
from views.kit.task_verb import FEW, TaskVerb, question, standing_of
from views.support import text
from views.support.acting import HOLD_MANY_S, HOLD_S, Acting, Reverse, under_way
from views.support.operation import Operation, Start
from views.widgets.toast import ToastSpec


class TaskActing(QObject):
    """Signals:
    acted: something was asked for these ids (tuple); a selection of them has done its duty.
    """

    acted = Signal(object)

    def __init__(self, context: PageContext, acting: Acting, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._acting, self._owner = context, acting, owner
        self._look = Operation(self, latest=True)

    def run(self, verb: TaskVerb, picks: Sequence[Pick]) -> None:
        """Act on those of ``picks`` that the verb suits; after a preview where they are many or need care."""
        if len(picks) > self._few(verb) or verb.careful(picks) or verb.note:
            ids = [one.task_id for one in picks]
            self._look.start(partial(self._context.tasks.picks_of, ids), partial(self._ask_of, verb))
            return
        self._start(verb, picks, HOLD_S)

    def _ask_of(self, verb: TaskVerb, picks: Sequence[Pick]) -> None:
        """Ask, unless what was one task that it suits has gone on meanwhile: nobody is asked about none."""
        if any(verb.fits(one.status, one.triage) for one in picks) or len(picks) > 1:
            self.ask(verb, picks)
            return
        why = verb.reason(standing_of(picks)) if picks else _("There is no such task any more")
        self._context.toast(ToastSpec(text=_("Nothing was done"), detail=why, status="warning"))

    def ask(self, verb: TaskVerb, picks: Sequence[Pick]) -> None:
        """Show the preview; what it says is what is done."""
        dialog = ConfirmDialog(partial(question, verb, picks, self._context.environment), self._owner)
        dialog.confirmed.connect(lambda: self._start(verb, picks, HOLD_MANY_S, dialog))
        dialog.open()

    def _few(self, verb: TaskVerb) -> int:
        """What can be reversed has a preview only above the limit."""
        return FEW if verb.soon is not None else confirm_limit(self._context.environment)

    def _start(self, verb: TaskVerb, picks: Sequence[Pick], seconds: int, asked: ConfirmDialog | None = None) -> None:
        fit = [one for one in picks if verb.fits(one.status, one.triage)]
        if fit and verb.soon is not None:
            fit = self._free(verb, fit)
        if not fit:
            return
        commands = self._context.commands
        call = partial(verb.run, commands, fit)
        if verb.noted is not None and asked is not None:
            call = partial(verb.noted, commands, fit, asked.note)
        reverse = verb.undo(commands, fit) if verb.undo is not None else None
        instead, meanwhile = partial(self._ask_why, verb, fit, reverse), under_way(_(verb.text), len(fit))
        if verb.soon is None or verb.unheld(fit):
            start = asked.start if verb.noted is not None and asked is not None else None
            self._acting.at_once(call, verb.done, reverse, instead, meanwhile, start)
        else:
            soon = verb.soon

            def words() -> str:
                return soon(len(fit)).format(n=text.count(len(fit)), s=seconds)

            self._acting.delayed(
                words,
                call,
                verb.done,
                seconds,
                now=verb.now,
                about=[(verb.stands_for(one), one.task_id) for one in fit],
                reverse=reverse,
                instead=instead,
                meanwhile=meanwhile,
            )
        self.acted.emit(tuple(one.task_id for one in picks))

    def _ask_why(
        self,
        verb: TaskVerb,
        picks: Sequence[Pick],
        reverse: Reverse | None,
        outcome: Outcome,
        tell: Callable[[], None],
    ) -> bool:
        """Of one that needs a reason; tell whether it does."""
        again = verb.again
        if again is None:
            return False

        def go(why: str, start: Start) -> None:
            call = partial(again, self._context.commands, picks, why)
            self._acting.at_once(call, verb.done, reverse, start=start)

        return ask_why(outcome, go, tell, self._owner)

    def _free(self, verb: TaskVerb, picks: Sequence[Pick]) -> list[Pick]:
        """Those for which the same is not about to happen already, here or on another page."""
        free: set[str] = set()
        for name in {verb.stands_for(one) for one in picks}:
            free |= set(self._acting.free(name, [one.task_id for one in picks if verb.stands_for(one) == name]))
        return [one for one in picks if one.task_id in free]


def barred(context: PageContext, forbidden: str, role: str = "operator") -> str:
    """Why nothing can be changed that needs ``role``, "" when it can; ``forbidden``: what the window says."""
    if forbidden:
        return forbidden
    latest = context.feed.latest
    if latest.at_ms and not latest.store.connected:
        return _("Not while the connection is lost")
    if context.role == "viewer":
        return _("Your role may only look")
    return _("Only an admin may change this") if role == "admin" and context.role != "admin" else ""
