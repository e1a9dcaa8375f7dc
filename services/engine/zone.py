"""The time zone of the fleet, as somebody set it."""

from __future__ import annotations

import json
from collections.abc import Callable

from services.domain.errors import Unreadable
from services.domain.text.said import said
from services.ports import Store

DEFAULT_ZONE = "UTC"
_FLEET, _ZONE = "fleet", "time_zone"
_NONE = json.dumps("")


def fleet_zone(store: Store) -> str:
    """The fleet's time zone as somebody set it, "" before."""
    try:
        found = json.loads(store.documents(_FLEET).get(_ZONE, '""'))
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def zone_here(store: Store, own: Callable[[], str]) -> str:
    """The fleet's time zone, in which hours are meant, or what it would become; ``own``: of this machine."""
    return fleet_zone(store) or own() or DEFAULT_ZONE


def found_zone(store: Store, own: str) -> None:
    """Give a fleet that has no time zone that of the machine that leads it, where it keeps another than UTC.

    Until then days and hours would be meant in UTC, beside clocks that say something else. A server in UTC tells
    nothing of where the people are: there it stays to the first who makes a schedule, or sets it. What stands there
    already stays, also what cannot be read, and what a person sets meanwhile.
    """
    if own and not own.endswith(DEFAULT_ZONE) and store.document(_FLEET, _ZONE) is None:
        store.add_document(_FLEET, _ZONE, json.dumps(own))


def settle_zone(store: Store, own: str) -> None:
    """The first of a fleet who makes something that goes by days or hours gives it their time zone: leaders on other
    machines must not each have one. What somebody sets meanwhile stays.
    """
    body = store.document(_FLEET, _ZONE)
    if body is None:
        store.add_document(_FLEET, _ZONE, json.dumps(own))
    elif body == _NONE:
        store.swap_document(_FLEET, _ZONE, body, json.dumps(own))


def need_readable_zone(store: Store) -> None:
    """Before something is made that goes by the fleet's days or hours.

    Raises:
        Unreadable: nobody can say which time zone was set, and only a person may set another in its place.
    """
    body = store.document(_FLEET, _ZONE)
    if body is not None and not fleet_zone(store) and body != _NONE:
        raise Unreadable(said("zone.unreadable"))


def set_fleet_zone(store: Store, zone: str) -> None:
    """Keep the fleet's time zone."""
    store.put_document(_FLEET, _ZONE, json.dumps(zone))
