"""Which shops many choices take: each a set of bits, so that thousands of choices of thousands of shops are compared.

sets = ShopSets(shops)
mine, other = sets.of(schedule), sets.of(promise)
(mine & other).bit_count()      # how many are in both
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from services.domain.fleet.shop import SCOPE_ALL, Shop
from services.domain.plans.schedule import Choice

#: choices whose shops are remembered
MOST = 4_096
_Chosen = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


class ShopSets:
    """The shops of one moment. A set is a number whose bit N stands for shop N; ``fitting`` says which a choice takes:
    what these sets hold is the same.
    """

    def __init__(self, shops: Mapping[str, Shop]) -> None:
        """``shops``: by ``platform:shop_id``."""
        self._shops = tuple(shops.values())
        self._place = {key: place for place, key in enumerate(shops)}
        self._enabled = self._where(place for place, shop in enumerate(self._shops) if shop.enabled)
        self._known = self._where(
            place for place, shop in enumerate(self._shops) if shop.enabled and not shop.unregistered
        )
        self._platforms = self._by(shop.platform for shop in self._shops)
        self._groups = self._by(shop.group for shop in self._shops)
        self._found: dict[_Chosen, int] = {}

    def of(self, choice: Choice) -> int:
        """The shops of a choice."""
        key = (choice.shops, choice.platforms, choice.groups)
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= MOST:
                self._found.clear()
            found = self._found[key] = self._look(choice)
        return found

    def scope(self, scope: str) -> int:
        """The shops that a scope is about (``all``, ``platform:pdd``, ``shop:pdd:1``); none for that of a type."""
        kind, _, rest = scope.partition(":")
        if scope == SCOPE_ALL:
            return (1 << len(self._shops)) - 1
        if kind == "platform":
            return self._platforms.get(rest, 0)
        place = self._place.get(rest) if kind == "shop" else None
        return 0 if place is None else 1 << place

    def having(self, test: Callable[[Shop], bool]) -> int:
        """The shops for which something is true."""
        return self._where(place for place, shop in enumerate(self._shops) if test(shop))

    def shops(self, found: int) -> Iterator[Shop]:
        """The shops of a set, in the order of the mapping."""
        while found:
            low = found & -found
            yield self._shops[low.bit_length() - 1]
            found ^= low

    def counts(self, found: int) -> dict[str, int]:
        """How many shops of a set are on each platform; those with none are left out."""
        numbers = ((name, (found & bits).bit_count()) for name, bits in sorted(self._platforms.items()))
        return {name: number for name, number in numbers if number}

    def _look(self, choice: Choice) -> int:
        if choice.shops:
            return self._enabled & self._where(
                place for key in choice.shops if (place := self._place.get(key)) is not None
            )
        found = self._known
        for names, known in ((choice.platforms, self._platforms), (choice.groups, self._groups)):
            if names:
                either = 0
                for name in names:
                    either |= known.get(name, 0)
                found &= either
        return found

    def _where(self, places: Iterable[int]) -> int:
        bits = bytearray(len(self._shops) // 8 + 1)
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(bits, "little")

    def _by(self, names: Iterable[str]) -> dict[str, int]:
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            places.setdefault(name, []).append(place)
        return {name: self._where(found) for name, found in places.items()}
