"""What a page remembers for its user between starts: layouts of tables, saved views, recent choices.

layout = memory.get("tasks.layout", {})
memory.put("tasks.layout", {...})       # plain data, as JSON keeps it
"""

from __future__ import annotations

from typing import Any, Protocol


class Memory(Protocol):
    """Named values of one user; ``get`` answers the default for what is not known."""

    def get(self, name: str, default: Any = None) -> Any: ...
    def put(self, name: str, value: Any) -> None: ...


class ShortMemory:
    """Remembers until the end of the program, for windows without a home."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def get(self, name: str, default: Any = None) -> Any:
        """A remembered value."""
        return self._values.get(name, default)

    def put(self, name: str, value: Any) -> None:
        """Remember a value."""
        self._values[name] = value
