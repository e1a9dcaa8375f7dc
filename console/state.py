"""What the console remembers between starts: appearance, connection, window; a small JSON file, never a secret."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from services import home_folder, plain_file, whole_file

log = logging.getLogger(__name__)
_MOST_BYTES = 16 * 1024 * 1024


class ConsoleState:
    """``console.json`` in the home folder; a broken file is put aside, not fatal.

    What is remembered holds at once and is written by a thread of its own: a home on a slow disk holds no window up.
    """

    def __init__(self, home: Path, unkept: Callable[[], object] = lambda: None) -> None:
        """``unkept`` is told, in the thread that writes, when nothing is kept any more, and when it is again."""
        self._path, self._tell = home / "console.json", unkept
        self.unkept: OSError | None = None  #: why nothing is kept now
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}
        self._unwritten: dict[tuple[str, ...], Any] = {}  #: by name, or by name of a table and name in it
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="console-state")

    def load(self) -> None:
        """Read what the starts before remembered. Blocking."""
        found = self._read()
        with self._lock:
            self._values = _laid_over(found, self._unwritten)

    def look_again(self) -> None:
        """Take what another program of this home has remembered since, after what is to be written here. Blocking."""
        with suppress(RuntimeError):  # the end is here
            self._writer.submit(self._look).result()

    def try_again(self) -> None:
        """Write what could not be written."""
        with suppress(RuntimeError):  # the end is here
            self._writer.submit(self._write)

    def flush(self, most_s: float) -> None:
        """Wait until all that was remembered so far is written, and no longer than this."""
        with suppress(TimeoutError, RuntimeError):
            self._writer.submit(lambda: None).result(most_s)

    def close(self) -> None:
        """Write what is not written yet, and remember nothing more. Blocking."""
        self._writer.shutdown()

    def get(self, name: str, default: Any = "") -> Any:
        """A remembered value."""
        return self._values.get(name, default)

    def set(self, **values: Any) -> None:
        """Remember values; what another program of this home has written meanwhile stays."""
        self._remember({(name,): value for name, value in values.items()})

    def put(self, shelf: str, name: str, value: Any) -> None:
        """Remember one value of a table of values."""
        self._remember({(shelf, name): value})

    def _remember(self, values: Mapping[tuple[str, ...], Any]) -> None:
        with self._lock:
            for place, value in values.items():
                self._unwritten.pop(place, None)  # in the order of the calls
                self._unwritten[place] = value
            self._values = _laid_over(self._values, values)
        try:
            self._writer.submit(self._write)
        except RuntimeError:  # a window that is taken down after the end
            log.debug("remembered too late to be written: %s", [".".join(place) for place in values])

    def _write(self) -> None:
        with self._lock:
            due, self._unwritten = self._unwritten, {}
        if not due:
            return
        try:
            home_folder.check_there(self._path)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with home_folder.alone(self._path):  # what another program writes between reading and writing would be gone
                self._put(due)
            before, self.unkept = self.unkept, None
            if before is not None:
                self._tell()
        except OSError as exc:
            with self._lock:
                self._unwritten = {**due, **self._unwritten}  # with what is remembered next
            before, self.unkept = self.unkept, exc
            if before is None:
                log.warning("the console does not remember its state: %s", exc)
                self._tell()

    def _put(self, due: Mapping[tuple[str, ...], Any]) -> None:
        found = self._read()
        with self._lock:
            whole = _laid_over({**self._values, **found}, due)
        whole, text = _written(whole)
        with self._lock:
            self._values = _laid_over(whole, self._unwritten)
        draft = self._path.with_suffix(".part")
        home_folder.keep_private(draft)
        draft.write_bytes(text)
        whole_file.put(draft, self._path)

    def _look(self) -> None:
        found = self._read()
        with self._lock:
            self._values = _laid_over({**self._values, **found}, self._unwritten)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(plain_file.read(self._path, _MOST_BYTES)[:_MOST_BYTES].decode("utf-8-sig"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as exc:
            log.warning("console.json is not readable and is ignored: %s", exc)
            return {}
        return found if isinstance(found, dict) else {}


def _encoded(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False, indent=1).encode()


def _written(values: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Values and how they are written, without those that cannot be: half a letter would keep all others unwritten."""
    try:
        return values, _encoded(values)
    except (TypeError, ValueError, RecursionError):
        kept = _encodable(values)
        return kept, _encoded(kept)


def _encodable(values: Mapping[str, Any], table: str = "") -> dict[str, Any]:
    kept = {}
    for name, value in values.items():
        held = _encodable(value, f"{name}.") if isinstance(value, dict) and not table else value
        try:
            _encoded({name: held})
        except (TypeError, ValueError, RecursionError) as exc:
            log.warning("the console does not remember %a: %s", f"{table}{name}", exc)
        else:
            kept[name] = held
    return kept


def _laid_over(values: Mapping[str, Any], newer: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    laid = dict(values)
    for (name, *inner), value in newer.items():
        table = laid.get(name)
        laid[name] = {**(table if isinstance(table, dict) else {}), inner[0]: value} if inner else value
    return laid


class Shelf:
    """The part of the state that belongs to the pages (``views.support.memory.Memory``)."""

    def __init__(self, state: ConsoleState, name: str = "pages") -> None:
        self._state, self._name = state, name

    def get(self, name: str, default: Any = None) -> Any:
        """A remembered value."""
        return self._values().get(name, default)

    def put(self, name: str, value: Any) -> None:
        """Remember a value."""
        self._state.put(self._name, name, value)

    def _values(self) -> dict[str, Any]:
        found = self._state.get(self._name, {})
        return found if isinstance(found, dict) else {}
