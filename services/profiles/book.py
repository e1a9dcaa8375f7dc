"""The file of the connections that were made in a window: what they are, where they lead, never a password."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from services import home_folder, plain_file, whole_file
from services.profiles import passwords

log = logging.getLogger(__name__)
FILE, BEFORE = "profiles.json", "console.json"
_MOST_BYTES = 2 * 1024 * 1024
#: addresses that may hold a password
PARTS = ("broker", "redis", "management")


class SavedProfile(msgspec.Struct, frozen=True, kw_only=True):
    """One connection; no addresses means an engine on this machine."""

    name: str
    environment: str = ""
    broker: str = ""
    redis: str = ""
    management: str = ""
    broker_profile: str = ""  #: single | cluster, "" for the usual one
    read_only: bool = False

    @property
    def local(self) -> bool:
        """Whether everything is on this machine."""
        return not self.broker and not self.redis


class Book:
    """``profiles.json`` in the home folder. Every call blocks: files and the key store."""

    def __init__(self, home: Path) -> None:
        self._path, self._before = home / FILE, home / BEFORE

    def profiles(self) -> dict[str, SavedProfile]:
        """All by name, in their order, without passwords; what cannot be read is left out."""
        return {one.name: one for one in map(_read, self._entries()) if one is not None}

    def find(self, name: str) -> SavedProfile | None:
        """One with its passwords, None when there is none of this name."""
        bare = self.profiles().get(name)
        if bare is None:
            return None
        return msgspec.structs.replace(bare, **{part: passwords.recall(part, getattr(bare, part)) for part in PARTS})

    def put(self, profile: SavedProfile, *, instead_of: str = "") -> bool:
        """Keep a profile, in place of another where one is named; False when no key store took its passwords."""
        kept = [passwords.keep(part, getattr(profile, part)) for part in PARTS]
        bare = msgspec.structs.replace(profile, **{part: passwords.without(getattr(profile, part)) for part in PARTS})
        place = instead_of or profile.name
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with home_folder.alone(self._path):  # the window of another connection may add one now, too
            known = self.profiles()
            rows = [bare if name == place else one for name, one in known.items()]
            if place not in known:
                rows.append(bare)
            gone = known.get(place)
            self._write(rows)
        if gone is not None:
            self._forget(gone, rows)
        # an address that was entered without a password has none any more
        others = [row for row in rows if row is not bare]
        plain = {part: url for part in PARTS if (url := getattr(bare, part)) == getattr(profile, part)}
        self._forget(SavedProfile(name=profile.name, **plain), others)
        return all(kept)

    def remove(self, name: str) -> None:
        """Strike a profile off, and its passwords that no other one needs. What it led to stays as it is."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with home_folder.alone(self._path):
            known = self.profiles()
            gone = known.pop(name, None)
            self._write(list(known.values()))
        if gone is not None:
            self._forget(gone, list(known.values()))

    def _forget(self, gone: SavedProfile, left: list[SavedProfile]) -> None:
        for part in PARTS:
            bare = getattr(gone, part)
            if bare and all(getattr(one, part) != bare for one in left):
                passwords.forget(part, bare)

    def _entries(self) -> list[Any]:
        """As they stand in the file; before there was one, the single fleet that the window remembered."""
        found = _load(self._path)
        if found is not None:
            rows = found.get("profiles", [])
            return rows if isinstance(rows, list) else []
        kept = _load(self._before) or {}
        fleet = kept.get("fleet")
        if kept.get("chosen") != "fleet" or not isinstance(fleet, dict):
            return []
        return [{"name": "fleet", "broker": fleet.get("broker", ""), "redis": fleet.get("redis", "")}]

    def _write(self, rows: list[SavedProfile]) -> None:
        if self._path.exists() and _load(self._path) is None:
            self._path.replace(self._path.with_suffix(".unreadable"))
        draft = self._path.with_suffix(".part")
        home_folder.keep_private(draft)
        document = {"profiles": [msgspec.to_builtins(row) for row in rows]}
        draft.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
        whole_file.put(draft, self._path)


def _load(path: Path) -> Mapping[str, Any] | None:
    try:
        found = json.loads(plain_file.read(path, _MOST_BYTES)[:_MOST_BYTES].decode("utf-8-sig"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as exc:
        log.warning("%s is not readable and is ignored: %s", path.name, exc)
        return None
    return found if isinstance(found, dict) else None


def _read(row: Any) -> SavedProfile | None:
    try:
        return msgspec.convert(row, SavedProfile)
    except msgspec.ValidationError as exc:
        log.warning("a connection in %s is not readable and is left out: %s", FILE, exc)
        return None
