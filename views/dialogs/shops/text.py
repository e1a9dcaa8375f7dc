"""A pasted list of shops: ids or names, any separator; what is not found gets a suggestion. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.commands.sheet.shop_index import ShopIndex

_SEPARATORS = re.compile(r"[,;\t，；、|]+")
_QUOTES = "\"'“”‘’「」"
SUGGESTED = 200  #: unknown names for which that is done


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of the list: where it stands, which shop it is ("" unknown), which one may be meant."""

    line: int
    text: str
    shop: str
    suggestion: str = ""
    several: int = 0  #: how many shops the name fits, where that is more than one


def read(text: str, index: ShopIndex) -> list[Entry]:
    """The entries of a pasted text, line by line."""
    entries: list[Entry] = []
    lost = 0
    for number, line in enumerate(text.splitlines(), start=1):
        for part in _SEPARATORS.split(line):
            word = part.strip().strip(_QUOTES).strip()
            if word:
                fresh = _entries(number, word, index, suggest=lost < SUGGESTED)
                lost += sum(not entry.shop for entry in fresh)
                entries += fresh
    return entries


def found(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Shops of the list, each once."""
    return tuple(dict.fromkeys(entry.shop for entry in entries if entry.shop))


def unknown(entries: Iterable[Entry]) -> list[Entry]:
    """What was not found."""
    return [entry for entry in entries if not entry.shop]


def _entries(number: int, word: str, index: ShopIndex, *, suggest: bool) -> list[Entry]:
    keys = index.candidates(word)
    if len(keys) == 1:
        return [Entry(number, word, keys[0])]
    if keys:
        return [Entry(number, word, "", keys[0], len(keys))]
    # Names may hold spaces, ids never do: only when every part is known was the space a separator.
    parts = word.split()
    found_ = [index.find(part) for part in parts]
    if len(parts) > 1 and all(found_):
        return [Entry(number, part, key) for part, key in zip(parts, found_, strict=True)]
    return [Entry(number, word, "", index.suggest(word) if suggest else "")]
