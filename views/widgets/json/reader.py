"""Reads a JSON text that somebody is still writing: goes on behind each mistake, so that all of them are told at once.

What comes out of a text with mistakes is a guess: good enough to look for more mistakes in it, never to be sent. Pure.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Mistake:
    """`code` names the sentence, `word` what it is about; the line is 1-based."""

    code: str
    line: int
    word: str = ""


@dataclass(frozen=True, slots=True)
class _Token:
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
