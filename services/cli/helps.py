"""Help in the language of the run: every text that the grammar declares, wrapped by the columns that it takes."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterator
from typing import Any

from services import i18n
from services.cli import spoken
from services.domain.text.visible import columns

#: of the catalogue: where the texts of the grammar stand, which are collected from the grammar itself
CONTEXT = "help"
#: what ends a noun's help
EXAMPLES = "examples:\n"
#: what begins no line, and what ends none
_CLOSING, _OPENING = "，。；：、！？）」』”’》…", "（「『“‘《"
#: what stays together: a word of letters, a Chinese character with the marks that belong to it, blanks
_PIECES = re.compile(
    rf"\s+|[{_OPENING}]*(?:[{_CLOSING}]|[^\s\u2e80-\uffef{_CLOSING}{_OPENING}]+|[\u2e80-\uffef])[{_CLOSING}]*|\S"
)


def texts(parser: argparse.ArgumentParser) -> Iterator[str]:
    """All that a person reads in the help of a command and of what stands below it, names and examples apart."""
    yield EXAMPLES
    for one in _parsers(parser):
        yield one.description or ""
        yield from _paragraphs(one.epilog or "")[1:]
        for group in one._action_groups:  # noqa: SLF001 - argparse has no public list of them
            yield from (group.title or "", group.description or "")
        yield from (action.help or "" for action in _declared(one) if action.help is not argparse.SUPPRESS)


def say(parser: argparse.ArgumentParser) -> None:
    """Put every text of the help of a command, that of what stands below it apart, into the language of the run."""
    if not i18n.is_chinese():
        return
    parser.description = _said(parser.description)
    if parser.epilog:
        examples, *more = _paragraphs(parser.epilog)
        said = [examples.replace(EXAMPLES, i18n.pgettext(CONTEXT, EXAMPLES)), *(str(_said(one)) for one in more)]
        parser.epilog = "\n\n".join(said)
    for group in parser._action_groups:  # noqa: SLF001
        group.title, group.description = _said(group.title), _said(group.description)
    for action in _declared(parser):
        if action.help is not argparse.SUPPRESS:
            action.help = _said(action.help)


def say_all(parser: argparse.ArgumentParser) -> None:
    """The same of the whole grammar, for those who show all of it."""
    for one in _parsers(parser):
        say(one)


def formatter(plain: Any, *, coloured: bool) -> Any:
    """What lays help out: in colour where that is wanted, in Chinese by the width of its characters."""
    base = _coloured(raw=plain is argparse.RawDescriptionHelpFormatter) if coloured else plain
    return type("Formatter", (_Wide, base), {}) if i18n.is_chinese() else base


def _coloured(*, raw: bool) -> type[argparse.HelpFormatter]:
    # here, because only help is drawn with it
    from rich_argparse import RawDescriptionRichHelpFormatter, RichHelpFormatter

    # brackets of our texts are brackets, and headings are as elsewhere
    RichHelpFormatter.text_markup = False
    RichHelpFormatter.group_name_formatter = str
    return RawDescriptionRichHelpFormatter if raw else RichHelpFormatter


def breaks(text: str, width: int) -> list[int]:
    """Where the lines after the first begin, so that none takes more columns; a word that is wider stays whole."""
    found, used = [], 0
    for piece in _PIECES.finditer(text):
        wide = columns(piece.group())
        if used and used + wide > width and not piece.group().isspace():
            found.append(piece.start())
            used = 0
        used += wide
    return found


class _Wide(argparse.HelpFormatter):
    """Counts columns where argparse counts characters, and breaks lines where Chinese may be broken."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, spoken.phrase("usage: ") if prefix is None else prefix)

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None) -> str:
        word = prefix or ""
        told = super()._format_usage(usage, actions, groups, "x" * columns(word))
        return word + str(told)[columns(word) :]

    def _split_lines(self, text: str, width: int) -> list[str]:
        text = " ".join(text.split())
        places = [0, *breaks(text, width), len(text)]
        return [text[start:end].strip() for start, end in itertools.pairwise(places)]

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = [
            part for line in text.splitlines() for part in ([line] if _is_set(line) else self._split_lines(line, width))
        ]
        return "\n".join(f"{indent}{part}" for part in parts)

    # the same for the library that draws help in colour, with its own kind of text
    def _rich_split_lines(self, text: Any, width: int) -> Any:
        return _divided(text, width)

    def _rich_fill_text(self, text: Any, width: int, indent: Any) -> Any:
        lines = [part for line in text.split() for part in ([line] if _is_set(line.plain) else _divided(line, width))]
        told = indent.copy()
        for place, line in enumerate(lines):
            told += (type(text)("\n") + indent if place else type(text)("")) + line
        return told + "\n\n"


def _divided(text: Any, width: int) -> Any:
    lines = text.divide(breaks(text.plain, width))
    for line in lines:
        line.rstrip()
    return lines


def _is_set(line: str) -> bool:
    """Whether a line is laid out already, as an example of a command is."""
    return line[:1] == " "


def _said(text: str | None) -> str | None:
    return i18n.pgettext(CONTEXT, text) if text else text


def _paragraphs(epilog: str) -> list[str]:
    """What a help ends with: its examples, and what is said below them."""
    return [part.strip("\n") for part in epilog.split("\n\n")]


def _declared(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """What a command takes, and the lines by which it names what stands below it."""
    for action in parser._actions:  # noqa: SLF001
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from action._choices_actions  # noqa: SLF001


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for one in dict.fromkeys(action.choices.values()):
                yield from _parsers(one)
