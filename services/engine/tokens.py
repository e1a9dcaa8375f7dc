"""The tokens that the store knows, and which of them a text is."""

from __future__ import annotations

import json

from services.domain.fleet import token
from services.domain.fleet.token import Token
from services.ports import Store

#: how often the last use of a token is written down at most
USED_MS = 60_000


def tokens(store: Store) -> tuple[Token, ...]:
    """All of them by name, ended ones too."""
    return token.known(store.documents(token.KIND), store.documents(token.USED))


def find(store: Store, text: str) -> Token | None:
    """The token that a text is; None where it is none, was revoked or has ended."""
    return token.find(store.documents(token.KIND), text, store.now_ms())


def role_of(store: Store, name: str) -> str:
    """What a token permits at this moment, "" where it was revoked or has ended."""
    kept = token.DOCUMENT.read(store.documents(token.KIND).get(name), None)
    return "" if kept is None or token.over(kept.until, store.now_ms()) else kept.role


def note_use(store: Store, name: str) -> None:
    """Write down that a token was used now."""
    store.put_document(token.USED, name, json.dumps(store.now_ms()))
