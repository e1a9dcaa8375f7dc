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


def set_fleet_zone(store: Store, zone: str) -> None:
    """Keep the fleet's time zone."""
    store.put_document(_FLEET, _ZONE, json.dumps(zone))
