"""Logging a shop in from the window: its browser here, or on which machine and how."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from services.monitor.remote import opener
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.shop_window import ShopWindowDialog
from views.support import safe
from views.support.operation import Operation
from views.widgets.toast import ToastSpec, failure

#: name of a shop, node of its profile, worker there
Found = tuple[str, str, str]


class ShopLogin(QObject):
    """Signals:
    changed: a shop was logged in, or could not be; ask again.
    """

    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._asking, self._acting = Operation(self), Operation(self)
        self._browsing = Operation(self, lasting=True)

    def begin(self, shop: str) -> None:
        """Open the browser of a shop (``platform:shop_id``) where its profile lies here, else say where it does."""
        self._asking.start(partial(_look, self._context, shop), partial(self._begin, shop), self._fail)

    def look(self, shop: str) -> None:
        """Open the browser of a shop so that a person sees whether something was done there, else say where it is."""
        self._asking.start(partial(_look, self._context, shop), partial(self._show, shop), self._fail)

    def go_on(self, shop: str) -> None:
        """Somebody has logged a shop in by other means: its tasks go on."""
        self._acting.start(partial(_go_on, self._context, shop), partial(self._ended, logged_in=True), self._fail)

    def open_on(self, shop: str, worker: str) -> None:
        """Open the browser of a shop on the machine of a worker, and show it here."""
        self._asking.start(
            partial(_name, self._context, shop), lambda name: self._open_there(shop, name, worker), self._fail
        )

    def _open_there(self, shop: str, name: str, worker: str) -> None:
        dialog = ShopWindowDialog(self._context, shop, name, worker, self._owner)
        dialog.logged_in.connect(partial(self._ended, name, logged_in=True))
        dialog.finished.connect(lambda _code: self.changed.emit())
        dialog.open()

    def _begin(self, shop: str, found: Found) -> None:
        name, node, worker = found
        if node and worker:
            self._open_there(shop, name, worker)
            return
        if node:
            self._tell_where(shop, name, node)
            return
        said = _("The browser of {shop} opens: log in there, then close its window.").format(shop=name)
        self._context.toast(ToastSpec(text=said, status="running"))
        call = partial(self._context.logins.log_in, shop)
        self._browsing.start(call, lambda logged_in: self._ended(name, logged_in=logged_in), self._fail)

    def _show(self, shop: str, found: Found) -> None:
        name, node, worker = found
        if node and worker:
            self._open_there(shop, name, worker)
            return
        if node:
            command = f"shop login {shop}"
            question = Question(
                title=N_("Look on another machine"),
                rows=((_("shop"), name), (_("machine"), node), (_("command there"), command)),
                text=_(
                    "The browser profile of this shop lives on another machine. Open this shop's browser in the window"
                    " of Fleetdeck there, or run the command there; any other browser that is logged in shows it too."
                ),
                verb=_("Copy the command"),
            )
            dialog = ConfirmDialog(question, self._owner)
            dialog.confirmed.connect(lambda: QGuiApplication.clipboard().setText(command))
            dialog.open()
            return
        said = _("The browser of {shop} opens: look whether it was done, then close its window and decide.")
        self._context.toast(ToastSpec(text=said.format(shop=name), status="running"))
        call = partial(self._context.logins.log_in, shop)
        self._browsing.start(call, lambda seen: self._seen(name, logged_in=seen), self._fail)

    def _seen(self, name: str, *, logged_in: bool) -> None:
        if not logged_in:
            said = _("{what} asked for a login, or its browser was closed at once: nothing was seen there.")
            self._context.toast(ToastSpec(text=said.format(what=name), status="warning"))
        self.changed.emit()

    def _tell_where(self, shop: str, name: str, node: str) -> None:
        command = f"shop login {shop}"
        question = Question(
            title=N_("Log in on another machine"),
            rows=((_("shop"), name), (_("machine"), node), (_("command there"), command)),
            text=_(
                "The browser profile of this shop lives on another machine, where no worker with browsers is alive; a"
                " login here would not help its tasks. Start a worker there, or run the command there."
            ),
            verb=_("Logged in elsewhere: go on"),
            other=_("Copy the command"),
        )
        dialog = ConfirmDialog(question, self._owner)
        dialog.confirmed.connect(partial(self.go_on, shop))
        dialog.other_chosen.connect(lambda: QGuiApplication.clipboard().setText(command))
        dialog.open()

    def _ended(self, name: str, *, logged_in: bool) -> None:
        if logged_in:
            spec = ToastSpec(text=_("{what} is logged in; its tasks go on.").format(what=name), status="healthy")
        else:
            said = _("{what} is not logged in yet; its tasks wait.").format(what=name)
            detail = _("The browser was closed on a page that asks for a login, or before any page was seen.")
            spec = ToastSpec(text=said, status="warning", detail=detail)
        self._context.toast(spec)
        self.changed.emit()

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))
        self.changed.emit()


def _look(context: PageContext, shop: str) -> Found:
    """Its name, the node on which its profile lives ("" for this one), and a worker there that can open its browser."""
    node = context.logins.elsewhere(shop)
    worker = opener(context.feed.latest.workers, shop, node, context.remote.now_ms()) if node else ""
    return _name(context, shop), node, worker


def _go_on(context: PageContext, shop: str) -> str:
    context.commands.sessions.open(shop)
    return _name(context, shop)


def _name(context: PageContext, shop: str) -> str:
    found = context.shops().get(shop)
    return safe.one_line(found.name if found is not None and found.name else shop, 80)
