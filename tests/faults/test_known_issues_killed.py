"""What is decided about a cause is done by whoever leads, once, though the one that began is killed; real processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from services.engine.lead import leader
from tests.contract.waiting import eventually
from tests.integration import hook as hooks
from tests.integration.alert_rig import Watch
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet
from tests.integration.hook import Hook

pytestmark = pytest.mark.fault


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


def parked(fleet: Fleet) -> dict[str, str]:
    """Paused shops, and by whom."""
    return {one.scope: one.by for one in fleet.engine.store.pauses()}


@pytest.mark.rabbitmq
@pytest.mark.redis
@pytest.mark.timeout(400)  # two leases are waited for: more where much else runs
@pytest.mark.parametrize("pair", ["fleet"], indirect=True)
def test_what_a_known_issue_has_parked_outlives_who_parked_it(cli: Cli, fleet: Fleet, hook: Hook) -> None:
    watch = Watch(fleet, hook)
    watch.channel()
    watch.only("dead_letters", limits={"letters": 1})
    cli.environment["FLEETDECK_SECRET__OPS"] = hook.url
    fleet.worker()
    store = fleet.engine.store
    with cli.start("api", "--port", "0") as first:
        eventually(lambda: store.leader(leader.ROLE), 90)
        (dead,) = fleet.wait_ended([fleet.create("s1", fail="risk_control", max_retries=0)])
        mark = f"known issue {dead.fingerprint}"
        cli.run("cause", "know", dead.fingerprint, "--owner", "ann", "--park", "2h", "--alert-once", "--to", "ops")
        eventually(lambda: parked(fleet) == {"shop:pdd:s1": mark}, 60)
        hook.wait(1, 60)
        eventually(watch.noted, 90)
        first.send_signal(signal.SIGKILL)
        first.wait(30)
    waiting = fleet.create("s1")
    with cli.start("api", "--port", "0"):
        fleet.wait_ended([fleet.create("s2", fail="risk_control", max_retries=0)])
        eventually(lambda: parked(fleet) == {"shop:pdd:s1": mark, "shop:pdd:s2": mark}, 90)
        assert f"shop:pdd:s1 is paused by {mark}" in cli.call("task", "show", waiting).stdout
        assert f"Paused by {mark}: shop:pdd:s2" in cli.call("doctor").stdout
        fleet.commands().fleet.resume("shop:pdd:s1")  # a person, whom the rule does not undo
        fleet.wait(waiting, "succeeded")
        (last,) = fleet.wait_ended([fleet.create("s3", fail="risk_control", max_retries=0)])
        assert last.fingerprint == dead.fingerprint
        eventually(lambda: "shop:pdd:s3" in parked(fleet), 60)
        assert parked(fleet) == {"shop:pdd:s2": mark, "shop:pdd:s3": mark}
        cli.run("cause", "forget", dead.fingerprint)
        eventually(lambda: not parked(fleet), 60)
    acts = sorted((one.action, *one.target) for one in store.audit(50) if one.who == mark)
    shops = [f"shop:pdd:s{number}" for number in (1, 2, 3)]
    assert acts == [*(("pause", shop) for shop in shops), *(("resume", shop) for shop in shops[1:])], "each once"
    assert len(hook.told) == 1, hook.titles
    watch.keeper.stop()
