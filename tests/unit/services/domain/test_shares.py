"""A share is filtered by the number that stands there."""

from __future__ import annotations

import pytest

from services import spans
from services.domain.text import shares


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, 0.0), (0.0004, 0.1), (0.001, 0.1), (0.0149, 1.5), (0.94999, 95.0), (0.9996, 99.9), (1.0, 100.0)],
)
def test_what_is_something_is_not_told_as_nothing_and_what_is_not_all_not_as_all(share: float, shown: float) -> None:
    assert shares.percent(share) == shown
    assert spans.english_percent(share) == f"{shown:.1f} %"
