"""Secrets of shops, on the worker only: its environment, then this machine's keyring, then those for all shops."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from services.domain.text import mask

log = logging.getLogger(__name__)
PREFIX, SERVICE = "FLEETDECK_SECRET__", "fleetdeck"
_OTHER = re.compile(r"[^A-Za-z0-9]")


class Vault:
    """Looks secrets up; what it meets is dots wherever this process shows something."""

    def __init__(self, environment: Mapping[str, str], *, keyring: bool = True) -> None:
        """``environment`` is this process's; only names that begin with ``FLEETDECK_SECRET__`` are looked at."""
        self._environment = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
        mask.know(self._environment.values())
        self._keyring = keyring

    def find(self, platform: str, shop_id: str, name: str) -> str | None:
        """The secret of a shop, else the one for all shops, else None; what is empty counts as absent."""
        for scope in (f"{platform}:{shop_id}/{name}", name):
            value = self._from_environment(scope) or self._from_keyring(scope)
            if value:
                mask.know([value])
                return value
        return None

    def of_machine(self, name: str) -> str | None:
        """A secret that belongs to no shop, as the address of a channel of alerts; None where it is not known here."""
        value = self._from_environment(name) or self._from_keyring(name)
        if value:
            mask.know([value])
        return value or None

    def _from_environment(self, scope: str) -> str:
        parts = re.split("[:/]", scope)
        exact = PREFIX + "__".join(parts)
        # shells take letters, digits and underscores only, and people write variables in capitals
        spelt = PREFIX + "__".join(_OTHER.sub("_", part).upper() for part in parts)
        return self._environment.get(exact) or self._environment.get(spelt) or ""

    def _from_keyring(self, scope: str) -> str:
        if not self._keyring:
            return ""
        # Imported where it is used: 100 ms that a worker without secrets does not pay.
        import keyring

        try:
            return keyring.get_password(SERVICE, scope) or ""
        except Exception as exc:  # noqa: BLE001 - that of Windows raises what Windows says, as to a service without a log-in
            log.debug("no keyring here: %s", exc)
            return ""
