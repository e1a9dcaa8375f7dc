"""What a page's verbs do: in a thread, told in a message that takes it back, and not while nothing may be changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services import messages
from services.domain.fleet.shop import Pause
from services.i18n import N_, _
from views.context import PageContext
from views.dialogs.resuming import ask_to_resume, ask_why_paused
from views.kit.task_acting import barred
from views.support.acting import tell_done, unless_changed
from views.support.operation import Operation, Start
from views.widgets.toast import ToastAction, action, failure

T = TypeVar("T")
Back = Callable[[], object]


class PageActs(QObject):
    """Signals:
    changed: something was done, or refused; ask again.
    shown: what another page shall show: page id, request.
    """

    changed = Signal()
    shown = Signal(str, object)

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._operation = Operation(self)
        self._forbidden = ""

    def forbid(self, reason: str) -> None:
        """Change nothing from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def barred(self, role: str = "operator") -> str:
        """Why nothing can be changed that needs ``role``, translated; "" when it can."""
        return barred(self._context, self._forbidden, role)

    def _act(
        self,
        call: Callable[[], T],
        said: Callable[[T], str],
        back: Back | None = None,
        *,
        take_back: Callable[[T], Back | None] | None = None,
        start: Start | None = None,
    ) -> None:
        """Do it and tell it; *Undo* sends ``back``, or what ``take_back`` makes of the result, unless others changed it
        since. ``start``: of the form that asks for it and shows what is refused.
        """

        def done(result: T) -> None:
            self._tell(partial(said, result), take_back(result) if take_back is not None else back)

        (start or self._operation.start)(call, done, self._fail)

    def _pause(self, scope: str, what: Callable[[], str], reason: str = "") -> None:
        """Let nothing of a scope start, at once as everything that can be taken back: why is asked by the message. On
        every page alike; ``what`` names the scope.
        """
        fleet = self._context.commands.fleet

        def done(before: Pause | None) -> None:
            if before is not None and not reason:  # that one stays: nothing was done that could be taken back
                there = N_("{what} was paused already, by {who}; it stays so.")
                self._tell(lambda: _(there).format(what=what(), who=messages.noted(before.by)))
                return
            call = unless_changed(self._context.audit, partial(fleet.take_back_pause, scope, before))

            def why(unasked: Callable[[], None]) -> ToastAction:
                return action(N_("Write why"), lambda: self._ask_why(scope, what, before, unasked))

            tell_done(
                self._context.toast,
                lambda: _("{what} is paused; running tasks go on.").format(what=what()),
                partial(self._act, call, lambda _result: _("Taken back.")),
                more=None if reason else why,
            )
            self.changed.emit()

        self._operation.start(partial(fleet.pause, scope, reason=reason), done, self._fail)

    def _ask_why(self, scope: str, what: Callable[[], str], before: Pause | None, unasked: Callable[[], None]) -> None:
        fleet, me = self._context.commands.fleet, self._context.commands.operator.who

        def go(note: str, start: Start) -> None:
            self._act(
                partial(fleet.pause, scope, reason=note, instead=me),
                lambda _before: _("Why {what} is paused stands with the pause.").format(what=what()),
                partial(fleet.take_back_pause, scope, before),
                start=start,
            )

        ask_why_paused(lambda: ((_("paused"), what()),), self._owner, go, unasked)

    def _end_pause(self, pause: Pause | None, scope: str, what: Callable[[], str]) -> None:
        """Let a scope go on, after a look at the ``pause`` where it is somebody else's or has a note; as ``_pause``."""
        fleet = self._context.commands.fleet
        again = partial(fleet.pause, scope, reason=pause.reason if pause is not None else "", instead="")

        def said(was: bool) -> str:
            goes_on = _("{what} goes on.") if was else _("{what} was not paused any more; nothing was changed.")
            return goes_on.format(what=what())

        def take_back(was: bool) -> Back | None:
            return again if was else None

        go = partial(self._act, partial(fleet.resume, scope), said, take_back=take_back)
        asking = (self._context.commands.operator.who, self._context.feed.latest.at_ms)
        ask_to_resume(pause, what, asking, self._owner, go)

    def _tell(self, said: Callable[[], str], back: Back | None = None) -> None:
        undo = None
        if back is not None:
            undo = partial(self._act, unless_changed(self._context.audit, back), lambda _result: _("Taken back."))
        tell_done(self._context.toast, said, undo)
        self.changed.emit()

    def _fail(self, error: BaseException, key: str = "") -> None:
        self._context.toast(failure(error, key=key))
        self.changed.emit()
