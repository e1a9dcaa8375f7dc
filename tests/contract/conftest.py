"""The drivers under test. A real service is asked for only when its own parameter runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from services.broker.pulsar.broker import PulsarBroker
from services.broker.rabbitmq.broker import RabbitBroker
from services.broker.sqlite.broker import EmbeddedBroker
from services.clock import ManualClock, SystemClock
from services.ports import Broker, Store
from services.store.redis.store import RedisStore
from services.store.sqlite.store import EmbeddedStore
from tests.contract.rig import Rig
from tests.support.rabbit_cluster import PROFILE

STORES = ["embedded", "redis"]
BROKERS = ["embedded", "rabbitmq", "pulsar"]


def _params(kinds: list[str]) -> list[Any]:
    marks = {"redis": [pytest.mark.redis], "rabbitmq": [pytest.mark.rabbitmq], "pulsar": [pytest.mark.pulsar]}
    return [pytest.param(kind, marks=marks.get(kind, [])) for kind in kinds]


def open_store(kind: str, where: Any, clock: Any) -> Store:
    """The named driver; ``where`` is a file or an address."""
    driver: Store = {"embedded": EmbeddedStore, "redis": RedisStore}[kind](where, clock)
    return driver


def open_broker(kind: str, where: Any, clock: Any) -> Broker:
    """The named driver; ``where`` is a file or an address."""
    rabbit = partial(RabbitBroker, profile=PROFILE)
    makers: dict[str, Any] = {"embedded": EmbeddedBroker, "rabbitmq": rabbit, "pulsar": PulsarBroker}
    driver: Broker = makers[kind](where, clock)
    return driver


def apart(kind: str, where: Any, number: int) -> str:
    """The place for the ``number``-th program of several: pulsar-lite confuses their consumers by their numbers."""
    return f"{where}?ids={number * 50}" if kind == "pulsar" else str(where)


def _where(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if kind == "embedded":
        return tmp_path / "fleet.sqlite"
    return request.getfixturevalue({"redis": "redis_url", "pulsar": "pulsar_url"}.get(kind, "amqp_vhost"))


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
def broker(request: pytest.FixtureRequest, broker_kind: str, broker_place: Any) -> Iterator[Broker]:
    """An empty broker with its topology declared, delays of one and two seconds; a test is not for one that cannot do
    what it ``needs``.
    """
    driver = open_broker(broker_kind, broker_place, SystemClock())
    for mark in request.node.iter_markers("needs"):
        if missing := [name for name in mark.args if not getattr(driver.capabilities, name)]:
            driver.close()
            pytest.skip(f"{broker_kind} declares that it has no {', '.join(missing)}")
    driver.ensure(platforms=["pdd", "temu"], delays=[1, 2])
    yield driver
    driver.close()
