"""What task types are called in the person's language; the code stays in tool tips, copies and filters.

English shows the code itself, as it stands in messages, flows and logs; another language shows the title that the type
has in it. What is known comes from whoever reads the types (``know``) and is shared by all pages.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.types.task_type import TaskType
from services.i18n import SOURCE_LANGUAGE, language
from views.support import safe

LONGEST = 60


class _Titles:
    """The titles by type and language; replaced as a whole, so any thread may bring new ones."""

    def __init__(self) -> None:
        self.known: Mapping[str, Mapping[str, str]] = {}


_titles = _Titles()


def know(types: Mapping[str, TaskType]) -> Mapping[str, TaskType]:
    """Remember the titles of these types; answers the types."""
    _titles.known = {code: kind.title for code, kind in types.items()}
    return types


def name(code: str) -> str:
    """What people read for a task type."""
    chosen = language()
    title = "" if chosen == SOURCE_LANGUAGE else _titles.known.get(code, {}).get(chosen, "")
    return safe.one_line(title or code, LONGEST)


def code(words: str) -> str:
    """The code of the one type that somebody called by its title in any language, else what they wrote."""
    if words in _titles.known:
        return words
    called = words.casefold()
    fits = [one for one, titles in _titles.known.items() if called in map(str.casefold, titles.values())]
    return fits[0] if len(fits) == 1 else words


def name_in_list(code_: str) -> str:
    """Its name where that can be read back from a list with commas, else the code."""
    shown = name(code_)
    return shown if code(shown) == code_ and not {",", "，"} & set(shown) else code_
