"""What looks misspelt in new tasks: a type that nobody has defined, a platform that no shop is on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services import assembly
from services.engine.producer import TaskSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One word, where it stands (lines of a file, () for the command line), and what was probably meant."""

    field: str  #: --type | --platform
    word: str
    near: str = ""  #: "" when nothing is similar
    lines: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """What to tell, with the remedy."""
        what = (
            f"nobody has defined the task type {self.word!r:.70}; it runs on the rpa executor with the defaults"
            if self.field == "--type"
            else f"no shop is registered on the platform {self.word!r:.70}"
        )
        if self.lines:
            what += f" (line {self.lines[0]}{f' and {len(self.lines) - 1} more' if self.lines[1:] else ''})"
        return what + (f"; did you mean {self.near}?" if self.near else "")


def doubts(engine: assembly.Engine, specs: Sequence[TaskSpec]) -> list[Doubt]:
    """Every word that is not known, once. A fleet without registered shops knows no platforms and doubts none."""
    types = engine.registry.types()
    platforms = {shop.platform for shop in engine.registry.shops().values() if not shop.unregistered}
    found = _unknown("--type", ((spec.task_type, spec.line) for spec in specs), types)
    if platforms:
        found += _unknown("--platform", ((spec.platform, spec.line) for spec in specs), platforms)
    return found


def _unknown(field: str, words: Iterable[tuple[str, int]], known: Iterable[str]) -> list[Doubt]:
    names = sorted(known)
    places: dict[str, list[int]] = {}
    for word, line in words:
        if word not in names:
            places.setdefault(word, []).extend([line] if line else [])
    return [Doubt(field=field, word=word, near=near(word, names), lines=tuple(lines)) for word, lines in places.items()]


def near(word: str, names: Sequence[str]) -> str:
    """The known name that was probably meant, "" when none is similar."""
    by_lower = {name.lower().replace("-", "_"): name for name in names}
    close = difflib.get_close_matches(word.lower().replace("-", "_")[:64], list(by_lower), n=1, cutoff=0.65)
    return by_lower[close[0]] if close else ""
