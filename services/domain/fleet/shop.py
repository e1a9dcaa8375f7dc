"""A shop: one store on one platform, with its own limits and pause switch."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from services.domain.upkeep.stored import Instant

WORD = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
RESERVED = frozenset({"high", "normal", "low", "dead"})
MOST_AT_ONCE = 64  #: of its tasks, whatever a person allows
SCOPE_ALL = "all"  #: the pause that stops everything
UNREAD = "unknown"  #: stands for what a message does not tell, or tells as no word can be written


class Shop(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Identity is ``(platform, shop_id)``; ids are case-sensitive."""

    platform: str
    shop_id: str
    name: str = ""
    name_en: str = ""
    group: str = ""
    tags: tuple[str, ...] = ()  #: words that people find it by
    concurrency: int = 1  #: tasks of this shop that may run at once
    dedicated: bool = False
    enabled: bool = True
    unregistered: bool = False  #: made up from a message; nobody has described it yet

    @property
    def key(self) -> str:
        """``platform:shop_id``."""
        return f"{self.platform}:{self.shop_id}"

    @property
    def called(self) -> str:
        """What people call it."""
        return self.name or self.shop_id

    @property
    def nowhere(self) -> bool:
        """Whether only messages whose platform cannot be read tell of it: no shop has its place in the fleet there."""
        return self.unregistered and self.platform == UNREAD


def stranger(key: str) -> Shop:
    """A shop of which only tasks tell."""
    platform, _colon, shop_id = key.partition(":")
    return Shop(platform=platform, shop_id=shop_id, unregistered=True)


#: so many tags, each so long
MOST_TAGS, TAG_LENGTH = 20, 40
_BETWEEN = re.compile(r"[\s,;，；、|]+")


def tags_of(text: str) -> tuple[str, ...]:
    """The tags that a person wrote, each once; any separator stands between them."""
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(text) if word))


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """A closed pause switch. ``scope``: ``all``, ``platform:pdd``, ``shop:pdd:1``, ``type:sync_order``."""

    scope: str
    by: str
    at: Instant = 0
    reason: str = ""

    @property
    def gate(self) -> str:
        """The gate that it closes."""
        return "paused"

    @property
    def until(self) -> int:
        """When it opens by itself, UTC ms; 0: a person opens it."""
        return 0

    @property
    def unread(self) -> bool:
        """Whether it closes because nobody can read what it was to hold back."""
        return False

    @property
    def told(self) -> Mapping[str, str]:
        """What else its sentences say."""
        return {}

    @property
    def key(self) -> str:
        """Tells it from all others that are closed."""
        return self.scope


def valid_word(text: object) -> bool:
    """Whether ``text`` may stand in a routing key as platform or shop id."""
    return isinstance(text, str) and WORD.match(text) is not None


def valid_shop_id(text: object) -> bool:
    """A routing word that is not the name of a lane or of the dead key."""
    return valid_word(text) and text not in RESERVED


_READ_PAUSE = msgspec.msgpack.Decoder(Pause).decode
_SCOPES = {"platform": 1, "shop": 2, "type": 1}  #: how many words follow


def scopes_of(shop: str, kind: str = "") -> tuple[str, ...]:
    """All scopes whose switch, once closed, stops a shop's tasks; with ``kind`` those of that type."""
    scopes = (SCOPE_ALL, f"platform:{shop.partition(':')[0]}", f"shop:{shop}")
    return (*scopes, f"type:{kind}") if kind else scopes


def valid_scope(text: str) -> bool:
    """Whether a pause can be of this."""
    kind, _, rest = text.partition(":")
    words = rest.split(":")
    return text == SCOPE_ALL or (len(words) == _SCOPES.get(kind) and all(map(valid_word, words)))


def read_pause(data: bytes, scope: str = "") -> Pause:
    """A stored pause; ``scope``: what it is kept under.

    Raises:
        ValueError: it is none.
    """
    pause = _READ_PAUSE(data)
    if not valid_scope(pause.scope) or (scope and scope != pause.scope):
        raise ValueError(f"{pause.scope!r:.60} is nothing that can be paused")
    return pause
