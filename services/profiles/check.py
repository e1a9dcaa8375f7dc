"""Whether what a person entered can be a connection: one sentence a field, with what is wanted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from services import addresses
from services.broker import listed as brokers
from services.domain.errors import UsageError
from services.domain.fleet.hosts import is_device
from services.domain.text.said import said, words_of
from services.profiles.book import SavedProfile

LONGEST = 40
#: a profile of this machine names a file, on any system
_NAME = re.compile(r"\w(?:[\w .-]*\w)?")
#: this machine's own engine, and the throw-away fleet
TAKEN = ("local", "demo")


def problems(profile: SavedProfile, others: Iterable[str], *, local: bool) -> Iterator[tuple[str, str]]:
    """Field of the profile and what is wrong with it; ``others``: names of the other profiles."""
    name = profile.name
    if not name:
        yield "name", said("profile.no_name")
    elif len(name) > LONGEST or not _NAME.fullmatch(name) or is_device(name):
        yield "name", said("profile.bad_name", most=LONGEST)
    elif name.lower() in {other.lower() for other in (*others, *TAKEN)}:
        yield "name", said("profile.taken", name=name)
    if local:
        return
    for field, check in (("broker", brokers.check), ("redis", addresses.check_store)):
        url = getattr(profile, field)
        problem = said(f"profile.no_{field}") if not url else _of(check, url, field)
        if problem:
            yield field, problem
    if profile.management and not re.fullmatch(r"https?://\S+", profile.management):
        yield "management", said("profile.bad_management")


def _of(check: Callable[[str, str], None], url: str, field: str) -> str:
    try:
        check(url, said(f"profile.field_{field}"))
    except UsageError as exc:
        return words_of(exc)
    return ""
