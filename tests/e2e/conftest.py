"""The whole program as processes, on either pair of drivers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration import fleet_rig
from tests.integration.cli_rig import Cli, configure
from tests.integration.fleet_rig import Fleet
from tests.support.pairs import PAIRS


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> str:
    """Which pair of drivers."""
    return str(request.param)


@pytest.fixture
def words(pair: str, request: pytest.FixtureRequest) -> tuple[str, ...]:
    """What a command line must say to reach the pair."""
    if pair == "embedded":
        return ()
    amqp, redis = request.getfixturevalue("amqp_vhost"), request.getfixturevalue("redis_url")
    return ("--broker", amqp, "--redis", redis)


@pytest.fixture
def cli(words: tuple[str, ...], tmp_path: Path) -> Cli:
    """The command line of a machine with an empty home; leases are short, so that the dead are missed soon."""
    configure(tmp_path)
    return Cli(tmp_path, words, {"FLEETDECK_LEASE__SECONDS": "2"})


@pytest.fixture
def fleet(cli: Cli, pair: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fleet]:
    """The same fleet, looked at by the test; it runs no worker of its own."""
    named = dict(zip(cli.words[::2], cli.words[1::2], strict=True))
    management = request.getfixturevalue("rabbitmq").management_url if named else ""
    settings = fleet_rig.settings_for(
        pair, tmp_path, amqp=named.get("--broker", ""), redis=named.get("--redis", ""), management=management
    )
    with fleet_rig.opened(pair, settings, tmp_path) as opened:
        yield opened
