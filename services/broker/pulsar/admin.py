"""Numbers from the admin API of a Pulsar, where its address is given. pulsar-lite has none."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, NamedTuple

from services import tls
from services.broker.pulsar.address import Address
from services.broker.pulsar.link import SUBSCRIPTION
from services.domain.errors import UsageError
from services.domain.text.said import said
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
    """Blocking; its questions never raise, ``error`` tells why there are no numbers."""

    def __init__(self, address: Address, url: str, clock: Clock, *, insecure: bool = False) -> None:
        """``url``: "" for none; a token in it goes before that of the broker's address.

        Raises:
            UsageError: the address, or a file of certificates, cannot be used.
        """
        self._address, self._clock = address, clock
        self._url, self._token = _place(url) if url else ("", "")
        self._token = self._token or address.token
        self._quiet_until = float("-inf")
        self._context: ssl.SSLContext | None = None
        if self._url.startswith("https:"):
            tls.check_files(address.files, tls.PULSAR, "broker.url")
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
        except (OSError, ValueError, TypeError, AttributeError, http.client.HTTPException) as exc:
            self._silent(f"{type(exc).__name__}: {exc}"[:200])
            return None
        self.error = ""
        return found

    def _silent(self, why: str) -> None:
        self.error, self._quiet_until = why, self._clock.monotonic() + QUIET_S

    def _get(self, url: str) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        asked = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(asked, timeout=TIMEOUT_S, context=self._context) as answer:
            return json.loads(answer.read(LIMIT))


def _place(url: str) -> tuple[str, str]:
    """The address without who asks, and the token of that one."""
    try:
        parts = urllib.parse.urlsplit(url.strip())
        port = parts.port
    except ValueError:
        parts, port = urllib.parse.urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        field = "broker.management_url"
        raise UsageError(said("address.unreadable", field=field, like="http://host:8080"), field=field)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
    return place, urllib.parse.unquote(parts.password or "")


def _read(stats: Any) -> Backlog:
    shared = stats.get("subscriptions", {}).get(SUBSCRIPTION, {}) if isinstance(stats, dict) else {}
    waiting, unacked = int(shared.get("msgBacklog", 0)), int(shared.get("unackedMessages", 0))
    return Backlog(max(0, waiting - unacked), unacked, len(shared.get("consumers", ())))
