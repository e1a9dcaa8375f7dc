"""What attention items offer beyond opening a page: pause, resume, start a worker; audited, off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from services.i18n import _
from views.context import PageContext
from views.dialogs.shop_login import ShopLogin
from views.support import type_names
from views.support.operation import Operation
from views.widgets.heat_map import platform_name
from views.widgets.toast import ToastAction, ToastSpec

VERBS = ("pause", "resume", "open_session", "login_shop", "start_worker", "forget_worker")
LOCAL_SLOTS = 4


class AttentionVerbs(QObject):
    """Each verb ends in a toast that says what happened and takes it back where that is possible."""

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context = context
        self._operation = Operation(self)
        self._login = ShopLogin(context, owner)

    def run(self, verb: str, target: str) -> None:
        """Do what an item offers; ``target`` is a pause scope, a shop, or "" for a worker."""
        if verb == "pause":
            self.pause(target)
        elif verb == "resume":
            self.resume(target)
        elif verb == "open_session":
            self._login.go_on(target)
        elif verb == "login_shop":
            self._login.begin(target)
        elif verb == "start_worker":
            self.start_worker()
        elif verb == "forget_worker":
            said = _("{worker} is forgotten").format(worker=target)
            self._start(partial(self._context.commands.fleet.forget_worker, target), said)

    def pause(self, scope: str) -> None:
        """Let nothing of this scope start."""
        said = _("{what} is paused; running tasks go on.").format(what=_what(scope))
        undo = ToastAction(text=_("Undo"), call=partial(self.resume, scope))
        self._start(partial(self._context.commands.fleet.pause, scope), said, undo)

    def resume(self, scope: str) -> None:
        """Let tasks of this scope start again."""
        said = _("{what} goes on.").format(what=_what(scope))
        undo = ToastAction(text=_("Undo"), call=partial(self.pause, scope))
        self._start(partial(self._context.commands.fleet.resume, scope), said, undo)

    def start_worker(self) -> None:
        """Work on tasks in this program."""
        self._start(partial(self._context.local.start, LOCAL_SLOTS), _("A worker runs on this computer now."))

    def _start(self, call: Callable[[], object], said: str, *actions: ToastAction) -> None:
        def tell(_result: object) -> None:
            self._context.toast(ToastSpec(text=said, status="healthy", actions=actions))

        self._operation.start(call, tell)


def _what(scope: str) -> str:
    kind, _colon, name = scope.partition(":")
    if kind == "all":
        return _("Everything")
    return {"platform": platform_name, "type": type_names.name}.get(kind, str)(name)
