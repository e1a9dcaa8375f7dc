"""Many batches are counted in few questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis

from services.store.redis import plan
from services.store.redis.client import Command, Link
from services.store.redis.plan import IndexSlice, all_parts
from services.store.redis.script import Script

BATCHES = 200


class Asking(Link):
    """Counts what it is asked."""

    asked = 0

    def many(self, commands: Sequence[Command], *, atomic: bool = False) -> list[Any]:
        """As ever."""
        self.asked += len(commands)
        return super().many(commands, atomic=atomic)

    def run(self, script: Script, names: Sequence[str | bytes], *arguments: Any) -> Any:
        """As ever."""
        self.asked += 1
        return super().run(script, names, *arguments)


def part(status: str, priority: int = 5) -> IndexSlice:
    return next(one for one in all_parts() if (one.status, one.priority) == (status, priority))


def test_many_batches_are_counted_in_few_questions(redis_url: str, plain: redis.Redis) -> None:
    link = Asking(redis_url)
    try:
        succeeded, running = part("succeeded").name, part("running").name
        for number in range(BATCHES):
            done, busy = {f"d{number}-{n}": n for n in range(number % 3)}, {f"r{number}": 1}
            plain.zadd(f"b{number}", {**done, **busy})
            plain.zadd(running, busy)
            if done:
                plain.zadd(succeeded, done)
        plain.hset("x1", mapping={"succeeded": 4, "dead": 2})
        found = plan.count_by_status(link, [*((f"b{n}", f"x{n}") for n in range(BATCHES)), ("none", "x1")])
        assert found[:3] == [{"running": 1}, {"running": 1, "succeeded": 5, "dead": 2}, {"running": 1, "succeeded": 2}]
        assert found[-1] == {"succeeded": 4, "dead": 2}
        assert sum(one.get("running", 0) for one in found) == BATCHES
        assert link.asked < 2 * BATCHES  # a hundred of each of them before
    finally:
        link.close()
