"""A lost connection as a person meets it, and what the pills and the status bar tell."""

from __future__ import annotations

import dataclasses
import re
from datetime import timedelta
from threading import Event

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from console import wiring
from console.bootstrap import OpenWindow as Console
from console.connection import loss
from services import i18n
from services.domain.errors import BrokerUnavailable, StoreUnavailable
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.task.order import BrokerHealth
from services.domain.task.status import Status
from services.domain.text.said import said
from tests.gui.desk import Desk
from tests.support.widgets import find
from views.pages.overview.page import OverviewPage
from views.pages.tasks.page import TasksPage
from views.shell import top_bar
from views.shell.health_pill import HealthPill
from views.shell.health_popover import HealthPopover
from views.support import shown
from views.support.instant import ticks
from views.widgets.buttons import Button
from views.widgets.unknown import Unknown

pytestmark = [pytest.mark.both_pairs, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]
LEFT = Qt.MouseButton.LeftButton
#: a broker is asked every few seconds, and waited for
WAIT_MS = 20_000


class Cut:
    """The store of the session, which answers or does not."""

    def __init__(self, desk: Desk, patch: pytest.MonkeyPatch) -> None:
        self._patch, self._store, self._live = patch, desk.session.engine.store, desk.session.live

    def cut(self, after_s: float = 0.0) -> None:
        """``after_s``: how long it is waited for before that is said."""

        def silent() -> object:
            Event().wait(after_s)
            raise StoreUnavailable("redis.example.com:6380 timed out")

        self._patch.setattr(self._store, "counts", silent)

    def cut_wholly(self) -> None:
        """Nothing that is asked of it is answered, as when its server is gone."""

        def silent(*_args: object, **_more: object) -> object:
            raise StoreUnavailable("redis.example.com:6380 timed out")

        for name in dir(type(self._store)):
            if not name.startswith("_") and name != "close" and callable(getattr(self._store, name)):
                self._patch.setattr(self._store, name, silent)

    def mend(self) -> None:
        self._patch.undo()
        self._live.try_now()


