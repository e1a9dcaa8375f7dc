"""Which attention items nobody wants to see for a while."""

from __future__ import annotations

from views.support.memory import Memory
from views.widgets.attention.list import AttentionRow

NAME = "overview.mutes"
HOUR_MS = 3_600_000
UNTIL_CHANGED = 0


class Mutes:
    """Remembered by key: until an instant, or until the item says something else. Times in UTC milliseconds."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        kept = memory.get(NAME, {})
        self._until: dict[str, tuple[int, str]] = {}
        for key, entry in kept.items() if isinstance(kept, dict) else ():
            if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], int):
                self._until[str(key)] = (entry[0], str(entry[1]))

    def mute(self, row: AttentionRow, until_ms: int) -> None:
        """Hide an item until an instant; ``UNTIL_CHANGED``: until its state is another."""
        self._until[row.key] = (until_ms, row.state)
        self._save()

    def clear(self) -> None:
        """Show everything again."""
        self._until.clear()
        self._save()

    def sift(self, rows: list[AttentionRow], now_ms: int) -> tuple[list[AttentionRow], list[AttentionRow]]:
        """The rows to show, and those that are muted; what is over is forgotten."""
        loud: list[AttentionRow] = []
        quiet: list[AttentionRow] = []
        for row in rows:
            (quiet if self._is_muted(row, now_ms) else loud).append(row)
        keys = {row.key for row in quiet}
        over = [key for key, (until, _state) in self._until.items() if key not in keys and until <= now_ms]
        for key in over:
            del self._until[key]
        if over:
            self._save()
        return loud, quiet

    def soonest(self, rows: list[AttentionRow]) -> int:
        """When the first of these comes back, 0 when none does by itself."""
        return min((until for row in rows if (until := self._until[row.key][0])), default=0)

    def _is_muted(self, row: AttentionRow, now_ms: int) -> bool:
        if row.key not in self._until:
            return False
        until, state = self._until[row.key]
        return state == row.state if until == UNTIL_CHANGED else now_ms < until

    def _save(self) -> None:
        self._memory.put(NAME, {key: list(entry) for key, entry in self._until.items()})
