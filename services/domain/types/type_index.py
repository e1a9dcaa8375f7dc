"""Finds the task type that a word means: its code, or its title in any language."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from services.domain.text.words import folded
from services.domain.types.task_type import TaskType

ALIKE = 0.6  #: how like a type a word is that is taken for one that is misspelt


class TypeIndex:
    """Codes go before titles."""

    def __init__(self, types: Mapping[str, TaskType]) -> None:
        self._types = types
        self._words: dict[str, list[str]] = defaultdict(list)
        self._near: dict[str, str] = {}  #: answers so far: what is misspelt is so in each of thousands of rows
        for name, kind in types.items():
            for word in {folded(each) for each in (name, *kind.title.values()) if each}:
                self._words[word].append(name)

    def find(self, word: str) -> Sequence[str]:
        """Names of the types that a word means, () for none."""
        return (word,) if word in self._types else tuple(self._words.get(folded(word), ()))

    def near(self, word: str) -> str:
        """What was probably meant, "" when nothing is similar."""
        typed = folded(word)[:64]
        if typed not in self._near:
            close = difflib.get_close_matches(typed, list(self._words), n=1, cutoff=ALIKE)
            self._near[typed] = self._words[close[0]][0] if close else ""
        return self._near[typed]


def titles_of(kind: TaskType) -> dict[str, tuple[str, ...]]:
    """The parameters of a type and everything that people call each: its name, its titles."""
    properties = kind.schema.get("properties")
    found = properties if isinstance(properties, Mapping) else {}
    return {name: (name, *_titles(part)) for name, part in found.items() if isinstance(part, Mapping)}


def _titles(part: Mapping[str, Any]) -> list[str]:
    return [str(part[key]) for key in ("title", "x-title-zh", "x-title") if part.get(key)]
