"""The window on a crowded machine: every start ends as it should (``make starts`` does hundreds of them)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import missing_service
from tests.faults import starts
from tests.support.services import ServiceUnavailable

pytestmark = pytest.mark.deep

#: one of each kind
FEW, MANY = len(starts.KINDS), 150


def every_start_is_clean(count: int, folder: Path) -> None:
    try:
        ended = list(starts.run(count, together=2, load=1, kinds=starts.KINDS, seed=count, folder=folder))
    except ServiceUnavailable as error:
        missing_service(error)
    assert len(ended) == count
    assert [(one.number, one.kind, one.code, one.errors[-3000:]) for one in ended if not one.clean] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_few_starts_beside_other_work(tmp_path: Path) -> None:
    every_start_is_clean(FEW, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_starts_beside_other_work(tmp_path: Path) -> None:
    every_start_is_clean(MANY, tmp_path)
