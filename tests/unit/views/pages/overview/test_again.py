"""What is said of the same items a moment later is what would be said of them anew."""

from __future__ import annotations

import pytest

from services.domain.text.message import Message
from services.monitor.overview import Attention
from views.pages.overview.words import row_again, row_of

NOW = 1_800_000_000_000
PROMISE = Message("promise.late", {"seconds": 90, "until": NOW + 90_000})


@pytest.mark.parametrize(
    "item",
    [
        Attention(key="a", severity="dead", code="attention.no_worker", params={"count": 3}, since_ms=NOW - 5_000),
        Attention(key="b", severity="blocked", code="attention.breaker", params={"shop": "x", "until": NOW + 3_000}),
        Attention(key="c", severity="stuck", code="attention.worker_late", params={"seconds": 4, "since": NOW - 4_000}),
        Attention(key="d", severity="dead", code="attention.cause", params={"count": 2}, facts=(PROMISE,)),
    ],
    ids=lambda item: item.code,
)
def test_a_row_moves_on_with_the_time(item: Attention) -> None:
    row = row_of(item, NOW)
    for seconds in (1, 2, 5, 60, 700):
        row = row_again(item, row, NOW + seconds * 1000)
        assert row == row_of(item, NOW + seconds * 1000)
