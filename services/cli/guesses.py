"""What looks misspelt in new tasks: a type that nobody has defined, a platform or a shop that is not registered."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from services import assembly
from services.cli import spoken
from services.domain.fleet import platforms
from services.domain.fleet.shop import valid_word
from services.engine.producer import TaskSpec
from services.i18n import N_

_DOUBTS = {
    "--type": N_("nobody has defined the task type {word}; it runs on the rpa executor with the defaults"),
    "--platform": N_("no shop is registered on the platform {word}; there are {known}"),
    "--shop": N_("shop {word} is not registered; its task runs with the defaults (shop import FILE)"),
}
#: where ``strict_shops`` is set
_REFUSED = N_("shop {word} is not registered (shop import FILE)")
SHOWN_SHOPS = 5  #: a file may name thousands that nobody has registered; so many are told by name


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """One word, where it stands (lines of a file, () for the command line), and what was probably meant."""

    field: str  #: --type | --platform | --shop
    word: str  #: of a shop platform:shop_id
    near: str = ""  #: "" when nothing is similar
    known: str = ""  #: the platforms that there are
    refused: bool = False  #: a shop that will not be registered by its task
    lines: tuple[int, ...] = ()
    others: int = 0  #: so many more of the kind are not told by name

    @property
    def sentence(self) -> str:
        """What to tell, with the remedy."""
        what = spoken.phrase(
            _REFUSED if self.refused else _DOUBTS[self.field],
            word=f"{self.word!r:.{140 if self.field == '--shop' else 70}}",
            known=self.known,
        )
        if self.lines[1:]:
            what += spoken.phrase(" (line {line} and {count} more)", line=self.lines[0], count=len(self.lines) - 1)
        elif self.lines:
            what += spoken.phrase(" (line {line})", line=self.lines[0])
        what = spoken.meant(what, self.near)
        return what + (
            spoken.plural(" (and {count} more shop)", " (and {count} more shops)", self.others) if self.others else ""
        )


def doubts(engine: assembly.Engine, specs: Sequence[TaskSpec]) -> list[Doubt]:
    """Every word that is not known, once. Where no shop is registered, no platform and no shop is doubted.

    A word that no task can have is none of them: it is refused with what it may be. Of the shops the first
    ``SHOWN_SHOPS`` have a doubt each; the last of them counts the others.
    """
    types = engine.registry.types()
    registered = [shop for shop in engine.registry.shops().values() if not shop.unregistered]
    known = {shop.platform for shop in registered}
    found = _unknown("--type", ((spec.task_type, spec.line) for spec in specs), types)
    if known:
        words = ((spec.platform, spec.line) for spec in specs)
        found += [replace(one, known=platforms.listed(known)) for one in _unknown("--platform", words, known)]
    names = {f"{shop.platform}:{shop.shop_id}" for shop in registered}
    on_known = ((f"{spec.platform}:{spec.shop_id}", spec.line) for spec in specs if spec.platform in known)
    strict = engine.settings.strict_shops
    return found + [replace(one, refused=strict) for one in _shops(on_known, names)]


def _shops(words: Iterable[tuple[str, int]], known: set[str]) -> list[Doubt]:
    places = _places(words, known)
    shown = list(places.items())[:SHOWN_SHOPS]
    return [
        Doubt(
            field="--shop",
            word=word,
            near=near(word, sorted(name for name in known if name.startswith(word.partition(":")[0] + ":"))),
            lines=tuple(lines),
            others=len(places) - len(shown) if word == shown[-1][0] else 0,
        )
        for word, lines in shown
    ]


def _unknown(field: str, words: Iterable[tuple[str, int]], known: Iterable[str]) -> list[Doubt]:
    names = sorted(known)
    places = _places(words, set(names))
    return [Doubt(field=field, word=word, near=near(word, names), lines=tuple(lines)) for word, lines in places.items()]


def _places(words: Iterable[tuple[str, int]], known: set[str]) -> dict[str, list[int]]:
    """The lines of each word that is not known."""
    places: dict[str, list[int]] = {}
    for word, line in words:
        if word not in known and all(map(valid_word, word.split(":"))):
            places.setdefault(word, []).extend([line] if line else [])
    return places


def unheard(engine: assembly.Engine, scope: str) -> list[str]:
    """A switch for something that nobody has ever heard of is probably misspelt."""
    head, _, name = scope.partition(":")
    shops = engine.registry.shops()
    heard = {
        "type": set(engine.registry.types()),
        "platform": {shop.platform for shop in shops.values()},
        "shop": {*shops, *engine.store.counts().shops} if head == "shop" else set(),
    }.get(head)
    if heard is None or name in heard:
        return []
    found = near(name, sorted(heard))
    return [spoken.meant(spoken.phrase("nothing is known of {scope}", scope=scope), f"{head}:{found}" if found else "")]


def near(word: str, names: Sequence[str]) -> str:
    """The known name that was probably meant, "" when none is similar."""
    by_lower = {name.lower().replace("-", "_"): name for name in names}
    close = difflib.get_close_matches(word.lower().replace("-", "_")[:64], list(by_lower), n=1, cutoff=0.65)
    return by_lower[close[0]] if close else ""
