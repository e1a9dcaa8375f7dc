"""Every connection between the window, the feed and the pages, grouped, and what the parts of the status bar open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, timedelta
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from console.connection.loss import LossWatch
from console.connection.role_watch import RoleWatch
from console.main_window import MainWindow
from services import called
from services.clock import SystemClock
from services.commands.operator import Operator
from services.domain.fleet import environment
from services.domain.insight import depth
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.worker import CUT_OFF, MISSING
from services.domain.task.status import IN_FLIGHT, Status
from services.domain.text.message import Message
from services.i18n import _, fill
from services.messages import render, told
from services.monitor.health import HealthLog, Trace
from services.monitor.live import Snapshot
from services.profiles.known import titled
from views.kit.list_source import behind_s
from views.page import Page
from views.shell.health_pill import Health
from views.shell.health_popover import HealthDetail, HealthPopover
from views.shell.status_bar import Vitals
from views.shell.top_bar import STALE_AFTER
from views.support import safe, shown, text
from views.support.feed import Feed
from views.support.instant import ticks
from views.support.language import say_in_language
from views.support.memory import Memory
from views.support.operation import Operation
from views.support.words import worker
from views.tables.table_view import ColumnsLayout, TableView
from views.widgets.toast import ToastSpec, lasting

#: parts of the status bar that open a page
PAGES = {"mode": "settings", "in": "overview", "out": "overview", "due": "schedules"}

#: so many processes that meet one trouble are called by their names
NAMED = 3


class VitalPopovers(QObject):
    """Popovers over the newest snapshot and the health of the last minutes."""

    def __init__(
        self,
        window: MainWindow,
        feed: Feed,
        health: HealthLog,
        person: tuple[Operator, RoleWatch],
        addresses: tuple[str, str],
        reconnect: Callable[[], object],
        doubts: Sequence[Message] = (),
    ) -> None:
        """``addresses``: of broker and store without passwords, or the file of the embedded engine; ``doubts``: what
        the connection found missing on the broker and does not put right.
        """
        super().__init__(window)
        self._window, self._feed, self._health = window, feed, health
        self._operator, self._role = person
        self._addresses, self._reconnect, self._doubts = addresses, reconnect, tuple(doubts)
        self._clock = SystemClock()
        self.popover: HealthPopover | None = None
        self._asking = Operation(self, latest=True)
        window.top_bar.health_requested.connect(self._on_pill)
        window.status_bar.part_clicked.connect(self._on_part)

    def _on_pill(self, key: str, corner: QPoint) -> None:
        make = {"broker": self._broker, "store": self._store, "workers": self._workers, "freshness": self._freshness}
        if key in make:
            self._show(make[key](), corner)
        if key in FACTS and self.popover is not None:
            show = partial(self._add_facts, key, self.popover)
            self._asking.start(self._feed.facts, show, lambda _error: None)

    @staticmethod
    def _add_facts(key: str, popover: HealthPopover, facts: Sequence[Mapping[str, str]]) -> None:
        if isValid(popover):
            place, rows = FACTS[key]
            popover.add_rows(rows(facts[place]))

    def _on_part(self, key: str) -> None:
        if key in PAGES:
            self._window.open_page(PAGES[key])
            return
        make = {"lag": self._freshness, "rights": self._rights, "operator": self._rights, "clock": self._time}
        if key in make:
            part = self._window.status_bar.part(key)
            self._show(make[key](), part.mapToGlobal(QPoint(0, 0)), above=True)

    def _show(self, part: HealthDetail, corner: QPoint, *, above: bool = False) -> None:
        self.popover = HealthPopover(part, self._window)
        self.popover.adjustSize()
        right = self._window.mapToGlobal(self._window.rect().bottomRight()).x() - self.popover.width() - 8
        lift = self.popover.height() + 4 if above else 0
        self.popover.show_below(QPoint(min(corner.x(), right), corner.y() - lift))

    # what is told

    def _broker(self) -> HealthDetail:
        broker = self._feed.latest.broker
        name = self._window.top_bar.health_name("broker")
        snapshot = self._feed.latest
        way = snapshot.publisher()
        state, words = _of_broker(snapshot, self._doubts)
        words = words if broker.connected else ""
        part = self._traced(name, state, words, self._health.broker, self._addresses[0], broker.version)
        if not broker.connected:
            return part
        if not snapshot.told:
            since = (_("Queues counted"), self._counted_ago(snapshot))
            again = (_("Reconnect now"), self._feed.dial_anew)
            return replace(part, rows=(*part.rows, since), verbs=(again,))
        lanes = depth.lanes(snapshot.counts, snapshot.depths)
        found = (
            (_("In queues"), text.count(sum(lane.ready for lane in lanes))),
            (_("With workers"), text.count(sum(lane.unacked for lane in lanes))),
            (_("Recorded, not sent"), text.count(sum(lane.unsent for lane in lanes))),
        )
        foreign = depth.unrecorded(snapshot.counts, snapshot.depths)
        others = ((_("From other programs, not yet recorded"), text.count(foreign)),) if foreign else ()
        queues = tuple(
            (_("Work queue {name}").format(name=safe.one_line(one.name, 40)), text.count(one.ready))
            for one in snapshot.depths
            if one.kind == "foreign"
        )
        doubts = tuple((_("Missing"), render(one)) for one in self._doubts)
        return replace(part, rows=(*part.rows, *found, *others, *queues, *doubts, *self._way_rows(way)))

    def _way_rows(self, way: PublisherNow) -> tuple[tuple[str, str], ...]:
        """Why nothing goes to the broker, since when, who meets it, and what helps."""
        if not way.kind:
            return ()
        who = text.listed(safe.one_line(name, 40) or _("this window") for name in way.who[:NAMED])
        return (
            (_("Reason"), render(way.message)),
            (_("Since"), shown.clock(way.since_ms, ticks().present_ms())),
            (_("Who meets it"), who if len(way.who) <= NAMED else f"{who} …"),
            (_("What helps"), render(way.remedy)),
        )

    def _store(self) -> HealthDetail:
        store = self._feed.latest.store
        name = self._window.top_bar.health_name("store")
        state, words = "healthy" if store.connected else "dead", ""
        if store.connected and store.error:
            state, words = "warning", _("takes no writes")
        return self._traced(name, state, words, self._health.store, self._addresses[1], "")

    def _traced(self, name: str, state: str, words: str, trace: Trace, address: str, version: str) -> HealthDetail:
        now = ticks().present_ms()
        rows = [(_("Address"), address)] if address else []
        if version:
            rows.append((_("Version"), version))
        if trace.latencies:
            if trace.connected and not words:
                rows.append((_("Latency now"), _milliseconds(trace.latencies[-1])))
            rows.append((_("Slowest of 10 minutes"), _milliseconds(max(trace.latencies))))
        if trace.lost_ms:
            rows.append((_("Lost since"), shown.clock(trace.lost_ms, now)))
        if trace.error:
            rows.append((_("Last error"), f"{shown.clock(trace.error_ms, now)}  {told(trace.error)}"))
        elif state == "healthy":  # of what does not answer, none would be a lie
            rows.append((_("Last error"), _("none since this window opened")))
        verbs = ((_("Reconnect now"), self._reconnect),) if state == "dead" else ()
        return HealthDetail(
            title=name,
            state=state,
            words=words or (_("answers") if trace.connected else _("no answer")),
            rows=tuple(rows),
            latencies=tuple(trace.latencies),
            verbs=verbs,
        )

    def _workers(self) -> HealthDetail:
        snapshot = self._feed.latest
        fleet = snapshot.fleet()
        rows = [
            (_("Alive"), text.count(fleet.living)),
            (_("Machines"), text.count(fleet.machines)),
            (_("Not heard of"), text.count(fleet.number(*MISSING))),
            (_("Cannot reach the broker"), text.count(fleet.number(CUT_OFF))),
            (_("Slots"), _("{busy} of {all} busy").format(busy=fleet.busy, all=fleet.slots)),
            (_("Take no work"), text.count(fleet.apart)),
            (_("Reconciles the fleet"), snapshot.leader or _("nobody")),
        ]
        words = worker.summary(fleet)
        verb = (_("Open workers"), lambda: self._window.open_page("workers"))
        apart = fleet.living != fleet.known or fleet.number(CUT_OFF)
        state = "warning" if apart or not fleet.living else "healthy"
        if not snapshot.store.connected:  # their heartbeats come from it
            state = "unconfirmed"
            words = _("not known, {up} of {all} were up").format(up=fleet.living, all=fleet.known)
            rows.insert(0, (_("Taken at"), shown.clock(snapshot.at_ms, ticks().present_ms())))
        return HealthDetail(title=_("Workers"), state=state, words=words, rows=tuple(rows), verbs=(verb,))

    def _freshness(self) -> HealthDetail:
        snapshot: Snapshot = self._feed.latest
        age = max(timedelta(seconds=max(0.0, self._clock.monotonic() - snapshot.taken)), _behind(self._window))
        rows = (
            (_("Age of this view"), text.duration(age)),
            (_("Queues counted"), self._counted_ago(snapshot)),
            (_("Taken at"), shown.clock(snapshot.at_ms, ticks().present_ms())),
            (_("Changes heard after"), _milliseconds(snapshot.lag_ms)),
        )
        said = self._window.top_bar.pill("freshness").health
        words = f"{said.name} {said.value}".strip() if said.state == "warning" else _("live")
        lost = self._window.top_bar.is_stale or not snapshot.broker.connected
        verbs = ((_("Reconnect now"), self._reconnect),) if lost else ()
        return HealthDetail(title=_("Freshness"), state=said.state, words=words, rows=rows, verbs=verbs)

    def _counted_ago(self, snapshot: Snapshot) -> str:
        """The broker is asked less often than the records: each queue costs it something."""
        if not snapshot.depths_taken:
            return _("not yet")
        age = timedelta(seconds=max(0.0, self._clock.monotonic() - snapshot.depths_taken))
        return _("{span} ago").format(span=text.duration(age))

    def _rights(self) -> HealthDetail:
        role = self._role.role
        may = {
            "viewer": _("look at everything, change nothing"),
            "operator": _("act on tasks, shops and workers"),
            "admin": _("everything, also task types and roles"),
        }
        rows = [
            (_("Operator"), self._operator.who),
            (_("Role"), called.role(role)),
            (_("You may"), may.get(role, role)),
        ]
        if self._role.read_only:
            rows.append((_("Because"), told(self._role.read_only)))
        elif self._window.acting:
            rows.append((_("Why not now"), self._window.acting))
        state = "warning" if self._window.acting else "healthy"
        return HealthDetail(title=_("Rights"), state=state, words=called.role(role), rows=tuple(rows))

    def _time(self) -> HealthDetail:
        now = shown.moment(ticks().present_ms())
        here = now.astimezone(shown.zone())
        rows = (
            (_("Zone"), text.zone_name(here, shown.zone())),
            (_("On screen"), f"{here:%Y-%m-%d %H:%M:%S}"),
            (_("This computer"), f"{now.astimezone():%Y-%m-%d %H:%M:%S}"),
            ("UTC", f"{now.astimezone(UTC):%Y-%m-%d %H:%M:%S}"),
        )
        return HealthDetail(title=_("Time"), state="healthy", words="", rows=rows)


def _broker_facts(facts: Mapping[str, str]) -> list[tuple[str, str]]:
    """The nodes of its cluster, as far as it tells them."""
    alarms = {"memory": _("memory alarm"), "disk": _("disk alarm")}
    rows = []
    for key, told_ in sorted(facts.items()):
        mark, _space, name = key.partition(" ")
        if mark == "node":
            up, *what = told_.split()
            words = [_("running") if up == "up" else _("does not run"), *(alarms.get(one, one) for one in what)]
            rows.append((_("Node {name}").format(name=safe.one_line(name, 40)), text.listed(words)))
    return rows


def _store_facts(facts: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a Redis is, who copies it, and what becomes of data when its memory is full."""
    rows = [(_("Version"), facts["version"])] if facts.get("version") else []
    if "role" in facts:
        primary = facts["role"] == "master"
        rows.append((_("Role"), _("primary") if primary else _("replica, takes no writes")))
        replicas = facts.get("replicas", "")
        if primary and replicas.isdigit():
            rows.append((_("Replicas"), text.count(int(replicas))))
        if facts.get("primary_link"):
            linked = facts["primary_link"] == "up"
            rows.append((_("Primary"), _("answers") if linked else _("no answer")))
    used, most = facts.get("used_memory", ""), facts.get("maxmemory", "")
    if used.isdigit():
        held = text.size(int(used))
        limited = most.isdigit() and int(most) > 0
        of = _("{used} of {limit}").format(used=held, limit=text.size(int(most))) if limited else ""
        rows.append((_("Memory"), of or text.listed((held, _("no limit")))))
    if policy := facts.get("maxmemory_policy", ""):
        keeps = policy == "noeviction"
        words = _("refuses writes ({policy})") if keeps else _("throws records away ({policy})")
        rows.append((_("When memory is full"), words.format(policy=safe.one_line(policy, 40))))
    return rows


