"""A storefront process and runs of the RPA command line against it, as tests use them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parents[3] / "resources" / "sample"


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that has ended."""

    code: int
    lines: list[str]
    stderr: str

    @property
    def reason(self) -> str:
        """The last line of stderr: what the engine keeps as the error."""
        return self.stderr.strip().splitlines()[-1] if self.stderr.strip() else ""

    @property
    def result(self) -> dict[str, Any]:
        """The result that the last line of stdout carries."""
        return json.loads(self.lines[-1])["result"]


class Fleet:
    """One storefront process, one SQLite file, one output folder."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.database = folder / "orders.sqlite"

    def ask(self, path: str, body: object = None) -> Any:
        """GET, or POST of a body; the JSON that comes back."""
        status, _, answer = self.fetch(path, body)
        assert status == 200, answer
        return json.loads(answer)

    def fetch(self, path: str, body: object = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """GET, or POST of a body; status, headers in lower case, text."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=30)
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        data = body if isinstance(body, str) else json.dumps(body)
        with contextlib.closing(connection):
            connection.request("GET" if body is None else "POST", path, None if body is None else data, named)
            answer = connection.getresponse()
            found = {name.lower(): text for name, text in answer.getheaders()}
            return answer.status, found, answer.read().decode()

    def truth(self, platform: str, shop: str) -> list[dict[str, Any]]:
        """The orders that the storefront would serve."""
        return sorted(self.ask(f"/_orders?platform={platform}&shop={shop}"), key=lambda order: order["order_no"])

    def stored(self, platform: str, shop: str) -> list[dict[str, Any]]:
        """The orders in the SQLite file, in the storefront's own shape."""
        rows = self.rows("SELECT * FROM orders WHERE platform = ? AND shop_id = ? ORDER BY order_no", platform, shop)
        kept = [dict(row) for row in rows]
        for order in kept:
            del order["platform"], order["shop_id"]
            order["items"] = json.loads(order["items"])
        return kept

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Rows of the SQLite file."""
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            db.row_factory = sqlite3.Row
            return db.execute(query, values).fetchall()

    def start(self, flow: str, shop: str, *, timeout: str = "60", **param: object) -> subprocess.Popen[str]:
        """Start a run and do not wait; ``page_timeout`` is the worker's setting."""
        environment = {
            **os.environ,
            "FLEETDECK_SAMPLE_URL": self.url,
            "FLEETDECK_SAMPLE_DB": str(self.database),
            "FLEETDECK_SAMPLE_OUT": str(self.folder / "out"),
            "FLEETDECK_SAMPLE_PAGE_TIMEOUT": str(param.pop("page_timeout", 30)),
        }
        text = json.dumps({"shop_id": shop, "profile_id": shop, "debug_port": 9222, **param}, ensure_ascii=False)
        command = ["run", "--flow", flow, "--param", text, "--timeout", timeout]
        return launch(command, environment)

    def run(self, flow: str, shop: str, **param: Any) -> Finished:
        """Run to the end."""
        return finish(self.start(flow, shop, **param))

    def trouble(self, shop: str, kind: str) -> None:
        """Break or heal a shop, written ``platform:shop``."""
        self.ask("/_control", {"shop": shop, "trouble": kind})


def launch(command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start the RPA command line as a worker does."""
    return subprocess.Popen(
        [sys.executable, "-S", "-E", "-I", str(SAMPLE / "rpa_cli.py"), *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def finish(process: subprocess.Popen[str]) -> Finished:
    """Wait for the end of a run."""
    out, err = process.communicate(timeout=90)
    return Finished(process.returncode, out.splitlines(), err)
