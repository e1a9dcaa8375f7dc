"""A lost connection from its first second to the return: banner, card, greys, and what happened meanwhile."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from console.main_window import MainWindow
from services.domain.insight import connection
from services.domain.insight.worker import CUT_OFF
from services.domain.task.status import WAITING, Status
from services.i18n import _, fill, ngettext, pgettext
from services.messages import render, told
from services.monitor.health import HealthLog, Trace
from services.monitor.live import Snapshot
from views.shell.lost_card import DisconnectedCard, LostPart
from views.support import shown, text
from views.support.feed import Feed
from views.support.instant import ticks
from views.support.language import on_language_changed
from views.support.words import worker
from views.widgets.toast import ToastAction, ToastSpec

CARD_AFTER_MS = 10_000
TOLD_AFTER_MS = 2_000
BROKER_PACE_MS = 1_000
BACK = "back"  #: key of the message that tells of the return


class LossWatch(QObject):
    """Fed with every snapshot by the shell's wiring.

    Signals:
        other_wanted: another connection is wanted; the list may stand at this global position.
        correct_wanted: what is set for this connection is to be corrected.
    """

    other_wanted = Signal(QPoint)
    correct_wanted = Signal()

    def __init__(
        self,
        window: MainWindow,
        feed: Feed,
        health: HealthLog,
        *,
        embedded: bool,
        profile: str,
        near: bool = False,
    ) -> None:
        """``near``: broker and store are on this machine, so no network leads to them."""
        super().__init__(window)
        self._near = near
        self._window, self._feed, self._health = window, feed, health
        self._embedded, self._profile = embedded, profile
        self._lost_at, self._told_at, self._tries, self._dismissed = 0, 0, 0, False
        self._before: Snapshot | None = None
        self._refusal = ""  #: why nothing can be changed though all of it answers
        self._newer = False  #: that being that a newer program wrote the data
        self._heard_at = 0  #: last answer of the store, UTC ms; 0 while it answers
        self.gone_at_ms = 0  #: when it was lost, UTC ms; noticed a little later (``_lost_at``)
        self.card = DisconnectedCard(window)
        self.card.other_profile.connect(self._on_other)
        self.card.correct_wanted.connect(self._on_correct)
        self.card.try_now.connect(self.try_now)
        self.card.dismissed.connect(self._on_dismissed)
        self.card.copy_report.connect(self._copy)
        window.banner.copy_report.connect(self._copy)
        window.banner.try_now.connect(self.try_now)
        window.page_changed.connect(self._on_page)
        self._timer = QTimer(self, singleShot=True, interval=CARD_AFTER_MS)
        self._timer.timeout.connect(self.show_card)
        on_language_changed(self._say)

    @property
    def since_ms(self) -> int:
        """Since when the connection is lost, 0 while it is not."""
        return self._lost_at

    @property
    def as_of_ms(self) -> int:
        """Of when the newest is that is known meanwhile: that a store is silent is noticed some seconds later."""
        return self._heard_at or self._lost_at

    def look(self, snapshot: Snapshot) -> None:
        """Take in a snapshot."""
        if not snapshot.at_ms and snapshot.store.connected:
            return
        self._heard_at = 0 if snapshot.store.connected else snapshot.at_ms
        if snapshot.store.connected and snapshot.broker.connected:
            if self._lost_at:
                self._found(snapshot)
            self._before = snapshot
            self._newer = bool(snapshot.newer)
            self._show_refusal(snapshot.newer or snapshot.no_writes)
            return
        self._refusal = ""
        now = ticks().present_ms()
        if not self._lost_at:
            self._lost_at, self._tries, self._dismissed = now, 0, False
            self.gone_at_ms = self.as_of_ms
            self._timer.start()
            self._told_at = 0
            self._window.toasts.close(BACK)  # it would stand beside that it is lost again
        if not snapshot.retry_in_s and now - self._told_at < BROKER_PACE_MS:
            return  # the store answers and snapshots go on; the broker is tried at a pace of its own
        self._told_at = now
        self._tries = snapshot.tries
        wait = snapshot.retry_in_s  # 0 where only the broker is lost: its driver tries at a pace of its own
        self._window.banner.show_loss(*self._banner_words(), wait, wait)
        if self.card.isVisible():
            self.show_card()

    def _banner_words(self) -> tuple[str, str]:
        reach, now = self.reach(), ticks().present_ms()
        at = {"part": self._lost_name(), "time": shown.clock(self.as_of_ms, now)}
        if why := self._refused():
            return fill(_("{part} refuses this connection since {time}."), at), text.run_on([told(one) for one in why])
        lead = fill(_("{part} lost at {time}."), at)
        return lead, text.run_on((render(connection.on_screen(reach)), render(connection.meanwhile(reach))))

    def _refused(self) -> list[str]:
        """Why the parts that are lost refuse this connection; nothing where one of them may be away."""
        errors = [trace.error for _name, trace in self._named() if not trace.connected]
        return errors if errors and all(map(connection.refused, errors)) else []

    def _show_refusal(self, why: str) -> None:
        """Say that what is shown is true and nothing can be changed, as long as that is so."""
        if why == self._refusal:
            return
        self._refusal = why
        if why:
            self._window.banner.show_loss(*self._refusal_words(), 0.0, 0.0, tried=not self._newer)
        else:
            self._window.banner.clear()

    def _refusal_words(self) -> tuple[str, str]:
        if self._newer:
            return _("Read-only: this Fleetdeck is too old."), told(self._refusal)
        name = self._named()[1][0]
        lead = fill(_("{part} takes no writes."), {"part": name})
        true = _("What is shown is true, and nothing can be changed now: {why}")
        return lead, fill(true, {"why": told(self._refusal)})

    @property
    def refusal(self) -> str:
        """Why nothing can be changed though all of it answers, "" where that is not so."""
        return text.run_on(self._refusal_words()) if self._refusal else ""

    def _say(self) -> None:
        if self._lost_at:
            self._window.banner.show_words(*self._banner_words())
        elif self._refusal:
            self._window.banner.show_words(*self._refusal_words())

    def reach(self) -> connection.Reach:
        """Which parts answer now."""
        broker, store = self._health.broker.connected, self._health.store.connected
        fleet = self._feed.latest.fleet() if store else None
        return connection.Reach(
            broker=broker,
            store=store,
            embedded=self._embedded,
            online=is_online() or self._near,
            alive=fleet.living if fleet is not None else None,
            apart=fleet.number(CUT_OFF) if fleet is not None else 0,
            refused=not broker and connection.refused(self._health.broker.error),
        )

    def try_now(self) -> None:
        """Do not wait for the next try."""
        self._window.banner.show_trying()
        self._feed.try_now()

    def _found(self, snapshot: Snapshot) -> None:
        now = ticks().present_ms()
        noticed, gone = now - self._lost_at, now - self.gone_at_ms
        self._lost_at = 0
        self._timer.stop()
        self.card.hide()
        self._window.banner.clear()
        self._window.set_stale(False)
        self._window.stand_still("")
        self._window.catch_up()
        if noticed >= TOLD_AFTER_MS:
            self._window.toasts.show(self._summary(gone, snapshot))

    def _summary(self, gone_ms: int, snapshot: Snapshot) -> ToastSpec:
        back = _("Back after {span}.").format(span=text.duration(shown.span(gone_ms)))
        spec = ToastSpec(text=back, status="healthy", key=BACK)
        if self._before is None:
            return spec
        old, new = self._before.counts.status, snapshot.counts.status
        done = max(0, new.get(Status.SUCCEEDED, 0) - old.get(Status.SUCCEEDED, 0))
        died = max(0, new.get(Status.DEAD, 0) - old.get(Status.DEAD, 0))
        if not done and not died:  # workers may yet hand in what they finished meanwhile: none is no news
            return spec
        said = ngettext("{n} task done", "{n} tasks done", done).format(n=text.count(done))
        dead = ngettext("{n} new dead letter", "{n} new dead letters", died).format(n=text.count(died))
        page = "dead_letters" if died else "tasks"
        opens = ToastAction(text=pgettext("button", "Open"), call=partial(self._window.open_page, page))
        return replace(spec, text=text.sentences((back, text.listed((said, dead)))), actions=(opens,))

    def _on_other(self) -> None:
        self.other_wanted.emit(self.card.mapToGlobal(self.card.rect().bottomLeft()))

    def _on_correct(self) -> None:
        self._on_dismissed()
        self.correct_wanted.emit()

    def _on_dismissed(self) -> None:
        self._dismissed = True
        self.card.hide()

    def _on_page(self) -> None:
        """Whoever goes on to another page has read the card; the banner stays."""
        if self.card.isVisible():
            self._on_dismissed()

    def show_card(self) -> None:
        """Say which parts answer, unless nothing is lost or the card was sent away."""
        if not self._lost_at or self._dismissed:
            return
        self.card.show_parts(self._title(), self._words(), self.parts(), refused=bool(self._refused()))
        place = self._window.rect().center() - self.card.rect().center()
        self.card.move(place)

    def _lost_name(self) -> str:
        lost = [name for name, trace in self._named() if not trace.connected]
        return self._profile if len(lost) != 1 else lost[0]

    def _title(self) -> str:
        refused = bool(self._refused())
        words = _("{name} refuses this connection") if refused else _("{name} does not answer")
        return fill(words, {"name": self._lost_name()})

    def _words(self) -> str:
        """What is true meanwhile, then how it is tried again."""
        reach = self.reach()
        known = [connection.meanwhile(reach), connection.perhaps(reach)]
        return text.run_on([*(render(one) for one in known if one is not None), self._next_try()])

    def _next_try(self) -> str:
        if self._refused():
            return _("Trying again does not help as long as that is so.")
        if not self._tries:
            return _("The broker is tried again every few seconds.")
        tries = ngettext("Attempt {n}.", "Attempt {n}.", self._tries).format(n=text.count(self._tries))
        doubles = _("Each wait doubles, up to 30 s.")
        return text.run_on((tries, doubles))

    def _named(self) -> tuple[tuple[str, Trace], ...]:
        broker, store = (_("Engine"), _("Storage")) if self._embedded else (_("Broker"), _("Redis"))
        return (broker, self._health.broker), (store, self._health.store)

    def parts(self) -> list[LostPart]:
        """What is known of each part now."""
        parts = []
        if not self._embedded:
            online = is_online()
            words = _("this computer is online") if online else _("this computer is offline")
            parts.append(LostPart(name=_("Network"), text=words, state="healthy" if online else "dead"))
        now = ticks().present_ms()
        for name, trace in self._named():
            if trace is self._health.broker and not self._embedded:
                name = _("Broker (RabbitMQ)")  # what the errors below call it
            seen = _("last seen {time}").format(time=shown.clock(trace.seen_ms, now)) if trace.seen_ms else ""
            words = _("answers") if trace.connected else told(trace.error) or _("no answer")
            state = "healthy" if trace.connected else "dead"
            parts.append(LostPart(name=name, text=words, state=state, seen="" if trace.connected else seen))
        if workers := self._of_workers():
            parts.append(workers)
        return parts

    def _of_workers(self) -> LostPart | None:
        """What is known of the workers: their heartbeats come from the store."""
        if self._health.store.connected:
            fleet = self._feed.latest.fleet()
            well = fleet.living == fleet.known and fleet.living and not fleet.number(CUT_OFF)
            return LostPart(name=_("Workers"), text=worker.summary(fleet), state="healthy" if well else "warning")
        if self._before is None:
            return None
        fleet = self._before.fleet()
        words = _("not known, {up} of {all} were up").format(up=fleet.living, all=fleet.known)
        return LostPart(name=_("Workers"), text=words, state="unconfirmed")

    def _copy(self) -> None:
        rows = [f"{part.name}\t{part.text}\t{part.seen}".rstrip() for part in self.parts()]
        head = self._lost_words() if self._lost_at or not self._refusal else [self.refusal]
        head[0] = f"{self._profile}: {head[0]}"
        QGuiApplication.clipboard().setText("\n".join([*head, *self._waiting(), *rows]))
        words = _("Copied: send it to whoever can help")
        self._window.toasts.show(ToastSpec(text=words, status="healthy", key="copied"))

    def _lost_words(self) -> list[str]:
        now = ticks().present_ms()
        head = _("Connection lost at {time}.").format(time=shown.clock(self.as_of_ms, now))
        age = text.duration(timedelta(milliseconds=max(0, now - self.as_of_ms)))
        return [f"{head} ({age})", self._words()]

    def _waiting(self) -> list[str]:
        """How many tasks wait, as far as that is known."""
        seen = self._feed.latest if self._health.store.connected else self._before
        if seen is None:
            return []
        number = sum(seen.counts.status.get(status, 0) for status in WAITING)
        said = ngettext("{n} task waiting", "{n} tasks waiting", number).format(n=text.count(number))
        return [said if self._health.store.connected else _("{what} when it was lost").format(what=said)]


def is_online() -> bool:
    """Whether this computer has a network at all, apart from itself."""
    # read when it is needed: the window opens sooner
    import psutil

    return any(card.isup for name, card in psutil.net_if_stats().items() if not name.lower().startswith("lo"))
