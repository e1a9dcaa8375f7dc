"""All that lies on the servers or in the file of a fleet, taken down so that two moments can be compared."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

from redis import Redis

from services.settings import Settings
from tests.support.services import RabbitMQ

#: of a queue or an exchange: what somebody declared
DECLARED = ("name", "type", "durable", "auto_delete", "arguments")


def taken(settings: Settings, rabbitmq: RabbitMQ | None = None) -> dict[str, Any]:
    """Every row of the embedded file; or every key of Redis with its bytes and whether it expires, and every exchange,
    queue, binding and number of messages of the virtual host.
    """
    if settings.embedded:
        return _of_file(settings)
    assert rabbitmq is not None
    return {**_of_redis(settings.store.url), **_of_rabbit(settings.broker.url, rabbitmq)}


def _of_file(settings: Settings) -> dict[str, Any]:
    with contextlib.closing(sqlite3.connect(settings.database)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        return {name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


def _of_redis(url: str) -> dict[str, Any]:
    with Redis.from_url(url) as client:
        return {f"redis {key.decode()}": (client.dump(key), client.ttl(key) >= 0) for key in sorted(client.scan_iter())}


def _of_rabbit(url: str, rabbitmq: RabbitMQ) -> dict[str, Any]:
    vhost = url.rsplit("/", 1)[1]
    found: dict[str, Any] = {
        kind: [{name: row[name] for name in DECLARED} for row in rabbitmq.api("GET", f"/api/{kind}/{vhost}")]
        for kind in ("exchanges", "queues")
    }
    bindings = rabbitmq.api("GET", f"/api/bindings/{vhost}")
    found["bindings"] = sorted((row["source"], row["destination"], row["routing_key"]) for row in bindings)
    return found
