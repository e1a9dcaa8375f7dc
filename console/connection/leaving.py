"""Leaving a connection while this computer works for it: running tasks finish, or are handed back; nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

from console.main_window import MainWindow
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import SlotState
from services.i18n import N_, _, ngettext
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.republish.runner import BulkRunner
from views.support.operation import Operation
from views.support.words import shop, type_names
from views.widgets.toast import Toast, ToastAction, ToastSpec, lasting

#: running tasks get this long when nobody was asked, e.g. at the end of the sample fleet
GRACE_S, HAND_BACK_S = 5.0, 0.0
LOOK_MS = 250


class LocalWork(Protocol):
    """What runs in this program. No call blocks."""

    def running(self) -> tuple[SlotState, ...]: ...
    def drain(self) -> None: ...
    def resume(self) -> None: ...


class Leaving(QObject):
    """Asked by the window before it closes."""

    def __init__(
        self,
        window: MainWindow,
        work: LocalWork,
        *,
        missed: Callable[[SlotState], bool],
        shops: Callable[[], Mapping[str, Shop]],
    ) -> None:
        """``missed``: whether anybody would miss a running task; those of the sample fleet nobody does.

        ``shops``: by their keys; blocking.
        """
        super().__init__(window)
        self._window, self._work, self._missed, self._shops = window, work, missed, shops
        self._naming = Operation(self, latest=True)
        self._decided, self._switches = False, False
        self._then: Callable[[], object] = window.close
        self._toast: Toast | None = None
        self.grace_s = GRACE_S  #: how long running tasks may take at the end
        self.dialog: ConfirmDialog | None = None
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        window.may_close = self.may_close

    @property
    def decided(self) -> bool:
        """Whether a person said how what ran here ends, and that has been done."""
        return self._decided

    @property
    def waiting(self) -> bool:
        """Whether nothing new is taken here, until what runs has finished."""
        return self._timer.isActive()

    def may_close(self) -> bool:
        """Whether the window closes now; otherwise a person is asked, and the window closes later or not at all."""
        if self._decided or not self._something_runs():
            return True
        self._switches, self._then = False, self._window.close
        self._ask_once()
        return False

    def leave(self, then: Callable[[], object]) -> None:
        """Go on with another connection as soon as nothing that runs here would be missed, or a person said how."""
        if not self._something_runs():
            then()
            return
        self._switches, self._then = True, then
        self._ask_once()

    def _something_runs(self) -> bool:
        return bool(self._republishing()) or any(map(self._missed, self._work.running()))

    def _republishing(self) -> str:
        """That letters are being republished from this window, and what becomes of that; "" where none are."""
        runners = self._window.findChildren(BulkRunner)
        number = sum(one.job.number for one in runners if one.job is not None and not one.delayed)
        if not number:
            return ""
        return ngettext(
            "A republish of {n} dead letter goes on here. Now it would end: what is not sent yet stays a dead letter,"
            " and the run can be taken up again.",
            "A republish of {n} dead letters goes on here. Now it would end: those that are not sent yet stay dead"
            " letters, and the run can be taken up again.",
            number,
        ).format(n=number)

    def _ask_once(self) -> None:
        if self.dialog is None or not isValid(self.dialog) or not self.dialog.isVisible():
            self._ask(self._work.running())

    def _ask(self, running: tuple[SlotState, ...]) -> None:
        if not any(map(self._missed, running)):
            self.dialog = ConfirmDialog(self._leaves_a_run, self._window)
            self.dialog.confirmed.connect(self._close)
            self.dialog.open()
            return
        shops: dict[str, Shop] = {}
        self.dialog = ConfirmDialog(partial(self._leaves_tasks, running, shops), self._window)
        self.dialog.confirmed.connect(self.finish)
        self.dialog.other_chosen.connect(self.hand_back)
        self.dialog.open()
        self._naming.start(self._shops, partial(self._name, self.dialog, shops), lambda _error: None)

    @property
    def _title(self) -> str:
        return N_("Switch connection") if self._switches else N_("Close Fleetdeck")

    def _leaves_a_run(self) -> Question:
        verb = _("Switch all the same") if self._switches else _("Close all the same")
        return Question(title=self._title, text=self._republishing(), verb=verb)

    def _leaves_tasks(self, running: tuple[SlotState, ...], shops: Mapping[str, Shop]) -> Question:
        """``shops``: those whose names are known by now."""
        number, republishing = len(running), self._republishing()
        finish = (
            ngettext("Finish {n} task, then switch", "Finish {n} tasks, then switch", number)
            if self._switches
            else ngettext("Finish {n} task, then close", "Finish {n} tasks, then close", number)
        )
        return Question(
            title=self._title,
            text=ngettext(
                "This computer runs {n} task. It can finish first. Handed back, it begins anew on the next free worker,"
                " or is held if it must not run twice.",
                "This computer runs {n} tasks. They can finish first. Handed back, they begin anew on the next free"
                " worker; those that must not run twice are held.",
                number,
            ).format(n=number)
            + (republishing and f"\n\n{republishing}"),
            rows=_rows(running, shops),
            codes=tuple((slot.task_type, slot.shop) for slot in running),
            verb=finish.format(n=number),
            other=self._hand_back_words(),
        )

    @staticmethod
    def _name(dialog: ConfirmDialog, shops: dict[str, Shop], named: Mapping[str, Shop]) -> None:
        """Call the shops by their names; who cannot be asked about them leaves them their ids."""
        if isValid(dialog):
            shops.update(named)
            dialog.say()

    def _hand_back_words(self) -> str:
        return _("Hand back and switch") if self._switches else _("Hand back and close")

    def finish(self) -> None:
        """Take nothing new, and close once the running tasks have ended."""
        self._work.drain()
        self._timer.start()
        self._toast = self._window.toasts.show(lasting(self._closing))

    def _closing(self) -> ToastSpec:
        actions = (
            ToastAction(text=self._hand_back_words(), call=self.hand_back),
            ToastAction(text=_("Stay"), call=self.stay),
        )
        text = (
            _("The connection changes as soon as the running tasks have finished.")
            if self._switches
            else _("Fleetdeck closes as soon as the running tasks have finished.")
        )
        return ToastSpec(text=text, status="scheduled", actions=actions, sticky=True, key="leaving")

    def hand_back(self) -> None:
        """Leave now; running tasks go back to their queues and count as no failure."""
        self.grace_s = HAND_BACK_S
        self._close()

    def stay(self) -> None:
        """Go on working."""
        self._decided, self.grace_s = False, GRACE_S
        self._timer.stop()
        self._work.resume()
        if self._toast is not None and isValid(self._toast):
            self._toast.close_now()

    def _look(self) -> None:
        if not self._work.running():
            self._close()

    def _close(self) -> None:
        self._timer.stop()
        self._decided = True
        self._then()


def _rows(running: tuple[SlotState, ...], shops: Mapping[str, Shop]) -> tuple[tuple[str, str], ...]:
    """Type and shop of each running task, as people call them."""
    return tuple((type_names.name(slot.task_type), shop.name_of(slot.shop, shops)) for slot in running)
