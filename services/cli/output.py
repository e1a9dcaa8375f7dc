"""What the command line prints: secrets as dots unless this run reveals them, nothing that a terminal would obey."""

from __future__ import annotations

import codecs
import io
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any, TextIO

from services.domain.text import mask
from services.domain.text.visible import escaped, visible

#: this run was asked for the secrets themselves, and the person may see them
REVEALED: ContextVar[bool] = ContextVar("secrets are shown", default=False)
#: this run was asked for no colours
COLOURLESS: ContextVar[bool] = ContextVar("no colours", default=False)


#: what says nothing of a terminal: a system without a locale names these, and its terminals show UTF-8
_UNTOLD = frozenset({"utf-8", "ascii", "iso8859-1"})


#: what stands in our sentences and in no code page, as it is shown there
_PLAIN, _INSTEAD = "fleetdeck.plain", {"\u2009": " ", "\u202f": " ", "•": "*"}


def _instead(exc: UnicodeError) -> tuple[str, int]:
    if not isinstance(exc, UnicodeEncodeError):
        raise exc
    return "".join(_INSTEAD.get(char, "?") for char in exc.object[exc.start : exc.end]), exc.end


codecs.register_error(_PLAIN, _instead)


def speak_utf8() -> None:
    """Let both outputs be UTF-8, also where a pipe or file of Windows would get the code page of the machine.

    That has no room for most names of shops, and whoever reads ``--json`` expects no code page. A terminal that is set
    to another encoding, such as GBK, gets that: UTF-8 would be gibberish there.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):  # a window has none
            continue
        if stream.isatty() and codecs.lookup(stream.encoding).name not in _UNTOLD:
            stream.reconfigure(errors=_PLAIN)
        else:
            stream.reconfigure(encoding="utf-8")


class Line(str):
    """A line with styles for terminals that show colours; anywhere else its text alone."""

    spans: Sequence[tuple[int, int, str]]  #: from, to, and the style between

    def __new__(cls, words: str, spans: Sequence[tuple[int, int, str]] = ()) -> Line:
        """``words`` with styles on parts of it."""
        made = super().__new__(cls, words)
        made.spans = spans
        return made


def coloured(stream: TextIO | None) -> bool:
    """Whether colours are wanted there: a terminal that shows them, no ``--no-color``, no ``NO_COLOR``."""
    if stream is None or COLOURLESS.get() or not stream.isatty():
        return False
    # here, because it is for people at a terminal only
    from rich.console import Console

    console = Console(file=stream)
    return not console.no_color and not console.is_dumb_terminal


def room() -> int | None:
    """Columns of the terminal that reads the output; None: it is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None


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
    if not coloured(sys.stdout):
        sys.stdout.write("".join(f"{text(line)}\n" for line in lines))
    else:
        _styled(lines)
    sys.stdout.flush()


def _styled(lines: Iterable[str]) -> None:
    # here, as above
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for line in lines:
        shown = Text(text(line))
        if isinstance(line, Line) and shown.plain == line:  # where something became dots, places are others
            for start, end, style in line.spans:
                shown.stylize(style, start, end)
        console.print(shown)


def err(words: str, *, before: str = "", lead: str = "", style: str = "") -> None:
    """Tell something beside the output; ``before`` is for the terminal itself.

    ``lead``: a word before it, in ``style`` on a terminal that shows colours.
    """
    if lead and coloured(sys.stderr):
        # here, because it is for people at a terminal only
        from rich.console import Console

        Console(stderr=True).out(lead, style=style, end=" ", highlight=False)
    elif lead:
        words = f"{lead} {words}"
    sys.stderr.write(before + text(words))
    sys.stderr.flush()
