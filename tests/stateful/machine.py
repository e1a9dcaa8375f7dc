"""The whole state machine: what time, the broker and the leader do comes to what people and workers do."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful import rules
from tests.stateful.bag import DEAD, Message
from tests.stateful.lives import NUMBER, S
from tests.stateful.wishes import Wishes
from tests.stateful.work import Work
from tests.stateful.world import World


class Life(Work, Wishes):
    """Everything that may happen to a fleet."""

    @rule(seconds=st.sampled_from([1, 5, 21, 31, 61, 130, 700]))
    def time_goes_by(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule()
    def tick(self) -> None:
        self.act(lambda world: world.tick(), leads=True)

    @rule(times=st.integers(2, 8))
    def live(self, times: int) -> None:
        for _ in range(times):
            self.clock.advance(5)
            self._live()

    def _live(self) -> None:
        fetchable = {
            one: {S.BLOCKED, S.RUNNING, S.PENDING, S.QUEUED, S.DEAD}
            for one, task in self.tasks.items()
            if task.gate == "no_worker"
        }
        self.act(lambda world: world.live(5), fetchable, leads=True)

    @rule()
    @precondition(lambda self: self.pick(0, S.RUNNING))
    def take_over(self) -> None:
        now = self.clock.now_ms()
        lost = [task for task in self.tasks.values() if task.status == S.RUNNING and task.lease_until <= now]
        allowed = {task.task_id: rules.after_loss(task, now) for task in lost}
        self.act(lambda world: world.reconciler.take_over_expired(), allowed)

    @rule()
    def new_leader(self) -> None:
        for world in self.worlds:
            world.new_leader()

    @rule(n=NUMBER)
    @precondition(lambda self: self.worlds[0].bag.messages)
    def message_lost(self, n: int) -> None:
        self._with_message(n, lambda world, message: world.bag.lose(message))

    @rule(n=NUMBER)
    @precondition(lambda self: self.worlds[0].bag.messages)
    def message_doubled(self, n: int) -> None:
        self._with_message(n, lambda world, message: world.bag.double(message))

    def _with_message(self, n: int, do: Callable[[World, Message], object]) -> None:
        for world in self.worlds:
            found = sorted((one for one in world.bag.messages if one.queue != DEAD), key=lambda one: one.rank)
            if found:
                do(world, found[n % len(found)])

    @rule(down=st.booleans())
    def broker(self, down: bool) -> None:
        for world in self.worlds:
            world.bag.down = down
