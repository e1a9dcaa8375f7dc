"""What the console remembers between starts: appearance, connection, window; a small JSON file, never a secret."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from services import home_folder, plain_file

log = logging.getLogger(__name__)
_MOST_BYTES = 16 * 1024 * 1024


class ConsoleState:
    """``console.json`` in the home folder; a broken file is put aside, not fatal."""

    def __init__(self, home: Path) -> None:
        self._path = home / "console.json"
        self.values: dict[str, Any] = self._read()

    def get(self, name: str, default: Any = "") -> Any:
        """A remembered value."""
        return self.values.get(name, default)

    def set(self, **values: Any) -> None:
        """Remember values at once; what another program of this home has written meanwhile stays."""
        self.values = {**self.values, **self._read(), **values}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft = self._path.with_suffix(".part")
            home_folder.keep_private(draft)
            draft.write_text(json.dumps(self.values, ensure_ascii=False, indent=1), encoding="utf-8")
            draft.replace(self._path)
        except OSError as exc:
            log.warning("the console does not remember its state: %s", exc)

    def put(self, shelf: str, name: str, value: Any) -> None:
        """Remember one value of a table of values."""
        kept = self._read().get(shelf, self.values.get(shelf))
        self.set(**{shelf: {**(kept if isinstance(kept, dict) else {}), name: value}})

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(plain_file.read(self._path, _MOST_BYTES)[:_MOST_BYTES].decode("utf-8-sig"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as exc:
            log.warning("console.json is not readable and is ignored: %s", exc)
            return {}
        return found if isinstance(found, dict) else {}


class Shelf:
    """The part of the state that belongs to the pages (``views.support.memory.Memory``)."""

    def __init__(self, state: ConsoleState, name: str = "pages") -> None:
        self._state, self._name = state, name

    def get(self, name: str, default: Any = None) -> Any:
        """A remembered value."""
        return self._values().get(name, default)

    def put(self, name: str, value: Any) -> None:
        """Remember a value at once."""
        self._state.put(self._name, name, value)

    def _values(self) -> dict[str, Any]:
        found = self._state.get(self._name, {})
        return found if isinstance(found, dict) else {}
