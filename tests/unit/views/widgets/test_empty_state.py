"""Empty places explain themselves."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services import i18n
from views.widgets.empty_state import EmptyState


def test_reason_hint_and_one_way_on(qtbot: QtBot) -> None:
    state = EmptyState("No task matches.", "Two filters are set.", "Retry")
    qtbot.addWidget(state)
    assert state.accessibleName() == "No task matches. Two filters are set."
    with qtbot.waitSignal(state.action):
        state.button.click()
    i18n.set_language("zh_CN")
    assert state.button.text() == "重试"


def test_it_can_say_something_else(qtbot: QtBot) -> None:
    state = EmptyState("Loading")
    qtbot.addWidget(state)
    state.show()
    assert not state.button.isVisible()
    state.set_texts("Not connected", action="Try now", icon="ph.wifi-slash")
    assert state.button.isVisible()
    state.grab()
    state.set_texts("Healthy")
    assert not state.button.isVisible()
