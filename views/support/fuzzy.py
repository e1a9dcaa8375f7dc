"""Finds what a person means by a few letters: every typed word must occur, beginnings of words count most. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

_WORD_START = re.compile(r"(?:^|(?<=[\s_\-./:,()]))")
#: a Chinese character, or all that stands between two
_PIECE = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")

#: a shorter word is soon like any other; per cent of letters that stand in the same order
LEAST_MISSPELT, ALIKE = 5, 80.0


class Match(msgspec.Struct, frozen=True):
    """How well something fits, more is better, and which characters of its words are meant."""

    score: float
    spans: tuple[tuple[int, int], ...] = ()


def match(query: str, words: str, others: Sequence[str] = ()) -> Match | None:
    """Return how `query` fits `words`, or one of the `others` that are not shown with spans; None when it does not."""
    tokens = query.casefold().split()
    folded = words.casefold()
    hidden = " ".join(others).casefold()
    score, spans = 0.0, []
    for token in tokens:
        found = _in_words(token, folded)
        if found is not None:
            score += found[0]
            spans += found[1]
        elif token in hidden:
            score += 2.0 if f" {hidden}".find(f" {token}") >= 0 else 1.0
        else:
            return None
    return Match(score - len(words) / 1000, _joined(spans))


def _in_words(token: str, words: str) -> tuple[float, list[tuple[int, int]]] | None:
    at = words.find(token)
    if at < 0:
        return _scattered(token, words) or _left_out(token, words) or _misspelt(token, words)
    start = next((m.start() for m in _WORD_START.finditer(words) if words.startswith(token, m.start())), -1)
    if start == 0:
        return 4.0, [(0, len(token))]
    if start > 0:
        return 3.0, [(start, start + len(token))]
    return 1.5, [(at, at + len(token))]


def _scattered(token: str, words: str) -> tuple[float, list[tuple[int, int]]] | None:
    """First letters of words in order: ``rfs`` for "retry failed of shop"."""
    if len(token) < 2:
        return None
    spans: list[tuple[int, int]] = []
    for place in (m.start() for m in _WORD_START.finditer(words)):
        if len(spans) < len(token) and words.startswith(token[len(spans)], place):
            spans.append((place, place + 1))
    return (1.0, spans) if len(spans) == len(token) else None


def _left_out(token: str, words: str) -> tuple[float, list[tuple[int, int]]] | None:
    """Chinese that is said shorter: ``交班`` for 交接班. What is not Chinese in it, as a number, is one piece."""
    if token.isascii():
        return None
    spans: list[tuple[int, int]] = []
    end = 0
    for piece in _PIECE.findall(token):
        at = words.find(piece, end)
        if at < 0:
            return None
        end = at + len(piece)
        spans.append((at, end))
    return 0.9, spans


def _misspelt(token: str, words: str) -> tuple[float, list[tuple[int, int]]] | None:
    """Letters left out, doubled or turned around: ``retyr`` for "retry". Never digits: another shop is not meant."""
    if len(token) < LEAST_MISSPELT or not (token.isascii() and token.isalpha()):
        return None
    # here, because the window opens without it
    from rapidfuzz import fuzz

    found: tuple[float, int] = (0.0, 0)
    for start in (m.start() for m in _WORD_START.finditer(words)):
        alike = fuzz.ratio(token, words[start : start + len(token)], score_cutoff=ALIKE)
        found = max(found, (alike, -start))
    score, start = found[0], -found[1]
    return (score / 200, [(start, start + len(words[start : start + len(token)].rstrip()))]) if score else None


def _joined(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)
