"""The two pairs of drivers, each with a fleet of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services import settings as config
from tests.integration import fleet_rig
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import Fleet
from tests.support.pairs import PAIRS


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> str:
    """Which pair of drivers: everything on one machine, or RabbitMQ and Redis."""
    return str(request.param)


@pytest.fixture
def place(pair: str, request: pytest.FixtureRequest, tmp_path: Path) -> config.Settings:
    """Settings that lead to an empty fleet."""
    if pair == "embedded":
        return fleet_rig.settings_for(pair, tmp_path)
    amqp, redis = request.getfixturevalue("amqp_vhost"), request.getfixturevalue("redis_url")
    management = request.getfixturevalue("rabbitmq").management_url
    return fleet_rig.settings_for(pair, tmp_path, amqp=amqp, redis=redis, management=management)


@pytest.fixture
def fleet(pair: str, place: config.Settings, tmp_path: Path) -> Iterator[Fleet]:
    """An empty fleet on one pair."""
    with fleet_rig.opened(pair, place, tmp_path) as opened:
        yield opened


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """File in which handlers and flows note what they do."""
    return tmp_path / "seen.txt"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line with an empty home."""
    configure(tmp_path / "home")
    return Cli(tmp_path / "home")
