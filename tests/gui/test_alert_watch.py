"""Open incidents wherever a person is in the window: their number at the rail, each new one said once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from msgspec.structs import replace
from msgspec.structs import replace as replace_
from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from console.tray import QUIET_MS, Silence, Tray
from console.watch import AlertWatch
from services import i18n
from services.clock import ManualClock
from services.domain.alerts import incident as incidents
from services.domain.alerts.incident import Answer, Incident
from tests.gui.desk import Desk
from tests.unit.views.pages.alert_samples import Alerts
from views.dialogs.frame import DialogFrame
from views.support import shown
from views.support.instant import ticks
from views.support.memory import ShortMemory
from views.theme import theme
from views.widgets.toast import ToastSpec

pytestmark = pytest.mark.both_pairs
Look = Callable[[], str]


@pytest.fixture
def alerts(desk: Desk) -> Alerts:
    return Alerts(desk.session.engine.store)


@pytest.fixture
def early(alerts: Alerts) -> Incident:
    """One that is open before the window is."""
    return alerts.silent()


@pytest.fixture
def said(console: Console) -> list[ToastSpec]:
    """What is said in the corner from now on."""
    found: list[ToastSpec] = []
    console.window.toasts.shown.connect(found.append)
    return found


@pytest.fixture
def look(console: Console, qtbot: QtBot) -> Look:
    """Lets it look by hand only, to the end of each look; what the rail says then."""
    watch = console.window.findChild(AlertWatch)
    for timer in watch.findChildren(QTimer):
        timer.stop()

    def once() -> str:
        with qtbot.waitSignal(watch.looked):
            watch.look()
        return console.window.rail.item("alerts").accessibleName()

    once()  # one that was under way
    once()
    return once


def test_the_rail_counts_them_and_a_new_one_is_said_once(
    alerts: Alerts, console: Console, said: list[ToastSpec], look: Look, qtbot: QtBot
) -> None:
    assert look() == "Alerts"
    first = alerts.login()
    assert look() == "Alerts, incidents that nobody has answered: 1"
    assert [one.text for one in said] == ["9 shops must be logged in again"]
    grown = replace(first, count=20, worst=20)
    alerts.store.put_document(incidents.KIND, incidents.slot_of(first.key), incidents.DOCUMENT.dump(grown))
    look()
    assert len(said) == 1
    said[0].actions[0].call()
    assert console.window.current == "alerts"
    panel = console.window.page("alerts").panel  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: panel.key == first.id)
    answer = Answer(answered_by="ann", answered_at=alerts.now)
    alerts.store.put_document(incidents.ANSWERS, first.id, incidents.DOCUMENT.dump(answer))
    assert look() == "Alerts"


def test_many_at_once_are_one_message(alerts: Alerts, console: Console, said: list[ToastSpec], look: Look) -> None:
    for number in range(4):
        alerts.lane(key=f"wait:{number}")
    look()
    assert [one.text for one in said] == ["4 new incidents"]
    assert not replace_(said[0], status="dead").stays, "it lies on what one presses next"
    again = said[0].again
    assert again is not None
    i18n.set_language("zh_CN")
    chinese = again().text
    i18n.set_language("en")
    assert chinese == "新增 4 个事件"
    assert [toast.spec.text for toast in console.window.toasts.toasts()] == ["4 new incidents"]
    console.window.open_page("alerts")
    assert not console.window.toasts.toasts(), "all of them are seen there"


def test_the_message_that_waits_for_somebody_to_come_back_tells_of_nothing_that_is_over(
    alerts: Alerts, console: Console, said: list[ToastSpec], look: Look
) -> None:
    """It stands until somebody looks at the window, which may be the next morning."""
    first, second = alerts.login(), alerts.lane()
    store, toasts = alerts.store, console.window.toasts

    def over(one: Incident) -> None:
        store.remove_document(incidents.KIND, incidents.slot_of(one.key))
        store.put_document(incidents.HISTORY, one.id, incidents.DOCUMENT.dump(replace(one, resolved_at=alerts.now)))

    def standing() -> list[str]:
        return [toast.spec.text for toast in toasts.toasts()]

    look()
    assert standing() == ["2 new incidents"]
    over(first)
    look()
    assert standing() == ["The oldest task of the lane high has waited for 6\u202fm\u202f10\u202fs"]
    store.put_document(
        incidents.KIND, incidents.slot_of(second.key), incidents.DOCUMENT.dump(replace(second, calm_since=1))
    )
    look()
    assert (standing(), len(said)) == ([], 1), "nothing is seen of it any more"


@pytest.fixture
def notified(console: Console) -> list[tuple[str, str]]:
    """Notifications of the desktop from now on; somebody else's window is in front."""
    found: list[tuple[str, str]] = []
    tray = console.window.findChild(Tray)
    tray.said.connect(lambda title, body: found.append((title, body)))
    console.window.hide()
    return found


