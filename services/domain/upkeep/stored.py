"""What a stored number may be, and how a value is kept as a document.

A number outside is none of ours, and what holds it counts as unreadable: a wrong instant would not fail where it is
read but where it is shown, compared or added to, far from its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from services.domain.errors import UsageError

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
T = TypeVar("T")
Other = TypeVar("Other")


def calendar(instant: object) -> int:
    """An instant out of an index; 0 for what no calendar has, since an index may hold anything."""
    return instant if type(instant) is int and 0 <= instant <= LATEST_MS else 0


class Document(Generic[T]):
    """How a value is kept in the store, as JSON under a kind and a name, and read again as far as anybody can: of one
    that nobody can read the doctor tells.
    """

    def __init__(self, of: type[T], check: Callable[[T], object] = lambda _one: None) -> None:
        """``check`` raises ValueError or UsageError where one cannot be so."""
        self._decode, self._check = msgspec.json.Decoder(of).decode, check

    def dump(self, one: T) -> str:
        """Its document."""
        return msgspec.json.encode(one).decode()

    def load(self, body: str) -> T:
        """A stored one.

        Raises:
            ValueError: it is none, or cannot be so.
        """
        found = self._decode(body)
        try:
            self._check(found)
        except UsageError as exc:
            raise ValueError(str(exc)) from exc
        return found

    def read(self, body: str | None, otherwise: Other) -> T | Other:
        """The same; ``otherwise`` where there is none, or none that can be read."""
        try:
            return self.load(body) if body else otherwise
        except (ValueError, RecursionError):
            return otherwise

    def readable(self, bodies: Mapping[str, str]) -> dict[str, T]:
        """Those that can be read, by name."""
        read = {name: self.read(body, None) for name, body in sorted(bodies.items())}
        return {name: one for name, one in read.items() if one is not None}


def version_name(name: str, version: int) -> str:
    """The name of the document that keeps what another one was."""
    return f"{name}@{version}"


def versions(names: Iterable[str], name: str) -> list[int]:
    """Which versions of one are kept, the oldest first, out of the names of them all."""
    heads = (one.rpartition("@") for one in names)
    numbers = (number for head, _, number in heads if head == name and number.isdecimal() and len(number) < 20)
    # one with zeros in front, or other digits, is none of ours: nothing stands under the name that we give to it
    return sorted(int(number) for number in numbers if str(int(number)) == number)
