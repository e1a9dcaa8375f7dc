"""One run of one flow: its parameters, its line to the worker, its browser and its database."""

from __future__ import annotations

import json
import os
import sys

from sample_rpa.errors import BadPayload, NotConfigured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sample_rpa.client import Client
    from sample_rpa.database import Database


def say(line: str) -> None:
    """One line of the live log; flushed at once, since a pipe would hold it back until the end."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class FlowContext:
    """What a flow gets."""

    def __init__(self, platform: str, param: dict[str, Any], client: Client, places: dict[str, str]) -> None:
        self.platform = platform
        self.shop = str(param["shop_id"])
        self.task_id = str(param.get("task_id") or "")
        self.param = param
        self.client = client
        self.page_base = f"/{platform}/{self.shop}"
        self.api_base = f"/api/{platform}/{self.shop}"
        self._places = places
        self._database: Database | None = None

    @property
    def database(self) -> Database:
        """Opened when it is first needed; screenshots never do."""
        if self._database is None:
            from sample_rpa.database import Database

            self._database = Database(self._place("FLEETDECK_SAMPLE_DB"))
        return self._database

    def log(self, text: str) -> None:
        """A line for people."""
        say(f"[{self.platform}:{self.shop}] {text}")

    def progress(self, percent: int, note: str) -> None:
        """Move the progress bar."""
        say(json.dumps({"progress": max(0, min(100, percent)), "note": note}, ensure_ascii=False))

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number from the payload."""
        value = self.param.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise BadPayload(f"{name} is not a whole number from {low} to {high}: {value!r}")
        return value

    def text(self, name: str, default: str = "") -> str:
        """A text from the payload."""
        value = self.param.get(name, default)
        if not isinstance(value, str):
            raise BadPayload(f"{name} is not a text: {value!r}")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts from the payload."""
        value = self.param.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadPayload(f"{name} is not a list of texts: {value!r}")
        return value

    def day(self, name: str) -> str:
        """A day, or a day and time, from the payload; empty when absent."""
        value = self.text(name)
        if value:
            from datetime import date

            try:  # "2026-13-20" must not pass: it would sync nothing and call that a success
                date.fromisoformat(value[:10])
            except ValueError:
                raise BadPayload(f"{name} is not a date like 2026-11-20: {value!r}") from None
        return value

    def keep_page(self, page: str, suffix: str) -> int:
        """Hand over a page as HTML and as a sketch; returns the bytes of the HTML."""
        from sample_rpa import sketch

        body = page.encode()
        self._hand_over(body, f"{suffix}.html", "html")
        self._hand_over(sketch.png(page), f"{suffix}.sketch.png", "image")
        return len(body)

    def _hand_over(self, body: bytes, suffix: str, kind: str) -> None:
        """Write a file of this task and name it to the worker; a repeated run replaces it."""
        folder = os.environ.get("FLEETDECK_FILES") or self._place("FLEETDECK_SAMPLE_OUT")
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - pathlib costs a fifth of the start-up
        name = "".join(char if char.isalnum() or char in "-_" else "_" for char in self.task_id or self.shop)
        path = f"{folder}{os.sep}{name}.{suffix}"
        with open(f"{path}.{os.getpid()}.part", "wb") as file:  # noqa: PTH123
            file.write(body)
        os.replace(f"{path}.{os.getpid()}.part", path)  # noqa: PTH105
        say(json.dumps({"artifact": path, "name": suffix, "kind": kind}, ensure_ascii=False))

    def close(self) -> None:
        """Let go of browser and database."""
        self.client.close()
        if self._database is not None:
            self._database.close()

    def can_save(self) -> bool:
        """Whether there is an output folder."""
        return bool(self._places.get("FLEETDECK_SAMPLE_OUT"))

    def _place(self, name: str) -> str:
        path = self._places.get(name, "")
        if not path:
            raise NotConfigured(f"{name} is not set on this worker")
        return path
