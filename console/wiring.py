"""Every connection between the window, the feed and the pages, grouped; widgets never look for each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from PySide6.QtCore import QObject, QTimer

from console.connection.loss import LossWatch
from console.connection.role_watch import RoleWatch
from console.main_window import MainWindow
from console.vital_doors import VitalDoors
from services.clock import SystemClock
from services.commands.operator import Operator
from services.domain.fleet import environment
from services.domain.insight.worker import CUT_OFF, MISSING
from services.domain.task.status import IN_FLIGHT, Status
from services.domain.text.message import Message
from services.i18n import _
from services.messages import render, told
from services.monitor.health import HealthLog
from services.monitor.live import Snapshot
from views.shell.health_pill import Health
from views.shell.status_bar import Vitals
from views.shell.top_bar import STALE_AFTER
from views.support import shown, text
from views.support.feed import Feed
from views.support.language import on_language_changed
from views.support.words import worker

ROLES = {"viewer": "viewer", "operator": "operator", "admin": "admin"}
FRESH_MS = 500
#: addresses to which no network leads
NEAR = ("127.", "localhost", "::1")


class ShellWiring(QObject):
    """Keeps rail, top bar, banner and status bar true to the newest snapshot."""

    def __init__(
        self,
        window: MainWindow,
        feed: Feed,
        operator: Operator,
        role: RoleWatch,
        *,
        embedded: bool,
        profile: str,
        environment: str = "",
        unverified: bool = False,
        addresses: tuple[str, str] = ("", ""),
        sample: Callable[[], bool] = lambda: False,
        doubts: Sequence[Message] = (),
    ) -> None:
        """``doubts``: what the connection found missing on the broker and does not put right; ``unverified``: nobody
        checks the certificate of a server.
        """
        super().__init__(window)
        self._window, self._feed, self._operator, self._role = window, feed, operator, role
        self._sample, self._is_sample = sample, False  # whether the sample fleet is at work here
        self._embedded, self._profile, self._environment = embedded, profile, environment
        self._doubts, self._unverified = tuple(doubts), unverified
        self._clock = SystemClock()
        self._health = HealthLog()
        self.loss = LossWatch(
            window,
            feed,
            self._health,
            embedded=embedded,
            profile=profile,
            near=all(address.startswith(NEAR) for address in addresses),
        )
        self.doors = VitalDoors(
            window, feed, self._health, (operator, role), addresses, self.loss.try_now, self._doubts
        )
        feed.looked.connect(self._on_looked)
        role.changed.connect(self._on_role)
        self._timer = QTimer(self, interval=FRESH_MS)
        self._timer.timeout.connect(self._show_age)
        self._timer.start()
        on_language_changed(self._say)
        self._say()

    def _say(self) -> None:
        self._window.status_bar.show_operator(self._operator.who, self._role.role)
        local = self._embedded
        name = _("Local") if local and self._profile == "local" else self._profile
        tag = "DEMO" if self._profile == "demo" or self._is_sample else environment.tag(self._environment)
        production = environment.is_production(self._environment)
        self._window.top_bar.show_profile(name, tag, local=local, production=production, unverified=self._unverified)
        self._window.setWindowTitle(" · ".join(part for part in (name, tag, "Fleetdeck") if part))
        self._on_looked(self._feed.latest)

    def _on_role(self) -> None:
        self._say()
        self._show_age()
        self._window.tell_acting()  # an admin may what an operator may not

    def _on_looked(self, snapshot: Snapshot) -> None:
        if self._sample() != self._is_sample:
            self._is_sample = self._sample()
            self._say()
            return
        self._show_health(snapshot)
        self._show_vitals(snapshot)
        self._show_badges(snapshot)
        if snapshot.at_ms or not snapshot.store.connected:
            self._health.note(snapshot, self._clock.now_ms())
        self.loss.look(snapshot)

    def _show_health(self, snapshot: Snapshot) -> None:
        if not snapshot.at_ms:
            return
        broker, store = snapshot.broker, snapshot.store
        fleet, way = snapshot.fleet(), snapshot.publisher()
        engine, storage = (_("Engine"), _("Storage")) if self._embedded else (_("Broker"), _("Redis"))
        state = "dead" if not broker.connected else "warning" if way.kind or self._doubts else "healthy"
        value = _("takes no tasks") if way.held else _latency(broker.latency_ms)
        missing = fleet.living != fleet.known
        count = f"{fleet.living} / {fleet.known}" if missing else str(fleet.living)
        apart = fleet.number(CUT_OFF)
        if apart:  # a bare number would say that they work
            cut = _("cut off from the broker")
            count = f"{count} · {cut}" if apart == fleet.living else f"{count} · {text.count(apart)} {cut}"
        workers_state = "warning" if missing or apart or not fleet.living else "healthy"
        tip = worker.summary(fleet) if fleet.living else _("Nobody works on tasks; start a worker")
        if not store.connected:
            workers_state, tip = "unconfirmed", _("As they were when Redis was lost") if not self._embedded else ""
        parts = [
            Health(
                key="broker",
                name=engine,
                value=value if broker.connected else _("lost"),
                state=state,
                tip=render(way.message) if way.kind else told(broker.error) or "\n".join(map(render, self._doubts)),
            ),
            Health(
                key="store",
                name=storage,
                value=_latency(store.latency_ms) if store.connected else _("lost"),
                state="healthy" if store.connected else "dead",
                tip=told(store.error),
            ),
            Health(key="workers", name=_("Workers"), value=count, state=workers_state, tip=tip),
        ]
        self._window.top_bar.show_health(parts)

    def _show_vitals(self, snapshot: Snapshot) -> None:
        if not (snapshot.at_ms and snapshot.store.connected):
            self._window.status_bar.show_vitals(Vitals(local=self._embedded))
            if snapshot.at_ms:  # else it would be blank until the next look at the clock
                self._window.status_bar.show_silence(self._age(snapshot))
            return
        lag, rates = timedelta(milliseconds=snapshot.lag_ms), snapshot.rates.flow
        self._window.status_bar.show_vitals(
            Vitals(
                local=self._embedded,
                rate_in=rates.in_s,
                rate_out=rates.out_s,
                rate_span=timedelta(seconds=rates.window_s) if rates.window_s else None,
                event_lag=lag,
            )
        )

    def _show_badges(self, snapshot: Snapshot) -> None:
        counts = snapshot.counts
        flight = sum(counts.status.get(status, 0) for status in IN_FLIGHT)
        dead = counts.triage.get("open", 0)
        held = counts.status.get(Status.HELD, 0)
        rail = self._window.rail
        rail.set_badge("tasks", text.compact(flight) if flight else "", "retrying" if held else "text2", _("in flight"))
        rail.set_badge("dead_letters", text.compact(dead) if dead else "", "dead", _("open dead letters"))
        missing = snapshot.fleet().number(*MISSING)
        rail.set_badge("workers", str(missing) if missing else "", "retrying", _("workers that are not heard of"))

    def _show_age(self) -> None:
        snapshot = self._feed.latest
        if not snapshot.at_ms:
            self._window.top_bar.show_freshness(None)
            return
        age = self._age(snapshot)
        if self.loss.since_ms:
            since = shown.clock(self.loss.since_ms, self._clock.now_ms())
            self._window.top_bar.show_lost(since, records=snapshot.store.connected)
            self._window.stand_still("" if snapshot.store.connected else since)
        else:
            self._window.top_bar.show_freshness(age)
        # without the broker the records still tell the truth; without the store nothing here does
        stale = age > STALE_AFTER or not snapshot.store.connected
        self._window.set_stale(stale)
        reason = self._reason(stale=stale)
        self._window.top_bar.set_can_create(reason)
        self._window.set_acting(reason)
        self._window.status_bar.show_rights(reason)
        if not snapshot.store.connected:
            self._window.status_bar.show_silence(age)

    def _age(self, snapshot: Snapshot) -> timedelta:
        return timedelta(seconds=max(0.0, self._clock.monotonic() - snapshot.taken))

    def _reason(self, *, stale: bool) -> str:
        if stale:
            return _("Not while the connection is lost")
        if self._operator.read_only:
            return _("This connection is read-only; nothing is changed through it")
        return _("Your role may only look") if self._role.role == "viewer" else ""


def connect_overview(page: QObject, window: MainWindow, run_verb: Callable[[str, str], None]) -> None:
    """The doors of the Overview."""
    page.open_tasks.connect(lambda expression: window.open_page("tasks", expression))  # type: ignore[attr-defined]
    page.open_dead.connect(lambda: window.open_page("dead_letters"))  # type: ignore[attr-defined]
    page.open_workers.connect(lambda: window.open_page("workers"))  # type: ignore[attr-defined]
    page.open_shop.connect(lambda platform, shop: window.open_page("tasks", f"shop:{platform}:{shop}"))  # type: ignore[attr-defined]
    page.attention_verb.connect(run_verb)  # type: ignore[attr-defined]


def _latency(milliseconds: float) -> str:
    return "" if milliseconds < 0 else text.milliseconds(timedelta(milliseconds=milliseconds))
