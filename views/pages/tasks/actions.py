"""What the page may do to tasks now, said by the action bar, done by button and key; a verb itself says how it goes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.domain.task.record import Task
from services.domain.task.status import Status
from services.monitor.tasks import Pick
from views.context import PageContext
from views.kit.task_acting import TaskActing, barred
from views.kit.task_verb import Chosen, Standing, TaskVerb, many, standing_of
from views.kit.verb import Place, Verbs
from views.page import PageCommand
from views.pages.tasks.action_bar import ActionBar
from views.pages.tasks.panel.deciding import Deciding
from views.pages.tasks.selection import Selection
from views.pages.tasks.tally import Tally
from views.pages.tasks.verbs import DECISIONS
from views.support.acting import Acting


class TaskActions(QObject):
    """Signals:
    acted: something was asked for these ids (tuple); a selection of them has done its duty.
    """

    acted = Signal(object)

    def __init__(self, context: PageContext, acting: Acting, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._acting = context, acting
        self._doing = TaskActing(context, acting, owner)
        self._doing.acted.connect(self.acted)
        self._deciding = Deciding(context, acting, owner)
        self._deciding.decided.connect(self.acted)
        self._forbidden = ""

    def reason(self, verb: TaskVerb, standing: Standing) -> str:
        """Why a verb cannot be used on a selection now, "" when it can."""
        return self.barred(verb.role) or verb.reason(standing)

    def forbid(self, reason: str) -> None:
        """Change nothing from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def barred(self, role: str = "operator") -> str:
        """Why nothing can be changed that needs ``role``, "" when it can."""
        return barred(self._context, self._forbidden, role)

    def run(self, verb: TaskVerb, picks: Sequence[Pick]) -> None:
        """Act on those of ``picks`` that the verb suits; where nobody knows how any of them ended, that is decided."""
        if self.barred(verb.role):
            return
        decision = next((one for one in DECISIONS if one.key == verb.decides), None)
        if decision is not None and (verb is decision or all(one.status == Status.HELD for one in picks)):
            self._deciding.ask(decision, picks)
        else:
            self._doing.run(verb, picks)

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

    def undo(self, after: int = 0) -> bool:
        """Take the newest action back while that is offered."""
        return self._acting.undo(after)


class Offers:
    """Keeps the bar true to the selection and runs its verbs."""

    def __init__(
        self, verbs: Sequence[TaskVerb], bar: ActionBar, selection: Selection, actions: TaskActions, tally: Tally
    ) -> None:
        self._bar, self._selection, self._tally = bar, selection, tally
        self.verbs: Verbs[TaskVerb, Chosen] = Verbs(
            verbs, run=lambda verb, chosen: actions.run(verb, chosen.picks()), barred=actions.barred
        )

    def show(self, *, newest_first: bool) -> None:
        """Say what is chosen, and of each verb why it cannot be done."""
        chosen = self.chosen()
        self._bar.show_state(self._tally.bar_state(self._selection), self.verbs.offers(Place.BAR, chosen))
        self._bar.set_newest_first(newest_first)
        self._bar.offer_decisions(
            [one for one in self.verbs.offers(Place.MENU, chosen) if one.shown and one.verb.decision]
        )

    def act(self, key: str) -> None:
        """Do it to what is chosen, unless there is a reason not to."""
        self.verbs.act(key, self.chosen())

    def commands(self) -> list[PageCommand]:
        """The verbs with their state, for the palette."""
        chosen = self.chosen()
        number = sum(chosen.standing.values())
        return self.verbs.commands("tasks", chosen, many(number) if number else "")

    def chosen(self) -> Chosen:
        """What the bar and keys are about: the ticked tasks, else the one under the cursor."""
        selection = self._selection
        return Chosen(
            standing=selection.standing(),
            picks=selection.picks,
            refused=selection.refusal,
            one=selection.one(),
            gate=selection.gate(),
            waits_at=selection.waits_at(selection.picks()) if sum(selection.standing().values()) == 1 else "",
        )

    def chosen_at(self, key: object) -> Chosen:
        """What the menu of a row is about."""
        picks = self._selection.picks_at(key)
        return Chosen(
            standing=standing_of(picks),
            picks=lambda: picks,
            refused=lambda: self._selection.refused(picks),
            waits_at=self._selection.waits_at(picks),
        )
