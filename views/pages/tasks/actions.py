"""What the page may do to tasks now; a verb itself says how it goes, what nobody knows the end of is decided first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.domain.task.record import Task
from services.domain.task.status import Status
from services.monitor.tasks import Pick
from views.context import PageContext
from views.kit.task_acting import TaskActing, barred
from views.kit.task_verb import Standing, TaskVerb
from views.pages.tasks.panel.deciding import Deciding
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

    def undo(self) -> bool:
        """Take the newest action back while that is offered."""
        return self._acting.undo()
