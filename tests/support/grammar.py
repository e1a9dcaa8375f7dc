"""The command line's own grammar: which commands there are, and which options each takes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from services.cli import program


def commands() -> Iterator[tuple[str, set[str]]]:
    """Commands (``task create``) with their options."""
    return _leaves(program._parser(), "")


def names() -> set[str]:
    """Every command as it may be written, second names and nouns alone included."""
    return set(_names(program._parser(), ""))


def options() -> set[str]:
    """Every option of any command."""
    return set(_options(program._parser()))


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for each in parser._actions:
        yield from each.option_strings
    for below in _below(parser).values():
        yield from _options(below)


def _leaves(parser: argparse.ArgumentParser, words: str) -> Iterator[tuple[str, set[str]]]:
    nested = _below(parser)
    if not nested:
        yield words, {option for each in parser._actions for option in each.option_strings}
    seen: set[int] = set()
    for name, below in nested.items():
        if id(below) not in seen:  # a second name is no second command
            seen.add(id(below))
            yield from _leaves(below, f"{words} {name}".strip())


def _names(parser: argparse.ArgumentParser, words: str) -> Iterator[str]:
    if words:
        yield words
    for name, below in _below(parser).items():
        yield from _names(below, f"{words} {name}".strip())


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    nested = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    return {name: below for each in nested for name, below in each.choices.items()}