#: what the servers say of themselves: at which place of ``Feed.facts``, and how it is told
FACTS: Mapping[str, tuple[int, Callable[[Mapping[str, str]], list[tuple[str, str]]]]] = {
    "broker": (0, _broker_facts),
    "store": (1, _store_facts),
}


def _of_broker(snapshot: Snapshot, doubts: Sequence[Message]) -> tuple[str, str]:
    """Its state, and that in words; "" where it answers."""
    broker, way = snapshot.broker, snapshot.publisher()
    if not broker.connected:
        return "dead", _("lost")
    if way.blocked:
        return "warning", _("takes no messages")
    if not snapshot.told:
        return "warning", _("no answer")
    return "warning" if way.kind or doubts else "healthy", ""


def _behind(window: QWidget) -> timedelta:
    """For how long the page that is seen lacks what has come since."""
    return timedelta(seconds=behind_s(window))


def _milliseconds(number: float) -> str:
    return text.milliseconds(timedelta(milliseconds=max(0.0, number)))


#: what keeps a timer of a second waiting for so long: a computer that sleeps, a program that was stopped, a clock
#: that was put right
SLEPT_MS = 30_000
#: an answer that took so much more or less than the one shown, or such a share of it, is none of another speed
STEADY_MS, STEADY_SHARE = 3.0, 0.25
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
        running: Callable[[], object] = lambda: False,
        doubts: Sequence[Message] = (),
    ) -> None:
        """``running``: whether a task runs in this program now; ``doubts``: what the connection found missing on the
        broker and does not put right; ``unverified``: nobody checks the certificate of a server.
        """
        super().__init__(window)
        self._window, self._feed, self._operator, self._role = window, feed, operator, role
        self._running = running
        self._sample, self._is_sample = sample, False  # whether the sample fleet is at work here
        self._embedded, self._profile, self._environment = embedded, profile, environment
        self._doubts, self._unverified = tuple(doubts), unverified
        self._clock = SystemClock()
        self._ticked_ms = self._clock.now_ms()
        self._suspended = self._clock.suspended()
        self._slept: tuple[int, int] | None = None  #: from when to when, until something newer is shown
        self._asleep = False  #: whether it was sleep, as far as the system tells
        self._ran = False  #: whether a task ran here then
        self._woke = 0.0  #: monotonic seconds of the end
        self._health = HealthLog()
        self._latencies: dict[str, float] = {}  #: as shown, by part
        #: whether store and broker answered in the newest snapshot; no writes; whether the broker tells what it holds
        self._reached = (True, True, False, True)
        self.loss = LossWatch(
            window,
            feed,
            self._health,
            embedded=embedded,
            profile=profile,
            near=all(address.startswith(NEAR) for address in addresses),
        )
        self.doors = VitalPopovers(
            window, feed, self._health, (operator, role), addresses, self.loss.try_now, self._doubts
        )
        feed.looked.connect(self._on_looked)
        role.changed.connect(self._on_role)
        window.page_changed.connect(lambda _page: self._show_age())
        window.page_changed.connect(lambda _page: self._say_title())
        window.past_changed.connect(self._show_age)
        ticks().passed.connect(self._show_age)
        ticks().now_ms()  # whoever asks lets the seconds pass
        say_in_language(self._say)

    def _say(self) -> None:
        self._window.status_bar.show_operator(self._operator.who, called.role(self._role.role))
        local = self._embedded
        name = titled(self._profile, local=local)
        tag = "DEMO" if self._profile == "demo" or self._is_sample else environment.tag(self._environment)
        production = environment.is_production(self._environment)
        self._window.top_bar.show_profile(name, tag, local=local, production=production, unverified=self._unverified)
        self._named = (name, tag)
        self._say_title()
        self._on_looked(self._feed.latest)

    def _say_title(self) -> None:
        """Which connection and which page: by it the windows of one program are told apart where they are listed."""
        page = next((_(one.title) for one in self._window.specs if one.id == self._window.current), "")
        self._window.setWindowTitle(" · ".join(part for part in (*self._named, page, "Fleetdeck") if part))

    def _on_role(self) -> None:
        self._say()
        self._show_age()
        self._window.tell_acting()  # an admin may what an operator may not

    def _on_looked(self, snapshot: Snapshot) -> None:
        if self._sample() != self._is_sample:
            self._is_sample = self._sample()
            self._say()
            return
        self._role.close(snapshot.newer)
        self._show_health(snapshot)
        self._show_vitals(snapshot)
        self._show_badges(snapshot)
        if snapshot.at_ms or not snapshot.store.connected:
            self._health.note(snapshot, ticks().present_ms())
        self.loss.look(snapshot)
        reached = (snapshot.store.connected, snapshot.broker.connected, bool(snapshot.no_writes), snapshot.told)
        if reached != self._reached:  # at once, not with the next second
            self._reached = reached
            self._show_age()

    def _show_health(self, snapshot: Snapshot) -> None:
        if not snapshot.at_ms:
            return
        broker, store = snapshot.broker, snapshot.store
        fleet, way = snapshot.fleet(), snapshot.publisher()
        engine, storage = (_("Engine"), _("Storage")) if self._embedded else (_("Broker"), _("Redis"))
        state, value = _of_broker(snapshot, self._doubts)
        value = value or self._latency("broker", broker.latency_ms)  # else how fast it was before is no news of it
        tip = render(way.message) if way.kind else told(broker.error) or "\n".join(map(render, self._doubts))
        if not (snapshot.told or tip):
            tip = _("It is there and does not say what it holds; that is as it was")
        missing = fleet.living != fleet.known
        count = f"{fleet.living} / {fleet.known}" if missing else str(fleet.living)
        apart = fleet.number(CUT_OFF)
        if apart:  # a bare number would say that they work
            cut = _("cut off from the broker")
            count = f"{count} · {cut}" if apart == fleet.living else f"{count} · {text.count(apart)} {cut}"
        workers_state = "warning" if missing or apart or not fleet.living else "healthy"
        of_workers = worker.summary(fleet) if fleet.living else _("Nobody works on tasks; start a worker")
        if not store.connected:
            workers_state = "unconfirmed"
            of_workers = _("As they were when Redis was lost") if not self._embedded else ""
        elif snapshot.no_writes:  # nor can a heartbeat be written
            workers_state, of_workers = "unconfirmed", fill(_("{part} takes no writes."), {"part": storage})
        answers = _("takes no writes") if store.error else self._latency("store", store.latency_ms)
        parts = [
            Health(
                key="broker",
                name=engine,
                value=value,
                state=state,
                tip=tip,
            ),
            Health(
                key="store",
                name=storage,
                value=answers if store.connected else _("lost"),
                state="dead" if not store.connected else "warning" if store.error else "healthy",
                tip=told(store.error),
            ),
            Health(key="workers", name=_("Workers"), value=count, state=workers_state, tip=of_workers),
        ]
        self._window.top_bar.show_health(parts)

    def _latency(self, part: str, milliseconds: float) -> str:
        """What a part took to answer: what is shown stays where only chance makes the difference."""
        before = self._latencies.get(part, -1.0)
        if min(before, milliseconds) < 0 or abs(milliseconds - before) > max(STEADY_MS, STEADY_SHARE * before):
            self._latencies[part] = before = milliseconds
        return "" if before < 0 else text.milliseconds(timedelta(milliseconds=before))

    def _show_vitals(self, snapshot: Snapshot) -> None:
        if not (snapshot.at_ms and snapshot.store.connected):
            self._window.status_bar.show_vitals(Vitals(local=self._embedded))
            if snapshot.at_ms:  # else it would be blank until the next look at the clock
                self._window.status_bar.show_silence(self._age(snapshot))
            return
        self._window.status_bar.show_skew(timedelta(seconds=round(snapshot.skew_ms / 1000)))
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
        waiting = len({one.shop for one in snapshot.sessions})
        told = _("shops that want a login or show a captcha")
        rail.set_badge("shops", text.compact(waiting) if waiting else "", "login", told)
        missing = snapshot.fleet().number(*MISSING)
        rail.set_badge("workers", str(missing) if missing else "", "retrying", _("workers that are not heard of"))

    def _note_sleep(self, snapshot: Snapshot) -> None:
        """Whether time went by unseen since the last look; of before that is what stands here, until it is asked anew.

        The wall clock alone tells that everywhere; Linux alone tells whether it was sleep.
        """
        now, suspended = self._clock.now_ms(), self._clock.suspended()
        before, self._ticked_ms = self._ticked_ms, now
        asleep, self._suspended = (suspended - self._suspended) * 1000 > SLEPT_MS // 2, suspended
        if now - before > SLEPT_MS:
            self._asleep = asleep or (self._asleep and self._slept is not None)
            self._ran = bool(self._running()) or (self._ran and self._slept is not None)
            begin = self._slept[0] if self._slept is not None else before
            self._slept, self._woke = (begin, now), self._clock.monotonic()
            self._feed.try_now()
        elif self._slept is not None and snapshot.taken > self._woke and snapshot.store.connected:
            ahead = ticks().present_ms() - now  # all times on screen are those of the fleet
            span = (self._slept[0] + ahead, self._slept[1] + ahead)
            fresh = snapshot.broker.connected
            told = partial(_told_of_sleep, *span, asleep=self._asleep, all_fresh=fresh, ran=self._ran)
            self._window.toasts.say(lasting(told))
            self._slept = None

    def _show_age(self) -> None:
        snapshot = self._feed.latest
        self._note_sleep(snapshot)
        if not snapshot.at_ms:
            self._window.top_bar.show_freshness(None)
            return
        age = self._age(snapshot)
        if self.loss.since_ms:
            since = shown.clock(self.loss.as_of_ms, ticks().present_ms())
            self._window.top_bar.show_lost(since, records=snapshot.store.connected)
            self._window.stand_still("" if snapshot.store.connected else since)
        elif self._window.recorded and (past := self._past()):
            self._window.top_bar.show_recorded(past)
        elif not snapshot.told and snapshot.depths_taken and age <= STALE_AFTER:  # the rest is of now
            old_ms = round((self._clock.monotonic() - snapshot.depths_taken) * 1000)
            now = ticks().present_ms()
            self._window.top_bar.show_lost(shown.clock(now - old_ms, now), records=True)
        else:
            self._window.top_bar.show_freshness(age, _behind(self._window))
        # without the broker the records still tell the truth; without the store nothing here does
        stale = age > STALE_AFTER or not snapshot.store.connected
        self._window.set_stale(stale)
        reason = self._reason(stale=stale)
        self._window.top_bar.set_can_create(reason)
        self._window.set_acting(reason)
        past = self._past()
        if past and not stale:
            self._window.status_bar.show_rights(reason, _("PAST {time}").format(time=past), "scheduled")
        else:
            self._window.status_bar.show_rights(reason)
        if not snapshot.store.connected:
            self._window.status_bar.show_silence(age)

    def _past(self) -> str:
        """The moment that is looked at in place of now, as people read it; "" for now."""
        past = self._window.past_ms
        return shown.clock(past, ticks().present_ms()) if past else ""

    def _age(self, snapshot: Snapshot) -> timedelta:
        slept = timedelta(milliseconds=self._slept[1] - self._slept[0]) if self._slept is not None else timedelta()
        return max(timedelta(seconds=max(0.0, self._clock.monotonic() - snapshot.taken)), slept)

    def _reason(self, *, stale: bool) -> str:
        if stale and self._slept is not None:
            if not self._asleep:
                return _("Not before the figures are of now again: the clock went ahead")
            return _("Not before the figures are of now again: this computer slept")
        if stale:
            return _("Not while the connection is lost")
        if past := self._past():
            return _("You look at {time}. Go back to now to act.").format(time=past)
        if self._role.read_only:
            return told(self._role.read_only)
        if self.loss.refusal:
            return self.loss.refusal
        return _("Your role may only look") if self._role.role == "viewer" else ""


