"""Looking back: the fleet at a moment, what changed around it, and the strip that chooses the moment."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import assembly
from services.domain.alerts import channel as channels
from services.domain.alerts.channel import Channel
from services.domain.errors import BrokerUnavailable
from services.domain.past.frame import LEADER, SHOP, SWITCH, WORKER, Frame, Numbers
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import MISSED_RUN, Past, Planned, Schedule
from services.domain.task.status import Triage
from services.monitor.past.tape import Tape
from services.ports import ScheduleEntry
from tests.gui.desk import Desk
from tests.support.held import held, settled
from tests.support.widgets import find, words
from tests.unit.views.pages.alert_samples import Alerts
from views.page import FromPast
from views.pages.past import page as past
from views.pages.past import strip as strips
from views.pages.past.page import PastPage
from views.pages.past.strip import PastStrip
from views.pages.tasks.page import TasksPage
from views.support import shown
from views.theme import theme
from views.widgets.buttons import Button

WAIT_MS = 10_000
STEP, MINUTE, HOUR = 5_000, 60_000, 3_600_000
CTRL = Qt.KeyboardModifier.ControlModifier
Ask = Callable[[int], PastPage]
LED = {(LEADER, "leader"): "desk-02/11"}


class Record:
    """What a leader on this machine recorded: half an hour until now, ten minutes of it missing."""

    def __init__(self, desk: Desk) -> None:
        self.now = desk.session.engine.store.now_ms()
        self.begin = self.now - 30 * MINUTE
        self.failed_at, self.gap = self.now - 25 * MINUTE, (self.now - 20 * MINUTE, self.now - 10 * MINUTE)
        tape = Tape(assembly.recorder_file(desk.session.engine.settings))
        try:
            for at in range(self.begin, self.now, STEP):
                if not self.gap[0] < at < self.gap[1]:
                    tape.add(self._look(at))
        finally:
            tape.close()

    def _look(self, at: int) -> Frame:
        things = LED | {(WORKER, "desk-01/3f2a"): "running 0.4.2 5"}
        failed = at >= self.failed_at
        if failed:
            things |= {(SHOP, f"temu:{n}"): "dead" for n in range(100, 112)}
        numbers = Numbers(
            at_ms=at, since_ms=at, waiting=(at - self.begin) // STEP, dead=12 * failed, workers=1,
            failed=12 * (self.failed_at <= at < self.failed_at + STEP),
        )  # fmt: skip
        return Frame(numbers, things)


@pytest.fixture
def record(desk: Desk) -> Record:
    return Record(desk)


@pytest.fixture
def ask(qtbot: QtBot, desk: Desk) -> Iterator[Ask]:
    """Opens the page at a moment and waits for what it shows."""
    pages: list[PastPage] = []

    def answered(at_ms: int) -> PastPage:
        page = PastPage(desk.context)
        qtbot.addWidget(page)
        pages.append(page)
        page.resize(1400, 900)
        page.show()
        with qtbot.waitSignals([page.answered, page.stretched], timeout=WAIT_MS):
            page.show_request(str(at_ms))
            page.activate()
        return page

    yield answered
    for page in pages:
        page.deactivate()


def told(page: PastPage) -> str:
    """All that it says, the time line with it."""
    return "\n".join([words(page), page.changes.accessibleName()])


def copied(page: PastPage) -> str:
    page.copy_button.click()
    return QApplication.clipboard().text()


def test_it_shows_the_numbers_of_then_beside_those_of_now(ask: Ask, record: Record) -> None:
    page = ask(record.failed_at - 2 * MINUTE)
    text = copied(page)
    # the window's clock may be a moment behind that of the test
    assert re.search(r"(26 m 5\d s|27 min|27 m 0\d s) ago", text.replace("\u2009", " ").replace("\u202f", " "))
    assert "desk-02/11 led" in text
    assert "Waiting: 36, now 359" in text
    assert (page.tiles["waiting"].kpi.value, page.tiles["waiting"].kpi.context) == ("36", "now 359")
    assert {*page.tiles["dead"].curve} == {0.0}, "a curve ends where its number stands"
    assert "Nothing can be changed here" in page.banner.accessibleName()
    assert "Dead letters: 0, now 12" in text
    assert "No shop needed anybody." in text
    assert "12 shops have dead letters: temu:100, temu:101, temu:102" in text, "what came after is told, too"


def test_alerts_of_that_time_stand_among_what_changed_and_open_theirs(
    qtbot: QtBot, ask: Ask, record: Record, desk: Desk
) -> None:
    alerts = Alerts(desk.session.engine.store)
    login = alerts.login(minutes=24, names=("Lumo Home",))
    over = alerts.dead(minutes=22, resolved_at=alerts.now - 16 * MINUTE)
    page = ask(record.failed_at + 2 * MINUTE)
    lines = [entry.text for entry in page.changes.entries()]
    assert "Alert: 9 shops must be logged in again" in lines
    assert any(line.startswith("This alert is over: Page element missing") for line in lines)
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as led:
        page.changes.opened.emit(lines.index("Alert: 9 shops must be logged in again"))
    assert (led.args[0], led.args[1].show) == ("alerts", login.id)
    assert over.id != login.id


def test_a_pause_of_a_shop_opens_that_shop(qtbot: QtBot, ask: Ask, desk: Desk) -> None:
    now, first = desk.session.engine.store.now_ms(), min(desk.context.shops())
    tape = Tape(assembly.recorder_file(desk.session.engine.settings))
    try:
        for at in range(now - 4 * MINUTE, now - 2 * MINUTE, STEP):
            paused = {(SWITCH, f"paused shop:{first}"): "ann"} if at > now - 3 * MINUTE else {}
            tape.add(Frame(Numbers(at_ms=at, since_ms=at), LED | paused))
    finally:
        tape.close()
    page = ask(now - 2 * MINUTE)
    lines = [entry.text for entry in page.changes.entries()]
    place = next(n for n, line in enumerate(lines) if line.endswith(" is paused by ann"))
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as led:
        page.changes.opened.emit(place)
    assert (led.args[0], led.args[1].show) == ("shops", first)


def test_every_shop_is_drawn_as_it_was_and_what_waited_around_that_moment(ask: Ask, desk: Desk) -> None:
    now = desk.session.engine.store.now_ms()
    first, *others = sorted(desk.context.shops())
    tape = Tape(assembly.recorder_file(desk.session.engine.settings))
    try:
        for at in range(now - 4 * MINUTE, now - 2 * MINUTE, STEP):
            numbers = Numbers(at_ms=at, since_ms=at, waiting=7, normal=7, workers=1)
            tape.add(Frame(numbers, LED | {(SHOP, first): "login/dead"}))
    finally:
        tape.close()
    drawn = ask(now - 3 * MINUTE).drawn
    assert {cell.key: (cell.state, cell.under) for cell in drawn.rows.cells} == {
        first: ("login", "dead"),
        **dict.fromkeys(others, ("healthy", "healthy")),
    }
    drawn.grab()
    assert theme().color("surface").alpha() == 255, "the veil over what came after is that of the chart alone"
    frame = drawn.chart.frame_shown
    assert len(frame) > 20
    assert frame["normal"].max() == 7
    assert frame.at[-1] <= now / 1000 - 119, "nothing is drawn of what nobody recorded"


def test_in_a_gap_nothing_is_made_up(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.now - 5 * MINUTE)
    assert page.tiles["waiting"].curve
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.show_request(str(record.now - 15 * MINUTE))
    with qtbot.waitSignal(page.stretched, timeout=WAIT_MS):
        page.span.choose("6h")
    assert page.header.summary().startswith("No record from ")
    assert {(tile.kpi.context, tile.curve) for tile in page.tiles.values()} == {("no record", ())}
    assert "Waiting" not in copied(page)
    tip = page.strip.tip_at(page.strip.x_of(record.now - 15 * MINUTE))
    assert re.fullmatch(r"No record from (.*) to (.*)", tip), tip
    assert page.strip.tip_at(page.strip.x_of(record.gap[0] - 100)).endswith("Not all of it was recorded")


@pytest.mark.parametrize(
    ("ago", "told"),
    [
        (HOUR // 2, r"(\d\d-\d\d )?\d\d:\d\d:\d\d"),
        (72 * HOUR, r"\d\d-\d\d \d\d:\d\d · 1 min"),
        (300 * HOUR, r"\d\d-\d\d \d\d:\d\d · 15 min"),
    ],
)
def test_the_moment_is_written_as_finely_as_its_time_is_recorded(ask: Ask, record: Record, ago: int, told: str) -> None:
    page = ask(record.now - ago)
    assert re.fullmatch(told, page.strip.told.replace("\u202f", " ")), page.strip.told


@pytest.mark.parametrize(("span", "minutes"), [("6h", 5), ("24h", 15), ("7d", 60), ("30d", 240)])
def test_bars_begin_where_a_part_of_the_day_does_and_stay_as_time_goes_by(
    ask: Ask, record: Record, qtbot: QtBot, span: str, minutes: int
) -> None:
    page = ask(record.now - MINUTE)
    page.span.choose(span)
    qtbot.waitUntil(lambda: page.strip.lanes.step_ms == minutes * MINUTE, timeout=WAIT_MS)
    before = page.strip.lanes
    begin = shown.moment(before.begin).astimezone(shown.zone())
    assert (begin.hour * 60 + begin.minute) % minutes == begin.second == begin.microsecond == 0
    assert sum(number for number in before.failed if number > 0) == 12
    assert len(before.failed) == -(-(before.end - before.begin) // before.step_ms)
    with qtbot.waitSignal(page.stretched, timeout=WAIT_MS):
        page.refresh()
    after = page.strip.lanes
    assert after.end >= before.end
    assert (after.begin - before.begin) % before.step_ms == 0


def test_the_old_moment_stays_dimmed_until_the_new_one_is_complete(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.now - 5 * MINUTE)
    numbers = page.tiles["waiting"].kpi
    assert page.drawn.graphicsEffect() is None
    with held(past, "_look") as call:
        page.show_request(str(record.now - 7 * MINUTE))
        call.wait(qtbot)
        qtbot.waitUntil(lambda: page.drawn.graphicsEffect() is not None, timeout=WAIT_MS)
        assert page.tiles["waiting"].kpi == numbers
        with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
            call.let_go()
    assert page.drawn.graphicsEffect() is None
    assert page.tiles["waiting"].kpi != numbers


def test_where_nobody_ever_recorded_it_says_so(ask: Ask, desk: Desk) -> None:
    page = ask(desk.session.engine.store.now_ms() - HOUR)
    assert page.header.summary().startswith("Nothing was ever recorded on this computer")
    assert page.strip.counts[0] == 0


def test_a_click_on_the_strip_and_the_keys_choose_the_moment(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.now - MINUTE)
    with qtbot.waitSignal(page.stretched, timeout=WAIT_MS):
        page.span.choose("6h")
    strip = page.strip
    assert strip.counts[0] == 12
    place = QPoint(round(strip.x_of(record.now - 28 * MINUTE)), strip.height() // 2)
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=place)
    chosen = page.past_ms
    assert abs(chosen - (record.now - 28 * MINUTE)) < MINUTE
    assert "Dead letters: 0, now 12" in copied(page)
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        QTest.keyClick(strip, Qt.Key.Key_Right)
    assert page.past_ms - chosen == 5 * MINUTE


@pytest.mark.parametrize(("most", "more"), [(1, True), (50, False)])
def test_more_acts_than_are_read_are_not_called_all(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, most: int, more: bool
) -> None:
    monkeypatch.setattr("services.monitor.past.queries.ACTS", most)
    begin = desk.session.engine.store.now_ms()
    for name in ("duty", "lead"):
        desk.context.commands.alerts.set_channel(Channel(name=name, kind=channels.WECOM))
    strip = PastStrip()
    qtbot.addWidget(strip)
    strip.set_lanes(desk.context.past.lanes(begin - MINUTE, desk.session.engine.store.now_ms()))
    assert ("Acts 1+," in strip.accessibleDescription()) is more
    assert ("+" in strip.accessibleDescription()) is more


def test_the_next_change_is_one_step_away(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.begin + MINUTE)
    assert (page.earlier_change.isEnabled(), page.earlier_change.toolTip()) == (
        False,
        "No earlier change is known here",
    )
    said = page.later_change.accessibleName()
    assert said.startswith("Change after: ")
    assert "have dead letters: " in said
    assert "have dead letters: " in page.later_change.toolTip()
    page.resize(1500, 900)
    assert said == f"Change after: {page.later_change.text()}"
    assert page.earlier_change.text() == "None is known"
    page.resize(700, 900)
    assert not page.later_change.text(), "where there is no room the tip names it"
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        QTest.keyClick(page, Qt.Key.Key_Right, CTRL)
    assert abs(page.past_ms - record.failed_at) <= STEP
    assert "Dead letters: 12" in copied(page)
    assert "temu:100, temu:101" in told(page)


def test_it_plays_up_to_the_next_change_and_stays_there(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.failed_at - 90_000)
    page.strip.setFocus()
    qtbot.waitUntil(page.strip.hasFocus, timeout=WAIT_MS)
    QTest.keyClick(page.strip, Qt.Key.Key_Space)
    assert page.player.plays, page.past_ms - record.failed_at
    assert (page.play.accessibleName(), page.play.toolTip()) == (now := "Stop at this moment", f"{now}  (Space)")
    qtbot.waitUntil(lambda: not page.player.plays, timeout=WAIT_MS)
    assert page.play.toolTip() == "Play a minute a second, up to the next change  (Space)"
    assert abs(page.past_ms - record.failed_at) <= STEP
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.refresh()
    page.play.click()
    assert page.player.plays
    QTest.keyClick(page.strip, Qt.Key.Key_Left)
    assert not page.player.plays, "who takes another moment looks at that one"


def test_playing_does_not_blink(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.failed_at - 5 * MINUTE)
    with held(past, "_look") as call:
        page.play.click()
        call.wait(qtbot)
        later = QTimer(page, singleShot=True, interval=2 * past.LATE_MS)
        with qtbot.waitSignal(later.timeout, timeout=WAIT_MS):
            later.start()
        assert page.player.plays
        assert page.drawn.graphicsEffect() is None
        qtbot.waitUntil(lambda: page.drawn.graphicsEffect() is not None, timeout=WAIT_MS)
        with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
            call.let_go()
    assert page.drawn.graphicsEffect() is None, "only one that is waited for longer is dimmed"


def test_while_nothing_is_known_its_tiles_say_why_they_open_nothing(desk: Desk, record: Record, qtbot: QtBot) -> None:
    page = PastPage(desk.context)
    qtbot.addWidget(page)
    page.show()
    tile = page.tiles["waiting"]
    with held(past, "_look") as call:
        page.activate()
        call.wait(qtbot)
        assert not tile.isEnabled()
        assert (tile.toolTip(), tile.accessibleDescription()) == ("Asking…", "Asking…")
        with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
            call.let_go()
    page.show_request(str(record.now - 5 * MINUTE))
    qtbot.waitUntil(tile.isEnabled, timeout=WAIT_MS)
    page.deactivate()


def test_a_time_to_come_is_not_asked_about(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.now - MINUTE)
    page.when.setDateTime(page.when.dateTime().addSecs(7200))
    qtbot.waitUntil(lambda: "That has not been yet" in words(page), timeout=WAIT_MS)
    assert (page.on.isEnabled(), page.on.toolTip()) == (False, "That has not been yet")
    assert (page.copy_button.isEnabled(), page.copy_button.toolTip()) == (False, "Nothing is shown yet")


def test_an_error_of_another_moment_is_not_told_of_this_one(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.now - MINUTE)
    with held(past, "_look") as call:
        page.show_request(str(record.now - 2 * MINUTE))
        call.wait(qtbot)
        page.when.setDateTime(page.when.dateTime().addSecs(7200))
        qtbot.waitUntil(lambda: "That has not been yet" in words(page), timeout=WAIT_MS)
        call.let_go(OSError("the disk is full"))
        settled(qtbot, page)
    assert "the disk is full" not in words(page)
    assert "That has not been yet" in words(page)


def test_while_somebody_looks_back_nothing_can_be_done_and_escape_brings_back_to_now(
    console: Console, qtbot: QtBot
) -> None:
    window = console.window
    window.open_page("overview")
    qtbot.waitUntil(lambda: window.top_bar.create_button.isEnabled(), timeout=WAIT_MS)
    window.activateWindow()
    QTest.keyClick(window, Qt.Key.Key_T, CTRL)
    assert window.current == "past"
    assert window.focusWidget() is window.page("past").focusProxy(), "arrows move the moment at once"
    assert not window.top_bar.create_button.isEnabled()
    assert window.top_bar.create_button.toolTip().startswith("You look at ")
    assert window.status_bar.part("rights").words().startswith("PAST ")
    page = window.page("past")
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert window.current == "overview"
    assert window.top_bar.create_button.isEnabled()
    window.open_page("workers")
    QTest.keyClick(window, Qt.Key.Key_T, CTRL)
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert window.current == "workers", "where one came from"


def test_among_what_changed_stands_the_moment_and_shops_are_called_by_their_names(
    desk: Desk, record: Record, ask: Ask, qtbot: QtBot
) -> None:
    key, shop = next((key, shop) for key, shop in sorted(desk.context.shops().items()) if shop.name)
    desk.context.commands.fleet.pause(f"shop:{key}")
    page = ask(record.now - MINUTE)
    qtbot.waitUntil(lambda: f"Pause {shop.name}" in page.changes.accessibleName(), timeout=WAIT_MS)
    said = page.changes.accessibleName().split("; ")
    (here,) = (place for place, one in enumerate(said) if "you look here" in one)
    paused = next(place for place, one in enumerate(said) if f"Pause {shop.name}" in one)
    assert here < paused, "it came after the moment"
    assert not any(one.endswith("you look here") for one in said[paused:])


def test_every_line_of_what_changed_opens_what_it_is_about(desk: Desk, ask: Ask, qtbot: QtBot) -> None:
    now, keys = desk.session.engine.store.now_ms(), sorted(desk.context.shops())
    tape = Tape(assembly.recorder_file(desk.session.engine.settings))
    try:
        for at in range(now - 8 * MINUTE, now - 2 * MINUTE, STEP):
            later = {(SHOP, key): "dead" for key in keys[:2]} if at > now - 6 * MINUTE else {}
            later |= {(SHOP, keys[2]): "login", (WORKER, "gone/1"): "silent 1.0 2"} if at > now - 4 * MINUTE else {}
            things = LED | {(WORKER, "gone/1"): "running 1.0 2"} | later
            tape.add(Frame(Numbers(at_ms=at, since_ms=at, workers=1), things))
    finally:
        tape.close()
    desk.context.commands.fleet.pause(f"shop:{keys[0]}")
    dead = desk.fail(desk.create(2))
    schedule = Schedule(name="nightly", task_type="refresh_goods", every_s=60, all_shops=True)
    planned = Planned(schedule=schedule, past=(Past(at=now - 3 * MINUTE, kind=MISSED_RUN),))
    entry = ScheduleEntry(name="nightly", body=schedules.dump(planned), next_at=now + HOUR)
    assert desk.session.engine.store.put_schedule(entry, 0)
    page = ask(now - 5 * MINUTE)
    for line in ("Pause", "New cause", "nightly"):
        qtbot.waitUntil(lambda line=line: line in page.changes.accessibleName(), timeout=WAIT_MS)
    opened: dict[str, tuple[str, FromPast]] = {}
    page.changes.setFocus()
    qtbot.keyClick(page.changes, Qt.Key.Key_Home)
    for _line in page.changes.entries():
        with qtbot.waitSignal(page.navigate, timeout=50, raising=False) as went:
            qtbot.keyClick(page.changes, Qt.Key.Key_Return)
        entry = page.changes.current
        assert entry is not None
        if went.signal_triggered:
            opened[entry.text] = tuple(went.args)  # type: ignore[arg-type]
        else:
            assert not entry.door
        qtbot.keyClick(page.changes, Qt.Key.Key_Down)

    def of(word: str) -> tuple[str, str]:
        (found,) = (way for line, way in opened.items() if word in line)
        assert found[1].at_ms == page.past_ms
        return found[0], str(found[1].show)

    where, shown_there = of("dead letters")
    assert (where, shown_there.partition("@")[0]) == ("tasks", "was:open")
    assert all(key in shown_there for key in keys[:2])
    assert of("must be logged in") == ("shops", keys[2])
    where, shown_there = of("Pause")
    assert where == "audit"
    assert [entry.action for entry in desk.context.audit.entries(shown_there).entries] == ["pause"]
    where, shown_there = of("New cause in 1 shop")
    assert (where, desk.context.tasks.ids(shown_there)) == ("tasks", (dead.task_id,))
    assert of("nobody made its run") == ("schedules", "nightly")
    (closed,) = (one for one in page.changes.entries() if "gone/1 is not heard of" in one.text)
    assert (closed.door, closed.closed) == (False, "gone/1 is not there any more")


def count_of(strip: PastStrip, name: str) -> QPoint:
    """Where the name and the count of a lane stand."""
    place = strips.LANES.index(name)
    spots = [y for y in range(strip.height()) if strip.door_at(QPointF(8, y)) == place]
    return QPoint(8, spots[len(spots) // 2])


def test_the_count_of_a_lane_opens_what_it_counts_in_that_time(
    desk: Desk, record: Record, ask: Ask, qtbot: QtBot
) -> None:
    desk.context.commands.alerts.set_channel(Channel(name="duty", kind=channels.WECOM))
    acts = len(desk.context.audit.entries().entries)
    page = ask(record.now - MINUTE)
    strip = page.strip

    def known() -> bool:  # the window's clock may be a moment behind that of the store
        with qtbot.waitSignal(page.stretched, timeout=WAIT_MS):
            page.refresh()
        return strip.counts[3] == acts

    qtbot.waitUntil(known, timeout=WAIT_MS)
    assert strip.counts[:2] == (12, 0)
    assert all(strip.door_at(QPointF(8, y)) != 1 for y in range(strip.height())), "nothing is behind a zero"
    at = page.past_ms
    with qtbot.waitSignal(page.navigate) as opened:
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=count_of(strip, "Acts"))
    assert (page.past_ms, opened.args[0]) == (at, "audit")
    assert len(desk.context.audit.entries(opened.args[1].show).entries) == acts > 0
    strip.setFocus()
    with qtbot.waitSignal(page.navigate) as opened:
        qtbot.keyClick(strip, Qt.Key.Key_Down)
        assert strip.accessibleDescription().startswith("Open the tasks that died in this time")
        qtbot.keyClick(strip, Qt.Key.Key_Return)
    assert opened.args[0] == "tasks"
    dead = desk.fail(desk.create())
    desk.context.commands.dead_letters.set_triage([dead.task_id], Triage.ARCHIVED)
    desk.create()

    def found() -> bool:
        with qtbot.waitSignal(page.stretched, timeout=WAIT_MS):
            page.refresh()
        with qtbot.waitSignal(page.navigate) as asked:
            qtbot.keyClick(strip, Qt.Key.Key_Return)
        return desk.context.tasks.ids(asked.args[1].show) == (dead.task_id,)

    qtbot.waitUntil(found, timeout=WAIT_MS)


def test_a_tile_opens_the_tasks_that_were_so_then(desk: Desk, record: Record, ask: Ask, qtbot: QtBot) -> None:
    page = ask(record.now - 15 * MINUTE)
    assert not page.tiles["waiting"].isEnabled(), "nothing is known of a gap"
    assert page.tiles["waiting"].toolTip() == "no record"
    waits, dead = desk.create(), desk.fail(desk.create(1))
    then = desk.session.engine.store.now_ms()
    tape = Tape(assembly.recorder_file(desk.session.engine.settings))
    try:
        tape.add(Frame(Numbers(at_ms=then, since_ms=then, waiting=1, dead=1, workers=1), LED))
    finally:
        tape.close()
    qtbot.waitUntil(lambda: desk.session.engine.store.now_ms() > then)
    desk.context.commands.dead_letters.set_triage([dead.task_id], Triage.ARCHIVED)
    desk.claim(waits)
    desk.create(2)
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.show_request(str(then))
    assert "Open the tasks that waited then" in page.tiles["waiting"].toolTip()
    opened: list[tuple[str, FromPast]] = []
    page.navigate.connect(lambda *where: opened.append(where))
    for name in ("waiting", "dead"):
        qtbot.mouseClick(page.tiles[name], Qt.MouseButton.LeftButton)
    page.tiles["workers"].setFocus()
    qtbot.keyClick(page.tiles["workers"], Qt.Key.Key_Return)
    assert [where for where, _what in opened] == ["tasks", "tasks", "workers"]
    assert [desk.context.tasks.ids(what.show) for _where, what in opened[:2]] == [(waits.task_id,), (dead.task_id,)]
    assert {what.at_ms for _where, what in opened} == {page.past_ms}
    assert opened[2][1].said().startswith("Workers are shown as they are now")


def test_a_lane_opens_what_was_so_at_the_moment(ask: Ask, desk: Desk, qtbot: QtBot) -> None:
    now = desk.session.engine.store.now_ms()
    begin, states = now - 30 * MINUTE, {"a": (25, 20), "b": (15, 14), "c": (8, 4)}
    tape = Tape(assembly.recorder_file(desk.session.engine.settings))
    try:
        for at in range(begin, now, STEP):
            late = {name for name, (first, last) in states.items() if now - first * MINUTE <= at < now - last * MINUTE}
            things = {(WORKER, name): f"{'silent' if name in late else 'running'} 1.0 1" for name in states}
            tape.add(Frame(Numbers(at_ms=at, since_ms=at, workers=3), LED | things))
    finally:
        tape.close()
    page = ask(now - 23 * MINUTE)
    qtbot.waitUntil(lambda: page.strip.counts[2] == len(states), timeout=WAIT_MS)
    page.strip.setFocus()
    for _lane in strips.LANES:
        if not page.strip.accessibleDescription().startswith("Open the worker that was silent"):
            qtbot.keyClick(page.strip, Qt.Key.Key_Down)

    def door() -> FromPast:
        with qtbot.waitSignal(page.navigate) as opened:
            qtbot.keyClick(page.strip, Qt.Key.Key_Return)
        assert opened.args[0] == "workers"
        return opened.args[1]

    assert (door().show, door().at_ms) == ("a", page.past_ms), "not the newest one"
    assert door().said().startswith("a was not heard of then. Workers are shown as they are now")
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.show_request(str(now - 13 * MINUTE))
    assert door().show == "b"
    assert "Every worker was heard of then; the nearest that was not is b: it was over" in door().said()


def test_a_shop_of_the_map_opens_beside_what_it_was(ask: Ask, desk: Desk, qtbot: QtBot) -> None:
    now = desk.session.engine.store.now_ms()
    first = min(desk.context.shops())
    tape = Tape(assembly.recorder_file(desk.session.engine.settings))
    try:
        for at in range(now - 4 * MINUTE, now, STEP):
            tape.add(Frame(Numbers(at_ms=at, since_ms=at, workers=1), LED | {(SHOP, first): "login"}))
    finally:
        tape.close()
    page = ask(now - 3 * MINUTE)
    page.drawn.map.setFocus(Qt.FocusReason.TabFocusReason)
    while page.drawn.map.current is None or page.drawn.map.current.key != first:
        qtbot.keyClick(page.drawn.map, Qt.Key.Key_Right)
    assert "waiting" not in page.drawn.map.accessibleDescription(), "what it had to do then is not known"
    with qtbot.waitSignal(page.navigate) as opened:
        qtbot.keyClick(page.drawn.map, Qt.Key.Key_Return)
    assert (opened.args[0], opened.args[1].show) == ("shops", first)
    assert "at that moment: Needs login. Shops are shown as they are now." in opened.args[1].said()
    page.drawn.map.set_current(-1)  # the mouse went on over its menu
    with qtbot.waitSignal(page.navigate) as opened:
        page.drawn.map.shop_clicked.emit(*first.split(":"))
    assert opened.args[1].show == first


def test_what_look_back_opens_says_of_which_moment_it_is_until_back_to_now(
    record: Record, console: Console, qtbot: QtBot
) -> None:
    window = console.window
    window.open_page("past", str(record.failed_at))
    page = window.page("past")
    assert isinstance(page, PastPage)
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.refresh()
    qtbot.mouseClick(page.tiles["dead"], Qt.MouseButton.LeftButton)
    assert window.current == "tasks"
    tasks = window.page("tasks")
    at = shown.clock(page.past_ms, record.now)

    def told() -> bool:
        said = words(tasks)
        banner = f"You look at {at}." in said
        assert banner == ("These were open dead letters then. Their states" in said)
        past = window.status_bar.part("rights").words().startswith("PAST ")
        assert banner == past == (not window.top_bar.create_button.isEnabled())
        return banner

    assert told()
    assert (tasks.shown_request().startswith("was:open@"), window.recorded) == (True, False)
    window.open_page("overview")
    assert window.top_bar.create_button.isEnabled()
    window.open_page("tasks")
    assert told(), "it is filtered by that moment still"
    find(tasks, Button, "Back to now").click()
    assert (told(), tasks.shown_request()) == (False, "status:dead triage:open")
    window.open_page("past")
    page.tiles["waiting"].click()
    assert "These tasks waited then." in words(tasks)
    with qtbot.waitSignal(tasks.refreshed, timeout=WAIT_MS):
        tasks.show_request("status:running")
    assert f"You look at {at}." not in words(tasks), "that is another list"
    window.open_page("past")
    page.tiles["workers"].click()
    assert "Workers are shown as they are now" in words(window.page("workers"))
    window.open_page("workers")
    assert "You look at" not in words(window.page("workers")), "whoever opens it anew looks at now"


def test_compare_shows_what_differs_between_both_ends(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.gap[0] + 2 * STEP)  # ten minutes before it the record begins, ten after it the gap is over
    page.compare.setFocus()
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        qtbot.keyClick(page.compare, Qt.Key.Key_Right)
    assert (page.both.isVisible(), page.changes.isVisible()) == (True, False)
    assert page.both.rows() == [
        ("Waiting", "2", "242"),
        ("Dead letters", "0", "12"),
        ("temu:100, temu:101, temu:102, temu:103, temu:104, temu:105 and 6 more", "Healthy", "Dead letters"),
    ]
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.show_request(str(record.failed_at + 2 * STEP))
    assert page.both.rows() == [], "nothing is made up"
    assert page.both.said().startswith("No record of ")
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.show_request(str(record.gap[1] + 2 * STEP))
    found = {name: pair for name, *pair in page.both.rows()}
    assert found["Waiting"] == ["no record", "359"]
    assert "Not known of both ends: shops" in found
    qtbot.keyClick(page.compare, Qt.Key.Key_Left)
    assert (page.both.isVisible(), page.changes.isVisible()) == (False, True)


def test_the_banner_copies_a_link_that_leads_back_to_the_moment(record: Record, console: Console, qtbot: QtBot) -> None:
    window = console.window
    window.open_page("past", str(record.failed_at))
    page = window.page("past")
    assert isinstance(page, PastPage)
    qtbot.mouseClick(page.link_button, Qt.MouseButton.LeftButton)
    link = QApplication.clipboard().text()
    assert link.startswith("fleetdeck:")
    QApplication.clipboard().clear()
    QTest.keyClick(window, Qt.Key.Key_L, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert QApplication.clipboard().text() == link, "it is what the key copies"
    page.show_request(str(record.now - MINUTE))
    console.keys.follow(link)
    assert page.past_ms == record.failed_at


@pytest.mark.parametrize("way", ["link", "window"])
def test_a_link_to_a_list_of_then_and_a_window_left_on_it_open_as_of_then(
    record: Record, console: Console, qtbot: QtBot, way: str
) -> None:
    window = console.window
    window.open_page("past", str(record.failed_at))
    page = window.page("past")
    assert isinstance(page, PastPage)
    with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
        page.refresh()
    qtbot.mouseClick(page.tiles["dead"], Qt.MouseButton.LeftButton)
    tasks, left = window.page("tasks"), window.save_state()
    assert isinstance(tasks, TasksPage)
    qtbot.waitUntil(tasks.tabs.isVisible)
    pushed = tasks.tabs.mapTo(tasks, QPoint()).y()
    then, listed = tasks.past_ms, tasks.shown_request()
    QTest.keyClick(window, Qt.Key.Key_L, CTRL | Qt.KeyboardModifier.ShiftModifier)
    link = QApplication.clipboard().text()
    find(tasks, Button, "Back to now").click()
    assert window.top_bar.create_button.isEnabled()
    qtbot.waitUntil(lambda: tasks.tabs.mapTo(tasks, QPoint()).y() == tasks.header.height(), timeout=WAIT_MS)
    assert pushed > tasks.header.height(), "the banner is gone, with the room around it"
    window.open_page("overview")
    if way == "link":
        console.keys.follow(link)
    else:
        window.restore_state(json.loads(json.dumps(left)))
    assert (window.current, tasks.past_ms, tasks.shown_request()) == ("tasks", then, listed)
    assert f"You look at {shown.clock(then, record.now)}." in words(tasks)
    assert "What fits the filter is of that moment" in words(tasks)
    assert not window.top_bar.create_button.isEnabled(), "nothing is done to what is not of now"
    find(tasks, Button, "Back to now").click()
    assert tasks.shown_request() == "status:dead triage:open"


@pytest.mark.parametrize("width", [760, 960, 1170, 1404])
def test_nothing_of_it_reaches_beyond_the_window(record: Record, console: Console, width: int) -> None:
    QTest.keyClick(console.window, Qt.Key.Key_T, CTRL)
    page = console.window.page("past")
    page.resize(width, 700)
    QApplication.processEvents()
    (area,) = [one for one in page.findChildren(QScrollArea) if one.isAncestorOf(page.strip)]
    assert area.widget().minimumSizeHint().width() <= area.viewport().width()


def test_the_words_of_the_banner_move_nothing_below_them(ask: Ask, record: Record, qtbot: QtBot) -> None:
    page = ask(record.now - 9 * MINUTE)
    for width in range(860, 1000, 20):
        page.resize(width, 600)
        places = set()
        for ago in (595_000, 60_000):
            with qtbot.waitSignal(page.answered, timeout=WAIT_MS):
                page.show_request(str(record.now - ago))
            QApplication.processEvents()
            places.add(page.when.mapTo(page, page.when.rect().topLeft()).y())
        assert len(places) == 1, width


def test_a_moment_of_the_past_is_told_as_such_while_the_broker_says_nothing(
    record: Record, console: Console, desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent() -> object:
        raise BrokerUnavailable("amqp.example.com:5671 timed out")

    window, pill = console.window, console.window.top_bar.pill("freshness")
    qtbot.waitUntil(lambda: bool(console.feed.latest.depths), timeout=WAIT_MS)
    monkeypatch.setattr(desk.session.engine.broker, "depths", silent)
    qtbot.waitUntil(lambda: pill.health.name == "records live, broker as of", timeout=WAIT_MS)
    window.open_page("past", str(record.failed_at))
    qtbot.waitUntil(lambda: pill.health.name == "recorded", timeout=WAIT_MS)
    window.open_page("overview")
    qtbot.waitUntil(lambda: pill.health.name == "records live, broker as of", timeout=WAIT_MS)
