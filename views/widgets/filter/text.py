"""The text of a filter taken apart into chips and free words, and put together again. Pure.

The grammar is that of the command line (``status:dead,held -shop:shop01* error~"login expired"``); only
terms of the form ``field:value,value`` of known fields become chips, the rest stays text as typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

_TOKEN = re.compile(r'(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+')
_TERM = re.compile(r"^(?P<minus>-?)(?P<field>[a-z_]+):(?P<values>.+)$", re.DOTALL)
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"?|[^,]+')
_PLAIN = re.compile(r'^[^\s",:~<>=]+\Z')


@dataclass(frozen=True, slots=True)
class Chip:
    """One condition shown as a chip: any of `values`, or none of them."""

    field: str
    values: tuple[str, ...]
    negated: bool = False

    def text(self) -> str:
        """Return the term as the grammar writes it."""
        return f"{'-' if self.negated else ''}{self.field}:{','.join(quote(value) for value in self.values)}"

    def with_value(self, value: str) -> Chip:
        """Return the chip with `value` added."""
        return self if value in self.values else replace(self, values=(*self.values, value))


def quote(value: str) -> str:
    """Return `value` as the grammar needs it: in quotes unless it is one plain word."""
    if _PLAIN.match(value) and not value.startswith("-"):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquote(value: str) -> str:
    """Return the value without its quotes."""
    if not value.startswith('"'):
        return value
    inner = value[1:-1] if value.endswith('"') and len(value) > 1 else value[1:]
    return re.sub(r"\\(.)", r"\1", inner)


def split(expression: str, fields: Collection[str]) -> tuple[tuple[Chip, ...], str]:
    """Return the chips of known `fields`, and the rest as text."""
    chips: list[Chip] = []
    words: list[str] = []
    for token in _TOKEN.findall(expression):
        term = _TERM.match(token)
        if term is None or term["field"] not in fields:
            words.append(token)
            continue
        values = tuple(unquote(value) for value in _VALUE.findall(term["values"]))
        chips.append(Chip(term["field"], values, bool(term["minus"])))
    return tuple(chips), " ".join(words)


def combine(chips: Iterable[Chip], words: str) -> str:
    """Return the expression of chips and words."""
    terms = [chip.text() for chip in chips if chip.values]
    return " ".join([*terms, words.strip()]).strip()


_MARKS = ':~<>="'
_BEGUN = re.compile(r"(?:^|\s)-?[A-Za-z_]+(?:<=|>=|[:=~<>])\S")


def as_words(typed: str, prefix: str = "") -> str:
    """Return what was typed as terms: as it stands where it is written in the grammar, else behind `prefix`.

    Without a prefix plain words stay words; a text with a colon in its middle, as errors have, is searched as a whole.
    """
    text = typed.strip()
    if not text or _BEGUN.search(text) or text.startswith('"'):
        return text
    if any(mark in text for mark in _MARKS):
        return f"{prefix}{quote(text)}"
    return f"{prefix}{quote(text)}" if prefix else text


def without_prefix(words: str, prefix: str) -> str:
    """Return terms as a person would type them: the reverse of ``as_words``."""
    if not prefix or not words.startswith(prefix):
        return words
    rest = words.removeprefix(prefix)
    if rest.startswith('"') and rest.endswith('"') and rest.count('"') == 2:
        rest = rest[1:-1]
    return rest if not any(mark in rest for mark in _MARKS) else words
