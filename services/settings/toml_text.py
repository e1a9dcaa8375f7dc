"""Values of a TOML file changed in its text: comments, order and spelling of everything else stay as they were.

What was changed is read again: it must say what was wanted and nothing else, or the text is left alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_QUOTES = ('"""', "'''", '"', "'")


@dataclass(frozen=True, slots=True)
class _Statement:
    """``key = value``: where its line begins, its value, and the line after it."""

    path: Path
    table: Path
    begin: int
    value: int
    value_end: int
    end: int


@dataclass(frozen=True, slots=True)
class _Header:
    """``[table]``: where its line ends, and where the last line of its own stands."""

    path: Path
    end: int


def changed(text: str, changes: Mapping[Path, Any]) -> str:
    """The text with other values; None takes a value out.

    Raises:
        ValueError: no change of a line or two does it: as where a table is written on one line.
    """
    for path, value in changes.items():
        wanted = tomllib.loads(text)
        _put(wanted, path, value)
        new = next((one for one in _tries(text, path, value) if _says(one, wanted)), None)
        if new is None:
            raise ValueError(".".join(path))
        text = new
    return text


def written(value: Any) -> str:
    """A value as it stands in a file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key((name,))} = {written(part)}" for name, part in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def _key(path: Path) -> str:
    return ".".join(part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False) for part in path)


def _put(data: dict[str, Any], path: Path, value: Any) -> None:
    for part in path[:-1]:
        data = data.setdefault(part, {})
    if value is None:
        data.pop(path[-1], None)
    else:
        data[path[-1]] = list(value) if isinstance(value, tuple) else value


def _says(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return bool(_full(tomllib.loads(text)) == _full(wanted))
    except tomllib.TOMLDecodeError:
        return False


def _full(data: Any) -> Any:
    """Without tables in which nothing stands: they say nothing."""
    if not isinstance(data, dict):
        return data
    parts = {name: _full(part) for name, part in data.items()}
    return {name: part for name, part in parts.items() if part != {}}


def _tries(text: str, path: Path, value: Any) -> Iterator[str]:
    """What may say it, the most natural first."""
    statements, headers = _read(text)
    own = next((one for one in statements if one.path == path), None)
    if value is None:
        if own is not None:
            yield text[: own.begin] + text[own.end :]
        yield text
        return
    if own is not None:
        yield text[: own.value] + written(value) + text[own.value_end :]
    table = path[:-1]
    beside = [one for one in statements if one.table == table and one.path[:-1] == table]
    header = next((one for one in headers if one.path == table), None)
    place = beside[-1].end if beside else header.end if header is not None else -1
    line = f"{_key(path[-1:])} = {written(value)}\n"
    if place >= 0:
        yield _inserted(text, place, line)
    elif not table:
        yield _inserted(text, _head_of(text), line)
    # a table whose values stand elsewhere with its name before theirs: ``worker.slots = 5``
    kin = [one for one in statements if one.path[: len(table)] == table]
    if kin:
        yield _inserted(text, kin[-1].end, f"{_key(path[len(kin[-1].table) :])} = {written(value)}\n")
    if table:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        yield f"{text}{gap}[{_key(table)}]\n{line}"


def _inserted(text: str, place: int, line: str) -> str:
    before = text[:place]
    return before + ("\n" if before and not before.endswith("\n") else "") + line + text[place:]


def _head_of(text: str) -> int:
    """Behind the words at the beginning of a file."""
    found = re.match(r"(?:[ \t]*#[^\n]*\n)+[ \t]*\n", text)
    return found.end() if found else 0


def _read(text: str) -> tuple[list[_Statement], list[_Header]]:
    """Every statement and header of a text that is TOML."""
    statements: list[_Statement] = []
    headers: list[_Header] = []
    table: Path = ()
    place = 0
    while place < len(text):
        line_end = _after_line(text, place)
        line = text[place:line_end].strip()
        if line.startswith("["):
            table = _path_of(line) or ("",)
            headers.append(_Header(table, line_end))
        elif line and not line.startswith("#"):
            equals = _after(text, place, "=")
            value = equals + len(text[equals:]) - len(text[equals:].lstrip(" \t"))
            value_end = _value_end(text, value)
            line_end = _after_line(text, value_end)
            key = _path_of(f"{text[place : equals - 1]} = 0")
            statements.append(_Statement((*table, *key), table, place, value, value_end, line_end))
        place = line_end
    return statements, headers


def _path_of(line: str) -> Path:
    found: Any = tomllib.loads(line)
    path: list[str] = []
    while isinstance(found, dict) and found:
        name, found = next(iter(found.items()))
        path.append(name)
    return tuple(path) if not isinstance(found, list) else ()


def _after_line(text: str, place: int) -> int:
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def _after(text: str, place: int, sign: str) -> int:
    """Behind the first such sign outside of quotes."""
    while text[place] != sign:
        place = _string_end(text, place) or place + 1
    return place + 1


def _value_end(text: str, place: int) -> int:
    """Where a value ends: at the end of its line or at a comment, but for those within brackets."""
    depth, last = 0, place
    while place < len(text):
        char = text[place]
        if end := _string_end(text, place):
            place = last = end
            continue
        if char == "#":
            if not depth:
                break
            place = _after_line(text, place)
            continue
        if char == "\n" and not depth:
            break
        depth += (char in "[{") - (char in "]}")
        place += 1
        if not char.isspace():
            last = place
    return last


def _string_end(text: str, place: int) -> int:
    """Behind the string that begins here, 0 where none does."""
    quote = next((one for one in _QUOTES if text.startswith(one, place)), "")
    if not quote:
        return 0
    place += len(quote)
    while not text.startswith(quote, place):
        place += 2 if text[place] == "\\" and quote[0] == '"' else 1
    place += len(quote)
    while len(quote) == 3 and text.startswith(quote[0], place):  # up to two quotes may stand before the closing ones
        place += 1
    return place
