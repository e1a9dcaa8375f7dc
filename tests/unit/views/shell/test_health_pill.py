"""Health pills."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
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


class Layouts(QObject):
    """Counts how often a widget was asked to lay itself out."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__(watched)
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def test_only_a_wider_pill_moves_what_is_beside_it(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    pill = HealthPill(Health(key="redis", name="Redis", value="1.1 ms"))
    QHBoxLayout(window).addWidget(pill)
    window.show()
    QApplication.sendPostedEvents()
    layouts = Layouts(window)
    pill.show_health(Health(key="redis", name="Redis", value="1.2 ms"))
    QApplication.sendPostedEvents()
    assert layouts.count == 0
    assert pill.accessibleName() == "Redis 1.2 ms"
    pill.show_health(Health(key="redis", name="Redis", value="1,200 ms"))
    qtbot.waitUntil(lambda: pill.width() == pill.sizeHint().width(), timeout=30_000)
    assert layouts.count == 1
