"""Words of batches."""

from __future__ import annotations

from services.domain.insight import batch as insight
from services.monitor.batches import BatchView
from views.pages.batches.words import parts_of


def test_a_status_that_nobody_knows_counts_as_waiting() -> None:
    view = BatchView(batch="b1", counts={"succeeded": 2, "{not json": 1, "queued": 2})
    assert parts_of(view) == {insight.DONE: 2, insight.WAITING: 3}
