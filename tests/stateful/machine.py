"""The whole state machine: what time, the broker and the leader do comes to what people and workers do."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from services.domain.change import Forget
from services.domain.task import envelope
from services.domain.task.order import Order
from services.domain.task.status import CLAIMABLE, TERMINAL
from tests.stateful import rules
from tests.stateful.bag import DEAD, Message
from tests.stateful.lives import KINDS, NUMBER, SHOPS, S
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
        self.act(lambda world: world.tick(), self._given_up(), leads=True)

    def _given_up(self) -> dict[str, set[str]]:
        """Tasks whose message is among the dead letters although nobody here put it there."""
        found = {message.order.message_id for message in self.worlds[0].bag.waiting(DEAD)}
        ends = {S.DEAD, S.BLOCKED, S.PENDING, S.QUEUED, S.RETRYING, S.CANCELLED}
        return {one: ends for one in found if one in self.tasks and self.tasks[one].status in CLAIMABLE}

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
        self.act(lambda world: world.live(5), self._given_up() | fetchable, leads=True)

    @rule(n=NUMBER)
    @precondition(lambda self: self.pick(0, *TERMINAL))
    def forget(self, n: int) -> None:
        """Retention removes a record; others may need it still."""
        task = self.pick(n, *TERMINAL)
        assert task is not None
        op = Forget(task_id=task.task_id, updated_at=task.updated_at - (n % 7 == 0), tomb_ms=30 * 86_400_000)

        def do(world: World) -> str:
            (answer,) = world.store.apply([op])
            if answer.code == "ok":
                self.gone[task.task_id] = task
            return str(answer.code)

        code = self.act(do)
        assert (code == "ok") == (task.task_id not in self.tasks)

    @rule(n=NUMBER)
    def foreign(self, n: int) -> None:
        """A program that knows nothing of Fleetdeck sends a task, perhaps one that it has sent before."""
        platform, shop_id = SHOPS[n % 3]
        fields = {
            "task_id": f"ext{n % 6}", "platform": platform, "shop_id": shop_id, "task_type": KINDS[n % 6 % 3],
            "payload": {"n": n % 4 == 0}, "created_at": envelope.iso(self.clock.now_ms()),
        }  # fmt: skip
        order = Order(
            kind="work", routing_key=f"task.{platform}.normal", body=json.dumps(fields).encode(), priority=5,
            message_id=f"ext{n % 6}",
        )  # fmt: skip
        for world in self.worlds:
            world.bag.publish([order])

    @rule(n=NUMBER)
    @precondition(lambda self: self.worlds[0].bag.waiting())
    def rejected(self, n: int) -> None:
        """A consumer of other make rejects a message: it goes to the dead letters with its old key."""
        for world in self.worlds:
            found = world.bag.waiting()
            found[n % len(found)].queue = DEAD

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
