"""Health pills."""

from __future__ import annotations

from PySide6.QtGui import QPaintEvent
from pytestqt.qtbot import QtBot

from views.shell.health_pill import Health, HealthPill


def test_names_values_and_states(qtbot: QtBot) -> None:
    pill = HealthPill(Health(key="redis", name="Redis", value="1 ms"))
    qtbot.addWidget(pill)
    healthy = pill.grab().toImage()
    assert pill.accessibleName() == "Redis 1 ms"
    pill.show_health(Health(key="redis", name="Redis", value="lost", state="dead", tip="timed out"))
    assert pill.accessibleDescription() == "timed out"
    assert pill.grab().toImage() != healthy
    assert pill.health.state == "dead"


def test_compact_leaves_the_name_to_the_tool_tip(qtbot: QtBot) -> None:
    pill = HealthPill(Health(key="redis", name="Redis", value="1 ms"))
    qtbot.addWidget(pill)
    full = pill.sizeHint().width()
    pill.set_compact(True)
    assert pill.sizeHint().width() < full
    assert pill.toolTip().startswith("Redis 1 ms")
    pill.grab()


def test_a_pill_without_value_keeps_its_name(qtbot: QtBot) -> None:
    pill = HealthPill(Health(key="x", name="Not connected", state="waiting"))
    qtbot.addWidget(pill)
    full = pill.sizeHint().width()
    pill.set_compact(True)
    assert pill.sizeHint().width() == full
    pill.setFocus()
    pill.grab()


def test_what_is_said_again_is_not_painted_again(qtbot: QtBot) -> None:
    painted: list[str] = []

    class Seen(HealthPill):
        def paintEvent(self, event: QPaintEvent) -> None:
            painted.append(self.health.value)
            super().paintEvent(event)

    pill = Seen(Health(key="redis", name="Redis", value="1 ms"))
    qtbot.addWidget(pill)
    with qtbot.waitExposed(pill):
        pill.show()
    qtbot.waitUntil(lambda: bool(painted))
    qtbot.wait(20)
    painted.clear()
    for value in ("1 ms", "1 ms"):
        pill.show_health(Health(key="redis", name="Redis", value=value))
        qtbot.wait(10)
    pill.show_health(Health(key="redis", name="Redis", value="2 ms"))
    qtbot.waitUntil(lambda: bool(painted))
    assert painted == ["2 ms"]
