"""What each rule of alerts is: its default document, and what it finds in a look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from services.domain.alerts.dry_run import Past
from services.domain.alerts.incident import Finding
from services.domain.alerts.rule import Rule
from services.watch.alerts.look import Look


class Measure(msgspec.Struct, frozen=True):
    """``find`` blocks; it may raise ``NotKnown``, and any error of store or broker. ``past`` tells the same of what the
    recorder keeps, None where that does not tell it. ``keeps``: what the recorder keeps of a look for that alone, by
    the names of ``Numbers``; it may raise the same.
    """

    default: Rule
    find: Callable[[Look, Rule], Iterable[Finding]]
    past: Past | None = None
    keeps: Callable[[Look], Mapping[str, int]] | None = None

    @property
    def name(self) -> str:
        """What rules call it."""
        return self.default.measure
