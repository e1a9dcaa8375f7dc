"""What became of broker and store over the last minutes: latency, the last error and when it was."""

from __future__ import annotations

from collections import deque

import msgspec

from services.monitor.live import Snapshot

KEPT_S, STEP_MS = 600, 1000


class Trace(msgspec.Struct):
    """One part. Instants are UTC milliseconds, 0 for never."""

    latencies: deque[float] = msgspec.field(default_factory=lambda: deque(maxlen=KEPT_S))  #: ms, about one a second
    connected: bool = True
    seen_ms: int = 0  #: last answer
    lost_ms: int = 0  #: since when it does not answer
    error: str = ""  #: the last one
    error_ms: int = 0

    def note(self, at_ms: int, latency_ms: float, error: str, *, connected: bool) -> None:
        """Take in one look."""
        if connected:
            self.seen_ms, self.lost_ms = at_ms, 0
            if latency_ms >= 0:
                self.latencies.append(latency_ms)
        elif self.connected or not self.lost_ms:
            self.lost_ms = at_ms
        self.connected = connected
        if error and not connected:
            self.error, self.error_ms = error, at_ms


class HealthLog:
    """Fed with snapshots, in one thread."""

    def __init__(self) -> None:
        self.broker, self.store = Trace(), Trace()
        self._noted_ms = 0

    def note(self, snapshot: Snapshot, now_ms: int) -> None:
        """Take in a snapshot; a healthy one at most once a second. ``now_ms`` is the present, also while lost."""
        broker, store = snapshot.broker, snapshot.store
        since = now_ms - self._noted_ms  # below nothing: a clock was corrected
        if broker.connected and store.connected and 0 <= since < STEP_MS:
            return
        self._noted_ms = now_ms
        # how fast a broker was that says nothing now is no news of it
        latency_ms = broker.latency_ms if snapshot.told else -1.0
        self.broker.note(now_ms, latency_ms, broker.error, connected=broker.connected)
        self.store.note(now_ms, store.latency_ms, store.error, connected=store.connected)
