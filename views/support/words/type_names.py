"""What task types are called in the person's language; the code stays in tool tips, copies and filters.

English shows the code itself, as it stands in messages, flows and logs; another language shows the title that the type
has in it. What is known comes from whoever reads the types (``know``) and is shared by all pages.
"""

from __future__ import annotations

from collections.abc import Mapping

from services import called
from services.domain.text.words import COMMAS
from services.domain.types.task_type import TaskType
from views.support import safe

LONGEST = 60


def know(types: Mapping[str, TaskType]) -> Mapping[str, TaskType]:
    """Remember the titles of these types; answers the types."""
    called.know_types({code: kind.title for code, kind in types.items()})
    return types


def name(code: str) -> str:
    """What people read for a task type."""
    return safe.one_line(called.task_type(code), LONGEST)


def code(words: str) -> str:
    """The code of the one type that somebody called by its title in any language, else what they wrote."""
    titles = called.titles_of_types()
    if words in titles:
        return words
    said = words.casefold()
    fits = [one for one, names in titles.items() if said in map(str.casefold, names.values())]
    return fits[0] if len(fits) == 1 else words


def name_in_list(code_: str) -> str:
    """Its name where that can be read back from a list with commas, else the code."""
    shown = name(code_)
    return shown if code(shown) == code_ and set(COMMAS).isdisjoint(shown) else code_