def test_who_does_not_see_the_window_is_notified_and_led_to_it(
    alerts: Alerts, console: Console, notified: list[tuple[str, str]], look: Look
) -> None:
    tray = console.window.findChild(Tray)
    look()
    assert "incident" not in tray.icon.toolTip()
    one = alerts.login()
    look()
    look()
    ((title, body),) = notified
    assert title == "9 shops must be logged in again"
    assert body.startswith("Log the shops in")
    assert tray.icon.toolTip().splitlines()[1] == "1 incident that nobody has answered"
    tray.icon.messageClicked.emit()
    assert console.window.isVisible()
    assert console.window.current == "alerts"
    console.window.hide()
    for number in range(3):
        alerts.lane(key=f"wait:{number}")
    look()
    assert notified[1][0] == "3 new incidents"
    alerts.store.put_document(
        incidents.ANSWERS, one.id, incidents.DOCUMENT.dump(Answer(answered_by="ann", answered_at=alerts.now))
    )
    look()
    assert len(notified) == 2


def test_notifications_can_be_switched_off_in_the_settings(
    alerts: Alerts, console: Console, notified: list[tuple[str, str]], look: Look
) -> None:
    console.window.open_page("settings")
    settings = console.window.page("settings")
    assert settings.notifications_choice.current() == "on"  # type: ignore[attr-defined]
    settings.notifications_choice.choose("off")  # type: ignore[attr-defined]
    alerts.login()
    look()
    assert notified == []
    assert "incident" in console.window.findChild(Tray).icon.toolTip()
    settings.notifications_choice.choose("on")  # type: ignore[attr-defined]
    alerts.lane()
    look()
    assert len(notified) == 1


def test_the_menu_of_the_tray_shows_window_and_alerts_and_speaks_its_language(
    alerts: Alerts, console: Console, look: Look
) -> None:
    tray = console.window.findChild(Tray)
    console.window.hide()
    acts = [one for one in tray.menu.actions() if not one.isSeparator()]
    assert [one.text() for one in acts] == ["Show the window", "Show alerts", "No notifications for an hour", "Quit"]
    i18n.set_language("zh_CN")
    here = "本机" if console.context.embedded else console.context.profile
    assert tray.icon.toolTip().splitlines()[0] == f"Fleetdeck · {here}"
    assert [one.text() for one in acts] == ["显示窗口", "查看告警", "一小时内不发通知", "退出"]
    i18n.set_language("en")
    acts[1].trigger()
    assert console.window.isVisible()
    assert console.window.current == "alerts"


def test_a_dialog_that_is_open_is_closed_before_the_page_behind_it_changes(
    console: Console, look: Look, qtbot: QtBot
) -> None:
    window = console.window
    tray = window.findChild(Tray)
    (alerts_act,) = (one for one in tray.menu.actions() if one.text() == "Show alerts")
    window.open_page("tasks")
    first, second = DialogFrame("Cancel", parent=window), DialogFrame("Cancel", parent=window)
    first.open()
    alerts_act.trigger()
    alerts_act.trigger()
    assert (window.current, first.isVisible()) == ("tasks", True)
    first.accepted.connect(second.open)
    first.accept()
    qtbot.waitUntil(second.isVisible)
    QApplication.processEvents()
    assert window.current == "tasks", "what the first one led to asks about it, too"
    second.reject()
    qtbot.waitUntil(lambda: window.current == "alerts")
    window.open_page("tasks")
    third = DialogFrame("Cancel", parent=window)
    third.open()
    third.reject()
    QApplication.processEvents()
    assert window.current == "tasks", "a wish counts once"
    fourth = DialogFrame("Cancel", parent=window)
    fourth.open()
    alerts_act.trigger()
    fourth.deleteLater()
    qtbot.waitUntil(lambda: window.current == "alerts")


def test_the_newest_of_what_is_wanted_while_a_dialog_is_open_is_led_to(
    console: Console, look: Look, notified: list[tuple[str, str]], qtbot: QtBot
) -> None:
    window = console.window
    tray = window.findChild(Tray)
    (alerts_act,) = (one for one in tray.menu.actions() if one.text() == "Show alerts")
    tray.notify("An act", "was refused", "dead", partial(window.open_page, "audit"))
    window.open_page("tasks")
    dialog = DialogFrame("Cancel", parent=window)
    dialog.open()
    tray.icon.messageClicked.emit()
    alerts_act.trigger()
    dialog.reject()
    qtbot.waitUntil(lambda: window.current != "tasks")
    assert window.current == "alerts"


