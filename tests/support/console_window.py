"""The window as tests open it: the only one of its program, over a session of their own."""

from __future__ import annotations

from console import bootstrap
from console.appearance import Appearance
from console.connection.open_connection import OpenConnection
from console.state import ConsoleState
from console.tray import Silence
from views.support.memory import ShortMemory


def window_over(session: OpenConnection) -> bootstrap.OpenWindow:
    """It has no list of connections; what is chosen in it holds until it closes."""
    state = ConsoleState(session.settings.home_path)
    made = bootstrap.build(
        session,
        appearance=Appearance(state),
        on_settings=lambda _names: None,
        memory=ShortMemory(),
        silence=Silence(),
    )
    made.window.closing.connect(state.close)
    return made
