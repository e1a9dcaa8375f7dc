"""What has been asked and done since the start: served orders, replies, requests; this is how a double is seen."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict


class Ledger:
    """Counts per shop and the shops' ticks; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()
        self._served: Counter[str] = Counter()
        self._flows: Counter[str] = Counter()
        self._ticks: Counter[str] = Counter()
        self._replies: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)

    def request(self, shop: str, flow: str, *, first: bool) -> None:
        """A request of a shop; the first one of a connection counts as a start of its flow."""
        with self._lock:
            self._requests[shop] += 1
            if first and flow:
                self._flows[f"{shop} {flow}"] += 1

    def orders_served(self, shop: str, count: int) -> None:
        """Order rows handed out."""
        with self._lock:
            self._served[shop] += count

    def reply(self, shop: str, message_id: str, text: str) -> int:
        """Record an answer; returns how many answers this buyer has got by now."""
        with self._lock:
            answers = self._replies[shop].setdefault(message_id, [])
            answers.append(text)
            return len(answers)

    def advance(self, shop: str, ticks: int) -> None:
        """Let the shop live on."""
        with self._lock:
            self._ticks[shop] += ticks

    def tick(self, shop: str) -> int:
        """How far the shop has lived."""
        with self._lock:
            return self._ticks[shop]

    def state(self) -> dict[str, object]:
        """For ``/_control``."""
        with self._lock:
            return {
                "requests": dict(self._requests),
                "orders_served": dict(self._served),
                "flow_starts": dict(self._flows),
                "ticks": {shop: ticks for shop, ticks in self._ticks.items() if ticks},
                "replies": {
                    shop: {message: len(texts) for message, texts in answers.items()}
                    for shop, answers in self._replies.items()
                },
            }
