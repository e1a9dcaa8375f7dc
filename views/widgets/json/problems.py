"""What can be wrong with a JSON text, and where. Pure.

Reads a JSON text that somebody is still writing: goes on behind each mistake, so that all of them are told at once.

What comes out of a text with mistakes is a guess: good enough to look for more mistakes in it, never to be sent. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from services.domain.types import strict_json
from services.i18n import N_, _
from views.support import safe

MOST, DEEPEST = 20, 64
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>"(?:[^"\\\n]|\\[^\n])*")
    | (?P<open>"(?:[^"\\\n]|\\[^\n])*)
    | (?P<single>'[^'\n]*')
    | (?P<mark>[{}\[\],:])
    | (?P<word>[^\s{}\[\],:"']+|')
    )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_WORDS = {"true": True, "false": False, "null": None}
_CLOSING = {"{": "}", "[": "]"}


class Mistake(msgspec.Struct, frozen=True):
    """`code` names the sentence, `word` what it is about; the line is 1-based."""

    code: str
    line: int
    word: str = ""


class _Token(msgspec.Struct, frozen=True):
    kind: str
    text: str
    line: int


def read(text: str) -> tuple[Any, list[Mistake]]:
    """The value as far as it can be guessed, and at most ``MOST`` mistakes in the order of the text."""
    reader = _Reader(text)
    value = reader.value(0)
    extra = reader.peek()
    if extra.kind != "end":
        reader.tell("extra", extra)
    return value, reader.mistakes[:MOST]


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens, self._place = _tokens(text), 0
        self.mistakes: list[Mistake] = []

    def peek(self) -> _Token:
        return self._tokens[self._place]

    def tell(self, code: str, token: _Token, word: str | None = None, line: int = 0) -> None:
        self.mistakes.append(Mistake(code, line or token.line, token.text if word is None else word))

    def _next(self) -> _Token:
        token = self.peek()
        if token.kind != "end":
            self._place += 1
        return token

    def _line_before(self) -> int:
        return self._tokens[max(0, self._place - 1)].line

    def value(self, depth: int) -> Any:
        token = self.peek()
        if token.text in _CLOSING and token.kind == "mark":
            self._next()
            if depth >= DEEPEST:
                self.tell("deep", token)
                self._place = len(self._tokens) - 1
                return None
            return self._object(token, depth) if token.text == "{" else self._array(token, depth)
        if token.kind in ("mark", "end"):
            self.tell("no_value", token, "", self._line_before())
            return None
        self._next()
        return self._text(token) if token.kind in ("string", "open", "single") else self._word(token)

    def _object(self, opened: _Token, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._more(opened, bool(found)):
            token = self.peek()
            if token.kind == "mark":
                self.tell("no_name", token)
                self._next()
                continue
            self._next()
            name = token.text if token.kind == "word" else self._text(token)
            if token.kind == "word":
                self.tell("unquoted", token)
            if name in found:
                self.tell("twice", token, name)
            if self.peek().text == ":" and self.peek().kind == "mark":
                self._next()
            else:
                self.tell("no_colon", token)
            found[name] = self.value(depth + 1)
        return found

    def _array(self, opened: _Token, depth: int) -> list[Any]:
        found: list[Any] = []
        while self._more(opened, bool(found)):
            before = self._place
            found.append(self.value(depth + 1))
            if self._place == before:
                self._next()
        return found

    def _more(self, opened: _Token, begun: bool) -> bool:
        """Step over the comma between two entries; False at the end of the object or list."""
        token = self.peek()
        commas = 0
        while token.kind == "mark" and token.text == ",":
            commas += 1
            self._next()
            if commas > 1 or not begun:
                self.tell("extra", token)
            token = self.peek()
        if token.kind == "end":
            self.tell("unclosed", opened)
            return False
        if token.kind == "mark" and token.text in "}]":
            if commas:
                self.tell("last_comma", token, "", self._line_before())
            if token.text != _CLOSING[opened.text]:
                self.tell("other_bracket", token, _CLOSING[opened.text])
            self._next()
            return False
        if begun and not commas:
            self.tell("no_comma", token, "", self._line_before())
        return True

    def _text(self, token: _Token) -> str:
        if token.kind == "string":
            try:
                return str(json.loads(token.text))
            except ValueError:
                self.tell("escape", token)
                return token.text[1:-1]
        self.tell("no_quote" if token.kind == "open" else "unquoted", token)
        return token.text.strip("\"'").rstrip(",")

    def _word(self, token: _Token) -> Any:
        if token.text in _WORDS:
            return _WORDS[token.text]
        if _NUMBER.match(token.text):
            return json.loads(token.text)
        self.tell("word", token)
        return token.text


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at, line = 0, 1
    while match := _TOKEN.match(text, at):
        kind = str(match.lastgroup)
        line += text.count("\n", at, match.start(kind))
        found.append(_Token(kind, match.group(kind), line))
        line += text.count("\n", match.start(kind), match.end())
        at = match.end()
    found.append(_Token("end", "", found[-1].line if found else 1))
    return found


class Problem(msgspec.Struct, frozen=True, kw_only=True):
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


class Reading(msgspec.Struct, frozen=True, kw_only=True):
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
    guess, mistakes = read(text)
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


def _cause(mistake: Mistake) -> str:
    return _(_MISTAKES[mistake.code]).format(word=safe.one_line(mistake.word, 40))
