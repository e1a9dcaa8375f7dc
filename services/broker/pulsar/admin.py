"""Numbers from the admin API of a Pulsar, where its address is given. pulsar-lite has none."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, NamedTuple

from services.broker.pulsar.address import Address
from services.broker.pulsar.link import SUBSCRIPTION
from services.ports import Clock

TIMEOUT_S = 2.0
QUIET_S = 5.0  #: after a failure it is not asked for so long
LIMIT = 1 << 20


class Backlog(NamedTuple):
    """What one queue holds."""

    ready: int
    unacked: int
    consumers: int


class Admin:
    """Blocking; never raises, ``error`` tells why there are no numbers."""

    def __init__(self, address: Address, url: str, clock: Clock, *, insecure: bool = False) -> None:
        self._address, self._url, self._clock = address, url.rstrip("/"), clock
        self._quiet_until = float("-inf")
        self._context: ssl.SSLContext | None = None
        if self._url.startswith("https:"):
            self._context = ssl.create_default_context(cafile=address.cacertfile or None)
            if insecure:
                self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE
        self.error = ""

    def backlog(self, queue: str) -> Backlog | None:
        """The numbers of a queue, nothing in it where nobody has made it; None where they cannot be had."""
        if not self._url or self._clock.monotonic() < self._quiet_until:
            return None
        space = urllib.parse.quote(self._address.space)
        path = f"{self._url}/admin/v2/persistent/{space}/{urllib.parse.quote(queue)}/stats"
        try:
            found = _read(self._get(path))
        except urllib.error.HTTPError as exc:
            if exc.code == 404:
                return Backlog(0, 0, 0)
            self._silent(f"{exc.code} {exc.reason}")
            return None
        except (OSError, ValueError) as exc:
            self._silent(f"{type(exc).__name__}: {exc}"[:200])
            return None
        self.error = ""
        return found

    def _silent(self, why: str) -> None:
        self.error, self._quiet_until = why, self._clock.monotonic() + QUIET_S

    def _get(self, url: str) -> Any:
        headers = {"Authorization": f"Bearer {self._address.token}"} if self._address.token else {}
        asked = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(asked, timeout=TIMEOUT_S, context=self._context) as answer:
            return json.loads(answer.read(LIMIT))


def _read(stats: Any) -> Backlog:
    shared = stats.get("subscriptions", {}).get(SUBSCRIPTION, {}) if isinstance(stats, dict) else {}
    waiting, held = int(shared.get("msgBacklog", 0)), int(shared.get("unackedMessages", 0))
    return Backlog(max(0, waiting - held), held, len(shared.get("consumers", ())))
