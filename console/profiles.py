"""Remembers the fleet a person connected to: addresses in the state file, passwords in the system's key store."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit, urlunsplit

from console.state import ConsoleState

log = logging.getLogger(__name__)
SERVICE = "fleetdeck"
PARTS = ("broker", "redis")


def remember(state: ConsoleState, broker: str, redis: str) -> bool:
    """Keep both addresses; False when a password has no key store to go to, then nothing is kept."""
    bare = {name: without_password(url) for name, url in zip(PARTS, (broker, redis), strict=True)}
    for name, url in zip(PARTS, (broker, redis), strict=True):
        if url != bare[name] and not _keep(f"{name} {bare[name]}", url):
            return False
    state.set(chosen="fleet", fleet=bare)
    return True


def recall(state: ConsoleState) -> tuple[str, str] | None:
    """The addresses with their passwords, None when none are kept or the key store does not answer."""
    kept = state.get("fleet", {})
    if state.get("chosen") != "fleet" or not isinstance(kept, dict):
        return None
    found = [_recall_one(name, str(kept.get(name, ""))) for name in PARTS]
    return (found[0], found[1]) if all(found) else None


def without_password(url: str) -> str:
    """The address with the password left out."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    place = parts.netloc.rpartition("@")[2]
    user = parts.username or ""
    return urlunsplit(parts._replace(netloc=f"{user}@{place}" if user else place))


def _recall_one(name: str, bare: str) -> str:
    if not bare:
        return ""
    # the key store takes a while to load, and most starts need none
    import keyring
    import keyring.errors

    try:
        return keyring.get_password(SERVICE, f"{name} {bare}") or bare
    except keyring.errors.KeyringError as exc:
        log.warning("the key store does not answer: %s", exc)
        return bare


def _keep(name: str, secret: str) -> bool:
    import keyring
    import keyring.errors

    try:
        keyring.set_password(SERVICE, name, secret)
        return keyring.get_password(SERVICE, name) == secret
    except keyring.errors.KeyringError as exc:
        log.warning("no key store for the password: %s", exc)
        return False
