"""A pasted list of shops: ids or names, any separator; what is not found gets a suggestion. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.domain.shop import Shop

_SEPARATORS = re.compile(r"[,;\t，；、|]+")
_QUOTES = "\"'“”‘’「」"
CUTOFF = 0.6


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of the list: where it stands, which shop it is ("" unknown), which one may be meant."""

    line: int
    text: str
    shop: str
    suggestion: str = ""


class ShopIndex:
    """Finds shops by ``platform:id``, id, or name in either language."""

    def __init__(self, shops: Mapping[str, Shop]) -> None:
        self._shops = shops
        self._words: dict[str, str] = {}
        for key, shop in shops.items():
            for word in (key, shop.shop_id, shop.name, shop.name_en):
                if word:
                    self._words.setdefault(word.casefold(), key)

    def find(self, word: str) -> str:
        """The key of a shop, "" for none."""
        return self._words.get(word.casefold(), "")

    def suggest(self, word: str) -> str:
        """The key of the shop that may be meant, "" for none."""
        near = difflib.get_close_matches(word.casefold()[:80], self._words, n=1, cutoff=CUTOFF)
        return self._words[near[0]] if near else ""


def read(text: str, index: ShopIndex) -> list[Entry]:
    """The entries of a pasted text, line by line."""
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        for part in _SEPARATORS.split(line):
            word = part.strip().strip(_QUOTES).strip()
            if word:
                entries += _entries(number, word, index)
    return entries


def found(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Shops of the list, each once."""
    return tuple(dict.fromkeys(entry.shop for entry in entries if entry.shop))


def unknown(entries: Iterable[Entry]) -> list[Entry]:
    """What was not found."""
    return [entry for entry in entries if not entry.shop]


def _entries(number: int, word: str, index: ShopIndex) -> list[Entry]:
    shop = index.find(word)
    if shop:
        return [Entry(number, word, shop)]
    # Names may hold spaces, ids never do: only when every part is known was the space a separator.
    parts = word.split()
    keys = [index.find(part) for part in parts]
    if len(parts) > 1 and all(keys):
        return [Entry(number, part, key) for part, key in zip(parts, keys, strict=True)]
    return [Entry(number, word, "", index.suggest(word))]
