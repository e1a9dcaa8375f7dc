"""Open incidents wherever a person is: their number at the rail and the tray, and each new one said once."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QApplication

from console.main_window import MainWindow
from console.tray import Tray
from console.watch import Watch
from services.domain.alerts.incident import OPEN, WAITING, Incident
from services.domain.alerts.rule import CRITICAL
from services.i18n import _, ngettext
from services.monitor.alerts import wording
from services.monitor.alerts.queries import AlertQueries, AlertsNow, IncidentNow
from views.support import safe, shown, text
from views.widgets.toast import ToastAction, ToastSpec, lasting

EVERY_MS = 3000
PAGE = "alerts"
#: so many new ones are said one by one
SAID = 2


class AlertWatch(Watch[AlertsNow]):
    """Asks every few seconds, also where the window is hidden; it shows, the process that leads sends."""

    def __init__(self, window: MainWindow, queries: AlertQueries, tray: Tray | None) -> None:
        """``tray``: of the first window; what others of the same program say there would be said twice."""
        super().__init__(window, EVERY_MS, partial(queries.now, addresses=False), self._count)
        self._window, self._tray = window, tray
        self._known: frozenset[str] | None = None  #: None until the first answer: what is old is not said
        self.look()

    def _count(self, now: AlertsNow) -> None:
        opened = [one for one in now.incidents if one.state == OPEN]
        tone = "dead" if any(one.incident.rule.severity == CRITICAL for one in opened) else "retrying"
        badge = text.compact(len(opened)) if opened else ""
        self._window.rail.set_badge(PAGE, badge, tone, _("incidents that nobody has answered"))
        waiting = ngettext(
            "{n} incident that nobody has answered", "{n} incidents that nobody has answered", len(opened)
        )
        if self._tray is not None:
            self._tray.count(len(opened), tone, waiting.format(n=text.count(len(opened))) if opened else "")
        known = self._known
        seen = frozenset(one.incident.id for one in now.incidents if one.state != WAITING)
        self._known = seen | (known or frozenset())
        fresh = [one for one in opened if known is not None and one.incident.id not in known]
        if fresh and self._tray is not None:
            self._notify(fresh, self._tray)
            if self._window.current != PAGE:
                self._say(fresh)

    def _notify(self, fresh: list[IncidentNow], tray: Tray) -> None:
        """On the desktop, for who does not look at the window: one for all that is new."""
        worst = next((one for one in fresh if one.incident.rule.severity == CRITICAL), fresh[0]).incident
        tone = "dead" if worst.rule.severity == CRITICAL else "warning"
        title = safe.masked(wording.title(worst.words, shown.zone()))
        detail = safe.masked(wording.next_step(worst.words, shown.zone()))
        wanted = worst.id
        if len(fresh) > 1:
            title, detail, wanted = _("{n} new incidents").format(n=text.count(len(fresh))), title, ""
        tray.notify(title, detail, tone, partial(self._window.open_page, PAGE, wanted or None))

    def _say(self, fresh: list[IncidentNow]) -> None:
        for one in fresh if len(fresh) <= SAID else ():
            self._window.toasts.say(lasting(partial(self._told, one.incident)))
        if len(fresh) > SAID:
            self._window.toasts.say(lasting(partial(self._told_together, len(fresh))))
        QApplication.alert(self._window)  # the task bar, where the window is not in front

    def _told(self, incident: Incident) -> ToastSpec:
        return ToastSpec(
            text=safe.masked(wording.title(incident.words, shown.zone())),
            detail=safe.masked(wording.next_step(incident.words, shown.zone())),
            status="dead" if incident.rule.severity == CRITICAL else "warning",
            seconds=12,
            key=f"alert.{incident.id}",
            actions=(ToastAction(text=_("Show"), call=partial(self._window.open_page, PAGE, incident.id)),),
        )

    def _told_together(self, number: int) -> ToastSpec:
        said = _("{n} new incidents").format(n=text.count(number))
        show = ToastAction(text=_("Show"), call=partial(self._window.open_page, PAGE))
        return ToastSpec(text=said, status="warning", seconds=12, key="alerts", actions=(show,))
