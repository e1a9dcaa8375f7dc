"""A store that counts what it is asked: a question more for each row of a page is seen, whatever the machine does."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from services.ports import Store


class CountingStore:
    """Hands every call on to a store and notes its name."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def call(*words: Any, **named: Any) -> Any:
            self.asked[name] += 1
            return found(*words, **named)

        return call

    @property
    def port(self) -> Store:
        """Itself, as who asks a store wants it."""
        return cast(Store, self)

    def spent(self) -> Counter[str]:
        """What was asked since the last call; the store's clock is no question."""
        asked, self.asked = self.asked, Counter()
        asked.pop("now_ms", None)
        return asked
