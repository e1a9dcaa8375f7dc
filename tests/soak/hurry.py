"""The program, but what it keeps for days is gone within minutes: ``python -m tests.soak.hurry FACTOR WORDS``.

All that the program lets go after some time, or beyond some number, is let go FACTOR times as early; what it does every
few seconds it still does every few seconds. 1 changes nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

#: module, name of a constant there, and the least that it may become. In the order in which modules read each other.
SHORTENED: tuple[tuple[str, str, float], ...] = (
    ("services.domain.task.ledger", "KEPT_MS", 60_000),
    ("services.log", "ROTATED", 50_000),
    ("services.store.redis.keys", "EVENTS_KEPT", 5_000),
    ("services.store.redis.keys", "EXECUTED_S", 10),
    ("services.store.redis.fleet", "_DAY_MS", 60_000),
    ("services.store.sqlite.write", "EVENTS_KEPT", 5_000),
    ("services.store.sqlite.journals", "EXECUTED_MS", 10_000),
    ("services.store.sqlite.fleet", "DAY_MS", 60_000),
    ("services.engine.lead.janitor", "NOTICED_MS", 30_000),
    ("services.engine.lead.janitor", "REST_S", 5),
    ("services.workforce", "DAY_MS", 60_000),  # the days of [retention]
)
#: what each level of the recorder keeps at least: one and a half spans of the next
RECORDED_LEAST_MS = (90_000, 1_350_000, 3_600_000)


def apply(factor: float) -> None:
    """Shorten what this process keeps. Before anything else of the program is loaded, for modules copy such numbers.

    Raises:
        AttributeError: the program calls one of them otherwise now.
    """
    if factor <= 1:
        return
    _shorten_the_recorder(factor)
    for place, name, least in SHORTENED:
        _shorten(place, name, factor, least)


def _shorten(place: str, name: str, factor: float, least: float) -> None:
    module = importlib.import_module(place)
    was = getattr(module, name)
    setattr(module, name, type(was)(max(least, was / factor)))


def _shorten_the_recorder(factor: float) -> None:
    tape: Any = importlib.import_module("services.monitor.past.tape")
    tape.LEVELS = tuple(
        tape.Level(level.step, round(max(least, level.kept / factor)))
        for level, least in zip(tape.LEVELS, RECORDED_LEAST_MS, strict=True)
    )
    tape.KEPT_MS = tape.LEVELS[-1].kept
    tape.WHOLE_MS = round(max(60_000, tape.WHOLE_MS / factor))


def main() -> int:
    """The first word is the factor, the others are the program's own."""
    factor, *words = sys.argv[1:]
    apply(float(factor))
    sys.argv[1:] = words
    program = importlib.import_module("main")
    return int(program.main())


if __name__ == "__main__":
    sys.exit(main())
