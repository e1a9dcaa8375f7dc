"""The drivers under test. A real service is asked for only when its own parameter runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.sqlite.broker import EmbeddedBroker
from services.clock import ManualClock, SystemClock
from services.ports import Broker, Store
from services.store.redis.store import RedisStore
from services.store.sqlite.store import EmbeddedStore
from tests.contract.rig import Rig

STORES = ["embedded", "redis"]
BROKERS = ["embedded", "rabbitmq"]


def _params(kinds: list[str]) -> list[Any]:
    marks = {"redis": [pytest.mark.redis], "rabbitmq": [pytest.mark.rabbitmq]}
    return [pytest.param(kind, marks=marks.get(kind, [])) for kind in kinds]


def open_store(kind: str, where: Any, clock: Any) -> Store:
    """The named driver; ``where`` is a file or an address."""
    driver: Store = {"embedded": EmbeddedStore, "redis": RedisStore}[kind](where, clock)
    return driver


def open_broker(kind: str, where: Any, clock: Any) -> Broker:
    """The named driver; ``where`` is a file or an address."""
    driver: Broker = {"embedded": EmbeddedBroker, "rabbitmq": RabbitBroker}[kind](where, clock)
    return driver


def _where(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if kind == "embedded":
        return tmp_path / "fleet.sqlite"
    return request.getfixturevalue("redis_url" if kind == "redis" else "amqp_vhost")


@pytest.fixture(params=_params(STORES))
def store_kind(request: pytest.FixtureRequest) -> str:
    """Which store driver."""
    return str(request.param)


@pytest.fixture
def store_place(store_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """File or address of an empty store."""
    return _where(store_kind, request, tmp_path)


@pytest.fixture
def rig(store_kind: str, store_place: Any) -> Iterator[Rig]:
    """An empty store with its clock."""
    clock = ManualClock() if store_kind == "embedded" else None
    store = open_store(store_kind, store_place, clock or SystemClock())
    yield Rig(store, clock, "" if clock else store_place)
    store.close()


@pytest.fixture
def store(rig: Rig) -> Store:
    """An empty store."""
    return rig.store


@pytest.fixture
def second_store(rig: Rig, store_kind: str, store_place: Any) -> Iterator[Store]:
    """A second driver on the same data, as another process would have it."""
    store = open_store(store_kind, store_place, rig.clock or SystemClock())
    yield store
    store.close()


@pytest.fixture(params=_params(BROKERS))
def broker_kind(request: pytest.FixtureRequest) -> str:
    """Which broker driver."""
    return str(request.param)


@pytest.fixture
def broker_place(broker_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """File or address of an empty broker."""
    return _where(broker_kind, request, tmp_path)


@pytest.fixture
def broker(broker_kind: str, broker_place: Any) -> Iterator[Broker]:
    """An empty broker with its topology declared, delays of one and two seconds."""
    driver = open_broker(broker_kind, broker_place, SystemClock())
    driver.ensure(platforms=["pdd", "temu"], delays=[1, 2])
    yield driver
    driver.close()
