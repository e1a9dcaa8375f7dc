"""How long looks found more than a bound."""

from __future__ import annotations

import pytest

from tests.bench.held import longest_above


@pytest.mark.parametrize(
    ("numbers", "seconds"),
    [
        ([], 0.0),
        ([20, 20, 19], 0.0),
        ([20, 21, 20], 1.0),
        ([21, 20, 21, 22, 40, 20, 21], 3.0),
        ([19, 21, 21], 1.0),
    ],
)
def test_the_longest_stretch_counts_until_the_look_that_ended_it(numbers: list[int], seconds: float) -> None:
    assert longest_above([(float(at), number) for at, number in enumerate(numbers)], 20) == seconds
