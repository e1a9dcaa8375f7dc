"""Open incidents wherever a person is in the window: their number at the rail, each new one said once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from console.alert_watch import AlertWatch
from console.bootstrap import Desk as Console
from services.domain.alerts import incident as incidents
from services.domain.alerts.incident import Answer, Incident
from tests.gui.desk import Desk
from tests.unit.views.pages.alert_samples import Alerts
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
    assert look() == "Alerts, incidents that nobody has answered"
    assert [one.text for one in said] == ["9 shops must be logged in again"]
    grown = replace(first, count=20, worst=20)
    alerts.store.put_document(incidents.KIND, incidents.slot_of(first.key), incidents.dump(grown))
    look()
    assert len(said) == 1
    said[0].actions[0].call()
    assert console.window.current == "alerts"
    panel = console.window.page("alerts").panel  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: panel.key == first.id)
    answer = Answer(answered_by="ann", answered_at=alerts.now)
    alerts.store.put_document(incidents.ANSWERS, first.id, incidents.dump(answer))
    assert look() == "Alerts"


def test_many_at_once_are_one_message(alerts: Alerts, console: Console, said: list[ToastSpec], look: Look) -> None:
    for number in range(4):
        alerts.lane(key=f"wait:{number}")
    look()
    assert [one.text for one in said] == ["4 new incidents"]


def test_what_was_open_before_the_window_is_counted_and_not_said(
    early: Incident, console: Console, said: list[ToastSpec], look: Look
) -> None:
    assert look() == "Alerts, incidents that nobody has answered"
    assert said == []