@pytest.fixture
def cut(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Cut:
    return Cut(desk, monkeypatch)


def test_a_loss_shows_banner_and_greys_and_forbids_to_act(qtbot: QtBot, console: Console, desk: Desk, cut: Cut) -> None:
    window = console.window
    tasks = window.page("tasks")
    assert isinstance(tasks, TasksPage)
    cut.cut()
    qtbot.waitUntil(window.banner.isVisible)
    said = window.banner.accessibleName()
    here = desk.session.settings.embedded
    assert said.startswith("Storage lost at" if here else "Redis lost at")
    who = "The workers of this computer finish" if here else "Workers finish"
    assert f"Everything below is as it was then. {who} what they hold" in said
    assert "keep going" not in said
    i18n.set_language("zh_CN")
    assert "断开" in window.banner.accessibleName()
    i18n.set_language("en")
    qtbot.waitUntil(lambda: window.top_bar.pill("freshness").health.name == "as of")
    assert window.top_bar.pill("freshness").health.state == "warning"
    header = window.page(window.current).header
    qtbot.waitUntil(lambda: header.still().startswith("as of "))
    window.open_page("tasks")
    qtbot.waitUntil(lambda: bool(tasks.header.still()))  # what is opened meanwhile stands still too
    window.toggle_freeze()
    assert not window.frozen
    freeze = tasks.buttons.freezing.button
    assert (freeze.text(), freeze.isEnabled()) == ("Freeze view", False)
    assert freeze.toolTip() == "Not while the connection is lost"
    qtbot.waitUntil(lambda: window.stack.graphicsEffect() is not None)
    assert not window.top_bar.create_button.isEnabled()
    assert window.top_bar.create_button.toolTip() == "Not while the connection is lost"
    assert not any(button.isEnabled() for button in tasks.bar.buttons.values())
    assert tasks.bar.buttons["cancel"].toolTip() == "Not while the connection is lost"
    assert window.status_bar.part("rights").words() == "READ-ONLY"
    assert window.status_bar.part("lag").words().startswith("No events for")
    cut.mend()
    qtbot.waitUntil(lambda: not window.banner.isVisible())
    assert window.stack.graphicsEffect() is None, "grey goes with the banner, not half a second later"
    qtbot.waitUntil(window.top_bar.create_button.isEnabled)
    assert not tasks.header.still()
    assert tasks.buttons.freezing.button.isEnabled()
    qtbot.waitUntil(lambda: window.top_bar.pill("freshness").health.name == "live")


@pytest.mark.one_pair
def test_what_is_seen_is_of_the_last_answer_not_of_when_the_silence_was_noticed(
    qtbot: QtBot, console: Console, cut: Cut
) -> None:
    loss, window = console.wiring.loss, console.window
    cut.cut(after_s=1.5)
    qtbot.waitUntil(lambda: loss.since_ms > 0)
    heard = console.feed.latest.at_ms
    assert loss.since_ms - heard >= 1_000
    assert loss.gone_at_ms == heard
    clock = shown.clock(heard, loss.since_ms)
    assert f"lost at {clock}. Everything below is as it was then" in window.banner.accessibleName()
    qtbot.waitUntil(lambda: window.top_bar.pill("freshness").health.name == "as of")
    qtbot.waitUntil(lambda: clock in window.top_bar.pill("freshness").health.value)
    qtbot.waitUntil(lambda: window.page(window.current).header.still() == f"as of {clock}")
    cut.mend()
    qtbot.waitUntil(lambda: not window.banner.isVisible())


def test_the_card_names_each_part_and_can_be_dismissed(qtbot: QtBot, console: Console, desk: Desk, cut: Cut) -> None:
    here = desk.session.settings.embedded
    storage, engine = ("Storage", "Engine") if here else ("Redis", "Broker")
    finish = "The workers of this computer finish" if here else "Workers finish"
    loss = console.wiring.loss
    cut.cut()
    qtbot.waitUntil(lambda: loss.since_ms > 0)
    assert not loss.card.isVisible()
    loss.show_card()
    assert loss.card.isVisible()
    assert loss.card.accessibleName().startswith(f"{storage} does not answer. {finish}")
    parts = {part.name: part for part in loss.parts()}
    assert parts[storage].text == "redis.example.com:6380 timed out"
    assert parts[engine if here else "Broker (RabbitMQ)"].state == "healthy"
    assert parts["Workers"].state == "unconfirmed"
    loss.card.copy_report.emit()
    assert f"{storage}\tredis.example.com:6380 timed out" in QGuiApplication.clipboard().text()
    loss.card.dismissed.emit()
    loss.show_card()
    assert not loss.card.isVisible()
    loss.try_now()
    cut.mend()
    qtbot.waitUntil(lambda: not loss.since_ms)


def test_the_copied_message_says_what_waits_and_the_workers_say_that_they_are_cut_off(
    qtbot: QtBot, console: Console, desk: Desk
) -> None:
    if desk.session.settings.embedded:
        pytest.skip("a file has no broker")
    seen = desk.session.live.snapshot()
    link = LinkState(error="refused", lost_at=seen.at_ms)
    apart = WorkerInfo(worker="w1", host="h", pid=1, seen_at=seen.at_ms, slots=(SlotState(),), link=link)
    down = BrokerHealth(connected=False, error="nothing listens at 10.0.0.9:5672: start RabbitMQ", since_ms=seen.at_ms)
    counts = replace(seen.counts, status={Status.QUEUED: 36})
    console.feed.looked.emit(dataclasses.replace(seen, broker=down, workers=(apart,), counts=counts))
    pills = {pill.health.key: pill.health for pill in console.window.top_bar.findChildren(HealthPill)}
    assert pills["workers"].value == "1 · cut off from the broker"
    console.window.banner.report.click()
    told = QGuiApplication.clipboard().text()
    assert "Broker (RabbitMQ)\tnothing listens at 10.0.0.9:5672: start RabbitMQ" in told
    assert "\nWorkers\t" in told


def test_a_broker_that_refuses_this_window_is_not_told_as_silent(
    qtbot: QtBot, console: Console, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its user or password was changed: trying again helps nobody, and the workers go on with theirs."""
    if desk.session.settings.embedded:
        pytest.skip("a file has no broker")
    engine, loss, banner = desk.session.engine, console.wiring.loss, console.window.banner
    engine.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, slots=(SlotState(),)))
    qtbot.waitUntil(lambda: console.feed.latest.fleet().living == 1)
    why = said("broker.user", place="rabbit.example.com:5672", user="'ops'")
    monkeypatch.setattr(engine.broker, "health", lambda: BrokerHealth(connected=False, error=why))
    qtbot.waitUntil(banner.isVisible)
    assert banner.accessibleName().startswith("Broker refuses this connection since")
    assert str(why) in banner.accessibleName()
    engine.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, slots=(SlotState(),)))
    qtbot.waitUntil(lambda: console.feed.latest.broker_serves)
    loss.show_card()
    assert loss.card.accessibleName() == (
        "Broker refuses this connection. Workers go on as usual; what is created here is recorded and sent a little"
        " later. Trying again does not help as long as that is so."
    )
    assert not find(loss.card, Button, "Other connection…").isVisible()
    with qtbot.waitSignal(loss.correct_wanted):
        find(loss.card, Button, "Correct this connection…").click()
    assert not loss.card.isVisible()
    gone = BrokerHealth(connected=False, error=said("broker.nobody", place="rabbit.example.com:5672"))
    monkeypatch.setattr(engine.broker, "health", lambda: gone)
    qtbot.waitUntil(lambda: banner.accessibleName().startswith("Broker lost at"))
    monkeypatch.undo()
    qtbot.waitUntil(lambda: not banner.isVisible())


@pytest.mark.one_pair
def test_a_broker_that_is_there_and_says_nothing_makes_what_it_told_look_old(
    qtbot: QtBot, console: Console, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, broker = Event(), desk.session.engine.broker
    tell = broker.depths

    def silent() -> object:
        goes_on.wait(30)
        return tell()

    window = console.window
    window.open_page("overview")
    page = window.page("overview")
    assert isinstance(page, OverviewPage)
    qtbot.waitUntil(lambda: page.settled and console.feed.latest.told, timeout=WAIT_MS)
    pill = window.top_bar.pill("broker")
    assert pill.health.state == "healthy"
    monkeypatch.setattr(broker, "depths", silent)
    try:
        qtbot.waitUntil(lambda: (pill.health.value, pill.health.state) == ("no answer", "warning"), timeout=WAIT_MS)
        old = page.charts.depth, page.charts.unacked, page.tiles["unacked"]
        qtbot.waitUntil(lambda: all(one.graphicsEffect() is not None for one in old), timeout=WAIT_MS)
        assert page.charts.rates.graphicsEffect() is None, "the records tell that"
        assert page.tiles["unacked"].kpi.value == "–"
        assert not window.banner.isVisible(), "nothing is lost"
        qtbot.waitUntil(lambda: window.top_bar.pill("freshness").health.name == "records live, broker as of")
        pill.click()
        detail = console.wiring.doors.popover
        assert detail is not None
        assert detail.part.words == "no answer"
        assert "Queues counted" in dict(detail.part.rows)
        assert "Latency now" not in dict(detail.part.rows), "it has not answered now"
        dialled = []
        monkeypatch.setattr(broker, "dial_anew", lambda: dialled.append(True))
        (again,) = detail.buttons
        assert again.text() == "Reconnect now"
        again.click()
        assert dialled == [True]
    finally:
        goes_on.set()
    qtbot.waitUntil(lambda: pill.health.state == "healthy", timeout=WAIT_MS)
    qtbot.waitUntil(lambda: all(one.graphicsEffect() is None for one in old), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_records_that_stop_coming_are_not_told_as_new_while_the_broker_says_nothing(
    qtbot: QtBot, console: Console, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, engine = Event(), desk.session.engine
    count = engine.store.counts

    def silent() -> object:
        raise BrokerUnavailable("amqp.example.com:5671 timed out")

    def slow() -> object:
        goes_on.wait(30)
        return count()

    bar = console.window.top_bar
    qtbot.waitUntil(lambda: bool(console.feed.latest.depths), timeout=WAIT_MS)
    monkeypatch.setattr(wiring, "STALE_AFTER", timedelta(seconds=4))
    monkeypatch.setattr(top_bar, "STALE_AFTER", timedelta(seconds=4))
    monkeypatch.setattr(engine.broker, "depths", silent)
    qtbot.waitUntil(lambda: bar.pill("freshness").health.name == "records live, broker as of", timeout=WAIT_MS)
    monkeypatch.setattr(engine.store, "counts", slow)
    try:
        qtbot.waitUntil(lambda: bar.pill("freshness").health.name == "stale", timeout=WAIT_MS)
        assert bar.is_stale
        assert not bar.create_button.isEnabled()
        assert not console.wiring.loss.since_ms, "nothing is known to be lost"
    finally:
        goes_on.set()
    qtbot.waitUntil(lambda: bar.pill("freshness").health.name == "records live, broker as of", timeout=WAIT_MS)


@pytest.mark.one_pair
def test_the_card_does_not_follow_to_another_page(qtbot: QtBot, console: Console, desk: Desk, cut: Cut) -> None:
    loss = console.wiring.loss
    cut.cut()
    qtbot.waitUntil(lambda: loss.since_ms > 0)
    loss.show_card()
    assert loss.card.isVisible()
    console.window.open_page("workers")
    assert not loss.card.isVisible()
    assert console.window.banner.isVisible()
    cut.mend()
    qtbot.waitUntil(lambda: not loss.since_ms)


def told_after_two_minutes(qtbot: QtBot, console: Console, cut: Cut) -> str:
    """Mend it as if it had been gone so long; what is told then."""
    loss = console.wiring.loss
    loss.gone_at_ms -= 130_000  # what a silence lasts counts from its beginning,
    loss._lost_at -= 3_000  # not from when it was noticed
    cut.mend()
    qtbot.waitUntil(lambda: len(console.window.toasts.toasts()) > 0)
    return console.window.toasts.toasts()[-1].spec.text.replace("\u202f", " ")


def test_the_return_says_what_happened_meanwhile(qtbot: QtBot, console: Console, desk: Desk, cut: Cut) -> None:
    done, died = desk.create(), desk.create(1)
    qtbot.waitUntil(lambda: console.feed.latest.counts.total == 2)
    cut.cut()
    loss = console.wiring.loss
    qtbot.waitUntil(lambda: loss.since_ms > 0)
    desk.succeed(done)
    desk.fail(died)
    text = told_after_two_minutes(qtbot, console, cut)
    assert text.startswith("Back after 2 m ")
    assert text.endswith("1 task done, 1 new dead letter.")
    assert desk.get(died.task_id).status == Status.DEAD
    (toast,) = (one for one in console.window.toasts.toasts() if one.spec.text.startswith("Back"))
    (opens,) = toast.spec.actions
    opens.call()
    assert console.window.current == "dead_letters"


@pytest.mark.one_pair
def test_the_return_does_not_say_that_nothing_was_done(qtbot: QtBot, console: Console, cut: Cut) -> None:
    cut.cut()
    loss = console.wiring.loss
    qtbot.waitUntil(lambda: loss.since_ms > 0)
    text = told_after_two_minutes(qtbot, console, cut)
    assert text.startswith("Back after 2 m ")
    assert text.endswith(" s."), "workers may yet hand in what they finished"
    cut.cut()
    qtbot.waitUntil(lambda: loss.since_ms > 0)
    assert console.window.toasts.toasts() == (), "it is not back any more"
    cut.mend()
    qtbot.waitUntil(lambda: not loss.since_ms)


@pytest.mark.one_pair
def test_a_short_loss_is_not_worth_a_message(
    qtbot: QtBot, console: Console, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "TOLD_AFTER_MS", 60_000)  # however busy this machine is
    cut.cut()
    qtbot.waitUntil(lambda: console.wiring.loss.since_ms > 0)
    cut.mend()
    qtbot.waitUntil(lambda: not console.wiring.loss.since_ms)
    assert console.window.toasts.toasts() == ()


def test_a_latency_that_varies_by_chance_is_not_told_anew(console: Console, desk: Desk) -> None:
    desk.session.live.close()  # no snapshot but those told here
    pill, latest = console.window.top_bar.pill("store"), console.feed.latest

    def told(*latencies: float) -> list[str]:
        values = []
        for latency in latencies:
            store = replace(latest.store, connected=True, latency_ms=latency)
            console.feed.looked.emit(dataclasses.replace(latest, at_ms=1, store=store))
            values.append(pill.health.value.replace("\u202f", " "))
        return values

    assert told(500.0, 2.0, 3.4, 1.2, 4.8) == ["500 ms", "2 ms", "2 ms", "2 ms", "2 ms"]
    assert told(40.0, 48.0, 33.0, 60.0) == ["40 ms", "40 ms", "40 ms", "60 ms"]


def test_a_store_that_takes_no_writes_is_told_while_all_is_shown_on(
    qtbot: QtBot, console: Console, desk: Desk, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = console.window
    qtbot.waitUntil(lambda: window.top_bar.pill("store").health.state == "healthy")
    full = said("file.full")
    monkeypatch.setattr(desk.session.engine.store, "health", lambda: (True, 1.0, full))
    qtbot.waitUntil(window.banner.isVisible)
    name = "Storage" if desk.session.settings.embedded else "Redis"
    assert window.banner.accessibleName().startswith(f"{name} takes no writes. What is shown is true")
    assert window.banner.accessibleName().endswith(full)
    pill = window.top_bar.pill("store").health
    assert (pill.state, pill.value, pill.tip) == ("warning", "takes no writes", full)
    window.top_bar.health_requested.emit("store", QPoint(0, 0))
    assert (popover(console).part.state, popover(console).part.words) == ("warning", "takes no writes")
    popover(console).close()
    workers = window.top_bar.pill("workers").health
    assert (workers.state, workers.tip) == ("unconfirmed", f"{name} takes no writes."), "no worker would help"
    rights = window.status_bar.part("rights")
    assert (rights.words(), rights.toolTip()) == ("READ-ONLY", window.banner.accessibleName())
    assert window.top_bar.create_button.toolTip() == window.banner.accessibleName()
    window.banner.report.click()
    assert "takes no writes" in QGuiApplication.clipboard().text()
    assert "Connection lost" not in QGuiApplication.clipboard().text()
    i18n.set_language("zh_CN")
    assert "磁盘已满" in window.banner.accessibleName()
    i18n.set_language("en")
    monkeypatch.undo()
    qtbot.waitUntil(window.top_bar.create_button.isEnabled)
    assert rights.words() == "Can act"
    cut.cut()
    qtbot.waitUntil(lambda: "lost at" in window.banner.accessibleName())
    cut.mend()
    qtbot.waitUntil(lambda: not window.banner.isVisible())


class Ahead:
    """The clock of a fleet that is not that of this machine."""

    def now_ms(self) -> int:
        return 1_795_000_000_000


@pytest.mark.one_pair
def test_what_the_clock_of_the_status_bar_opens_tells_the_same_time(
    console: Console, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: shown.set_zone(""))
    shown.set_zone("UTC")
    fleet = Ahead()
    ticks().follow(fleet)
    console.window.status_bar.retranslate()
    console.window.status_bar.part_clicked.emit("clock")
    assert console.window.status_bar.part("clock").words() == "11:06:40"
    assert popover(console).facts.values()["On screen"] == "2026-11-18 11:06:40"
    popover(console).close()


@pytest.mark.one_pair
def test_a_loss_lasts_as_long_by_a_clock_that_is_an_hour_ahead_of_the_fleet(
    qtbot: QtBot, console: Console, desk: Desk, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ms = desk.session.engine.store.now_ms
    monkeypatch.setattr(desk.session.engine.store, "now_ms", lambda: now_ms() - 3_600_000)
    qtbot.waitUntil(lambda: 0 < console.feed.latest.at_ms < now_ms() - 3_000_000)
    cut.cut()
    qtbot.waitUntil(lambda: console.wiring.loss.since_ms > 0)
    console.window.banner.copy_report.emit()
    told = QGuiApplication.clipboard().text().replace("\u202f", " ")
    assert re.search(r"Connection lost at [0-9:]+\. \([0-9.]+ s\)", told)
    hours = re.findall(r"(?:lost at|last seen) ([0-9]+):", told)
    assert len(set(hours)) == 1 < len(hours)
    cut.mend()
    qtbot.waitUntil(lambda: not console.wiring.loss.since_ms)


def popover(console: Console) -> HealthPopover:
    found = console.wiring.doors.popover
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("key", "here", "fleet"),
    [("broker", "Engine", "Broker"), ("store", "Storage", "Redis"), ("workers", "Workers", "Workers")],
)
def test_a_pill_tells_more(qtbot: QtBot, console: Console, pair: str, key: str, here: str, fleet: str) -> None:
    qtbot.mouseClick(console.window.top_bar.pill(key), LEFT)
    assert popover(console).part.title == (here if pair == "embedded" else fleet)
    assert popover(console).isVisible()
    if key == "store":
        qtbot.waitUntil(lambda: "Version" in popover(console).facts.values(), timeout=WAIT_MS)
        assert ("When memory is full" in popover(console).facts.values()) == (pair != "embedded")
    popover(console).close()


def test_a_pill_tells_of_each_node_and_of_what_redis_would_do() -> None:
    def said(key: str, facts: dict[str, str]) -> dict[str, str]:
        return {name: words.replace("\u202f", " ") for name, words in wiring.FACTS[key][1](facts)}

    nodes = {"kind": "rabbitmq", "node rabbit@a": "up", "node rabbit@b": "down", "node rabbit@c": "up memory disk"}
    assert said("broker", nodes) == {
        "Node rabbit@a": "running",
        "Node rabbit@b": "does not run",
        "Node rabbit@c": "running, memory alarm, disk alarm",
    }
    primary = {"version": "7.2.4", "role": "master", "replicas": "1", "used_memory": "2097152", "maxmemory": "4194304"}
    assert said("store", {**primary, "maxmemory_policy": "noeviction"}) == {
        "Version": "7.2.4",
        "Role": "primary",
        "Replicas": "1",
        "Memory": "2.1 MB of 4.2 MB",
        "When memory is full": "refuses writes (noeviction)",
    }
    assert said("store", {"used_memory": "2097152", "maxmemory": "0"}) == {"Memory": "2.1 MB, no limit"}
    replica = {"role": "slave", "replicas": "0", "primary_link": "down", "maxmemory_policy": "allkeys-lru"}
    assert said("store", replica) == {
        "Role": "replica, takes no writes",
        "Primary": "no answer",
        "When memory is full": "throws records away (allkeys-lru)",
    }
    assert said("broker", {}) == said("store", {}) == {}


def test_the_pill_of_a_lost_part_tells_the_error_and_reconnects(qtbot: QtBot, console: Console, cut: Cut) -> None:
    cut.cut()
    qtbot.waitUntil(lambda: console.wiring.loss.since_ms > 0)
    console.window.top_bar.health_requested.emit("store", QPoint(0, 0))
    facts = popover(console).facts.values()
    assert facts["Last error"].endswith("redis.example.com:6380 timed out")
    assert "Lost since" in facts
    assert "Latency now" not in facts, "it does not answer"
    popover(console).close()
    console.window.top_bar.health_requested.emit("workers", QPoint(0, 0))
    assert popover(console).part.state == "unconfirmed"
    assert popover(console).part.words == "not known, 0 of 0 were up"
    assert "Taken at" in popover(console).facts.values()
    popover(console).close()
    console.window.status_bar.part_clicked.emit("rights")
    assert popover(console).facts.values()["Why not now"] == "Not while the connection is lost"
    popover(console).close()
    console.window.top_bar.health_requested.emit("freshness", QPoint(0, 0))
    assert popover(console).part.words.startswith("as of ")
    popover(console).close()
    console.window.top_bar.health_requested.emit("store", QPoint(0, 0))
    cut.mend()
    qtbot.mouseClick(popover(console).buttons[0], LEFT)
    qtbot.waitUntil(lambda: not console.wiring.loss.since_ms)


@pytest.mark.one_pair
def test_workers_open_their_page_from_the_pill(qtbot: QtBot, console: Console) -> None:
    console.window.top_bar.health_requested.emit("workers", QPoint(0, 0))
    qtbot.mouseClick(popover(console).buttons[0], LEFT)
    assert console.window.current == "workers"


@pytest.mark.deep
@pytest.mark.one_pair
@pytest.mark.parametrize("key", ["mode", "in", "out", "lag", "rights", "operator", "clock"])
def test_every_part_of_the_status_bar_leads_somewhere(qtbot: QtBot, console: Console, key: str) -> None:
    console.window.open_page("tasks")
    qtbot.mouseClick(console.window.status_bar.part(key), LEFT)
    if key in ("mode", "in", "out"):
        assert console.window.current == {"mode": "settings"}.get(key, "overview")
    else:
        assert popover(console).isVisible()
        popover(console).close()


def unknown(console: Console) -> list[str]:
    """What the page shown says of what it does not know."""
    page = console.window.page(console.window.current)
    return [one.words.accessibleName() for one in page.findChildren(Unknown) if one.isVisible()]


@pytest.mark.one_pair
@pytest.mark.parametrize("page_id", ["tasks", "dead_letters", "shops", "schedules", "audit"])
def test_a_page_opened_after_a_loss_never_looks_as_if_there_were_nothing(
    qtbot: QtBot, console: Console, desk: Desk, cut: Cut, page_id: str
) -> None:
    desk.create()
    qtbot.waitUntil(lambda: console.feed.latest.counts.total == 1)
    cut.cut_wholly()
    qtbot.waitUntil(lambda: console.wiring.loss.since_ms > 0)
    qtbot.waitUntil(console.window.banner.isVisible)
    console.window.open_page(page_id)
    header = console.window.page(page_id).header
    qtbot.waitUntil(lambda: any("Not loaded before the connection was lost" in words for words in unknown(console)))
    assert len(unknown(console)) == 1, "one lies over another"
    assert "as of" not in " ".join(one.text() for one in header.findChildren(QLabel) if one.isVisible())
    cut.mend()
    qtbot.waitUntil(lambda: not unknown(console))


def test_what_no_person_asked_for_fails_in_silence(qtbot: QtBot, console: Console, cut: Cut) -> None:
    """Also what is asked in the moment before the loss is noticed; an unhandled error fails the test by itself."""
    cut.cut_wholly()
    console.window.open_page("tasks")
    tasks = console.window.page("tasks")
    assert isinstance(tasks, TasksPage)
    qtbot.waitUntil(lambda: tasks.error.isVisible())
    console.keys.palette.ask()
    qtbot.waitUntil(console.window.banner.isVisible)
    console.keys.palette.hide()


def test_rows_of_before_a_loss_stay_and_another_filter_is_not_answered_by_them(
    qtbot: QtBot, console: Console, desk: Desk, cut: Cut
) -> None:
    window, task = console.window, desk.create()
    window.open_page("tasks", f"id:{task.task_id}")
    rows = window.page("tasks").table.records
    qtbot.waitUntil(lambda: [row.key for row in rows.records()] == [task.task_id])
    window.open_page("overview")
    cut.cut_wholly()
    qtbot.waitUntil(lambda: console.wiring.loss.since_ms > 0)
    qtbot.waitUntil(window.banner.isVisible)
    window.open_page("tasks")
    assert [row.key for row in rows.records()] == [task.task_id]
    assert unknown(console) == []
    window.open_page("tasks", "status:dead")
    qtbot.waitUntil(lambda: len(unknown(console)) == 1)
    window.open_page("tasks", f"id:{task.task_id}")
    qtbot.waitUntil(lambda: unknown(console) == [])
    cut.mend()
    qtbot.waitUntil(lambda: not console.wiring.loss.since_ms)
