"""How well promises are warned of, in mornings of compressed time; ``make bench ARGS="promises"`` plays all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import promise_loads
from tests.support.promise_loads import MINUTE

pytestmark = pytest.mark.deep

MOST_FALSE, LEAST_EARLY = 0.05, 0.9


@pytest.mark.parametrize("shape", ["type paused", "page changed", "schedule not fired", "source silent"])
def test_a_break_is_said_ten_minutes_before_and_what_is_said_is_true(tmp_path: Path, shape: str) -> None:
    found = promise_loads.play(tmp_path, shape, seed=1, shops=6, minutes=150, tick_s=60)
    assert found.breaks
    assert len(found.early) >= LEAST_EARLY * len(found.breaks), found.breaks
    assert found.false_share <= 100 * MOST_FALSE, found.false
    assert max(found.noticed_ms, default=0) <= MINUTE
    assert bool(found.noticed_ms) == (shape in ("schedule not fired", "source silent"))
