"""The time zone of the fleet, as somebody set it."""

from __future__ import annotations

import json

from services.ports import Store

DEFAULT_ZONE = "UTC"
_FLEET, _ZONE = "fleet", "time_zone"


def fleet_zone(store: Store) -> str:
    """The fleet's time zone as somebody set it, "" before."""
    try:
        found = json.loads(store.documents(_FLEET).get(_ZONE, '""'))
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def found_zone(store: Store, own: str) -> None:
    """Give a fleet that has no time zone that of the machine that leads it, where it keeps another than UTC.

    Until then days and hours would be meant in UTC, beside clocks that say something else. A server in UTC tells
    nothing of where the people are: there it stays to the first who makes a schedule, or sets it. What stands there
    already stays, also what cannot be read, and what a person sets meanwhile.
    """
    if own and not own.endswith(DEFAULT_ZONE) and store.document(_FLEET, _ZONE) is None:
        store.add_document(_FLEET, _ZONE, json.dumps(own))


def set_fleet_zone(store: Store, zone: str) -> None:
    """Keep the fleet's time zone."""
    store.put_document(_FLEET, _ZONE, json.dumps(zone))
