"""A leader that cannot work any more makes room for one that can, and stands back until it can again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from services import home_folder
from services.assembly import Engine
from services.engine.lead import leader, leader_link
from services.workers.host import Steward
from tests.contract.waiting import eventually
from tests.faults.conftest import Behind
from tests.integration.fleet_rig import channel

pytestmark = [pytest.mark.fault, pytest.mark.rabbitmq, pytest.mark.redis]
#: patience; it takes about ten
SECONDS = 60.0


@pytest.fixture
def own_home(behind: Behind, tmp_path: Path) -> Engine:
    """The engine behind the proxies, on a machine with a disk of its own."""
    return behind.fleet.open(
        broker=behind.engine.settings.broker, store=behind.engine.settings.store, home=str(tmp_path / "elsewhere")
    )


def refuse_broker(behind: Behind, _engine: Engine) -> Callable[[], None]:
    behind.broker.refuse()
    return behind.broker.heal


def cut_broker(behind: Behind, _engine: Engine) -> Callable[[], None]:
    behind.broker.cut()
    return behind.broker.heal


def refuse_store(behind: Behind, _engine: Engine) -> Callable[[], None]:
    behind.store.refuse()
    return behind.store.heal


def lose_disk(_behind: Behind, engine: Engine) -> Callable[[], None]:
    spool = engine.settings.home_path / home_folder.SPOOL
    shutil.rmtree(spool)
    spool.write_text("in the way")
    return spool.unlink


@pytest.mark.parametrize(
    "fault",
    [
        refuse_broker,
        pytest.param(cut_broker, marks=pytest.mark.harsh),
        pytest.param(refuse_store, marks=pytest.mark.harsh),
        pytest.param(lose_disk, marks=pytest.mark.harsh),
    ],
)
def test_whoever_can_work_leads(
    behind: Behind, own_home: Engine, fault: Callable[[Behind, Engine], Callable[[], None]]
) -> None:
    fleet, store = behind.fleet, behind.fleet.engine.store
    broken = fleet.steward(own_home)
    eventually(lambda: store.leader(leader.ROLE) == own_home.name, SECONDS)
    other = fleet.open()
    able = fleet.steward(other)
    heal = fault(behind, own_home)
    eventually(lambda: store.leader(leader.ROLE) == other.name and able.leader.leading, SECONDS)
    eventually(lambda: not broken.leader.leading, SECONDS)
    if fault is not refuse_store:
        told = leader_link.last_resigned(store)
        assert (told.holder, bool(told.why)) == (own_home.name, True)
    able.close()
    looked_at = store.now_ms()
    # it had its turn more than once by then
    eventually(lambda: store.leader(leader.ROLE) or store.now_ms() - looked_at > 8_000, SECONDS)
    assert not store.leader(leader.ROLE), "who cannot work does not lead, even where nobody else does"
    heal()
    eventually(lambda: store.leader(leader.ROLE) == own_home.name and broken.leader.leading, SECONDS)


def test_a_pause_of_the_broker_costs_nobody_the_lead(behind: Behind) -> None:
    """Shorter than a few rounds."""
    fleet, store = behind.fleet, behind.fleet.engine.store
    steward: Steward = fleet.steward(behind.engine)
    eventually(lambda: steward.leader.leading, SECONDS)
    behind.broker.drop()
    began = store.now_ms()
    with channel(fleet.settings.broker.url):
        eventually(lambda: store.now_ms() - began > 6_000, SECONDS)
    assert store.leader(leader.ROLE) == behind.engine.name
    assert not leader_link.last_resigned(store).holder
