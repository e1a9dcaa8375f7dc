"""What a stored number may be: one outside is no number of ours, and what holds it counts as unreadable.

A wrong instant would not fail where it is read but where it is shown, compared or added to, far from its cause.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

#: the end of the year 9000 in UTC milliseconds: every zone and every calendar can still show it
LATEST_MS = 221_876_927_999_999
#: what a number in JSON, in Lua and in a sorted set of Redis keeps exactly
LARGEST = 2**53

#: UTC milliseconds, 0 for "not yet"
Instant = Annotated[int, Meta(ge=0, le=LATEST_MS)]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Number = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
#: seconds, megabytes, percent; -1 for "unknown"; neither endless nor undefined
Measure = Annotated[float, Meta(ge=-1, le=1e15)]


def calendar(instant: object) -> int:
    """An instant out of an index; 0 for what no calendar has, since an index may hold anything."""
    return instant if type(instant) is int and 0 <= instant <= LATEST_MS else 0
