"""The place at which a list goes on, as the text that a page hands out."""

from __future__ import annotations

import base64
import binascii

import msgspec

from services.domain.errors import UsageError
from services.domain.task.query import Query
from services.store.sqlite.plan import Plan

#: sort value, task id
Place = tuple[int, str]


def written(plan: Plan, place: Place | None) -> str | None:
    """The text that a page hands out for a place."""
    return None if place is None else base64.urlsafe_b64encode(msgspec.json.encode((plan.sort, *place))).decode()


def read(query: Query) -> Place | None:
    """The place of a query's text.

    Raises:
        UsageError: it is none, or belongs to another order.
    """
    if not query.cursor:
        return None
    try:
        raw = base64.b64decode(query.cursor, altchars=b"-_", validate=True)
        sort, at, task_id = msgspec.json.decode(raw, type=tuple[str, int, str])
    except (binascii.Error, msgspec.MsgspecError, ValueError) as exc:
        raise UsageError("the place to go on from is damaged; start again at the first page", field="cursor") from exc
    if sort != query.sort:
        raise UsageError(f"the place to go on from belongs to the order by {sort:.40}", field="cursor")
    return at, task_id
