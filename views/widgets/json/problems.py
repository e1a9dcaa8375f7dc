"""What can be wrong with a JSON text, and where. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.domain.types import strict_json
from services.i18n import N_, _
from views.support import safe
from views.widgets.json import reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, already translated, and where: a line (1-based), or a path in the document."""

    text: str
    line: int = 0
    path: tuple[str | int, ...] = ()

    def spoken(self) -> str:
        """Return the problem with its line, for a screen reader."""
        return _("Line {line}: {text}").format(line=self.line, text=self.text)


#: sentences for the codes of ``json_reader``
_MISTAKES: dict[str, str] = {
    "extra": N_("{word} is too much here"),
    "no_value": N_("a value is missing"),
    "no_name": N_("a name in double quotes is missing before {word}"),
    "unquoted": N_("{word} must stand in double quotes"),
    "twice": N_("{word} stands twice"),
    "no_colon": N_("a colon is missing after {word}"),
    "no_comma": N_("a comma is missing"),
    "last_comma": N_("the last comma is too much"),
    "unclosed": N_("{word} is never closed"),
    "other_bracket": N_("it must be closed by {word}"),
    "no_quote": N_("the closing quote of {word} is missing"),
    "escape": N_("{word} has a backslash that JSON does not know"),
    "word": N_("{word} is not JSON"),
    "deep": N_("it is nested too deeply"),
}
Validator = Callable[[Any], Sequence[Problem]]
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The document of a text, None where it is no JSON; then `guess` is what it may become once it is put right."""

    value: Any = None
    guess: Any = None
    problems: tuple[Problem, ...] = ()


def parse(text: str) -> Reading:
    """Return the document, or everything because of which it cannot be read."""
    try:
        return Reading(value=strict_json.loads(text))
    except json.JSONDecodeError as error:
        cause, line = error.msg, error.lineno
    except (ValueError, RecursionError) as error:
        cause, line = str(error), 1
    if not text.strip():
        return Reading(problems=(_problem(cause, line),))
    guess, mistakes = reader.read(text)
    told = tuple(_problem(_cause(one), one.line) for one in mistakes)
    return Reading(guess=guess, problems=told or (_problem(cause, line),))


def check(text: str, validator: Validator | None) -> tuple[Any, list[Problem]]:
    """Return the document, None while it is no JSON, and all that is wrong with it, each at its line, in their order.

    Beside mistakes in the JSON the validator is asked too, but for what such a mistake may have cut off.
    """
    found = parse(text)
    problems = list(found.problems)
    document = found.guess if problems else found.value
    if validator is not None and (not problems or isinstance(document, dict)):
        doubtful = {one.line for one in problems} | {1} if problems else set()
        others = [one if one.line else replace(one, line=line_of(text, one.path)) for one in validator(document)]
        problems += [one for one in others if one.line not in doubtful]
    return found.value, sorted(problems, key=lambda one: one.line)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line on which the last part of `path` stands; of what is missing, where that begins in which it is."""
    try:
        place = _place(text, path)
    except (ValueError, IndexError, RecursionError):  # no JSON yet: the names in their order are near enough
        place = _near(text, path)
    return text.count("\n", 0, place) + 1


def _near(text: str, path: Sequence[str | int]) -> int:
    start = place = 0
    for part in path:
        if isinstance(part, int):
            continue
        found = text.find(json.dumps(part, ensure_ascii=False), start)
        if found < 0:
            break
        start, place = found + 1, found
    return place


def _place(text: str, path: Sequence[str | int]) -> int:
    """Where the last part of `path` stands. Raises ValueError or IndexError where the text is no JSON."""
    shown = value = _blank(text, 0)
    for part in path:
        for name, at, inside in _children(text, value):
            if name == part:
                shown, value = at, inside
                break
        else:
            return value
    return shown


def _children(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """The children of the object or array at a place: name or number, where it stands, where its value begins."""
    if text[at] not in "{[":
        return
    named, number = text[at] == "{", 0
    at = _blank(text, at + 1)
    while text[at] not in "}]":
        name: str | int = number
        stands = at
        if named:
            name, at = _DECODER.raw_decode(text, at)
            at = _blank(text, _blank(text, at) + 1)
        yield name, stands, at
        _value, at = _DECODER.raw_decode(text, at)
        at = _blank(text, at)
        if text[at] == ",":
            at = _blank(text, at + 1)
        number += 1


def _blank(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _problem(cause: str, line: int) -> Problem:
    return Problem(text=_("Not valid JSON: {cause}").format(cause=cause), line=line)


def _cause(mistake: reader.Mistake) -> str:
    return _(_MISTAKES[mistake.code]).format(word=safe.one_line(mistake.word, 40))
