"""Finds the shop that a word means: ``platform:id``, id, or name in either language; and what may be meant instead."""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from services.domain.fleet import platforms
from services.domain.fleet.shop import Shop

_SEPARATORS = re.compile(r"[,;\t，；、|]+")
CUTOFF = 0.6
NEAR = 40  #: words that are compared letter by letter


class ShopIndex:
    """Finds shops by ``platform:id``, id, or name in either language; ``platform`` goes first where several fit."""

    def __init__(self, shops: Mapping[str, Shop], platform: str = "") -> None:
        self._platform = platform
        self._words: dict[str, list[str]] = defaultdict(list)
        self._pairs: dict[str, set[str]] = {}
        for key, shop in shops.items():
            names = (shop.name, shop.name_en)
            words = (shop.shop_id, *names, *(one_name(name) for name in names))
            whole = [f"{name}:{word}" for name in _names(shop.platform) for word in words if word]
            for word in dict.fromkeys(each.casefold() for each in (key, *words, *whole) if each):
                self._words[word].append(key)

    def candidates(self, word: str) -> list[str]:
        """Keys of the shops that a word names; of several those of the platform in view."""
        keys = self._words.get(word.casefold(), [])
        here = [key for key in keys if key.startswith(f"{self._platform}:")]
        return here if len(keys) > 1 and here else keys

    def find(self, word: str) -> str:
        """The key of a shop, "" for none or for several."""
        keys = self.candidates(word)
        return keys[0] if len(keys) == 1 else ""

    def suggest(self, word: str) -> str:
        """The key of the shop that may be meant, "" for none."""
        typed = word.casefold()[:80]
        near = difflib.get_close_matches(typed, self._alike(typed), n=1, cutoff=CUTOFF)
        return self._words[near[0]][0] if near else ""

    def _alike(self, typed: str) -> list[str]:
        """The few words with most pairs of letters in common: comparing all of ten thousand takes seconds."""
        if not self._pairs:
            pairs: dict[str, set[str]] = defaultdict(set)
            for each in self._words:
                if ":" not in each:
                    for pair in _pairs(each):
                        pairs[pair].add(each)
            self._pairs = dict(pairs)
        shared: Counter[str] = Counter()
        for pair in _pairs(typed):
            shared.update(self._pairs.get(pair, ()))
        return [each for each, _number in shared.most_common(NEAR)]


def one_name(text: str) -> str:
    """A name without the marks that part a list."""
    return " ".join(_SEPARATORS.sub(" ", text).split())


def _names(platform: str) -> set[str]:
    return {platform, *platforms.NAMES.get(platform, ())}


def _pairs(word: str) -> set[str]:
    return {word[at : at + 2] for at in range(len(word) - 1)} or {word}
