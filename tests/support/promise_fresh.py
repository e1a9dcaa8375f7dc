"""Mornings by which nothing of the forecast was adjusted; each goes wrong in a way of its own."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.promise_loads import NOISE, ORDERS, Shape, World, usual


def bursts(world: World) -> Iterator[float]:
    """Other work comes at any time, in any lane, as much as it likes."""
    usual(world)
    world.room.define(NOISE, expected_s=60.0, uniqueness="none")
    for number in range(9):
        yield world.minute + world.chance.uniform(8, 30)
        lane = world.chance.choice(("high", "normal", "low"))
        for n in range(world.chance.choice((1, 1, 2, 4, 8))):
            world.create(NOISE, world.shops, priority=lane, payload={"n": [number, n]})


def drift(world: World) -> Iterator[float]:
    """All runs take a little longer every few minutes."""
    usual(world)
    step, times = world.pick((1.05, 1.10, 1.16)), 1.0
    yield world.chance.uniform(30, 50)
    for _ in range(24):
        times *= step
        world.slow = dict.fromkeys(("pdd", "temu", "tiktok"), times)
        yield world.minute + 6


def lost_workers(world: World) -> Iterator[float]:
    """One worker after the other is lost for good; at last somebody starts a small one."""
    usual(world)
    for hand in list(world.hands):
        yield world.minute + world.chance.uniform(20, 45)
        world.kill(hand)
    yield world.minute + world.pick((20, 45))
    world.hire(2)
    world.mended()


def limited(world: World) -> Iterator[float]:
    """Somebody limits a platform so that its work hardly fits; another one lifts that again."""
    usual(world)
    yield world.chance.uniform(40, 70)
    scope, slots, starts = (("platform:pdd", 1, 0), ("platform:temu", 0, 1), (f"type:{ORDERS}", 1, 0))[world.seed % 3]
    world.limit(scope, slots, starts)
    yield world.minute + world.pick((50, 90, 70))
    world.limit(scope)
    world.mended(scope if scope.startswith("platform:") else "")


def hardly_fits(world: World) -> Iterator[float]:
    """Limits of a type and a platform stand all morning; other work comes to that."""
    usual(world)
    world.limit(f"type:{ORDERS}", concurrency=3)
    world.limit("platform:tiktok", concurrency=1)
    world.room.define(NOISE, expected_s=60.0, uniqueness="none")
    yield world.chance.uniform(50, 80)
    for number in range(4):
        for n in range(world.pick((1, 2, 3))):
            world.create(NOISE, world.shops[number::3], payload={"n": [number, n]})
        yield world.minute + world.chance.uniform(15, 30)


def quiet_end(world: World) -> Iterator[float]:
    """Quiet hours for all shops that are over some time before the hour of a promise: all of it goes on at once."""
    usual(world)
    yield 50
    world.quiet("all", world.pick((60, 75, 95)), after_min=world.pick((5, 10)))


def late_leader(world: World) -> Iterator[float]:
    """Nobody fires schedules for a while, twice; then what is due is made up for."""
    usual(world)
    for minutes in (world.pick((6, 12, 20)), world.pick((35, 55))):
        yield world.minute + world.chance.uniform(35, 50)
        world.fires = False
        yield world.minute + minutes
        world.fires = True
        world.mended()


def flaky(world: World) -> Iterator[float]:
    """The network loses many attempts for an hour."""
    usual(world)
    yield world.chance.uniform(40, 60)
    world.flaky = world.pick((0.15, 0.3, 0.45))
    yield world.minute + world.pick((40, 80))
    world.flaky = 0.01


def uneven(world: World) -> Iterator[float]:
    """How long a run takes says little of the next; from an hour on there are fewer slots for that."""
    usual(world)
    world.uneven = world.pick((0.7, 0.9))
    yield world.chance.uniform(60, 70)
    world.kill(world.hands[0])
    if world.seed % 2:
        world.kill(world.hands[1])


FRESH: dict[str, Shape] = {
    "bursts": bursts,
    "slow drift": drift,
    "lost workers": lost_workers,
    "limit changed": limited,
    "hardly fits": hardly_fits,
    "quiet hours end": quiet_end,
    "leader late": late_leader,
    "flaky network": flaky,
    "uneven": uneven,
}
