"""config.toml as a form shows and changes it: what each setting is, where that comes from, and a change that is checked
as the start checks it before a byte is written.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import stat
import tomllib
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from services import home_folder, plain_file, whole_file
from services.domain.errors import UsageError
from services.domain.text import mask
from services.domain.text.said import said
from services.settings import declared, reading
from services.settings.declared import Declared
from services.settings.environment import variable_of, variables

#: where a value comes from; else it is the name of a variable
DEFAULT, FILE = "default", "file"
Keys = tuple[str, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_QUOTES = ('"""', "'''", '"', "'")


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as it is: ``value`` has dots in place of what nobody shall read."""

    what: Declared
    value: Any
    origin: str

    @property
    def variable(self) -> str:
        """The variable that goes over the file, "" for none."""
        return self.origin if self.origin not in (DEFAULT, FILE) else ""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a form was made of. ``mark``: of the file, which may be another one when the form comes back."""

    settings: tuple[Setting, ...]
    mark: str

    def of(self, name: str) -> Setting:
        """One by its name."""
        return next(one for one in self.settings if one.what.name == name)


class ConfigFile:
    """The file of a home folder; every call blocks."""

    def __init__(self, home: Path) -> None:
        self.path = home / reading.FILE
        self._home = home

    def look(self) -> Seen:
        """Every setting that stands in a table of a fixed name.

        Raises:
            UsageError: the file cannot be read.
        """
        text = self._text()
        data = home_folder.read_config(self.path)
        return Seen(
            settings=tuple(self._setting(one, data) for one in declared.everything()),
            mark=hashlib.sha256(text.encode()).hexdigest(),
        )

    def check(self, changes: Mapping[str, Any]) -> None:
        """Refuse what the next start would refuse. ``changes``: new values by name, None for the default.

        Raises:
            UsageError: with the setting as its field.
        """
        self._new(self._text(), changes)

    def write(self, changes: Mapping[str, Any], mark: str) -> None:
        """Change the file, or make it; what else stands in it stays.

        Raises:
            UsageError: a value cannot be, or the file is not the one that was seen.
            OSError: it cannot be written.
        """
        text = self._text()
        if hashlib.sha256(text.encode()).hexdigest() != mark:
            raise UsageError(said("settings.changed", file=self.path.name), field=self.path.name)
        new, ending = self._new(text, changes), "\r\n" if "\r\n" in text else "\n"
        place = self.path.resolve()  # a link stays one
        home_folder.make(self._home)
        draft = whole_file.draft_of(place)
        home_folder.keep_private(draft)
        try:
            draft.write_text(new, encoding="utf-8", newline=ending)
            whole_file.put(draft, place)
        finally:
            draft.unlink(missing_ok=True)

    def told(self, changes: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """What becomes of what, without secrets, for the audit."""
        before = self.look()
        return {
            name: {
                "from": declared.shown(before.of(name).what, before.of(name).value),
                "to": declared.shown(before.of(name).what, before.of(name).what.default if value is None else value),
            }
            for name, value in changes.items()
        }

    def _text(self) -> str:
        try:
            return plain_file.read(self.path, home_folder.MAX_CONFIG).decode("utf-8-sig")
        except (FileNotFoundError, UnicodeDecodeError):  # the latter is told by whoever reads what it says
            return ""

    def _is_protected(self) -> bool:
        """Whether somebody said that nobody writes it: a new file would take its place all the same, and root may."""
        try:
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            return False
        return not (mode & stat.S_IWUSR and os.access(self.path, os.W_OK))

    def _setting(self, one: Declared, data: Mapping[str, Any]) -> Setting:
        found = _at(data, one.name)
        value, origin = (one.default, DEFAULT) if found is None else (found, FILE)
        if variable := variable_of(one.name):
            over = _at(variables(), one.name)
            value, origin = (value if over is None else over), variable
        return Setting(what=one, value=_dotted(one, value), origin=origin)

    def _new(self, text: str, changes: Mapping[str, Any]) -> str:
        if self._is_protected():
            raise UsageError(said("settings.protected", file=str(self.path)), field=self.path.name)
        data = home_folder.read_config(self.path)
        by_name = {one.name: one for one in declared.everything()}
        steps: dict[tuple[str, ...], Any] = {}
        wanted = copy.deepcopy(data)
        for name, value in changes.items():
            old = _at(data, name)
            real = _undotted(by_name[name], value, by_name[name].default if old is None else old)
            steps |= _steps(tuple(name.split(".")), real, old, own=_has_table(text, name))
            _set(wanted, name, real)
        reading.settled(wanted, self._home)
        try:
            return changed(text.replace("\r\n", "\n"), steps)
        except ValueError as exc:
            field = str(exc)
            raise UsageError(said("settings.by_hand", field=field, file=self.path.name), field=field) from exc


def _at(data: Mapping[str, Any], name: str) -> Any:
    found: Any = data
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _set(data: dict[str, Any], name: str, value: Any) -> None:
    *above, last = name.split(".")
    for part in above:
        data = data.setdefault(part, {})
    if value is None:
        data.pop(last, None)
    else:
        data[last] = msgspec.to_builtins(value)


def _steps(path: tuple[str, ...], value: Any, old: Any, *, own: bool) -> dict[tuple[str, ...], Any]:
    """A table that stands under a head of its own changes value by value, anything else as a whole."""
    if not own or not isinstance(old, Mapping):
        return {path: value}
    new = value if isinstance(value, Mapping) else {}
    return {(*path, name): new.get(name) for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)}