def _told_of_sleep(begin_ms: int, end_ms: int, *, asleep: bool, all_fresh: bool, ran: bool) -> ToastSpec:
    begin, end = (shown.clock(at_ms, end_ms) for at_ms in (begin_ms, end_ms))
    said = _("This computer slept from {begin} to {end}.").format(begin=begin, end=end)
    if not asleep:
        said = _("The clock went ahead by {span}.").format(span=text.duration(shown.span(end_ms - begin_ms)))
    fresh = _("All figures are of now again.") if all_fresh else ""
    on = _("What ran here goes on unless another worker has taken it over.") if ran else ""
    detail = text.run_on((fresh, on))
    return ToastSpec(text=said, detail=detail, status="scheduled", seconds=12, key="slept")


def connect_overview(page: QObject, window: MainWindow, run_verb: Callable[[str, str], None]) -> None:
    """The doors of the Overview."""
    page.open_tasks.connect(lambda expression: window.open_page("tasks", expression))  # type: ignore[attr-defined]
    page.open_dead.connect(lambda: window.open_page("dead_letters", ""))  # type: ignore[attr-defined]
    page.open_workers.connect(lambda: window.open_page("workers"))  # type: ignore[attr-defined]
    page.open_shop.connect(lambda platform, shop: window.open_page("shops", f"{platform}:{shop}"))  # type: ignore[attr-defined]
    page.attention_verb.connect(run_verb)  # type: ignore[attr-defined]


class KeptColumns(QObject):
    """How a person left the columns of the tables of each page: kept with each change, so that it outlives a kill.

    A table is known by its page and its name; who keeps its own columns is left alone.
    """

    def __init__(self, window: MainWindow, memory: Memory) -> None:
        super().__init__(window)
        self._memory = memory
        window.page_made.connect(self._follow)

    def _follow(self, page_id: str, page: Page) -> None:
        for table in page.findChildren(TableView):
            layout = table.layout_of_columns
            if layout.kept_by_page or not table.source_name:
                continue
            name = f"columns.{page_id}.{table.source_name}"
            kept = self._memory.get(name)
            if isinstance(kept, dict):
                layout.restore(kept)
            layout.arranged.connect(partial(self._keep, name, layout))

    def _keep(self, name: str, layout: ColumnsLayout) -> None:
        # the order of rows is that of the page at each start
        now = {part: value for part, value in layout.save().items() if part != "sorts"}
        if self._memory.get(name) != now:
            self._memory.put(name, now)
