"""Every setting as its declaration says it: whole name, kind, default; and what a value of it is when written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from services.domain.task.lane import LANES
from services.domain.text import mask
from services.settings.values import BROKER_PROFILES, FOREIGN_DUPLICATES, LANGUAGES, THEMES, Settings

#: the file's own place, and tables whose names a person chooses
ELSEWHERE = frozenset({"home", "profiles", "executors.browser.shops", "executors.http.requests", "foreign_queues"})
#: settings that are one of a few words, or some of them
CHOICES: Mapping[str, tuple[str, ...]] = {
    "language": LANGUAGES,
    "theme": THEMES,
    "foreign_duplicates": FOREIGN_DUPLICATES,
    "broker.profile": BROKER_PROFILES,
    "broker.lifo_lanes": LANES,
    "worker.lanes": LANES,
}
#: what an address may hold is not for every eye
SECRET = frozenset({"broker.url", "broker.management_url", "store.url", "executors.browser.proxy"})
#: tables whose values are given to other programs
VARIABLES = frozenset({"executors.rpa.environment"})


class Kind(StrEnum):
    """What a value is."""

    TEXT = "text"
    NUMBER = "number"  #: a whole one
    FRACTION = "fraction"
    SWITCH = "switch"
    WORDS = "words"  #: a list of texts
    TABLE = "table"  #: names and values


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. ``name``: whole, with its table: ``worker.slots``."""

    name: str
    kind: Kind
    default: Any
    choices: tuple[str, ...] = ()

    @property
    def table(self) -> str:
        """The table of the file it stands in, "" for the head."""
        return self.name.rpartition(".")[0]

    @property
    def key(self) -> str:
        """Its name within the table."""
        return self.name.rpartition(".")[2]

    @property
    def secret(self) -> bool:
        """Whether its value may hold a password."""
        return self.name in SECRET

    def of(self, settings: Settings) -> Any:
        """Its value."""
        found: Any = settings
        for part in self.name.split("."):
            found = getattr(found, part)
        return found


def everything() -> tuple[Declared, ...]:
    """All that stand in tables of fixed names, in the order of their declaration."""
    return tuple(one for one in _of(Settings, "") if one.name not in ELSEWHERE)


def differing(settings: Settings) -> list[str]:
    """A line for each whose value is not its default, without secrets."""
    found = ((one, one.of(settings)) for one in everything())
    return [f"{one.name} = {shown(one, value)}" for one, value in found if value != one.default]


def shown(one: Declared, value: Any) -> str:
    """A value on one line, with dots for secrets."""
    plain = msgspec.to_builtins(value)
    if one.name in VARIABLES:  # whatever they are called: flows get their passwords so
        plain = dict.fromkeys(plain, mask.DOTS)
    return mask.masked_text(msgspec.json.encode(mask.masked(plain)).decode())


def _of(kind: type[msgspec.Struct], above: str) -> Iterator[Declared]:
    for field in msgspec.structs.fields(kind):
        name = above + field.name
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        if isinstance(default, msgspec.Struct):
            yield from _of(type(default), f"{name}.")
        else:
            yield Declared(name=name, kind=_kind(default), default=default, choices=CHOICES.get(name, ()))


def _kind(default: Any) -> Kind:
    for kind, of in ((bool, Kind.SWITCH), (int, Kind.NUMBER), (float, Kind.FRACTION), (str, Kind.TEXT)):
        if isinstance(default, kind):
            return of
    return Kind.TABLE if isinstance(default, dict) else Kind.WORDS
