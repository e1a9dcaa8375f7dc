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
from views.dialogs.confirm import ConfirmDialog, Question
from views.kit.task_acting import barred
from views.support.acting import TELL_S, UNDO_S, unless_changed
from views.support.operation import Operation, Start
from views.widgets.toast import ToastAction, ToastSpec, action, failure, lasting, undo_action

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
        said: str | Callable[[T], str],
        back: Back | None = None,
        *,
        take_back: Callable[[T], Back | None] | None = None,
        start: Start | None = None,
    ) -> None:
        """Do it and tell it; *Undo* sends ``back``, or what ``take_back`` makes of the result, unless others changed it
        since. ``start``: of the form that asks for it and shows what is refused.
        """

        def done(result: T) -> None:
            words = said if isinstance(said, str) else partial(said, result)
            self._tell(words, take_back(result) if take_back is not None else back)

        (start or self._operation.start)(call, done, self._fail)

    def _pause(self, scope: str, what: str, reason: str = "") -> None:
        """Let nothing of a scope start, at once as everything that can be taken back: why is asked by the message. On
        every page alike; ``what`` names the scope, translated.
        """
        fleet = self._context.commands.fleet

        def done(before: Pause | None) -> None:
            if before is not None and not reason:  # that one stays: nothing was done that could be taken back
                there = N_("{what} was paused already, by {who}; it stays so.")
                self._tell(lambda: _(there).format(what=what, who=messages.noted(before.by)))
                return
            call = unless_changed(self._context.audit, partial(fleet.take_back_pause, scope, before))
            undo = undo_action(partial(self._act, call, _("Taken back.")))
            why = action(N_("Write why"), lambda: self._ask_why(scope, what, before, tell))

            def say() -> ToastSpec:
                actions = (undo,) if reason else (undo, why)
                words = _("{what} is paused; running tasks go on.").format(what=what)
                return ToastSpec(text=words, status="succeeded", actions=actions, seconds=UNDO_S)

            def tell() -> None:
                self._context.toast(lasting(say))

            tell()
            self.changed.emit()

        self._operation.start(partial(fleet.pause, scope, reason=reason), done, self._fail)

    def _ask_why(self, scope: str, what: str, before: Pause | None, unasked: Callable[[], None]) -> None:
        fleet, me = self._context.commands.fleet, self._context.commands.operator.who
        question = Question(
            title=N_("Why it is paused"),
            rows=((_("paused"), what),),
            text=_("Whoever ends the pause reads it first."),
            verb=_("Write it down"),
            note=_("Why"),
            note_needed=_("Say why first"),
        )
        dialog = ConfirmDialog(question, self._owner)
        dialog.note_field.setFocus()
        dialog.rejected.connect(unasked)
        dialog.confirmed.connect(
            lambda: self._act(
                partial(fleet.pause, scope, reason=dialog.note, instead=me),
                _("Why {what} is paused stands with the pause.").format(what=what),
                partial(fleet.take_back_pause, scope, before),
                start=dialog.start,
            )
        )
        dialog.open()

    def _tell(self, said: str | Callable[[], str], back: Back | None = None) -> None:
        undo: tuple[ToastAction, ...] = ()
        seconds = TELL_S
        if back is not None:
            call = unless_changed(self._context.audit, back)
            undo, seconds = (undo_action(partial(self._act, call, _("Taken back."))),), UNDO_S

        def say() -> ToastSpec:
            words = said if isinstance(said, str) else said()
            return ToastSpec(text=words, status="succeeded", actions=undo, seconds=seconds)

        self._context.toast(lasting(say))
        self.changed.emit()

    def _fail(self, error: BaseException, key: str = "") -> None:
        self._context.toast(failure(error, key=key))
        self.changed.emit()
