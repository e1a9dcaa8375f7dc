"""What cannot be read and was set aside: where it lay, when and by whose repair it was taken out of the way."""

from __future__ import annotations

from dataclasses import dataclass

from services.domain.damage import Aside
from services.domain.mask import masked_text
from services.ports import Store

LIMIT = 10_000
#: entries of the audit that are looked through for repairs
_AUDITED = 1000
#: a repair takes so long at most; its entry stands before what it did
_REPAIR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class AsideView:
    """``by``: who repaired then, "" where nobody knows: what stood in the way of a step was moved by that step."""

    entry: Aside
    by: str

    @property
    def size(self) -> int:
        """Bytes of its values."""
        return sum(len(data) for _, data in self.entry.parts)


def of(store: Store, limit: int = LIMIT) -> list[AsideView]:
    """The latest first. Blocking."""
    repairs = [(entry.at, entry.who) for entry in store.audit(_AUDITED) if entry.action == "repair"]
    return [AsideView(one, _who(one.at, repairs)) for one in store.aside(limit)]


def text(data: bytes) -> str:
    """Bytes as a text with secrets as dots; what is no text shows as escapes."""
    return masked_text(data.decode("utf-8", "backslashreplace"))


def _who(at: int, repairs: list[tuple[int, str]]) -> str:
    """By the latest repair that began before it."""
    before = [(began, who) for began, who in repairs if at and began <= at < began + _REPAIR_MS]
    return max(before)[1] if before else ""
