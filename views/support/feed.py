"""The single crossing from the watcher's threads into the GUI thread: events and snapshots as queued signals."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt, Signal, Slot

from services.domain.task.event import Event
from services.monitor.live import Changes, Live, Snapshot
from views.support import heard
from views.support.instant import ticks


class Feed(QObject):
    """What pages listen to.

    Batches that arrive while the GUI thread is busy are joined, so it never has more than one of each kind to handle.

    Signals:
        changed: a ``Changes`` with the events since the last one.
        looked: the newest ``Snapshot``.
    """

    changed = Signal(object)
    looked = Signal(object)
    _wake = Signal()

    def __init__(self, live: Live, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._live = live
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._gap = False
        self._snapshot: Snapshot | None = None
        self._posted = False
        self._latest = live.snapshot()
        self._wake.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        live.on_changes(self._take_changes)
        live.on_snapshot(self._take_snapshot)

    @property
    def latest(self) -> Snapshot:
        """The newest snapshot handed over."""
        return self._latest

    def leave(self) -> None:
        """Nothing is heard any more: nobody shall go by what was heard last."""
        heard.forget()
        ticks().leave(self._live)

    def try_now(self) -> None:
        """Connect again without waiting for the back-off."""
        self._live.try_now()

    def dial_anew(self) -> None:
        """Give the connection to a broker up that brings no answer, and make another one."""
        self._live.dial_anew()

    def facts(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """What broker and store say about themselves. Blocking."""
        return self._live.facts()

    def _take_changes(self, changes: Changes) -> None:
        with self._lock:
            self._events += changes.events
            self._gap = self._gap or changes.gap
        self._post()

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        snapshot.fleet()  # judged here and not in the thread of the window, where many ask for it
        with self._lock:
            self._snapshot = snapshot
        self._post()

    def _post(self) -> None:
        with self._lock:
            if self._posted:
                return
            self._posted = True
        self._wake.emit()

    @Slot()
    def _deliver(self) -> None:
        with self._lock:
            events, self._events = self._events, []
            gap, self._gap = self._gap, False
            snapshot, self._snapshot = self._snapshot, None
            self._posted = False
        if events or gap:
            self.changed.emit(Changes(events=tuple(events), gap=gap))
        if snapshot is not None:
            self._latest = snapshot
            heard.know(snapshot)
            self.looked.emit(snapshot)
