"""The offer to load the sample fleet where there is nothing yet."""

from __future__ import annotations

from functools import partial

from shiboken6 import isValid

from console import bootstrap
from console.connection.session import Session
from services.i18n import _
from services.monitor.live import Snapshot
from views.support import operation
from views.widgets.toast import Toast, ToastAction, ToastSpec, lasting


def show(session: Session, desk: bootstrap.Desk) -> None:
    """Offer it in a toast that stays until somebody takes it, closes it, or tasks come."""
    load = operation.Operation(desk.window)

    def say() -> ToastSpec:
        offer = ToastAction(text=_("Load the sample fleet"), call=partial(load.start, session.sample.load))
        text = _("Nothing here yet. Import your shops, or look around with the sample fleet.")
        return ToastSpec(text=text, status="waiting", actions=(offer,), sticky=True)

    toast = desk.window.toasts.show(lasting(say))
    _close_once_at_work(toast, desk)


def _close_once_at_work(toast: Toast, desk: bootstrap.Desk) -> None:
    """Take the offer back once there are tasks: it would say "Nothing here yet" over a fleet at work."""

    def look(snapshot: Snapshot) -> None:
        if not snapshot.counts.total:
            return
        desk.feed.looked.disconnect(look)
        if isValid(toast):
            toast.close_now()

    desk.feed.looked.connect(look)
