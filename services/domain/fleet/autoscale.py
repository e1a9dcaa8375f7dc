"""How many slots a worker should have: from what waits and what its machine has left, without swinging to and fro."""

from __future__ import annotations

import msgspec

from services.domain.gates import lane_share

WORD = "auto"
#: looks in a row that must agree, upwards and downwards, and seconds of rest after a change: what a change brings
#: about must be seen before the next one
UP_LOOKS, DOWN_LOOKS, CROWDED_LOOKS, REST_S = 2, 6, 2, 15.0
#: percent of the machine: more slots only below the first, fewer at once above the second; between them nothing moves
CPU_FREE, CPU_FULL = 75.0, 92.0
MEMORY_FREE, MEMORY_FULL = 80.0, 92.0


class Range(msgspec.Struct, frozen=True):
    """The slots stay within these; ``most`` 0: four for each processor."""

    least: int = 1
    most: int = 0

    def __str__(self) -> str:
        return f"{WORD}:{self.least}-{self.most}" if self.most else WORD


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker sees at one look."""

    at: float  #: monotonic seconds
    slots: int
    busy: int  #: tasks in hand
    waiting: int  #: tasks of its lanes that could start now
    cpu: float  #: percent of the whole machine
    memory: float


def parse(text: str) -> Range | None:
    """Read ``auto`` or ``auto:2-16``; None for what is no such word.

    Raises:
        ValueError: the text says what is wrong.
    """
    word, colon, bounds = text.strip().partition(":")
    if word != WORD:
        return None
    if not colon:
        return Range()
    low, dash, high = bounds.partition("-")
    numbers = [int(part) if part.isascii() and part.isdigit() and len(part) <= 3 else 0 for part in (low, high)]
    if not dash or not 1 <= numbers[0] <= numbers[1] <= lane_share.MAX_SLOTS:
        raise ValueError(f"auto takes LEAST-MOST, 1 to {lane_share.MAX_SLOTS} (auto:2-16), not {bounds!r:.40}")
    return Range(*numbers)


class Scaler:
    """Decides look by look; remembers how long the same has been true."""

    def __init__(self, bounds: Range, processors: int) -> None:
        self._least, self._most = bounds.least, bounds.most or max(bounds.least, min(4 * processors, 64))
        self._short = self._idle = self._crowded = 0
        self._rest_until = float("-inf")

    def decide(self, load: Load) -> int:
        """The slots that it should have from now on."""
        within = min(max(load.slots, self._least), self._most)
        if within != load.slots:
            return self._changed(load, within)
        self._count(load)
        if load.at < self._rest_until:
            return load.slots
        step = max(1, load.slots // 4)
        if self._crowded >= CROWDED_LOOKS:
            return self._changed(load, max(self._least, load.slots - step))
        if self._short >= UP_LOOKS:
            return self._changed(load, min(self._most, load.slots + step))
        if self._idle >= DOWN_LOOKS:
            return self._changed(load, max(self._least, load.busy, load.slots - step))
        return load.slots

    def _count(self, load: Load) -> None:
        crowded = load.cpu >= CPU_FULL or load.memory >= MEMORY_FULL
        free = load.cpu < CPU_FREE and load.memory < MEMORY_FREE
        self._crowded = self._crowded + 1 if crowded else 0
        self._short = self._short + 1 if free and load.waiting > 0 and load.busy >= load.slots else 0
        self._idle = self._idle + 1 if load.waiting == 0 and load.busy <= load.slots // 2 else 0

    def _changed(self, load: Load, slots: int) -> int:
        if slots != load.slots:
            self._short = self._idle = self._crowded = 0
            self._rest_until = load.at + REST_S
        return slots
