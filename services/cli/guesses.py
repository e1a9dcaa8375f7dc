"""What looks misspelt in new tasks: a type that nobody has defined, a platform or a shop that is not registered."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services import assembly
from services.engine.producer import TaskSpec

SHOWN_SHOPS = 5  #: a file may name thousands that nobody has registered; so many are told by name


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One word, where it stands (lines of a file, () for the command line), and what was probably meant."""

    field: str  #: --type | --platform | --shop
    word: str  #: of a shop platform:shop_id
    near: str = ""  #: "" when nothing is similar
    lines: tuple[int, ...] = ()
    others: int = 0  #: so many more of the kind are not told by name

    @property
    def sentence(self) -> str:
        """What to tell, with the remedy."""
        what = {
            "--type": f"nobody has defined the task type {self.word!r:.70}; "
            "it runs on the rpa executor with the defaults",
            "--platform": f"no shop is registered on the platform {self.word!r:.70}",
            "--shop": f"shop {self.word!r:.140} is not registered; its task runs with the defaults (shop import FILE)",
        }[self.field]
        if self.lines:
            what += f" (line {self.lines[0]}{f' and {len(self.lines) - 1} more' if self.lines[1:] else ''})"
        what += f"; did you mean {self.near}?" if self.near else ""
        return what + (f" (and {self.others} more shops)" if self.others else "")


def doubts(engine: assembly.Engine, specs: Sequence[TaskSpec]) -> list[Doubt]:
    """Every word that is not known, once. Where no shop is registered, no platform and no shop is doubted.

    Of the shops the first ``SHOWN_SHOPS`` have a doubt each; the last of them counts the others.
    """
    types = engine.registry.types()
    registered = [shop for shop in engine.registry.shops().values() if not shop.unregistered]
    platforms = {shop.platform for shop in registered}
    found = _unknown("--type", ((spec.task_type, spec.line) for spec in specs), types)
    if platforms:
        found += _unknown("--platform", ((spec.platform, spec.line) for spec in specs), platforms)
    names = {f"{shop.platform}:{shop.shop_id}" for shop in registered}
    on_known = ((f"{spec.platform}:{spec.shop_id}", spec.line) for spec in specs if spec.platform in platforms)
    return found + _shops(on_known, names)


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
        if word not in known:
            places.setdefault(word, []).extend([line] if line else [])
    return places


def near(word: str, names: Sequence[str]) -> str:
    """The known name that was probably meant, "" when none is similar."""
    by_lower = {name.lower().replace("-", "_"): name for name in names}
    close = difflib.get_close_matches(word.lower().replace("-", "_")[:64], list(by_lower), n=1, cutoff=0.65)
    return by_lower[close[0]] if close else ""
