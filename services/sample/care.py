"""The person at the screen of the sample's shops: logs them in and moves the slider, a while after one asks for it."""

from __future__ import annotations

import http.client
import logging
import threading
from collections.abc import Callable
from urllib.parse import urlencode

from services.domain.errors import ConsoleError
from services.engine.lead.duty import DutyThread
from services.ports import Store
from services.sample.fleet import SampleFleet

log = logging.getLogger(__name__)
LOOK_S = 1.0
NOTE = "the sample logs itself in"


class Caretaker:
    """A thread of its own; a shop waits ``after_s`` for somebody, so that there is something to see."""

    def __init__(self, store: Store, fleet: SampleFleet, opened: Callable[[str], object], *, after_s: float) -> None:
        """``opened`` tells that a shop is logged in again."""
        self._store, self._fleet, self._opened, self._after_ms = store, fleet, opened, round(after_s * 1000)
        self._duty = DutyThread(self._loop, "sample-care")

    def start(self) -> None:
        self._duty.start()

    def close(self) -> None:
        """Stop and wait for the last act."""
        self._duty.stop()

    def look(self) -> int:
        """Log in where it is time for it; returns how many shops. What a person closed is for that person to open."""
        now = self._store.now_ms()
        due = [one.shop for one in self._store.sessions() if not one.by and now - one.since >= self._after_ms]
        for shop in due:
            log_in(self._fleet, shop)
            self._opened(shop)
        return len(due)

    def _loop(self, stop: threading.Event) -> None:
        while not stop.wait(LOOK_S):
            try:
                self.look()
            except ConsoleError as exc:
                log.warning("a shop of the sample still waits for its login: %s", exc)


def log_in(fleet: SampleFleet, shop: str) -> None:
    """Do at the storefront what a person does there for ``platform:shop_id``.

    Raises:
        ConsoleError: it does not answer.
    """
    platform, _, shop_id = shop.partition(":")
    body = urlencode({"platform": platform, "shop": shop_id})
    connection = http.client.HTTPConnection(fleet.url.removeprefix("http://").rstrip("/"), timeout=10.0)
    try:
        for page in ("/login", "/captcha"):
            connection.request("POST", page, body, {"Content-Type": "application/x-www-form-urlencoded"})
            connection.getresponse().read()
    except (OSError, http.client.HTTPException) as exc:
        raise ConsoleError(f"the sample storefront does not answer: {exc}") from exc
    finally:
        connection.close()
