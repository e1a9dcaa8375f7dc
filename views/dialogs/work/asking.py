"""What was typed, as it is understood: which shops, which task types and which day are meant. Pure.

    understand("did 微光 sync yesterday", directory)     # shops like 微光, types like sync, the day before
    understand("微光昨天同步了吗", directory)             # the same: Chinese is written without spaces

The words of the shop come first, then those of the type; a day may stand anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from services.domain.fleet.shop import Shop
from services.domain.text.ordering import as_read
from services.domain.types.task_type import TaskType
from views.support.pinyin import initials
from views.theme.tokens import platform_badge

#: words that ask whether something ran, before the name of a shop
DID = frozenset({"did", "has", "ran", "跑过", "跑了", "跑完", "执行过", "执行了"})
#: what such a question has beside the names: in English behind what asks, in Chinese behind the shop and at its end
_BESIDE = frozenset({"it", "run", "yet", "already"})
_BEHIND = re.compile("(店铺|店|的)+")
_ENDS = re.compile(r"(?<=.)(跑|执行|运行)?(了没有|过没有|了没|过没|了吗|过吗|没有|吗|么)\Z")
TODAY, YESTERDAY = "today", "yesterday"
_DAYS: Mapping[str, str] = {"today": TODAY, "今天": TODAY, "yesterday": YESTERDAY, "昨天": YESTERDAY}
_STANDS = re.compile("(" + "|".join(word for word in (*DID, *_DAYS) if not word.isascii()) + ")")
_CHINESE = re.compile("[\u3400-\u9fff]")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked to begin with."""

    shop: str = ""  #: platform:shop_id
    task_type: str = ""  #: its name or a part of it
    day: str = TODAY

    @property
    def words(self) -> str:
        """The same as it is typed."""
        return " ".join(part for part in (self.shop, self.task_type, self.day if self.day != TODAY else "") if part)


class _Named(msgspec.Struct, frozen=True):
    """One that can be meant: its exact names, and all in which a part of one is looked for, folded."""

    key: str
    exact: frozenset[str]
    words: str


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to be meant."""

    shops: Mapping[str, Shop] = {}
    types: Mapping[str, TaskType] = {}
    named_shops: tuple[_Named, ...] = ()  #: in the order that people read them
    named_types: tuple[_Named, ...] = ()

    def is_shop(self, name: str) -> bool:
        """Whether a shop is called exactly so."""
        return bool(_exactly([name], self.named_shops))

    def is_of_shop(self, name: str) -> bool:
        """Whether this stands in what a shop is called by."""
        return bool(_with([name], self.named_shops))


class Understood(msgspec.Struct, frozen=True, kw_only=True):
    """Which works are meant, and by which words."""

    shops: tuple[str, ...] = ()  #: keys
    types: tuple[str, ...] = ()
    day: str = TODAY  #: ``today``, ``yesterday`` or a date
    shop_words: str = ""
    type_words: str = ""

    @property
    def nothing(self) -> bool:
        """Whether nothing was typed that names a work."""
        return not (self.shop_words or self.type_words)


def directory(shops: Mapping[str, Shop], types: Mapping[str, TaskType]) -> Directory:
    """Make ready what is looked through; slow for very many shops."""
    named = [_shop(key, shop) for key, shop in sorted(shops.items(), key=lambda one: as_read(one[0]))]
    kinds = [
        _Named(name, _folded(name, *kind.title.values()), " ".join((name, *kind.title.values())).casefold())
        for name, kind in sorted(types.items())
    ]
    return Directory(shops=shops, types=types, named_shops=tuple(named), named_types=tuple(kinds))


def question(typed: str) -> tuple[bool, list[str]]:
    """Whether it asks, and the words beside those and the mark that do."""
    bare = typed.rstrip("?？ ")
    asked = _ENDS.sub("", bare)
    words = asked.split()
    begins = bool(words) and words[0].casefold() in DID
    if begins:
        words = [word for word in words[1:] if word.casefold() not in _BESIDE]
    return begins or asked != typed.rstrip(), words


def readings(words: Sequence[str], is_shop: Callable[[str], bool]) -> Iterator[list[str]]:
    """The words as they stand, then as they are meant where nobody has written a space: the day and what asks apart,
    then as much as is of the name of a shop, which ``is_shop`` knows, from what follows it.
    """
    yield list(words)
    if not any(map(_CHINESE.search, words)):
        return
    apart = [word for word in _STANDS.sub(r" \1 ", " ".join(words)).split() if word not in DID]
    if apart != list(words):
        yield apart
    for place, word in enumerate(apart):
        for end in range(len(word) - 1, 0, -1):
            if is_shop(word[:end]):
                behind = _BEHIND.match(word, end)
                rest = word[behind.end() if behind else end :]
                yield [*apart[:place], word[:end], *([rest] if rest else ()), *apart[place + 1 :]]
                break


def understand(typed: str, known: Directory) -> Understood:
    """Take the words apart: a name that is exactly right wins over more that only contain it."""
    found = (_read(words, known) for words in readings(question(typed)[1], known.is_of_shop))
    return max(found, key=lambda one: (bool(one.shops), bool(one.types)))


def _read(words: Sequence[str], known: Directory) -> Understood:
    day, rest = _dated(words)
    if not rest:
        return Understood(day=day)
    for end in range(len(rest), 0, -1):
        if found := _exactly(rest[:end], known.named_shops):
            return _with_types(rest, end, found, day, known)
    for end in range(len(rest), 0, -1):
        if found := _with(rest[:end], known.named_shops):
            return _with_types(rest, end, found, day, known)
    kinds = _meant(rest, known.named_types)
    if kinds:  # no shop is called so, but a type is: asked of all
        return Understood(shops=tuple(known.shops), types=kinds, day=day, type_words=" ".join(rest))
    return Understood(day=day, shop_words=" ".join(rest))


def _dated(words: Sequence[str]) -> tuple[str, list[str]]:
    """The day that is named, today where none is, and the words beside it."""
    day, rest = TODAY, []
    for word in words:
        named = word if _DATE.match(word) else _DAYS.get(word.casefold(), "")
        day = named or day
        if not named:
            rest.append(word)
    return day, rest


def _with_types(rest: Sequence[str], end: int, shops: tuple[str, ...], day: str, known: Directory) -> Understood:
    kind = rest[end:]
    types = _meant(kind, known.named_types) if kind else tuple(one.key for one in known.named_types)
    return Understood(shops=shops, types=types, day=day, shop_words=" ".join(rest[:end]), type_words=" ".join(kind))


def _meant(words: Sequence[str], names: Sequence[_Named]) -> tuple[str, ...]:
    return _exactly(words, names) or _with(words, names)


def _exactly(words: Sequence[str], names: Sequence[_Named]) -> tuple[str, ...]:
    wanted = " ".join(words).casefold()
    return tuple(one.key for one in names if wanted in one.exact)


def _with(words: Sequence[str], names: Sequence[_Named]) -> tuple[str, ...]:
    wanted = [word.casefold() for word in words]
    return tuple(one.key for one in names if all(word in one.words for word in wanted))


def _shop(key: str, shop: Shop) -> _Named:
    name, badge = shop.called, platform_badge(shop.platform)
    told = (name, shop.name_en, key, badge, initials(name))
    return _Named(key, _folded(key, shop.shop_id, shop.name, shop.name_en), " ".join(told).casefold())


def _folded(*names: str) -> frozenset[str]:
    return frozenset(" ".join(name.casefold().split()) for name in names if name)
