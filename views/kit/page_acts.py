"""What a page's verbs do: in a thread, told in a message that takes it back, and not while nothing may be changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.i18n import _
from views.context import PageContext
from views.kit.task_acting import barred
from views.support.acting import TELL_S, UNDO_S, unless_changed
from views.support.operation import Operation, Start
from views.widgets.toast import ToastAction, ToastSpec, failure, undo_action

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
            text = said if isinstance(said, str) else said(result)
            self._tell(text, take_back(result) if take_back is not None else back)

        (start or self._operation.start)(call, done, self._fail)

    def _tell(self, said: str, back: Back | None = None) -> None:
        undo: tuple[ToastAction, ...] = ()
        seconds = TELL_S
        if back is not None:
            call = unless_changed(self._context.audit, back)
            undo, seconds = (undo_action(partial(self._act, call, _("Taken back."))),), UNDO_S
        self._context.toast(ToastSpec(text=said, status="succeeded", actions=undo, seconds=seconds))
        self.changed.emit()

    def _fail(self, error: BaseException, key: str = "") -> None:
        self._context.toast(failure(error, key=key))
        self.changed.emit()
