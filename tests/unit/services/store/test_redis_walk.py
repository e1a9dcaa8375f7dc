"""Many sorted sets are walked as one, and what a page does not need stays where it is."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import pytest
import redis

from services.store.redis.client import Link
from services.store.redis.script import Script
from services.store.redis.upkeep.walk import Place, Window, walk

SETS, MEMBERS, FIRST = 60, 200, 51


class Counting(Link):
    """Counts the members that it brings."""

    brought = 0

    def run(self, script: Script, names: Sequence[str | bytes], *arguments: Any) -> Any:
        """As ever."""
        replies = super().run(script, names, *arguments)
        self.brought += sum(len(reply) // 2 for reply in replies)
        return replies


@pytest.fixture
def link(redis_url: str) -> Iterator[Counting]:
    made = Counting(redis_url)
    yield made
    made.close()


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("scores", [10, 1_000_000])
def test_many_sets_are_one_and_a_page_brings_little_of_them(
    link: Counting, plain: redis.Redis, scores: int, descending: bool
) -> None:
    dice = random.Random(1)
    every: list[Place] = []
    for number in range(SETS):
        members = {f"t{number:02d}{n:04d}".encode(): dice.randrange(scores) for n in range(MEMBERS)}
        plain.zadd(f"s{number}", members)  # type: ignore[arg-type]
        every += [(score, member) for member, score in members.items()]
    every.sort(reverse=descending)
    names = [f"s{number}" for number in range(SETS)]

    met = chain.from_iterable(walk(link, names, Window(descending=descending), FIRST))
    assert list(islice(met, FIRST)) == every[:FIRST]
    if scores > SETS * MEMBERS:  # ties are brought together
        assert link.brought <= SETS * MEMBERS / 5
    assert list(met) == every[FIRST:]


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("at", [0, 700, 1999])
def test_of_many_that_have_one_score_a_page_brings_little_too(
    link: Counting, plain: redis.Redis, descending: bool, at: int
) -> None:
    every: list[Place] = []
    for number in range(2):
        members = {f"t{n * 2 + number:04d}-{'aB'[number]}".encode(): 5 for n in range(1000)}
        plain.zadd(f"s{number}", members)  # type: ignore[arg-type]
        every += [(5, member) for member in members]
    every.sort(reverse=descending)
    met = chain.from_iterable(walk(link, ["s0", "s1"], Window(descending=descending, after=every[at]), FIRST))
    assert list(islice(met, FIRST)) == every[at + 1 :][:FIRST]
    assert link.brought < 4 * FIRST + 10
    assert list(met) == every[at + 1 :][FIRST:]