def _has_table(text: str, name: str) -> bool:
    return any(line.strip().replace(" ", "").startswith(f"[{name}]") for line in text.splitlines())


# what nobody shall read


def _dotted(one: Declared, value: Any) -> Any:
    plain = msgspec.to_builtins(value)
    if one.name in declared.VARIABLES and isinstance(plain, dict):
        return dict.fromkeys(plain, mask.DOTS)
    if one.secret and isinstance(plain, str):
        return plain.replace(_password(plain), mask.DOTS) if _password(plain) else plain
    return mask.masked(plain)


def _undotted(one: Declared, value: Any, old: Any) -> Any:
    """With what the dots stand for, where they stand as they were shown.

    Raises:
        UsageError: nobody can say what they stand for.
    """
    if value is None or mask.DOTS not in msgspec.json.encode(msgspec.to_builtins(value)).decode():
        return value
    if value == _dotted(one, old):
        return old
    if one.name in declared.VARIABLES and isinstance(old, Mapping):
        real = {name: old.get(name, part) if part == mask.DOTS else part for name, part in value.items()}
        if mask.DOTS not in real.values():
            return real
    elif one.secret and isinstance(old, str) and _password(old):
        return value.replace(mask.DOTS, _password(old))
    raise UsageError(said("settings.dots", field=one.name), field=one.name)


def _password(address: str) -> str:
    """The password of an address as it stands there, "" for none."""
    try:
        return urllib.parse.urlsplit(address).netloc.rpartition("@")[0].partition(":")[2]
    except ValueError:
        return ""


class _Statement(msgspec.Struct, frozen=True):
    """``key = value``: where its line begins, its value, and the line after it."""

    path: Keys
    table: Keys
    begin: int
    value: int
    value_end: int
    end: int


class _Header(msgspec.Struct, frozen=True):
    """``[table]``: where its line ends, and where the last line of its own stands."""

    path: Keys
    end: int


def changed(text: str, changes: Mapping[Keys, Any]) -> str:
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


def _key(path: Keys) -> str:
    return ".".join(part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False) for part in path)


def _put(data: dict[str, Any], path: Keys, value: Any) -> None:
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


def _tries(text: str, path: Keys, value: Any) -> Iterator[str]:
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
    table: Keys = ()
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


def _path_of(line: str) -> Keys:
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
