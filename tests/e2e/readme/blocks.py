"""What stands in the code blocks of the pages: their language, their line, and the commands of those for a terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.support.pages import PAGES, text_of

_FENCE = re.compile(r"^```(\w*)\s*$")
_COMMENT = re.compile(r"\s+#\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block; ``language`` is what the fence says, or what it looks like."""

    page: str
    line: int
    language: str
    text: str

    @property
    def where(self) -> str:
        """For the name of a test."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command as it stands there, also over several lines; ``comment`` is what stands behind it."""

    page: str
    line: int
    text: str
    comment: str

    @property
    def where(self) -> str:
        """For the name of a test."""
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """All blocks of a page in their order."""
    found, lines = [], text_of(page).splitlines()
    numbers = iter(range(len(lines)))
    for number in numbers:
        fence = _FENCE.match(lines[number])
        if fence is None:
            continue
        inside = []
        for inner in numbers:
            if _FENCE.match(lines[inner]):
                break
            inside.append(lines[inner])
        text = "\n".join(inside)
        found.append(Block(page=page, line=number + 2, language=fence[1] or _looks_like(text), text=text))
    return found


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block for a terminal; a quote that is still open goes on in the next line."""
    begun, first = "", block.line
    for number, line in enumerate(block.text.splitlines(), block.line):
        first = first if begun else number
        begun = f"{begun}\n{line}" if begun else line
        if not begun.strip():
            begun = ""
        elif _whole(begun):
            parts = _COMMENT.split(begun, maxsplit=1) if "\n" not in begun else [begun]
            comment = parts[1].strip() if len(parts) > 1 else ""
            yield Command(page=block.page, line=first, text=parts[0].strip(), comment=comment)
            begun = ""
    assert not begun, f"{block.where}: a quote is never closed"


@cache
def all_commands() -> tuple[Command, ...]:
    """Every command of all pages."""
    shells = [block for page in PAGES for block in blocks(page) if block.language == "shell"]
    return tuple(command for block in shells for command in commands(block))


def _looks_like(text: str) -> str:
    return "toml" if text.lstrip().startswith("[") else "shell"


def _whole(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True
