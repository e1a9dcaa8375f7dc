"""Fleets to be broken: a command line with its processes, the same fleet as the test sees it, one behind proxies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from services import assembly
from services import settings as config
from tests.e2e.conftest import cli, fleet, pair, words
from tests.integration import fleet_rig
from tests.integration.fleet_rig import Fleet
from tests.support.proxy import Proxy
from tests.support.services import RabbitMQ, Redis

__all__ = ["behind", "cli", "fleet", "pair", "words"]


@dataclass
class Behind:
    """A fleet on RabbitMQ and Redis: the test looks straight at it, ``engine`` reaches it by the proxies."""

    fleet: Fleet
    engine: assembly.Engine
    broker: Proxy
    store: Proxy


@pytest.fixture
def behind(
    amqp_vhost: str, redis_url: str, rabbitmq: RabbitMQ, redis_server: Redis, tmp_path: Path
) -> Iterator[Behind]:
    """Connections that can be broken; RabbitMQ's are found dead after seconds."""
    settings = fleet_rig.settings_for(
        "fleet", tmp_path, amqp=amqp_vhost, redis=redis_url, management=rabbitmq.management_url
    )
    with (
        Proxy(rabbitmq.port) as broker,
        Proxy(redis_server.port) as store,
        fleet_rig.opened("fleet", settings, tmp_path) as fleet,
    ):
        engine = fleet.open(
            broker=config.BrokerSettings(
                url=f"{broker.of(amqp_vhost)}?heartbeat=2", management_url=rabbitmq.management_url
            ),
            store=config.StoreSettings(url=store.of(redis_url)),
        )
        yield Behind(fleet, engine, broker, store)
