"""The server of ``api`` over a fleet of a test, and who asks it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from services import assembly
from services.api import server
from tests.integration.fleet_rig import Fleet


@dataclass
class Api:
    """A server that listens, and tokens for it."""

    fleet: Fleet
    address: str

    def token(self, role: str, name: str = "", **options: Any) -> str:
        """The text of a new one."""
        text, _ = assembly.commands(self.fleet.engine).tokens.create(name or f"a-{role}", role, **options)
        return text

    def client(self, token: str = "", **headers: str) -> httpx.Client:
        """Asks with a token, or without."""
        known = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.address, headers=known | headers, timeout=30.0, trust_env=False)

    def by(self, role: str) -> httpx.Client:
        """Asks with a new token of this role."""
        return self.client(self.token(role))


@contextmanager
def serving(fleet: Fleet, engine: assembly.Engine | None = None, **place: Any) -> Iterator[Api]:
    """A server in this process, on a port of its own."""
    where = server.Place(**({"host": "127.0.0.1", "port": 0} | place))
    server.check(where)
    with server.serving(engine or fleet.open(), where) as address:
        yield Api(fleet, address)
