"""Passwords of broker and Redis: in the system's key store, under the address without them; never in a file of ours."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit, urlunsplit

log = logging.getLogger(__name__)
SERVICE = "fleetdeck"
# Key stores raise what their system raises: that of Windows an error of its own where an entry is too long for it, or
# where a service asks that nobody has logged in for. Whatever it is, the window opens and says that nothing is kept.
#: of addresses whose password no key store took: known until this program ends
_HELD: dict[str, str] = {}


def without(url: str) -> str:
    """The address with the password left out; "" for what cannot be read, which might hold one."""
    try:
        parts = urlsplit(url)
        query = "&".join(word for word in parts.query.split("&") if not word.lower().startswith("password="))
        if parts.password is None and query == parts.query:
            return url
        place = parts.netloc.rpartition("@")[2]
        user = parts.username or ""
    except ValueError:
        return ""
    return urlunsplit(parts._replace(netloc=f"{user}@{place}" if user else place, query=query))


def key_store() -> tuple[str, bool]:
    """What the key store of this machine calls itself, "" for none, and whether it writes plain text. Blocking."""
    import keyring

    try:
        found = keyring.get_keyring()
        found = next(iter(getattr(found, "backends", ())), found)  # of several the first one takes what is kept
        name = str(found.name)
    except Exception as exc:  # noqa: BLE001 - see above
        log.warning("no key store: %s", exc)
        return "", False
    kinds = [f"{kind.__module__}.{kind.__name__}".lower() for kind in type(found).__mro__]
    if any(kind.startswith(("keyring.backends.fail.", "keyring.backends.null.")) for kind in kinds):
        return "", False
    return name, any("plaintext" in kind for kind in kinds)


def keep(part: str, url: str) -> bool:
    """Keep the password of an address of ``part``; False when no key store takes it, or only one that writes plain
    text: then it is known until this program ends. Blocking.
    """
    bare = without(url)
    if url == bare:
        return True
    name = f"{part} {bare}"
    _HELD[name] = url
    # the key store takes a while to load, and most starts need none
    import keyring

    if key_store()[1]:
        log.warning("the key store writes plain text, so the password is not kept there")
        _drop(name)  # an older one would be taken for this one at the next start
        return False
    try:
        keyring.set_password(SERVICE, name, url)
        return keyring.get_password(SERVICE, name) == url
    except Exception as exc:  # noqa: BLE001 - see above
        log.warning("no key store for the password: %s", exc)
        return False


def recall(part: str, bare: str) -> str:
    """The address with its password, or as it is where none is kept. Blocking."""
    name = f"{part} {bare}"
    if not bare or name in _HELD:
        return _HELD.get(name, bare)
    import keyring

    try:
        return keyring.get_password(SERVICE, name) or bare
    except Exception as exc:  # noqa: BLE001 - see above
        log.warning("the key store does not answer: %s", exc)
        return bare


def forget(part: str, bare: str) -> None:
    """Keep the password of this address no longer. Blocking."""
    name = f"{part} {bare}"
    _HELD.pop(name, None)
    _drop(name)


def _drop(name: str) -> None:
    import keyring

    try:
        keyring.delete_password(SERVICE, name)
    except Exception as exc:  # noqa: BLE001 - see above
        log.debug("no password to forget: %s", exc)
