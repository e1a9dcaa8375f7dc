"""What the command line prints: secrets as dots unless this run reveals them, nothing that a terminal would obey."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from services.domain.text import mask
from services.domain.text.visible import escaped, visible

#: this run was asked for the secrets themselves, and the person may see them
REVEALED: ContextVar[bool] = ContextVar("secrets are shown", default=False)


def masked(value: Any) -> Any:
    """A JSON value as this run may print it."""
    return value if REVEALED.get() else mask.masked(value)


def masked_text(text: str) -> str:
    """A text as this run may print it."""
    return text if REVEALED.get() else mask.masked_text(text)


def document(value: Any, **layout: Any) -> str:
    """A JSON text, ready to be printed; ``layout`` is for ``json.dumps``."""
    # through JSON first: what is no JSON value becomes a text, and texts are masked
    plain = json.loads(json.dumps(value, ensure_ascii=False, default=str))
    return escaped(json.dumps(masked(plain), ensure_ascii=False, **layout))


def text(words: str) -> str:
    """A text of one or more lines, ready to be printed."""
    return visible(masked_text(words), keep_newlines=True)


def out(lines: Iterable[str]) -> None:
    """Print lines."""
    sys.stdout.write("".join(f"{text(line)}\n" for line in lines))
    sys.stdout.flush()


def err(words: str, *, before: str = "", lead: str = "", style: str = "") -> None:
    """Tell something beside the output; ``before`` is for the terminal itself.

    ``lead``: a word before it, in ``style`` on a terminal that shows colours (not piped, no ``NO_COLOR``).
    """
    if lead and sys.stderr.isatty():
        # here, because it is for people at a terminal only
        from rich.console import Console

        Console(stderr=True).out(lead, style=style, end=" ", highlight=False)
    elif lead:
        words = f"{lead} {words}"
    sys.stderr.write(before + text(words))
    sys.stderr.flush()
