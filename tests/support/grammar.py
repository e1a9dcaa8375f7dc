"""The command line's own grammar: which commands there are, and which options each takes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from services.cli import program


def commands() -> Iterator[tuple[str, set[str]]]:
    """Commands (``task create``) with their options."""
    for words, parser in leaves():
        yield " ".join(words), {option for each in arguments(parser) for option in each.option_strings}


def names() -> set[str]:
    """Every command as it may be written, second names and nouns alone included."""
    return {" ".join(words) for words, _parser in walk() if words}


def options() -> set[str]:
    """Every option of any command."""
    return {option for _words, parser in walk() for each in arguments(parser) for option in each.option_strings}


def leaves() -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """What has nothing below it, each once: a second name is no second command."""
    seen: set[int] = set()
    for words, parser in walk():
        if id(parser) not in seen and not below(parser):
            yield words, parser
        seen.add(id(parser))


def walk(
    parser: argparse.ArgumentParser | None = None, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """The program itself, its nouns and their verbs, by all their names."""
    parser = parser or program.grammar()
    yield words, parser
    for name, one in below(parser).items():
        yield from walk(one, (*words, name))


def arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """What a command takes, what stands below it apart; argparse has no public way to ask."""
    return [each for each in parser._actions if not isinstance(each, argparse._SubParsersAction)]


def below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands under a noun by their names."""
    return {
        name: one
        for each in parser._actions
        if isinstance(each, argparse._SubParsersAction)
        for name, one in each.choices.items()
    }
