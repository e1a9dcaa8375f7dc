"""What stands for a task now: the one that it was republished as, and so on; asked for many at once."""

from __future__ import annotations

from collections.abc import Sequence

from services.domain.task.record import Task
from services.ports import Store


def latest(store: Store, records: Sequence[Task | None]) -> list[Task | None]:
    """At the place of each the last of its successors, itself where it has none; None where a record is gone.

    One question for each step of the longest chain. Blocking.
    """
    found = list(records)
    while wanted := sorted({one.successor for one in found if one is not None and one.successor}):
        later = dict(zip(wanted, store.get(wanted), strict=True))
        found = [later[one.successor] if one is not None and one.successor else one for one in found]
    return found
