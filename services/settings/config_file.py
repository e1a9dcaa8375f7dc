"""config.toml as a form shows and changes it: what each setting is, where that comes from, and a change that is checked
as the start checks it before a byte is written.
"""

from __future__ import annotations

import copy
import hashlib
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from services import home_folder, plain_file, whole_file
from services.domain.errors import UsageError
from services.domain.text import mask
from services.domain.text.said import said
from services.settings import declared, reading, toml_text
from services.settings.declared import Declared
from services.settings.environment import variable_of, variables

#: where a value comes from; else it is the name of a variable
DEFAULT, FILE = "default", "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as it is: ``value`` has dots in place of what nobody shall read."""

    what: Declared
    value: Any
    origin: str

    @property
    def variable(self) -> str:
        """The variable that goes over the file, "" for none."""
        return self.origin if self.origin not in (DEFAULT, FILE) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
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

    def _setting(self, one: Declared, data: Mapping[str, Any]) -> Setting:
        found = _at(data, one.name)
        value, origin = (one.default, DEFAULT) if found is None else (found, FILE)
        if variable := variable_of(one.name):
            over = _at(variables(), one.name)
            value, origin = (value if over is None else over), variable
        return Setting(what=one, value=_dotted(one, value), origin=origin)

    def _new(self, text: str, changes: Mapping[str, Any]) -> str:
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
            return toml_text.changed(text.replace("\r\n", "\n"), steps)
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
