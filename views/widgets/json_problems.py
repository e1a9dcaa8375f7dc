"""What can be wrong with a JSON text, and where. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from services.i18n import _


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, already translated, and where: a line (1-based), or a path in the document."""

    text: str
    line: int = 0
    path: tuple[str | int, ...] = ()

    def spoken(self) -> str:
        """Return the problem with its line, for a screen reader."""
        return _("Line {line}: {text}").format(line=self.line, text=self.text)


Validator = Callable[[Any], Sequence[Problem]]


def parse(text: str) -> tuple[Any, Problem | None]:
    """Return the document, or None and the reason why it cannot be read."""
    try:
        return json.loads(text, parse_constant=_refuse_constant), None
    except json.JSONDecodeError as error:
        return None, Problem(text=_("Not valid JSON: {cause}").format(cause=error.msg), line=error.lineno)
    except (ValueError, RecursionError) as error:
        return None, Problem(text=_("Not valid JSON: {cause}").format(cause=error), line=1)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line on which the last name of `path` stands, the first one when it is not found."""
    start = line = 0
    for part in path:
        if isinstance(part, int):
            continue
        found = text.find(json.dumps(part, ensure_ascii=False), start)
        if found < 0:
            break
        start, line = found + 1, text.count("\n", 0, found)
    return line + 1


def _refuse_constant(name: str) -> Any:
    raise ValueError(_("{name} is not JSON").format(name=name))
