"""What a worker finds on its machine, and which tasks are its business."""

from __future__ import annotations

from services.executors.base import Executor, Fitness, Job, JobContext, Outcome
from services.workers.abilities import Abilities
from tests.unit.services.engine.room import Room


class Made:
    """An executor whose fitness a test changes."""

    def __init__(self, name: str, fit: Fitness | None = None) -> None:
        self.name, self.fit = name, fit or Fitness()
        self.looks = 0

    def fitness(self) -> Fitness:
        """As the test says."""
        self.looks += 1
        return self.fit

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Nothing is run here."""
        raise AssertionError

    def close(self) -> None:
        """Nothing is kept."""


def abilities(room: Room, *made: Executor, handlers: tuple[str, ...] = (), strict: bool = False) -> Abilities:
    return Abilities({one.name: one for one in made}, room.registry, handlers=frozenset(handlers), strict_types=strict)


def test_a_heartbeat_tells_what_is_there_and_what_is_missing(room: Room) -> None:
    rpa = Made("rpa", Fitness(types=frozenset({"own"}), lacks={"": "flowrun", "broken": "other"}))
    found = abilities(room, rpa, Made("python"), handlers=("mail",)).ability
    assert (found.executors, found.handlers, found.commands) == (("python",), ("mail",), ("own",))
    assert found.lacks == {"rpa": "flowrun", "rpa:broken": "other"}


def test_what_it_lacks_is_left_to_others_until_it_is_found(room: Room) -> None:
    rpa = Made("rpa", Fitness(lacks={"": "flowrun"}))
    mine = abilities(room, rpa)
    assert not mine.takes("flow")
    assert not mine.fetches("flow")
    rpa.fit = Fitness()
    assert not mine.takes("flow"), "nobody looks at the machine for a single delivery"
    mine.refresh()
    assert mine.takes("flow")
    assert mine.fetches("flow")


def test_deliveries_do_not_look_at_the_machine(room: Room) -> None:
    rpa = Made("rpa")
    mine = abilities(room, rpa)
    assert all(mine.takes("flow") for _ in range(100))
    assert rpa.looks == 1


def test_a_changed_policy_is_seen_at_the_next_look(room: Room) -> None:
    mine = abilities(room, Made("rpa"))
    assert mine.takes("mail")
    room.define("mail", executor="python")
    mine.refresh()
    assert not mine.takes("mail")


def test_strict_types_refuse_deliveries_of_what_nobody_defined_and_fetch_none(room: Room) -> None:
    strict = abilities(room, Made("rpa", Fitness(lacks={"": "flowrun"})), strict=True)
    assert strict.takes("nobody"), "it is this worker that makes it a dead letter"
    assert not strict.fetches("nobody")
    rich = abilities(room, Made("rpa"), Made("python"), handlers=("mail",), strict=True)
    assert not rich.fetches("nobody")
    assert rich.fetches("mail")
    room.define("known")
    rich.refresh()
    assert rich.fetches("known")


def test_what_works_in_the_profile_of_its_shop(room: Room) -> None:
    room.define("page", executor="browser")
    room.define("light", executor="browser", isolation="context")
    room.define("attached", executor="rpa")
    room.define("plain", executor="rpa")
    browser, rpa = Made("browser"), Made("rpa", Fitness(lends=frozenset({"attached"})))
    mine = abilities(room, browser, rpa)
    assert [mine.needs_profile(name) for name in ("page", "light", "attached", "plain")] == [True, False, True, False]
    assert mine.ability.lends == ("attached",)
    browser.fit = Fitness(lacks={"": "chromium"})
    mine.refresh()
    assert not mine.needs_profile("page"), "who cannot run it is nobody's home"
