"""The table of faults names tests that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.faults.promise import PROMISE

TESTS = Path(__file__).resolve().parents[1]


@cache
def functions(path: str) -> frozenset[str]:
    return frozenset(re.findall(r"^def (test_\w+)", (TESTS / path).read_text(encoding="utf-8"), re.MULTILINE))


def test_every_fault_has_its_test() -> None:
    named = [(fault, *place) for fault, places in PROMISE.items() if not isinstance(places, str) for place in places]
    assert [(fault, name) for fault, path, name in named if name not in functions(path)] == []
    assert len(PROMISE) > 50
