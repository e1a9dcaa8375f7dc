"""What is asked for every so often wherever a person is in the window, off the GUI thread: incidents, queues, promises
and schedules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from console.main_window import MainWindow, in_front
from console.tray import Tray
from services import i18n
from services.domain.alerts.incident import OPEN, WAITING, Incident
from services.domain.alerts.rule import CRITICAL
from services.domain.insight import queue as insight
from services.domain.promises.judge import AT_RISK, BROKEN
from services.i18n import _, ngettext
from services.monitor.alerts import wording
from services.monitor.alerts.queries import AlertQueries, AlertsNow, IncidentNow
from services.monitor.promises import PromiseQueries
from services.monitor.queues.board import Needing, QueueBoard
from services.monitor.schedules import ScheduleQueries
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed
from views.support.operation import Operation
from views.widgets.toast import ToastAction, ToastSpec, lasting

V = TypeVar("V")
QUEUES_MS = 10_000
SCHEDULES_MS = 5_000
QUEUES = "queues"
#: as often as they are judged
PROMISES_MS = 15_000
PROMISES = "promises"
ALERTS_MS = 3000
ALERTS = "alerts"


class Watch(QObject, Generic[V]):
    """Ends with the window. The window itself tells a lost store, above all pages; the next look comes by itself.

    Signals:
        looked: an answer is shown.
    """

    looked = Signal()

    def __init__(self, window: MainWindow, every_ms: int, ask: Callable[[], V], show: Callable[[V], None]) -> None:
        """``ask`` blocks; ``show`` gets its answers, in the GUI thread."""
        super().__init__(window)
        self._ask, self._show = ask, show
        self._asking = Operation(self, latest=True)
        self._timer = QTimer(self, interval=every_ms)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        window.closing.connect(self._timer.stop)

    def look(self) -> None:
        """Ask now, unless an answer is under way."""
        if not self._asking.busy:
            self._asking.start(self._ask, self._take, lambda _error: None)

    def _take(self, answer: V) -> None:
        self._show(answer)
        self.looked.emit()


class QueueWatch(Watch[Needing]):
    """Keeps the number at the rail of queues that need somebody."""

    def __init__(self, window: MainWindow, board: QueueBoard) -> None:
        super().__init__(window, QUEUES_MS, board.needing, self._count)
        self._window, self._needing = window, Needing()
        on_language_changed(self._say)
        self.look()

    def _count(self, needing: Needing) -> None:
        self._needing = needing
        self._say()

    def _say(self) -> None:
        number = self._needing.number
        tone = "stuck" if self._needing.worst == insight.STUCK else "retrying"
        badge = text.compact(number) if number else ""
        self._window.rail.set_badge(QUEUES, badge, tone, _("queues that need somebody"))


class PromiseWatch(Watch[Mapping[str, int]]):
    """Keeps the number at the rail of promises that are broken or will be."""

    def __init__(self, window: MainWindow, promises: PromiseQueries) -> None:
        super().__init__(window, PROMISES_MS, promises.states, self._count)
        self._window, self._states = window, Counter[str]()
        on_language_changed(self._say)
        self.look()

    def _count(self, states: Mapping[str, int]) -> None:
        self._states = Counter(states)
        self._say()

    def _say(self) -> None:
        broken, number = self._states[BROKEN], self._states[BROKEN] + self._states[AT_RISK]
        badge, told = text.compact(number) if number else "", _("promises that are broken or at risk")
        self._window.rail.set_badge(PROMISES, badge, "dead" if broken else "retrying", told)


class ScheduleWatch(Watch[int | None]):
    """Keeps the number in the status bar of schedules that come next."""

    def __init__(self, window: MainWindow, schedules: ScheduleQueries) -> None:
        super().__init__(window, SCHEDULES_MS, schedules.soon, window.status_bar.show_due)
        self.look()


class AlertWatch(Watch[AlertsNow]):
    """Open incidents: their number at the rail and the tray, and each new one said once.

    Asks every few seconds, also where the window is hidden; it shows, the process that leads sends.
    """

    def __init__(self, window: MainWindow, queries: AlertQueries) -> None:
        super().__init__(window, ALERTS_MS, partial(queries.now, addresses=False), self._count)
        self._window = window
        self._tray: Tray | None = None
        self._known: frozenset[str] | None = None  #: None until the first answer: what is old is not said
        self._unseen: list[Incident] = []  #: of which the message that stands tells
        self._opened: object = None  #: what was open when it was said last, and in which words
        window.page_changed.connect(self._on_page)
        self.look()

    def speak_by(self, tray: Tray) -> None:
        """Say from now on what is new; said by each window of a program it would be said twice."""
        self._tray = tray

    def _count(self, now: AlertsNow) -> None:
        opened = [one for one in now.incidents if one.state == OPEN]
        tone = "dead" if any(one.incident.rule.severity == CRITICAL for one in opened) else "retrying"
        badge = text.compact(len(opened)) if opened else ""
        self._window.rail.set_badge(ALERTS, badge, tone, _("incidents that nobody has answered"))
        waiting = ngettext(
            "{n} incident that nobody has answered", "{n} incidents that nobody has answered", len(opened)
        )
        if self._tray is not None:
            self._tray.count(len(opened), tone, waiting.format(n=text.count(len(opened))) if opened else "")
        known = self._known
        seen = frozenset(one.incident.id for one in now.incidents if one.state != WAITING)
        self._known = seen | (known or frozenset())
        fresh = [one for one in opened if known is not None and one.incident.id not in known]
        said = opened, i18n.language(), shown.zone_key()
        if said != self._opened:  # hardly ever
            self._opened = said
            self._say_again([one.incident for one in opened])
        if fresh and self._tray is not None:
            self._notify(fresh, self._tray)
            self._say(fresh)

    def _on_page(self, page: str) -> None:
        if page == ALERTS:
            self._window.toasts.close(ALERTS)  # all of it is seen there

    def _notify(self, fresh: list[IncidentNow], tray: Tray) -> None:
        """On the desktop, for who does not look at the window: one for all that is new."""
        worst = next((one for one in fresh if one.incident.rule.severity == CRITICAL), fresh[0]).incident
        tone = "dead" if worst.rule.severity == CRITICAL else "warning"
        title = safe.masked(wording.title(worst.words, shown.zone()))
        detail = safe.masked(wording.next_step(worst.words, shown.zone()))
        wanted = worst.id
        if len(fresh) > 1:
            title, detail, wanted = _("{n} new incidents").format(n=text.count(len(fresh))), title, ""
        tray.notify(title, detail, tone, partial(self._window.open_page, ALERTS, wanted or None))

    def _say(self, fresh: list[IncidentNow]) -> None:
        """One message, whatever comes while it stands: three of them would lie on the verbs of every page. Of several
        windows the one in front says it: behind it nobody would see it.
        """
        window = in_front() or self._window
        if window.current == ALERTS:
            return
        standing = any(toast.spec.key == ALERTS for toast in window.toasts.toasts())
        self._unseen = [*(self._unseen if standing else ()), *(one.incident for one in fresh)]
        window.toasts.say(lasting(partial(self._told, window)))
        QApplication.alert(window)  # the task bar, where the window is not in front

    def _say_again(self, opened: Sequence[Incident]) -> None:
        """Let the message that stands tell of what the rail counts still, and as it is now: it waits for who comes back
        to the window, which may be the next morning.
        """
        now = {one.id: one for one in opened}
        told, self._unseen = self._unseen, [now[one.id] for one in self._unseen if one.id in now]
        windows = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)] if told else []
        for window, toast in [(one, toast) for one in windows for toast in one.toasts.toasts()]:
            if toast.spec.key != ALERTS:
                continue
            if not self._unseen:
                window.toasts.close(ALERTS)
            elif (wanted := self._told(window)).text != toast.spec.text or wanted.detail != toast.spec.detail:
                toast.retranslate()

    def _told(self, window: MainWindow) -> ToastSpec:
        unseen = self._unseen
        worst = next((one for one in unseen if one.rule.severity == CRITICAL), unseen[0])
        # the day only of what is not of today: it may be read the next morning, and is said anew then
        title = safe.masked(wording.title(worst.words, shown.zone(), instant.now_ms()))
        detail, wanted = safe.masked(wording.next_step(worst.words, shown.zone())), worst.id
        if len(unseen) > 1:
            title, detail, wanted = _("{n} new incidents").format(n=text.count(len(unseen))), title, ""
        return ToastSpec(
            text=title,
            detail=detail,
            status="dead" if worst.rule.severity == CRITICAL else "warning",
            seconds=12,
            leaves=True,  # rail and Alerts keep it; whoever works here needs what it lies on
            key=ALERTS,
            actions=(ToastAction(text=_("Show"), call=partial(window.open_page, ALERTS, wanted or None)),),
        )
