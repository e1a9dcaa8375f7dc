"""What pages hear of the watcher, while the thread of the window is busy and when it is free again."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from pytestqt.qtbot import QtBot

from services.domain.task.event import Event
from services.monitor.live import Changes, Live, Snapshot
from views.support.feed import Feed


class Eyes:
    """A watcher that tells what a test says."""

    def __init__(self) -> None:
        self.tell: Callable[[Changes], None] = lambda _changes: None

    def snapshot(self) -> Snapshot:
        return Snapshot(at_ms=0, taken=0.0)

    def on_changes(self, listener: Callable[[Changes], None]) -> None:
        self.tell = listener

    def on_snapshot(self, listener: Callable[[Snapshot], None]) -> None:
        """It tells none."""


def test_a_gap_is_not_forgotten_over_what_comes_behind_it(qtbot: QtBot) -> None:
    eyes, heard = Eyes(), list[Changes]()
    feed = Feed(cast("Live", eyes))
    feed.changed.connect(heard.append)
    event = Event(
        task_id="t1", shop_id="s1", platform="pdd", task_type="work", from_="queued", to="running", at=1,
        cursor="e/1", worker="w1", gen=0, attempt=1,
    )  # fmt: skip
    eyes.tell(Changes(events=(), gap=True))
    eyes.tell(Changes(events=(event,)))
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [Changes(events=(event,), gap=True)], "both in one"
