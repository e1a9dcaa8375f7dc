"""Writes out the coming windows of quiet hours, which the stores compare with their clock."""

from __future__ import annotations

import logging

import msgspec

from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import KIND, WINDOWS, QuietHours
from services.engine.lead.firing import DEFAULT_ZONE, fleet_zone
from services.ports import Clock, Store

log = logging.getLogger(__name__)
#: what changes the windows is written out with them; this only finds what was interrupted, and the days that come
EVERY_S = 10.0
_ENCODE = msgspec.json.Encoder().encode


def write_out(store: Store, quiet: QuietHours, zone: str) -> None:
    """The windows of one, from now on."""
    windows = quiet_hours.written_out(quiet, zone, store.now_ms())
    store.put_document(WINDOWS, quiet.name, _ENCODE(windows).decode())


def put(store: Store, quiet: QuietHours, zone: str) -> None:
    """Set one. The wish goes first: a leader writes out what is interrupted here."""
    store.put_document(KIND, quiet.name, _ENCODE(quiet).decode())
    write_out(store, quiet, zone)


def remove(store: Store, name: str) -> bool:
    """Take one away; False when there was none. The wish goes first, or a leader would write its windows out anew."""
    wished = store.remove_document(KIND, name)
    return store.remove_document(WINDOWS, name) or wished


def wished(store: Store) -> list[QuietHours]:
    """All that people have set; the doctor tells which of them cannot be read. Of those of which only the next windows
    are left these: they hold back what they did, and somebody has to see and remove them.
    """
    found = quiet_hours.DOCUMENT.readable(store.documents(KIND))
    windows = quiet_hours.WRITTEN_OUT.readable(store.documents(WINDOWS))
    left = {name: quiet_hours.left_of(name, one) for name, one in windows.items() if name not in found}
    return [*found.values(), *left.values()]


class QuietKeeper:
    """A duty of the leader."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._due = 0.0

    def tick(self) -> None:
        """Now and then: all windows as people wished them, far enough ahead.

        Windows without a wish stay: whose wish cannot be read must not start for that. The doctor names them.
        """
        if self._clock.monotonic() < self._due:
            return
        self._due = self._clock.monotonic() + EVERY_S
        bodies = self._store.documents(KIND)
        if not bodies:
            return
        zone, now = fleet_zone(self._store) or DEFAULT_ZONE, self._store.now_ms()
        stored = self._store.documents(WINDOWS)
        for name, quiet in quiet_hours.DOCUMENT.readable(bodies).items():
            if not self._is_fresh(stored.get(name), quiet, zone, now):
                log.info("the windows of the quiet hours %s are written out anew", name)
                write_out(self._store, quiet, zone)
                if name not in self._store.documents(KIND):  # removed meanwhile, by somebody who found no windows yet
                    self._store.remove_document(WINDOWS, name)

    def _is_fresh(self, body: str | None, quiet: QuietHours, zone: str, now: int) -> bool:
        try:
            stored = quiet_hours.WRITTEN_OUT.load(body) if body is not None else None
        except ValueError:  # repair sets it aside, with a pause in its place
            return True
        return stored is not None and quiet_hours.is_fresh(stored, quiet_hours.written_out(quiet, zone, now), now)
