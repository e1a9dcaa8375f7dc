"""How an action goes: held for a moment with Undo where that is due, run off the GUI thread, told in a toast."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from services.commands.outcome import Outcome
from services.i18n import _, ngettext
from views.support import shown
from views.support.operation import Operation
from views.widgets.toast import ToastAction, ToastSpec

HOLD_S = 5
Toast = Callable[[ToastSpec], None]


class Acting(QObject):
    """Runs the commands of one page; every outcome is told, item by item where something was left out."""

    def __init__(self, owner: QObject, toast: Toast) -> None:
        super().__init__(owner)
        self._toast = toast
        self._operation = Operation(self)
        self._held: list[QTimer] = []

    @property
    def busy(self) -> bool:
        """Whether a command is under way."""
        return self._operation.busy

    def at_once(self, call: Callable[[], Outcome], done: Callable[[Outcome], str]) -> None:
        """Run now; ``done`` makes the sentence of the toast."""
        self._operation.start(call, lambda outcome: self._tell(outcome, done), self._fail)

    def held(self, announce: str, call: Callable[[], Outcome], done: Callable[[Outcome], str]) -> None:
        """Wait a few seconds in which it can be taken back, then run."""
        timer = QTimer(self, singleShot=True, interval=HOLD_S * 1000)
        key = f"held-{id(timer)}"

        def go() -> None:
            self._forget(timer)
            self.at_once(call, done)

        def undo() -> None:
            self._forget(timer)
            self._toast(ToastSpec(text=_("Taken back; nothing was changed."), status="cancelled", key=key))

        timer.timeout.connect(go)
        self._held.append(timer)
        timer.start()
        actions = (ToastAction(text=_("Undo"), call=undo), ToastAction(text=_("Send now"), call=go))
        self._toast(ToastSpec(text=announce, status="scheduled", actions=actions, seconds=HOLD_S, key=key))

    def send_held(self) -> None:
        """Run everything that is still held, e.g. before the window closes."""
        for timer in list(self._held):
            timer.timeout.emit()

    def _forget(self, timer: QTimer) -> None:
        timer.stop()
        if timer in self._held:
            self._held.remove(timer)

    def _tell(self, outcome: Outcome, done: Callable[[Outcome], str]) -> None:
        left = (*outcome.skipped, *outcome.failed)
        detail = ""
        if left:
            number = ngettext("{n} task left alone", "{n} tasks left alone", len(left)).format(n=len(left))
            detail = _("{name}: {value}").format(name=number, value=shown.say(left[0].why))
        went = bool(outcome.done or outcome.pending)
        copy = "\n".join(f"{one.task_id}\t{shown.say(one.why)}" for one in left)
        self._toast(
            ToastSpec(
                text=done(outcome) if went else _("Nothing was changed."),
                status="healthy" if went and not left else "warning",
                detail=detail,
                copy=copy,
            )
        )

    def _fail(self, error: BaseException) -> None:
        self._toast(ToastSpec(text=_("That did not work."), detail=str(error), status="error", copy=str(error)))