def test_the_dot_of_the_tray_has_the_colours_of_the_theme_at_once(console: Console, look: Look) -> None:
    tray = Tray(console.window, ShortMemory())
    tray.count(1, "dead", "1 incident that nobody has answered")

    def dot() -> QColor:
        return tray.icon.icon().pixmap(64, 64).toImage().pixelColor(50, 14)

    theme().set_mode("dark")
    before = dot()
    assert before.name() == theme().color("dead").name()
    theme().set_mode("light")
    assert dot().name() == theme().color("dead").name() != before.name()


def test_whoever_sits_in_a_meeting_is_not_notified_for_an_hour(
    alerts: Alerts, console: Console, notified: list[tuple[str, str]], look: Look
) -> None:
    tray = console.window.findChild(Tray)
    (quiet,) = (one for one in tray.menu.actions() if one.text() == "No notifications for an hour")
    quiet.trigger()
    alerts.login()
    look()
    assert notified == []
    _first, counted, until = tray.icon.toolTip().splitlines()
    assert counted == "1 incident that nobody has answered"
    assert until.startswith("No notifications until ")
    assert quiet.text() == "Show notifications again"
    quiet.trigger()
    alerts.lane()
    look()
    assert len(notified) == 1


class Fleet:
    """Whose time is turned by hand."""

    at_ms = 1_795_000_000_000

    def now_ms(self) -> int:
        return self.at_ms


def hush(tray: Tray) -> Tray:
    """Choose that nobody is notified for an hour."""
    (quiet,) = (one for one in tray.menu.actions() if one.text() == "No notifications for an hour")
    quiet.trigger()
    return tray


def test_the_hour_is_one_of_this_machine_whatever_stands_still_or_is_connected(console: Console, look: Look) -> None:
    fleet, ahead, machine = Fleet(), Fleet(), ManualClock()
    ahead.at_ms += 2 * QUIET_MS
    ticks().follow(fleet)
    ticks().tick()
    ticks().hold(console.window, on=True)
    fleet.at_ms += QUIET_MS
    silence = Silence(machine)
    tray = hush(Tray(console.window, ShortMemory(), silence=silence))
    until = shown.clock(fleet.at_ms + QUIET_MS, fleet.at_ms)
    assert tray.icon.toolTip().splitlines()[-1] == f"No notifications until {until}"
    machine.advance(QUIET_MS / 1000 - 1)
    ticks().follow(ahead)
    there = Tray(console.window, ShortMemory(), silence=silence)
    assert not tray.wanted
    assert not there.wanted
    until = shown.clock(ahead.at_ms + 1000, ahead.at_ms)
    assert there.icon.toolTip().splitlines()[-1] == f"No notifications until {until}"
    machine.advance(1)
    ticks().follow(fleet)
    assert tray.wanted
    assert there.wanted
    ticks().hold(console.window, on=False)


def test_nobody_is_told_of_a_silence_that_is_over(
    console: Console, look: Look, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr("console.tray.QUIET_MS", 300)
    tray = hush(console.window.findChild(Tray))
    qtbot.waitUntil(lambda: "No notifications until" not in tray.icon.toolTip())
    assert "No notifications for an hour" in [one.text() for one in tray.menu.actions()]


def test_the_silence_holds_whichever_window_leads(console: Console, look: Look) -> None:
    second = console.another()
    hush(console.window.findChild(Tray))
    console.window.close()
    second.lead()
    tray = second.window.findChild(Tray)
    assert not tray.wanted
    assert "No notifications until" in tray.icon.toolTip()
    second.window.close()
    second.window.deleteLater()


def test_of_two_windows_the_one_in_front_says_it(
    alerts: Alerts, console: Console, said: list[ToastSpec], look: Look, qtbot: QtBot
) -> None:
    second = console.another().window
    second.open_page("tasks")
    second.show()
    there: list[ToastSpec] = []
    second.toasts.shown.connect(there.append)
    second.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is second)
    alerts.login()
    look()
    assert (said, [one.text for one in there]) == ([], ["9 shops must be logged in again"])
    there[0].actions[0].call()
    assert (second.current, console.window.current) == ("alerts", "overview")
    second.close()
    second.deleteLater()


@pytest.mark.qt_log_ignore("systemTrayWindowChanged")
def test_the_icon_of_a_window_that_is_closed_does_not_come_back(
    console: Console, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another window leads by then, with an icon of its own."""
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    tray = console.window.findChild(Tray)
    look()
    assert tray.icon.isVisible()
    console.window.close()
    look()
    assert not tray.icon.isVisible()


def test_what_was_open_before_the_window_is_counted_and_not_said(
    early: Incident, console: Console, said: list[ToastSpec], look: Look
) -> None:
    assert look() == "Alerts, incidents that nobody has answered: 1"
    assert said == []
